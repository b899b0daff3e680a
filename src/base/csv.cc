#include "base/csv.h"

#include <algorithm>
#include <cstring>

#include "base/text.h"

namespace smartmig {

Error too_many_fields(std::string_view name, std::size_t line) {
  return {fmt::format("{0}:{1}: found more than {2} fields, expected at most {2}", name, line,
                      kMaxColumns)};
}

Result<CsvReader> CsvReader::open(std::string_view text, std::string name, char separator) {
  if (text.starts_with("\xef\xbb\xbf"))
    text.remove_prefix(3);  // A byte-order mark, as spreadsheets write.
  CsvReader reader(text, std::move(name), separator);
  if (!reader.read_row()) {
    if (reader.error_) return tl::unexpected<Error>(*reader.error_);
    return fail("{}: is empty, expected a header line", reader.name_);
  }
  reader.header_line_ = reader.line_;
  for (std::string_view field : reader.fields_) {
    std::string column(trim(field));
    // It would break the error lines that name it.
    if (column.find_first_of("\r\n") != std::string::npos) {
      return fail("{}:{}: column {} has a line break in its name", reader.name_, reader.line_,
                  in_quotes(column));
    }
    if (!column.empty() && reader.find(column)) {
      return fail("{}:{}: column {} stands twice in the header", reader.name_, reader.line_,
                  in_quotes(column));
    }
    reader.columns_.push_back(std::move(column));
  }
  return reader;
}

std::optional<std::size_t> CsvReader::find(std::string_view column) const {
  const auto at = std::find(columns_.begin(), columns_.end(), column);
  if (at == columns_.end()) return std::nullopt;
  return static_cast<std::size_t>(at - columns_.begin());
}

Result<std::size_t> CsvReader::require(std::string_view column) const {
  if (const auto at = find(column)) return *at;
  return fail("{}:{}: column {} is missing from the header", name_, header_line_, column);
}

bool CsvReader::next() {
  if (error_ || !read_row()) return false;
  if (fields_.size() == columns_.size()) return true;
  error_ = Error{fmt::format("{}:{}: {} fields, expected {} as in the header", name_, line_,
                             fields_.size(), columns_.size())};
  return false;
}

bool CsvReader::read_row() {
  fields_.clear();
  unquoted_.clear();
  for (;;) {
    if (rest_.empty()) return false;
    const void* newline = std::memchr(rest_.data(), '\n', rest_.size());
    const std::size_t length =
        newline ? static_cast<std::size_t>(static_cast<const char*>(newline) - rest_.data())
                : rest_.size();
    std::string_view row = rest_.substr(0, length);
    line_ = next_line_;
    if (std::memchr(row.data(), '"', row.size())) return read_quoted_row();
    rest_.remove_prefix(std::min(length + 1, rest_.size()));
    ++next_line_;
    if (row.ends_with('\r')) row.remove_suffix(1);
    if (row.empty()) continue;
    for (;;) {
      const void* comma = std::memchr(row.data(), separator_, row.size());
      if (!comma) break;
      const auto at = static_cast<std::size_t>(static_cast<const char*>(comma) - row.data());
      fields_.push_back(row.substr(0, at));
      row.remove_prefix(at + 1);
      if (fields_.size() >= kMaxColumns) return refuse_fields();
    }
    fields_.push_back(row);
    return true;
  }
}

bool CsvReader::read_quoted_row() {
  for (;;) {
    if (rest_.starts_with('"')) {
      std::size_t close = 1;
      bool doubled = false;
      for (;;) {
        close = rest_.find('"', close);
        if (close == std::string_view::npos) {
          error_ = Error{fmt::format("{}:{}: a quote is not closed", name_, line_)};
          return false;
        }
        if (close + 1 >= rest_.size() || rest_[close + 1] != '"') break;
        doubled = true;
        close += 2;
      }
      std::string_view inner = rest_.substr(1, close - 1);
      next_line_ += static_cast<std::size_t>(std::count(inner.begin(), inner.end(), '\n'));
      if (doubled) {
        std::string& text = unquoted_.emplace_back();
        for (std::size_t i = 0; i < inner.size(); ++i) {
          text.push_back(inner[i]);
          if (inner[i] == '"') ++i;
        }
        inner = text;
      }
      fields_.push_back(inner);
      rest_.remove_prefix(close + 1);
    } else {
      const char stops[] = {separator_, '\n', '\0'};
      const std::size_t stop =
          std::min(rest_.find_first_of(std::string_view(stops, 2)), rest_.size());
      std::string_view field = rest_.substr(0, stop);
      if (field.ends_with('\r')) field.remove_suffix(1);
      fields_.push_back(field);
      rest_.remove_prefix(stop);
    }
    if (rest_.starts_with('\r')) rest_.remove_prefix(1);
    if (rest_.empty() || rest_.starts_with('\n')) {
      if (!rest_.empty()) rest_.remove_prefix(1);
      ++next_line_;
      return true;
    }
    if (rest_[0] != separator_) {
      error_ = Error{fmt::format("{}:{}: text after a closing quote", name_, line_)};
      return false;
    }
    rest_.remove_prefix(1);
    if (fields_.size() >= kMaxColumns) return refuse_fields();
  }
}

bool CsvReader::refuse_fields() {
  error_ = too_many_fields(name_, line_);
  return false;
}

Result<double> CsvReader::number(std::size_t column, double low, double high) const {
  const auto value = parse_number(fields_[column]);
  if (value && *value >= low && *value <= high) return *value;
  return tl::unexpected<Error>(bad_field(column, fmt::format("a number from {} to {}", low, high)));
}

Error CsvReader::bad_field(std::size_t column, std::string_view expected) const {
  return Error{fmt::format("{}:{}: {}: found {}, expected {}", name_, line_, columns_[column],
                           in_quotes(fields_[column]), expected)};
}

}  // namespace smartmig
