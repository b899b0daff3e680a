#include "base/csv.h"

#include <gtest/gtest.h>

namespace smartmig {
namespace {

using Row = std::vector<std::string>;

// All rows of a text that has no error.
std::vector<Row> rows(std::string_view text, char separator = ',') {
  auto csv = CsvReader::open(text, "t.csv", separator);
  SM_CHECK(csv.has_value());
  std::vector<Row> out;
  while (csv->next()) {
    Row& row = out.emplace_back();
    for (std::size_t i = 0; i < csv->columns().size(); ++i) row.emplace_back(csv->field(i));
  }
  EXPECT_FALSE(csv->error().has_value()) << csv->error()->message;
  return out;
}

// The error of opening or reading a text to its end.
std::string error_of(std::string_view text) {
  auto csv = CsvReader::open(text, "t.csv");
  if (!csv) return csv.error().message;
  while (csv->next()) {
  }
  return csv->error() ? csv->error()->message : "no error";
}

TEST(Csv, ReadsRowsWithEitherLineEnd) {
  const std::vector<Row> expected = {{"1", "2"}, {"", "x"}};
  EXPECT_EQ(rows("a,b\n1,2\n,x\n"), expected);
  EXPECT_EQ(rows("a,b\r\n1,2\r\n,x"), expected);
  EXPECT_EQ(rows("\xef\xbb\xbf"
                 "a,b\n1,2\n\n\r\n,x\n\n"),
            expected);  // A byte-order mark, blank lines.
  EXPECT_EQ(rows("a|b\n1|2\n|x\n", '|'), expected);
  EXPECT_TRUE(rows("a,b").empty());
}

TEST(Csv, ColumnsAreTrimmedAndFreeOfAByteOrderMark) {
  const auto csv = CsvReader::open("\xef\xbb\xbfid, t ,\n", "t.csv");
  ASSERT_TRUE(csv.has_value());
  EXPECT_EQ(csv->columns(), (Row{"id", "t", ""}));
  EXPECT_EQ(csv->find("t"), 1u);
  EXPECT_FALSE(csv->find("p1g_s").has_value());
}

TEST(Csv, ReadsQuotedFields) {
  EXPECT_EQ(rows("a,b\n\"1,5\",\"say \"\"no\"\"\"\n"), (std::vector<Row>{{"1,5", "say \"no\""}}));
  EXPECT_EQ(rows("a,b\n\"two\nlines\",x\r\n\"\",\"\"\"\"\n"),
            (std::vector<Row>{{"two\nlines", "x"}, {"", "\""}}));
  EXPECT_EQ(rows("\"a\",b\n\"1\",\r\n"), (std::vector<Row>{{"1", ""}}));
  EXPECT_EQ(rows("a,b\n5\" disk,x\n"),
            (std::vector<Row>{{"5\" disk", "x"}}));  // Not at the start: a plain sign.
}

TEST(Csv, UnquotesAnyNumberOfFields) {
  std::string header, row;
  const int n = 200;
  for (int i = 0; i < n; ++i) {
    header += fmt::format("{}\"c\"\"{}\"", i ? "," : "", i);
    row += fmt::format("{}\"v\"\"{}\"", i ? "," : "", i);
  }
  const std::string text = header + "\n" + row;
  auto csv = CsvReader::open(text, "t.csv");
  ASSERT_TRUE(csv.has_value());
  ASSERT_TRUE(csv->next());
  for (int i = 0; i < n; ++i) {
    const auto column = csv->find(fmt::format("c\"{}", i));
    ASSERT_TRUE(column.has_value()) << i;
    EXPECT_EQ(csv->field(*column), fmt::format("v\"{}", i));
  }
}

TEST(Csv, CountsLinesThroughQuotesAndBlanks) {
  auto csv = CsvReader::open("\na\n\n1\n\"2\n3\"\n4\n", "t.csv");
  ASSERT_TRUE(csv.has_value());
  std::vector<std::size_t> lines;
  while (csv->next()) lines.push_back(csv->line());
  EXPECT_EQ(lines, (std::vector<std::size_t>{4, 5, 7}));
  EXPECT_EQ(csv->require("b").error().message, "t.csv:2: column b is missing from the header");
}

TEST(Csv, NamesFileLineAndColumnOfABadField) {
  auto csv = CsvReader::open("id,t\n1,2\n2,x\n3,\"a\nb\"\n", "t.csv");
  ASSERT_TRUE(csv.has_value());
  const std::size_t t = *csv->require("t");
  ASSERT_TRUE(csv->next());
  EXPECT_EQ(csv->number(t, 0, 10), 2);
  EXPECT_EQ(csv->number(t, 3, 10).error().message,
            "t.csv:2: t: found '2', expected a number from 3 to 10");
  ASSERT_TRUE(csv->next());
  EXPECT_EQ(csv->number(t, 0, 10).error().message,
            "t.csv:3: t: found 'x', expected a number from 0 to 10");
  ASSERT_TRUE(csv->next());
  EXPECT_EQ(csv->number(t, 0, 10).error().message,
            "t.csv:4: t: found 'a?b', expected a number from 0 to 10");
}

TEST(Csv, RefusesWhatIsNoTable) {
  EXPECT_EQ(error_of(""), "t.csv: is empty, expected a header line");
  EXPECT_EQ(error_of("\n\r\n"), "t.csv: is empty, expected a header line");
  EXPECT_EQ(error_of("a,b,a\n"), "t.csv:1: column 'a' stands twice in the header");
  EXPECT_EQ(error_of("\"a\nb\"\n"), "t.csv:1: column 'a?b' has a line break in its name");
  EXPECT_EQ(error_of("a,b\n1,2\n3\n"), "t.csv:3: 1 fields, expected 2 as in the header");
  EXPECT_EQ(error_of("a,b\n1,2,3\n"), "t.csv:2: 3 fields, expected 2 as in the header");
  EXPECT_EQ(error_of("a,b\n1,\"2\n"), "t.csv:2: a quote is not closed");
  EXPECT_EQ(error_of("a,b\n\"1\"x,2\n"), "t.csv:2: text after a closing quote");
}

TEST(Csv, StaysAtTheErrorOnceThereIsOne) {
  auto csv = CsvReader::open("a,b\n1\n1,2\n", "t.csv");
  ASSERT_TRUE(csv.has_value());
  EXPECT_FALSE(csv->next());
  EXPECT_FALSE(csv->next());
}

TEST(Csv, RefusesVeryManyColumns) {
  std::string header = "c0";
  for (int i = 1; i < 200'000; ++i) header += ",c" + std::to_string(i);
  const std::string expected = "t:1: found more than 4096 fields, expected at most 4096";
  EXPECT_EQ(CsvReader::open(header, "t").error().message, expected);
  EXPECT_EQ(CsvReader::open("\"c\"," + header, "t").error().message, expected);
  const std::string wide_row = "a,b\n1,2" + std::string(10'000, ',') + "\n";
  auto csv = CsvReader::open(wide_row, "t");
  ASSERT_TRUE(csv);
  EXPECT_FALSE(csv->next());
  EXPECT_EQ(csv->error()->message, "t:2: found more than 4096 fields, expected at most 4096");
}

}  // namespace
}  // namespace smartmig
