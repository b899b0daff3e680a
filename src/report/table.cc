#include "report/table.h"

#include <algorithm>

#include "base/printable.h"
#include "base/result.h"

namespace smartmig {
namespace {

// Characters of UTF-8 text: bytes that do not go on with one.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; }));
}

}  // namespace

void Table::add_row(std::vector<std::string> cells) {
  SM_CHECK(cells.size() == columns_.size());
  // Names may come from a file or a server.
  for (std::string& cell : cells) cell = printable(cell);
  rows_.push_back(std::move(cells));
}

std::string Table::text() const {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t width = width_of(columns_[c].head);
    for (const auto& row : rows_) width = std::max(width, width_of(row[c]));
    widths.push_back(width);
  }
  std::string text;
  const auto add_cell = [&](std::size_t c, const std::string& cell) {
    const std::string blanks(widths[c] - width_of(cell), ' ');
    if (c > 0) text += "  ";
    text += columns_[c].align == Align::kLeft ? cell + blanks : blanks + cell;
  };
  const auto end_line = [&] {
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  };
  for (std::size_t c = 0; c < columns_.size(); ++c) add_cell(c, columns_[c].head);
  end_line();
  for (const auto& row : rows_) {
    for (std::size_t c = 0; c < row.size(); ++c) add_cell(c, row[c]);
    end_line();
  }
  return text;
}

}  // namespace smartmig
