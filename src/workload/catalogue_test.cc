#include "workload/catalogue.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>

#include "workload/generator.h"

namespace smartmig {
namespace {

const SpeedProfile& profile(std::string_view name) {
  const Catalogue& catalogue = Catalogue::shipped();
  return catalogue.profiles()[catalogue.find(name).value()];
}

std::string profiles_error_of(const std::string& json) {
  const auto parsed = Catalogue::parse(json, "p.json");
  return parsed ? "" : parsed.error().message;
}

std::string curve_error_of(const std::string& json) {
  const auto parsed = parse_curves(json, "c.json");
  return parsed ? "" : parsed.error().message;
}

// A file with the set "s" and these profiles.
std::string file_of(const std::string& profiles) {
  return R"({"sets":{"s":{"board":"B","source":"S","licence":"L","caveat":"C"}},"profiles":[)" +
         profiles + "]}";
}

TEST(Catalogue, ShipsAllSets) {
  EXPECT_EQ(Catalogue::shipped().sets(),
            (std::vector<std::string>{"paper", "miso", "parvagpu", "sustech", "h200"}));
  std::map<std::string, int> count;
  for (const SpeedProfile& p : Catalogue::shipped().profiles()) ++count[p.set];
  // ParvaGPU's table has 99 rows, two of which (densenet201 and resnet152 at batch 256) ran
  // nowhere.
  EXPECT_EQ(count,
            (std::map<std::string, int>{
                {"paper", 4}, {"miso", 32}, {"parvagpu", 97}, {"sustech", 44}, {"h200", 18}}));
}

TEST(Catalogue, SaysOfEveryProfileWhereItIsFrom) {
  for (const SpeedProfile& p : Catalogue::shipped().profiles()) {
    EXPECT_FALSE(p.source.empty()) << p.name;
    EXPECT_FALSE(p.board.empty()) << p.name;
    EXPECT_EQ(p.caveat.empty(), p.set == "paper") << p.name;
    EXPECT_EQ(p.speed[4], 1) << p.name;
    EXPECT_TRUE(p.set == "paper" || p.name.starts_with(p.set + "-")) << p.name;
    for (const double speed : p.speed) {
      EXPECT_GE(speed, 0) << p.name;
      EXPECT_LT(speed, 1.3)
          << p.name;  // Small batches of ParvaGPU are a little faster on a smaller slice.
    }
  }
}

TEST(Catalogue, HasThePapersSpeeds) {
  const auto ratio = [](const char* name, std::size_t size) {
    return profile(name).speed[size] / profile(name).speed[0];
  };
  EXPECT_DOUBLE_EQ(ratio("bert-training", 1), 4.1 / 2.2);
  EXPECT_DOUBLE_EQ(ratio("bert-training", 4), 10.5 / 2.2);
  EXPECT_DOUBLE_EQ(ratio("resnet50-training", 2), 7.85 / 3.4);
  EXPECT_DOUBLE_EQ(ratio("resnet50-training", 3), 8.4 / 3.4);
  EXPECT_DOUBLE_EQ(ratio("bert-inference", 4), 7);
  EXPECT_DOUBLE_EQ(ratio("resnet50-inference", 1), 2);
  EXPECT_DOUBLE_EQ(ratio("resnet50-inference", 3), 12.5 / 3.2);
  EXPECT_DOUBLE_EQ(ratio("resnet50-inference", 4), 18.4 / 3.2);
  EXPECT_EQ(profile("bert-training").kind, JobKind::kTraining);
  EXPECT_EQ(profile("resnet50-inference").kind, JobKind::kInference);
}

// The expected values are columns of the sources that the file was not made from, to the digits
// they are given with.
TEST(Catalogue, AgreesWithThePublishedRatios) {
  const SpeedProfile& bert = profile("miso-bert-b4");
  EXPECT_EQ(bert.speed[0], 0);  // Does not fit 1g.5gb.
  EXPECT_NEAR(bert.speed[1], .3250, 6e-5);
  EXPECT_NEAR(bert.speed[3], .6148, 6e-5);
  EXPECT_NEAR(profile("miso-resnet-b64").speed[2], 1.0035, 6e-5);  // Faster than 7g, as published.
  EXPECT_NEAR(profile("miso-deepspeech2-b8").speed[0], .0770, 6e-5);
  const SpeedProfile& training = profile("h200-train-resnet50-b64");
  const std::array<double, kSizeCount> side_by_side = {.1461, .2793, .4794, .5182, 1};
  for (std::size_t i = 0; i < side_by_side.size(); ++i)
    EXPECT_NEAR(training.speed[i], side_by_side[i], 6e-5);
  EXPECT_DOUBLE_EQ(profile("parvagpu-bert-b1").speed[0], 74.408 / 69.019);
  EXPECT_EQ(profile("parvagpu-resnet50-b128").speed[1], 0);
  EXPECT_NEAR(profile("sustech-resnet50-b8").speed[0], .004734545528052565 / .027712781586962377,
              1e-6);
}

TEST(Catalogue, KnowsWattsOnlyWhereTheyWereMeasured) {
  // Alone on the board: what it drew above the 125.2 W of an open context.
  EXPECT_NEAR(profile("h200-train-resnet50-b64").watts[4], 570.93 - 125.2, .1);
  // Seven copies together: 649.86 W, which seven times the watts of one should come near.
  EXPECT_NEAR(7 * profile("h200-train-resnet50-b64").watts[0], 649.86 - 125.2, 10);
  for (const SpeedProfile& p : Catalogue::shipped().profiles()) {
    for (std::size_t i = 0; i < p.watts.size(); ++i) {
      EXPECT_EQ(p.watts[i] > 0, p.set == "h200" && p.speed[i] > 0) << p.name;
    }
  }
}

TEST(Catalogue, LeavesOutTheMeasurementThatIsNotToBeTrusted) {
  const SpeedProfile& bert = profile("h200-infer-bert-base-b1");
  EXPECT_EQ(bert.speed[0], 0);
  EXPECT_GT(bert.speed[1], 0);
}

TEST(Catalogue, AsksForNoMoreMemoryThanTheSmallestSliceAJobRanOn) {
  constexpr std::array<int, kSizeCount> kSliceMib = {4864, 9856, 19968, 19968, 40192};  // A100-40GB
  for (const SpeedProfile& p : Catalogue::shipped().profiles()) {
    if (p.set != "miso") continue;
    std::size_t smallest = 0;
    while (p.speed[smallest] == 0) ++smallest;
    EXPECT_LE(p.memory_mib, kSliceMib[smallest]) << p.name;
    EXPECT_GT(p.memory_mib, 1000) << p.name;
  }
  EXPECT_EQ(profile("miso-bert-b8").memory_mib, 18635);
  EXPECT_EQ(profile("h200-train-gpt124m-b4-s1024").memory_mib, 7901);  // 7.715 GiB, rounded up.
}

TEST(Catalogue, SuggestsTheNearestName) {
  EXPECT_EQ(Catalogue::shipped().find("bert-trainin").error().message,
            "no speed profile 'bert-trainin'; did you mean 'bert-training'?");
  EXPECT_EQ(Catalogue::shipped().find("zzzzzzzz").error().message,
            "no speed profile 'zzzzzzzz'; the catalogue has the sets paper, miso, parvagpu, "
            "sustech, h200");
}

TEST(Catalogue, TurnsTimesIntoSpeeds) {
  const auto parsed = Catalogue::parse(
      file_of(
          R"({"name":"a","set":"s","kind":"training","time_s":[0,8,5,4,2],"memory_mib":7,"watts":[0,1,2,3,4]},
                 {"name":"b","set":"s","kind":"inference","speed":[1,2,3,5,4],"caveat":"own"})"),
      "p.json");
  ASSERT_TRUE(parsed) << parsed.error().message;
  const SpeedProfile& a = parsed->profiles()[0];
  EXPECT_EQ(a.speed, (std::array<double, kSizeCount>{0, .25, .4, .5, 1}));
  EXPECT_EQ(a.watts, (std::array<double, kSizeCount>{0, 1, 2, 3, 4}));
  EXPECT_EQ(a.memory_mib, 7);
  EXPECT_EQ(a.caveat, "C");
  const SpeedProfile& b = parsed->profiles()[1];
  EXPECT_EQ(b.speed,
            (std::array<double, kSizeCount>{.25, .5, .75, 1.25, 1}));  // Not monotone, kept.
  EXPECT_EQ(b.caveat, "C; own");
}

TEST(Catalogue, RefusesWhatItCannotRead) {
  EXPECT_EQ(
      profiles_error_of(file_of(R"({"name":"a","set":"s","kind":"training","speed":[1,2,3,4,7]})")),
      "");
  const std::pair<const char*, const char*> cases[] = {
      {R"({"name":"A b","set":"s","kind":"training","speed":[1,2,3,4,7]})",
       "p.json: profiles[0].name: found 'A b'"},
      {R"({"name":"a","set":"t","kind":"training","speed":[1,2,3,4,7]})",
       "p.json: profiles[0].set: found 't'"},
      {R"({"name":"a","set":"s","kind":"both","speed":[1,2,3,4,7]})",
       "p.json: profiles[0].kind: found 'both'"},
      {R"({"name":"a","set":"s","kind":"training","speed":[1,2,3,4]})",
       "p.json: profiles[0].speed: found 4 numbers"},
      {R"({"name":"a","set":"s","kind":"training","speed":[1,2,3,4,0]})",
       "p.json: profiles[0].speed: found 0 for 7g"},
      {R"({"name":"a","set":"s","kind":"training","speed":[1,-2,3,4,7]})",
       "p.json: profiles[0].speed[1]: found '-2'"},
      {R"({"name":"a","set":"s","kind":"training","speed":[1e-300,2,3,4,7]})",
       "p.json: profiles[0].speed: found 1e-300"},
      {R"({"name":"a","set":"s","kind":"training"})", "p.json: profiles[0].speed: is missing"},
      {R"({"name":"a","set":"s","kind":"training","speed":[1,2,3,4,7],"time_s":[1,1,1,1,1]})",
       "p.json: profiles[0].time_s: stands beside speed"},
      {R"({"name":"a","set":"s","kind":"training","speed":[1,2,3,4,7],"wats":[0,0,0,0,0]})",
       "p.json: profiles[0]: unknown field 'wats'; did you mean 'watts'?"},
      {R"({"name":"a","set":"s","kind":"training","speed":[1,2,3,4,7],"memory_mib":1.5})",
       "p.json: profiles[0].memory_mib: found '1.5'"},
      {R"({"name":"a","set":"s","kind":"training","speed":[1,2,3,4,7]},
          {"name":"a","set":"s","kind":"training","speed":[1,2,3,4,7]})",
       "p.json: profiles[1].name: found 'a', which profiles[0] has"}};
  for (const auto& [json, expected] : cases)
    EXPECT_EQ(profiles_error_of(file_of(json)).rfind(expected, 0), 0u)
        << profiles_error_of(file_of(json));
  for (const char* json :
       {"", "[]", "{", "7", "{}", R"({"sets":7,"profiles":[]})", R"({"sets":{}})",
        R"({"sets":{"s":{}},"profiles":[]})", R"({"sets":{},"profiles":[1]})"}) {
    const std::string message = profiles_error_of(json);
    EXPECT_EQ(message.rfind("p.json:", 0), 0u) << json;
    EXPECT_EQ(message.find('\n'), std::string::npos) << json;
  }
}

TEST(Curves, HaveMeanOne) {
  EXPECT_EQ(shipped_curves().size(),
            19u);  // The papers', 17 sources, and one of them a second time by median.
  for (const DiurnalCurve& curve : shipped_curves()) {
    EXPECT_NEAR(std::accumulate(curve.by_hour.begin(), curve.by_hour.end(), 0.0), 24, 1e-12)
        << curve.name;
    EXPECT_FALSE(curve.source.empty()) << curve.name;
    EXPECT_FALSE(curve.phase_known && curve.phase_shift_h) << curve.name;
    EXPECT_TRUE(curve.name == "paper" || curve.events > 2000) << curve.name;
  }
}

TEST(Curves, HoldThePapersRates) {
  const DiurnalCurve& paper = **find_curve("paper");
  EXPECT_NEAR(std::accumulate(paper.rate_per_minute.begin(), paper.rate_per_minute.end(), 0.0),
              3.457, 1e-9);
  EXPECT_NEAR(paper.by_hour[10], .201 / (3.457 / 24), 1e-12);
  EXPECT_EQ(GeneratorOptions().rate_per_minute, paper.rate_per_minute);
}

TEST(Curves, KeepAGuessOfThePhaseApartFromTheCurve) {
  const DiurnalCurve& openb = **find_curve("openb-2023");
  EXPECT_FALSE(openb.phase_known);
  EXPECT_EQ(openb.phase_shift_h, 7);
  EXPECT_NEAR(openb.by_hour[0], 1.373, 2e-4);  // As it stands, not shifted.
  EXPECT_TRUE((*find_curve("helios-venus-2020"))->phase_known);
  EXPECT_EQ((*find_curve("servegen-language-m-mid"))->events, 2'165'253'970);
}

TEST(Curves, SuggestTheNearestName) {
  EXPECT_EQ(find_curve("openb-2024").error().message,
            "no hour-of-day curve 'openb-2024'; did you mean 'openb-2023'?");
}

TEST(Curves, RefuseWhatIsNotADay) {
  const auto file = [](const std::string& hours, const std::string& rest = "") {
    return R"({"curves":[{"name":"a","what":"w","clock":"c","source":"s",)" + hours + rest + "}]}";
  };
  const auto hours = [](int count, const std::string& value) {
    std::string text = R"("by_hour":[)";
    for (int i = 0; i < count; ++i) text += (i > 0 ? "," : "") + value;
    return text + "]";
  };
  EXPECT_EQ(curve_error_of(file(hours(24, "2"))), "");
  EXPECT_EQ((*parse_curves(file(hours(24, "2")), "c.json"))[0].by_hour[5], 1);
  const std::pair<std::string, const char*> cases[] = {
      {file(hours(23, "1")), "c.json: curves[0].by_hour: found 23 numbers, expected 24"},
      {file(hours(24, "0")), "c.json: curves[0].by_hour: found 0 in every hour"},
      {file(hours(24, "-1")), "c.json: curves[0].by_hour[0]: found '-1'"},
      {file(hours(24, "1"), R"(,"phase_shift_h":24)"),
       "c.json: curves[0].phase_shift_h: found '24'"},
      {file(hours(24, "1"), R"(,"rate_per_minute":[])"),
       "c.json: curves[0].by_hour: stands beside rate_per_minute"},
      {file(hours(24, "1"), R"(,"phase":1)"), "c.json: curves[0]: unknown field 'phase'"},
      {R"({"curves":7})", "c.json: curves: found '7'"},
      {"[", "c.json:1:2: not JSON"}};
  for (const auto& [json, expected] : cases)
    EXPECT_EQ(curve_error_of(json).rfind(expected, 0), 0u) << curve_error_of(json);
}

}  // namespace
}  // namespace smartmig
