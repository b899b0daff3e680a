#include "report/table.h"

#include <algorithm>

#include "base/result.h"

namespace smartmig {

void Table::add_row(std::vector<std::string> cells) {
  SM_CHECK(cells.size() == columns_.size());
  rows_.push_back(std::move(cells));
}

std::string Table::text() const {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t width = columns_[c].head.size();
    for (const auto& row : rows_) width = std::max(width, row[c].size());
    widths.push_back(width);
  }
  std::string text;
  const auto add_cell = [&](std::size_t c, const std::string& cell) {
    const std::string blanks(widths[c] - cell.size(), ' ');
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
