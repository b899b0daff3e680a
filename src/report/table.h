// Aligned text tables for a terminal: columns two blanks apart, no rules, no trailing blanks.
#pragma once

#include <string>
#include <vector>

namespace smartmig {

class Table {
 public:
  enum class Align { kLeft, kRight };
  struct Column {
    std::string head;
    Align align = Align::kRight;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  // One cell for each column.
  void add_row(std::vector<std::string> cells);
  std::string text() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace smartmig
