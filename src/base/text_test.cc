#include "base/text.h"

#include <gtest/gtest.h>

namespace smartmig {
namespace {

using Pieces = std::vector<std::string_view>;

TEST(Text, SplitsIntoPiecesAndKeepsEmptyOnes) {
  EXPECT_EQ(split("a,b,,c", ','), (Pieces{"a", "b", "", "c"}));
  EXPECT_EQ(split("", ','), (Pieces{""}));
  EXPECT_EQ(split(",", ','), (Pieces{"", ""}));
}

TEST(Text, TrimsBlanksAtBothEnds) {
  EXPECT_EQ(trim(" \ta b\r\n"), "a b");
  EXPECT_EQ(trim(" \t"), "");
  EXPECT_EQ(trim(""), "");
}

TEST(Text, JoinsWithASeparator) {
  EXPECT_EQ(join(std::vector<std::string>{"7", "4-3"}, ", "), "7, 4-3");
  EXPECT_EQ(join(std::vector<std::string>{}, ", "), "");
}

TEST(Text, ReadsOnlyWholeFiniteNumbers) {
  EXPECT_EQ(parse_number("2e-7"), 2e-7);
  EXPECT_EQ(parse_number("-.5"), -0.5);
  for (const char* bad :
       {"", " 1", "1 ", "1x", "nan", "NaN", "inf", "-inf", "0x10", "1e999", "1,5", "--1", "."}) {
    EXPECT_FALSE(parse_number(bad).has_value()) << bad;
  }
}

TEST(Text, ReadsOnlyWholeIntegers) {
  EXPECT_EQ(parse_integer("-12"), -12);
  EXPECT_EQ(parse_integer("9223372036854775807"), INT64_MAX);
  for (const char* bad : {"", "1.0", "1e3", "9223372036854775808", "0x1", " 1"}) {
    EXPECT_FALSE(parse_integer(bad).has_value()) << bad;
  }
}

TEST(Text, FindsTheNearestWord) {
  const std::vector<std::string> words = {"edf", "cedf", "met", "random", "slowest-on-time"};
  EXPECT_EQ(nearest("cdef", words), "cedf");  // Two neighbours swapped are one edit.
  EXPECT_EQ(nearest("cedff", words), "cedf");
  EXPECT_EQ(nearest("edff", words), "edf");
  EXPECT_EQ(nearest("slowest-ontime", words), "slowest-on-time");
  EXPECT_EQ(nearest("rondam", words), "random");
  EXPECT_EQ(nearest("greedy", words), "");
  EXPECT_EQ(nearest("x", std::vector<std::string>{}), "");
}

TEST(Text, SuggestsTheNearestWordOrListsAll) {
  const std::vector<std::string> words = {"edf", "met"};
  EXPECT_EQ(suggestion("edg", words), "; did you mean 'edf'?");
  EXPECT_EQ(suggestion("shortest", words), "; known: edf, met");
}

TEST(Text, QuotesWhatWasFoundOnOneShortLine) {
  EXPECT_EQ(in_quotes("3-3-1"), "'3-3-1'");
  EXPECT_EQ(in_quotes(std::string_view("a\nb\tc\0d", 7)), "'a?b?c?d'");
  EXPECT_EQ(in_quotes(std::string(40, 'x')), "'" + std::string(40, 'x') + "'");
  EXPECT_EQ(in_quotes(std::string(41, 'x')), "'" + std::string(40, 'x') + "...'");
  EXPECT_EQ(in_quotes("\xc3\xa9"), "'\xc3\xa9'");
}

}  // namespace
}  // namespace smartmig
