#include "report/page.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/count_of.h"
#include "report/html.h"

namespace smartmig {
namespace {

Page small_page() {
  Page page("A <b>title</b>", "smartmig test");
  page.summary("One & two.");
  page.section("First part");
  page.add(PageTable{"numbers",
                     "A row a policy.",
                     {{"policy", false}, {"ET", true, "et"}},
                     {{"a<b", {"1.2", 1.23456789}}}});
  page.add(LineChart{{"lines", "Lines", ""}, {"x"}, {"y"}, {{"one", {{0, 1}, {1, 2}}}}});
  page.origin({"smartmig test 'a b'", "9.9", {{"seed", "7"}}});
  return page;
}

TEST(Page, EscapesWhatItIsGiven) {
  const std::string html = small_page().html();
  EXPECT_NE(html.find("<h1>A &lt;b&gt;title&lt;/b&gt;</h1>"), std::string::npos);
  EXPECT_NE(html.find("a&lt;b"), std::string::npos);
  EXPECT_NE(html.find("smartmig test &#39;a b&#39;"), std::string::npos);
}

TEST(Page, KeepsTheWholeNumberBehindAShortText) {
  EXPECT_NE(small_page().html().find("data-value=\"1.23456789\">1.2</td>"), std::string::npos);
}

TEST(Page, NeedsNothingFromElsewhere) {
  const std::string html = small_page().html();
  EXPECT_EQ(count_of(html, " src="), 0u);
  EXPECT_EQ(count_of(html, "url("), 0u);
  // The one address names SVG's elements and is never asked for.
  EXPECT_EQ(count_of(html, "http"), count_of(html, "http://www.w3.org/2000/svg"));
}

TEST(Page, IsTheSameEveryTime) { EXPECT_EQ(small_page().html(), small_page().html()); }

TEST(Page, DataCannotEndItsScript) {
  Page page("t", "s");
  page.data("result", {{"policy", "</script><script>alert(1)</script>"}});
  const std::string html = std::move(page).html();
  EXPECT_EQ(html.find("alert(1)</script>"), std::string::npos);
  const std::size_t begin = html.find("id=\"result\">") + 12;
  const auto json =
      nlohmann::json::parse(html.substr(begin, html.find("</script>", begin) - begin));
  EXPECT_EQ(json["policy"], "</script><script>alert(1)</script>");
}

TEST(Page, HeadingsOfOneTextHaveTwoIds) {
  Page page("t", "s");
  for (int i = 0; i < 3; ++i) page.section("The same");
  const std::string html = std::move(page).html();
  EXPECT_EQ(count_of(html, "<h2 id=\"the-same\">"), 1u);
  EXPECT_EQ(count_of(html, "<h2 id=\"the-same-again\">"), 1u);
  EXPECT_EQ(count_of(html, "href=\"#the-same-again-again\""), 1u);
}

TEST(Page, SetsCodeBetweenBackticks) {
  Page page("t", "s");
  page.paragraph("Add `--bound <x>`, or ` not.");
  EXPECT_NE(
      std::move(page).html().find("<p>Add <code><span>--bound "
                                  "</span><wbr><span>&lt;x&gt;</span><wbr></code>, or ` not.</p>"),
      std::string::npos);
}

TEST(Page, BringsTheScriptsOfItsWidgetsOnly) {
  const std::string without = small_page().html();
  Page page("t", "s");
  page.add(PageWidget{"w", "timeline", "A label", "", "<svg/>", "{}"});
  const std::string with = std::move(page).html();
  EXPECT_EQ(without.find("class TimelineView"), std::string::npos);
  EXPECT_NE(with.find("class TimelineView"), std::string::npos);
}

TEST(Html, ShortensInTheMiddleByCharacters) {
  EXPECT_EQ(shortened("abcdefgh", 8), "abcdefgh");
  EXPECT_EQ(shortened("abcdefgh", 5), "ab…gh");
  EXPECT_EQ(shortened("äöüßÄÖÜé", 5), "äö…Üé");
}

TEST(Html, CoordinatesHaveNoNeedlessDigits) {
  EXPECT_EQ(coordinate(3.14159), "3.14");
  EXPECT_EQ(coordinate(2.0), "2");
  EXPECT_EQ(coordinate(-0.001), "0");
}

}  // namespace
}  // namespace smartmig
