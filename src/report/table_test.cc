#include "report/table.h"

#include <gtest/gtest.h>

namespace smartmig {
namespace {

TEST(Table, AlignsColumnsAndLeavesNoTrailingBlanks) {
  Table table({{"name", Table::Align::kLeft}, {"n"}, {"note", Table::Align::kLeft}});
  table.add_row({"a", "1", "x"});
  table.add_row({"longer", "1000", ""});
  EXPECT_EQ(table.text(),
            "name       n  note\n"
            "a          1  x\n"
            "longer  1000\n");
}

TEST(Table, CountsCharactersNotBytes) {
  Table table({{"n"}, {"m"}});
  table.add_row({"1 ± 2", "3"});
  table.add_row({"12345", "4"});
  EXPECT_EQ(table.text(),
            "    n  m\n"
            "1 ± 2  3\n"
            "12345  4\n");
}

}  // namespace
}  // namespace smartmig
