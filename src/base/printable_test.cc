#include "base/printable.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/text.h"

namespace smartmig {
namespace {

TEST(Printable, EscapesWhatATerminalObeys) {
  EXPECT_EQ(printable("a\x1b[31mb\n\t\x7f"), "a\\u001b[31mb\\u000a\\u0009\\u007f");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\u009b31m");
  EXPECT_EQ(printable("x\xe2\x80\xaey\xe2\x81\xa6z\xe2\x80\x8f\xd8\x9c\xe2\x80\xa8"),
            "x\\u202ey\\u2066z\\u200f\\u061c\\u2028");
}

TEST(Printable, LeavesTheWritingOfPeopleAlone) {
  const std::string text = "Grüße, 训练, שלום, 😀, a\\b";
  EXPECT_EQ(printable(text), text);
}

TEST(Printable, ShowsBytesThatAreNoUtf8) {
  EXPECT_EQ(printable("a\xff\x9b"), "a\\xff\\x9b");
  EXPECT_EQ(printable("\xc0\xaf\xed\xa0\x80"), "\\xc0\\xaf\\xed\\xa0\\x80");
  EXPECT_EQ(printable("\xf4\x90\x80\x80\xe2\x80"), "\\xf4\\x90\\x80\\x80\\xe2\\x80");
}

TEST(Printable, KeepsAJsonTextTheSame) {
  const nlohmann::json value = {{"name", "a\xe2\x80\xae\xc2\x9b\x1b"}, {"n", 1}};
  const std::string text = printable_lines(value.dump(2));
  EXPECT_EQ(text.find("\xe2\x80\xae"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(text), value);
}

TEST(Text, QuotesWholeCharactersThatATerminalDoesNotObey) {
  EXPECT_EQ(in_quotes("a\xe2\x80\xae"
                      "b\xc2\x9b"
                      "c\xff"),
            "'a?b?c?'");
  EXPECT_EQ(in_quotes(std::string(39, 'a') + "ü"), "'" + std::string(39, 'a') + "...'");
}

}  // namespace
}  // namespace smartmig
