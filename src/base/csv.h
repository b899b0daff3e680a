// Reads comma-separated text (RFC 4180: quotes, doubled quotes, CRLF) with a header, one row at a
// time and without copying. Fields are views into the text, or into the reader for a quoted field
// with doubled quotes; both live until the next call of next(). Every error names the file, the
// line and the column.
//
//   auto csv = CsvReader::open(text, "jobs.csv", ',');
//   auto id = csv->require("id");                 // column index, or an error that names the file
//   while (csv->next()) { csv->number(*id, 0, kMaxSeconds); ... }
//   if (csv->error()) ...
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace smartmig {

// Far more than any table has; finding a column takes time in their number.
inline constexpr std::size_t kMaxColumns = 4096;
// The error of a line with more.
Error too_many_fields(std::string_view name, std::size_t line);

class CsvReader {
 public:
  // Reads the header. Errors: empty text, two columns of one name, over kMaxColumns columns.
  static Result<CsvReader> open(std::string_view text, std::string name, char separator = ',');

  const std::vector<std::string>& columns() const { return columns_; }
  std::optional<std::size_t> find(std::string_view column) const;
  Result<std::size_t> require(std::string_view column) const;

  // Goes to the next row that is not blank; false at the end or at an error (a short or long row,
  // an open quote).
  bool next();
  const std::optional<Error>& error() const { return error_; }

  std::string_view field(std::size_t column) const { return fields_[column]; }
  std::size_t line() const { return line_; }  // of the present row, from 1
  const std::string& name() const { return name_; }

  // The field as a finite number in [low, high]; the error names file, line, column, what was found
  // and expected.
  Result<double> number(std::size_t column, double low, double high) const;
  // An error about this field: "jobs.csv:7: deadline_s: found '3', expected ...".
  Error bad_field(std::size_t column, std::string_view expected) const;

 private:
  CsvReader(std::string_view text, std::string name, char separator)
      : rest_(text), name_(std::move(name)), separator_(separator) {}
  bool read_row();
  bool read_quoted_row();
  bool refuse_fields();

  std::string_view rest_;
  std::string name_;
  char separator_;
  std::size_t line_ = 0;
  std::size_t next_line_ = 1;
  std::size_t header_line_ = 1;
  std::vector<std::string> columns_;
  std::vector<std::string_view> fields_;
  std::deque<std::string>
      unquoted_;  // Owns fields that had doubled quotes; a deque, as views into it must not move.
  std::optional<Error> error_;
};

}  // namespace smartmig
