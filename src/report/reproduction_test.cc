#include "report/reproduction.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/reproduction_page.h"

namespace smartmig {
namespace {

PublishedItem published() {
  PublishedItem item;
  item.name = "fig0";
  item.title = "A figure";
  item.source = "A paper";
  item.text = "What is compared.";
  return item;
}
const PublishedItem kPublished = published();

ReproducedRow row(const char* what, Verdict verdict, const char* note, const char* command) {
  ReproducedRow made;
  made.item = "fig0";
  made.what = what;
  made.unit = "min";
  made.ours = 1.5;
  made.verdict = verdict;
  made.note = note;
  made.command = command;
  return made;
}

Reproduction small() {
  Reproduction reproduction;
  reproduction.command = "smartmig reproduce fig0";
  Reproduction::Item item;
  item.item = &kPublished;
  item.rows = {row("one", Verdict::kAgrees, "", "smartmig a"),
               row("two", Verdict::kDiffers, "because", "smartmig a"),
               row("three", Verdict::kDiffers, "", "smartmig b"),
               row("four", Verdict::kNotStated, "", "")};
  for (ReproducedRow& made : item.rows) {
    if (made.verdict != Verdict::kNotStated) made.theirs = 1.25;
  }
  item.rows[0].low95 = 1.25;
  item.rows[0].high95 = 2;
  item.rows[0].error = .05;
  item.curves = {{"knees",
                  "GPUs",
                  {1, 2, 3},
                  {{1, 9}, {2, 1}, {9, 0}},
                  {{1, 9}, {3, 8}, {9, 0}},
                  1,
                  std::nullopt}};
  reproduction.items.push_back(std::move(item));
  return reproduction;
}

TEST(Reproduction, JsonHasEveryField) {
  const auto json = to_json(small());
  ASSERT_EQ(json.size(), 4u);
  const auto first = nlohmann::ordered_json::parse(
      R"({"item": "fig0", "what": "one", "unit": "min", "theirs": 1.25, "ours": 1.5, "low95": 1.25,
          "high95": 2.0, "verdict": "agrees", "command": "smartmig a", "reading_error": 0.05,
          "note": ""})");
  EXPECT_EQ(json[0], first);
  EXPECT_EQ(json[1]["verdict"], "differs");
  EXPECT_EQ(json[1]["note"], "because");
  EXPECT_TRUE(json[3]["theirs"].is_null());
  EXPECT_TRUE(json[3]["command"].is_null());
  EXPECT_EQ(json[3]["verdict"], "not-stated");
}

TEST(Reproduction, EveryDifferenceIsExplainedOrSaidNotToBe) {
  const std::string text = to_text(small());
  EXPECT_NE(text.find("differs (1)\n"), std::string::npos) << text;
  EXPECT_NE(text.find("(1) because\n"), std::string::npos);
  EXPECT_NE(text.find("differs (unexplained)\n"), std::string::npos);
  EXPECT_NE(text.find("1 numbers agree, 2 differ, 1 are not stated in the papers.\n"),
            std::string::npos);
  const std::string markdown = to_markdown(small());
  EXPECT_NE(markdown.find("| one | min | 1.25 ± 0.05 | 1.5 [1.25, 2] | agrees |\n"),
            std::string::npos)
      << markdown;
  EXPECT_NE(markdown.find("| fig0 | A figure | 1 | 2 | 1 |\n"), std::string::npos);
  EXPECT_NE(markdown.find("\n1. because\n"), std::string::npos);
}

TEST(Reproduction, CommandsAreShownOnce) {
  const std::string text = to_text(small());
  const std::size_t at = text.find("$ smartmig a\n");
  ASSERT_NE(at, std::string::npos);
  EXPECT_EQ(text.find("$ smartmig a\n", at + 1), std::string::npos);
}

TEST(Reproduction, ThePageHasTablesCurvesAndTheJson) {
  const std::string html = reproduction_page(small(), {"smartmig reproduce fig0", "9.9"});
  EXPECT_NE(html.find(">Assumptions<"), std::string::npos);
  for (const char* piece :
       {"fig0: A figure", "differs (unexplained)", "because", "knee: 2 GPUs", "id=\"result\""})
    EXPECT_NE(html.find(piece), std::string::npos) << piece;
}

}  // namespace
}  // namespace smartmig
