#include "mig/board.h"

#include <gtest/gtest.h>

#include <bit>
#include <nlohmann/json.hpp>

#include "base/shipped.h"

namespace smartmig {
namespace {

const Board& shipped_board(std::string_view name) {
  const auto found = BoardTable::shipped().find(name);
  SM_CHECK(found.has_value());
  return **found;
}

// The shipped file with one change, as text.
std::string changed(const std::function<void(nlohmann::json&)>& change) {
  auto json = nlohmann::json::parse(shipped_file("boards.json"));
  change(json);
  return json.dump();
}

std::string error_of(const std::function<void(nlohmann::json&)>& change) {
  const auto table = BoardTable::parse(changed(change), "b.json");
  return table ? "no error" : table.error().message;
}

TEST(BoardTable, ShipsThirteenBoards) {
  const auto table = BoardTable::parse(shipped_file("boards.json"), "boards.json");
  ASSERT_TRUE(table.has_value()) << table.error().message;
  EXPECT_EQ(table->boards().size(), 13u);
}

TEST(BoardTable, EveryBoardIsCompleteAndSourced) {
  for (const Board& b : BoardTable::shipped().boards()) {
    SCOPED_TRACE(b.name);
    EXPECT_FALSE(b.source.empty());
    EXPECT_FALSE(b.confidence.empty());
    EXPECT_FALSE(b.power.source.empty());
    EXPECT_FALSE(b.times.source.empty());
    EXPECT_FALSE(b.pci_ids.empty());
    EXPECT_EQ(b.conflicts.size(), b.slots.size());
    EXPECT_EQ(b.power.busy_w.size(), static_cast<std::size_t>(b.compute_slices) + 1);
    EXPECT_EQ(b.profiles[static_cast<std::size_t>(b.largest_profile())].compute_slices,
              b.compute_slices);
    EXPECT_EQ(b.profiles[static_cast<std::size_t>(b.largest_profile())].sms, b.sms);
    for (const Profile& p : b.profiles) {
      const auto size = static_cast<std::size_t>(size_index(p.compute_slices));
      EXPECT_GT(b.times.create_us[size], 0) << p.name;
      EXPECT_GT(b.times.destroy_us[size], 0) << p.name;
      // Nominal GB are rounded up from what is usable, at most a few percent more where they are
      // rounded down.
      EXPECT_LE(p.memory_mib, (b.memory_gb + 1) * 1024) << p.name;
    }
  }
}

TEST(BoardTable, SlotsFollowProfilesAndStarts) {
  const Board& a100 = shipped_board("A100-40GB");
  // 1g 7, 1g+me 7, 1g.10gb 4, 2g 3, 3g 2, 4g 1, 7g 1.
  ASSERT_EQ(a100.slots.size(), 25u);
  EXPECT_EQ(a100.profiles[a100.slots[0].profile].name, "1g.5gb");
  EXPECT_EQ(a100.profiles[a100.slots[24].profile].name, "7g.40gb");
  EXPECT_EQ(a100.slots[24].width, 8);
  EXPECT_EQ(a100.base_profile(3), 4);
  EXPECT_EQ(a100.base_profile(5), -1);
  EXPECT_EQ(std::popcount(a100.profile_slots[0]), 7);
  EXPECT_EQ(a100.conflicts[24], (SlotSet{1} << 25) - 1);  // A 7g excludes everything.
}

TEST(BoardTable, FindsByNameAndAliasIgnoringCase) {
  EXPECT_EQ(shipped_board("a100-40gb").name, "A100-40GB");
  EXPECT_EQ(shipped_board("NVIDIA A100-SXM4-40GB").name, "A100-40GB");
  EXPECT_EQ(shipped_board("h200").name, "H200-141GB");
}

TEST(BoardTable, SuggestsTheNearestName) {
  const auto& table = BoardTable::shipped();
  EXPECT_EQ(table.find("A100-41GB").error().message,
            "unknown board 'A100-41GB'; did you mean 'A100-40GB'?");
  EXPECT_EQ(table.find("a100").error().message,
            "unknown board 'a100'; did you mean 'A100-40GB' or 'A100-80GB'?");
  EXPECT_EQ(table.find("\n").error().message.find('\n'), std::string::npos);
  EXPECT_NE(table.find("zzzzzz").error().message.find("known: A30, A100-40GB"), std::string::npos);
}

TEST(BoardPower, TheA100HasTheMeasuredCurve) {
  const BoardPower& power = shipped_board("A100-40GB").power;
  EXPECT_EQ(power.busy_w, (std::vector<double>{40, 119, 160, 205.3, 243.9, 247.7, 248.5, 248.5}));
  EXPECT_FALSE(power.assumed);
  EXPECT_EQ(power.context_idle_w, 76);
  EXPECT_EQ(power.context_linger_us, 1'400'000);
}

TEST(BoardPower, OtherBoardsTakeItsShapeBetweenIdleAndLimit) {
  const BoardPower& h100 = shipped_board("H100-80GB").power;
  EXPECT_TRUE(h100.assumed);
  EXPECT_EQ(h100.context_idle_w, 68);
  EXPECT_EQ(h100.context_linger_us, 0);
  EXPECT_DOUBLE_EQ(h100.busy_w[0], 68);
  EXPECT_DOUBLE_EQ(h100.busy_w[7], 700);
  EXPECT_NEAR(h100.busy_w[1], 68 + 79 / 208.5 * 632, 1e-9);

  // Four compute slices: one of them is 7/4 slices of an A100, between 119 and 160 W.
  const BoardPower& a30 = shipped_board("A30").power;
  ASSERT_EQ(a30.busy_w.size(), 5u);
  EXPECT_NEAR(a30.busy_w[1], 29 + (119 + 0.75 * 41 - 40) / 208.5 * 136, 1e-9);
  EXPECT_NEAR(a30.busy_w[2], 29 + (205.3 + 0.5 * 38.6 - 40) / 208.5 * 136, 1e-9);
  EXPECT_DOUBLE_EQ(a30.busy_w[4], 165);
}

TEST(BoardPower, TheH200AddsTheJobsOwnPowerUpToACap) {
  const BoardPower& power = shipped_board("H200-141GB").power;
  EXPECT_TRUE(power.additive);
  EXPECT_EQ(power.cap_w, 690);
  EXPECT_EQ(power.context_idle_w, 125.2);
  EXPECT_EQ(power.busy_w[0], 80.7);
  EXPECT_FALSE(shipped_board("A100-40GB").power.additive);
}

TEST(BoardTimes, AreThoseMeasured) {
  const BoardTimes& a100 = shipped_board("A100-40GB").times;
  EXPECT_EQ(a100.create_us, (std::array<TimeUs, 5>{160'000, 170'000, 200'000, 210'000, 240'000}));
  EXPECT_EQ(a100.destroy_us, (std::array<TimeUs, 5>{200'000, 200'000, 210'000, 210'000, 220'000}));
  EXPECT_FALSE(a100.assumed);
  EXPECT_TRUE(shipped_board("B200").times.assumed);
  EXPECT_EQ(shipped_board("RTX-PRO-6000").times.create_us[2], 0);  // It has no 3g.
}

TEST(BoardTable, MarksMemoryThatNobodyCaptured) {
  EXPECT_TRUE(shipped_board("B200").profiles[0].memory_assumed);
  EXPECT_EQ(shipped_board("B200").profiles[0].memory_mib, 23 * 1024);
  EXPECT_FALSE(shipped_board("H200").profiles[0].memory_assumed);
}

TEST(BoardTable, RefusesTextThatIsNotJson) {
  const auto table = BoardTable::parse("{\n  \"format\": ,", "b.json");
  ASSERT_FALSE(table.has_value());
  EXPECT_TRUE(table.error().message.starts_with("b.json:2:13: not JSON: "))
      << table.error().message;
  EXPECT_EQ(BoardTable::parse("[]", "b.json").error().message,
            "b.json: found a list, expected an object");
  EXPECT_FALSE(BoardTable::parse("", "b.json").has_value());
  EXPECT_FALSE(BoardTable::parse("{}", "b.json").has_value());
}

TEST(BoardTable, RefusesAnotherFormat) {
  EXPECT_EQ(error_of([](auto& j) { j["format"] = "smartmig-boards-9"; }),
            "b.json: format: found 'smartmig-boards-9', expected 'smartmig-boards-1'");
}

TEST(BoardTable, NamesTheFieldThatIsWrong) {
  EXPECT_EQ(error_of([](auto& j) { j["boards"][1]["memory_gb"] = "40"; }),
            "b.json: boards[1].memory_gb: found '40', expected a whole number from 1 to 4096");
  EXPECT_EQ(error_of([](auto& j) { j["boards"][1].erase("sms"); }),
            "b.json: boards[1].sms: is missing, expected a whole number from 1 to 4096");
  EXPECT_EQ(error_of([](auto& j) { j["boards"][0]["power"]["idel_w"] = 3; }),
            "b.json: boards[0].power: unknown field 'idel_w'; did you mean 'idle_w'?");
  EXPECT_EQ(error_of([](auto& j) {
              j["boards"][0]["profiles"][2]["starts"] = {0, 3};
            }),
            "b.json: boards[0].profiles[2].starts: found 3, where 2 memory slices reach beyond the "
            "board's 4");
  EXPECT_EQ(error_of([](auto& j) {
              j["boards"][0]["profiles"][2]["starts"] = {2, 0};
            }),
            "b.json: boards[0].profiles[2].starts: must ascend");
  EXPECT_EQ(
      error_of([](auto& j) { j["boards"][0]["profiles"][0]["compute_slices"] = 5; }),
      "b.json: boards[0].profiles[0].compute_slices: found 5, expected 1, 2, 3, 4 or 7 and at most "
      "the board's 4");
  EXPECT_EQ(
      error_of([](auto& j) { j["boards"][0]["profiles"][0]["sms"] = 14.5; }),
      "b.json: boards[0].profiles[0].sms: found '14.5', expected a whole number from 1 to 4096");
  EXPECT_EQ(error_of([](auto& j) { j["boards"][0]["times"]["create_s"].erase("4"); }),
            "b.json: boards[0].times.create_s.4: is missing, expected a number from 0 to 3600");
  EXPECT_EQ(error_of([](auto& j) { j["boards"][0]["sources"] = {"hearsay"}; }),
            "b.json: boards[0].sources: found 'hearsay', expected a key of the sources table");
}

TEST(BoardTable, RefusesWhatContradictsItself) {
  EXPECT_EQ(error_of([](auto& j) { j["boards"][2]["name"] = "A30"; }),
            "b.json: boards[2].name: stands twice");
  EXPECT_EQ(error_of([](auto& j) { j["boards"][1]["power"]["busy_w"][3] = 100; }),
            "b.json: boards[1].power.busy_w: falls, expected power that does not fall as slices "
            "get busy");
  EXPECT_EQ(
      error_of([](auto& j) { j["boards"][1]["power"]["busy_w"].erase(7); }),
      "b.json: boards[1].power.busy_w: found 7 values, expected 8: for 0 to 7 busy compute slices");
  EXPECT_EQ(error_of([](auto& j) { j["power_shape_of"] = "A30"; }),
            "b.json: power_shape_of: found 'A30', expected a board of this file that has busy_w");
  EXPECT_EQ(error_of([](auto& j) { j.erase("power_shape_of"); }),
            "b.json: board A30 has no busy_w, and there is no power_shape_of to scale");
  EXPECT_EQ(error_of([](auto& j) { j["boards"][0]["profiles"][1]["kind"] = "base"; }),
            "b.json: boards[0].profiles[1].kind: a second base profile of 1 compute slices");
  EXPECT_EQ(error_of([](auto& j) {
              j["boards"][0]["profiles"][1]["engines"] = {9, 0, 0, 0};
            }),
            "b.json: boards[0].profiles[1].engines: asks for more than the board has");
  EXPECT_EQ(error_of([](auto& j) { j["boards"] = nlohmann::json::array(); }),
            "b.json: boards: is empty, expected at least one board");
}

TEST(BoardTable, RefusesMoreSlotsThanAWordHas) {
  const std::string error = error_of([](auto& j) {
    auto& profiles = j["boards"][12]["profiles"];
    for (int i = 0; i < 9; ++i) {
      auto copy = profiles[1];
      copy["name"] = fmt::format("x{}", i);
      copy["id"] = 1000 + i;
      profiles.push_back(copy);
    }
  });
  EXPECT_EQ(error, "b.json: boards[12].profiles: found 66 placements, expected at most 64");
}

TEST(BoardSpeed, EveryShippedBoardSaysHowFastItIsHowSureThatIsAndWhereItComesFrom) {
  for (const Board& board : BoardTable::shipped().boards()) {
    SCOPED_TRACE(board.name);
    EXPECT_FALSE(board.speed.source.empty());
    EXPECT_FALSE(board.speed.note.empty());
    for (const double factor : board.speed.factor) EXPECT_GE(factor, 1);
  }
  EXPECT_EQ(shipped_board("A100-40GB").speed.factor, (std::array<double, 5>{1, 1, 1, 1, 1}));
  EXPECT_GT(shipped_board("H100-80GB").speed.factor[0], 2);
  // No job was measured on slices of two boards.
  for (const Board& board : BoardTable::shipped().boards()) {
    EXPECT_EQ(board.speed.confidence,
              board.name == kTimesBoard ? SpeedConfidence::kMeasured : SpeedConfidence::kAssumed)
        << board.name;
  }
}

TEST(BoardSpeed, RefusesAMissingSizeAnUnknownConfidenceAndNoSource) {
  EXPECT_EQ(error_of([](auto& j) { j["boards"][1]["speed"]["factor"].erase("3"); }),
            "b.json: boards[1].speed.factor.3: is missing, expected a number from 0.001 to 1000");
  EXPECT_EQ(
      error_of([](auto& j) { j["boards"][1]["speed"]["confidence"] = "sure"; }),
      "b.json: boards[1].speed.confidence: found 'sure', expected measured, derived or assumed");
  EXPECT_EQ(error_of([](auto& j) { j["boards"][1]["speed"].erase("sources"); }),
            "b.json: boards[1].speed.sources: is missing, expected at least one key of the sources "
            "table");
}

TEST(Profile, TheH200sHaveTheCopyEnginesThatNvmlTellsOf) {
  std::vector<int> engines;
  for (const Profile& profile : shipped_board("H200").profiles)
    engines.push_back(profile.copy_engines);
  EXPECT_EQ(engines, (std::vector<int>{1, 1, 1, 2, 3, 4, 8}));
  EXPECT_EQ(shipped_board("A100-40GB").profiles[0].copy_engines, 0) << "not known";
}

}  // namespace
}  // namespace smartmig
