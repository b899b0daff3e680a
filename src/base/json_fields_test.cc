#include "base/json_fields.h"

#include <gtest/gtest.h>

namespace smartmig {
namespace {

// The first error of reading a text with `body`.
std::string error_of(std::string_view text, const std::function<void(JsonFields)>& body) {
  JsonDocument document("t.json");
  if (document.parse(text)) body(document.root());
  return document.error() ? document.error()->message : "no error";
}

TEST(JsonFields, ReadsWhatIsThereAndFallsBackWhereItMay) {
  JsonDocument document("t.json");
  ASSERT_TRUE(
      document.parse(R"({"n": 1.5, "i": 3, "b": true, "s": "x", "l": [1, null], "o": {"k": 2}})"));
  const JsonFields root = document.root();
  EXPECT_EQ(root.number("n", 0, 2), 1.5);
  EXPECT_EQ(root.number("absent", 0, 2, 7), 7);
  EXPECT_EQ(root.integer("i", 0, 3), 3);
  EXPECT_TRUE(root.boolean("b", false));
  EXPECT_EQ(root.text("s"), "x");
  EXPECT_EQ(root.text("absent", "y"), "y");
  EXPECT_EQ(root.integers("l", 0, 9, true), (std::vector<int>{1, -1}));
  EXPECT_EQ(root.object("o").integer("k", 0, 9), 2);
  EXPECT_TRUE(root.texts("absent").empty());
  EXPECT_FALSE(document.error().has_value());
}

TEST(JsonFields, NamesThePathOfWhatIsWrong) {
  const std::string text =
      R"({"list": [{"x": 1}, {"x": "two"}], "big": 1e300, "half": 2.5, "long": "a\nb"})";
  EXPECT_EQ(
      error_of(text,
               [](JsonFields f) { f.each("list", [](JsonFields i) { i.number("x", 0, 5); }); }),
      "t.json: list[1].x: found 'two', expected a number from 0 to 5");
  EXPECT_EQ(error_of(text, [](JsonFields f) { f.integer("big", 0, 5); }),
            "t.json: big: found '1e+300', expected a whole number from 0 to 5");
  EXPECT_EQ(error_of(text, [](JsonFields f) { f.number("half", 0, 2); }),
            "t.json: half: found '2.5', expected a number from 0 to 2");
  EXPECT_EQ(error_of(text, [](JsonFields f) { f.integer("half", 0, 5); }),
            "t.json: half: found '2.5', expected a whole number from 0 to 5");
  EXPECT_EQ(error_of(text, [](JsonFields f) { f.text("long"); }),
            "t.json: long: found 'a?b', expected a text of one line");
  EXPECT_EQ(error_of(text, [](JsonFields f) { f.object("list"); }),
            "t.json: list: found a list, expected an object");
  EXPECT_EQ(error_of(text, [](JsonFields f) { f.numbers("list", 0, 1); }),
            "t.json: list[0]: found an object, expected a number from 0 to 1");
  EXPECT_EQ(error_of(text, [](JsonFields f) { f.object("none").number("x", 0, 1); }),
            "t.json: none: is missing, expected an object");
}

TEST(JsonFields, KeepsTheFirstError) {
  EXPECT_EQ(error_of("{}",
                     [](JsonFields f) {
                       f.number("a", 0, 1);
                       f.number("b", 0, 1);
                     }),
            "t.json: a: is missing, expected a number from 0 to 1");
}

TEST(JsonFields, RefusesFieldsItDoesNotKnow) {
  EXPECT_EQ(error_of(R"({"idel": 1})",
                     [](JsonFields f) {
                       f.only({"idle", "limit"});
                     }),
            "t.json: unknown field 'idel'; did you mean 'idle'?");
  EXPECT_EQ(error_of(R"({"idle_": 1})",
                     [](JsonFields f) {
                       f.only({"idle", "limit"});
                     }),
            "t.json: unknown field 'idle_'; did you mean 'idle'?");
}

TEST(JsonFields, PointsAtTheLineWhereTheTextIsNotJson) {
  const auto nothing = [](JsonFields) {};
  EXPECT_TRUE(error_of("{\n\"a\": 1,\n}", nothing).starts_with("t.json:3:1: not JSON: "));
  EXPECT_TRUE(error_of("", nothing).starts_with("t.json:1:1: not JSON: "));
  EXPECT_EQ(error_of("3", nothing), "t.json: found '3', expected an object");
  EXPECT_TRUE(error_of("{\"a\": 1e999}", nothing).starts_with("t.json: not JSON: "));
  EXPECT_EQ(error_of("{\"a\": \"\n\"}", nothing).find('\n'), std::string::npos);
}

TEST(ParseJson, RefusesWhatIsNestedTooDeeply) {
  EXPECT_EQ(parse_json("{\"a\": [1, 2]}")["a"][1], 2);
  EXPECT_TRUE(parse_json("{\"a\": ").is_discarded());
  const std::string deep = "{\"a\": " + std::string(100'000, '[') + std::string(100'000, ']') + "}";
  EXPECT_TRUE(parse_json(deep).is_discarded());
}

TEST(ParseJson, RefusesCommentsWhereTheyAreNotAskedFor) {
  for (const char* text : {"{\"a\": 1} // comment", "/* comment */ {\"a\": 1}"}) {
    EXPECT_TRUE(parse_json(text).is_discarded()) << text;
    EXPECT_EQ(parse_json(text, nullptr, JsonComments::kAllowed)["a"], 1) << text;
  }
}

TEST(ParseJson, RefusesAFieldThatStandsTwice) {
  std::string field;
  EXPECT_TRUE(parse_json(R"({"a": 1, "b": 2, "a": 1})", &field).is_discarded());
  EXPECT_EQ(field, "a");
  EXPECT_TRUE(parse_json(R"([{"o": {"x": 1, "\u0078": 2}}])", &field).is_discarded());
  EXPECT_EQ(field, "x");
  field.clear();
  // In two objects it is two fields.
  EXPECT_FALSE(parse_json(R"({"a": {"a": 1}, "b": [{"a": 1}, {"a": 2}]})", &field).is_discarded());
  EXPECT_EQ(field, "");
}

TEST(JsonFields, RefusesAFieldThatStandsTwiceAndNamesItsLine) {
  EXPECT_EQ(error_of("{\n\"a\": 1,\n\"b\": {\"c\": 1,\n\"c\": 2}}", [](JsonFields) {}),
            "t.json:4: the field 'c' stands twice, expected it once");
  const std::string deep = "{\"a\": " + std::string(100'000, '[') + std::string(100'000, ']') + "}";
  EXPECT_EQ(error_of(deep, [](JsonFields) {}), "t.json:1: is nested too deeply");
}

}  // namespace
}  // namespace smartmig
