#include "fleet/fleet.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace smartmig {
namespace {

std::string fleet_error_of(std::string_view spec) {
  const auto fleet = Fleet::parse(spec);
  return fleet ? "no error" : fleet.error().message;
}

// A file of the test's own, gone with it.
class TextFile {
 public:
  TextFile(const std::string& name, std::string_view text) : path_(testing::TempDir() + name) {
    std::ofstream(path_, std::ios::binary) << text;
  }
  ~TextFile() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(Fleet, ReadsCountsNamesAndMixtures) {
  EXPECT_EQ(Fleet::parse("8xA100-40GB")->gpu_count(), 8u);
  EXPECT_EQ(Fleet::parse("A100-40GB")->gpu_count(), 1u);
  EXPECT_EQ(Fleet::parse("2xh200")->board(1).name, "H200-141GB") << "an alias, in any case";
  const auto mixed = Fleet::parse("2xA100-40GB+A30+A100-40GB");
  ASSERT_TRUE(mixed);
  EXPECT_EQ(mixed->name(), "2xA100-40GB+1xA30+1xA100-40GB");
  ASSERT_EQ(mixed->boards().size(), 2u);
  EXPECT_EQ(mixed->board(2).name, "A30");
  EXPECT_EQ(mixed->board_index(3), 0);
  EXPECT_EQ(mixed->compute_slices(), 7 + 7 + 4 + 7);
  EXPECT_EQ(kSizes[mixed->largest_size()], 7);
  EXPECT_EQ(kSizes[Fleet::parse("A30")->largest_size()], 4);
}

TEST(Fleet, WritesOneTermForNeighboursOfOneBoard) {
  const std::string boards[] = {"A100-40GB", "A100-40GB", "H100-80GB", "A100-40GB"};
  EXPECT_EQ(fleet_spec(boards), "2xA100-40GB+1xH100-80GB+1xA100-40GB");
  EXPECT_EQ(Fleet::parse(fleet_spec(boards))->name(), fleet_spec(boards));
}

TEST(Fleet, ReadsAFileWithOneTermALineAndComments) {
  const TextFile file("two_racks.fleet", "# rack 1\n2xA100-40GB\r\n\n  A30  # borrowed\n");
  const auto fleet = Fleet::parse(file.path());
  ASSERT_TRUE(fleet) << fleet.error().message;
  EXPECT_EQ(fleet->name(), "2xA100-40GB+1xA30");
}

TEST(Fleet, NamesTheLineOfABadFile) {
  const TextFile file("bad.fleet", "2xA100-40GB\n\nA100-41GB\n");
  EXPECT_EQ(fleet_error_of(file.path()),
            file.path() + ":3: fleet: unknown board 'A100-41GB'; did you mean 'A100-40GB'?");
  const TextFile empty("empty.fleet", "# nothing yet\n");
  EXPECT_EQ(fleet_error_of(empty.path()), "fleet: has no GPUs, expected at least one");
  EXPECT_NE(fleet_error_of("/no/such/place.fleet").find("/no/such/place.fleet"), std::string::npos);
}

TEST(Fleet, SaysWhatIsWrongWithASpec) {
  EXPECT_EQ(fleet_error_of(""), "fleet: is empty, expected for example 8xA100-40GB");
  EXPECT_EQ(fleet_error_of("8xA100-40G"),
            "fleet: unknown board 'A100-40G'; did you mean 'A100-40GB'?");
  EXPECT_EQ(fleet_error_of("4xA100"),
            "fleet: unknown board 'A100'; did you mean 'A100-40GB' or 'A100-80GB'?");
  EXPECT_EQ(fleet_error_of("0xA100-40GB"), "fleet: found '0xA100-40GB', expected at least one GPU");
  EXPECT_EQ(fleet_error_of("-3xA30"), "fleet: found '-3xA30', expected at least one GPU");
  EXPECT_EQ(fleet_error_of("4000001xA30"),
            "fleet: found '4000001xA30', expected at most 4000000 GPUs");
  EXPECT_EQ(fleet_error_of("3999999xA30+2xA30"),
            "fleet: found '2xA30', expected at most 4000000 GPUs");
  EXPECT_NE(fleet_error_of("2xA30+").find("unknown board ''"), std::string::npos);
}

TEST(Fleet, NumbersSlicesByGpuThenStart) {
  const Fleet fleet = *Fleet::parse("3xA100-40GB");
  EXPECT_EQ(fleet.slice_at(2, 5), 2 * fleet.stride() + 5);
  EXPECT_EQ(fleet.gpu_of(fleet.slice_at(2, 7)), 2u);
  EXPECT_EQ(fleet.start_of(fleet.slice_at(2, 7)), 7u);
  EXPECT_EQ(fleet.slice_count(), 3 * fleet.stride());
}

Job linear_job_of(double first_s) {
  Job job;
  for (int size = 0; size < kSizeCount; ++size) job.time_us[size] = to_us(first_s / kSizes[size]);
  return job;
}

// The kinds as text: "A100-40GB:3 A30:2".
std::string kinds_text(const Fleet& fleet, KindSet set) {
  std::string text;
  for (; set; set &= set - 1) {
    const SliceKind& kind = fleet.kinds()[std::countr_zero(set)];
    const Board& board = *fleet.boards()[kind.board];
    text += (text.empty() ? "" : " ") + board.name + ":" + board.profiles[kind.profile].name;
  }
  return text;
}

TEST(Fleet, AJobRunsWhereItHasATimeAndItsMemoryFits) {
  const Fleet fleet = *Fleet::parse("A100-40GB+A30");
  Job job = linear_job_of(84);
  EXPECT_EQ(
      kinds_text(fleet, fleet.kinds_for(job)),
      "A100-40GB:1g.5gb A100-40GB:1g.10gb A100-40GB:2g.10gb A100-40GB:3g.20gb A100-40GB:4g.20gb "
      "A100-40GB:7g.40gb A30:1g.6gb A30:2g.12gb A30:4g.24gb");
  job.memory_mib = 9856;
  job.time_us[size_index(4)] = 0;
  EXPECT_EQ(kinds_text(fleet, fleet.kinds_for(job)),
            "A100-40GB:1g.10gb A100-40GB:2g.10gb A100-40GB:3g.20gb A100-40GB:7g.40gb A30:2g.12gb");
  job.memory_mib = 40193;
  EXPECT_EQ(fleet.kinds_for(job), 0u);
}

bool faster_by_index(const Fleet& fleet, const Job& job) {
  return fleet.faster_by_index(job, fleet.kinds_for(job));
}

TEST(Fleet, KnowsForWhichJobsLargerKindsAreFaster) {
  const Fleet fleet = *Fleet::parse("A100-40GB");
  Job job = linear_job_of(84);
  EXPECT_TRUE(faster_by_index(fleet, job));
  job.time_us[size_index(3)] = 0;
  EXPECT_TRUE(faster_by_index(fleet, job));
  job.time_us[size_index(7)] = job.time_us[size_index(4)];
  EXPECT_FALSE(faster_by_index(fleet, job)) << "as fast on 4g as on 7g";
  EXPECT_FALSE(faster_by_index(*Fleet::parse("A100-40GB+A30"), linear_job_of(84)))
      << "1g of the second board is slower";
}

TEST(LayoutList, RepeatsWithAStar) {
  const Fleet fleet = *Fleet::parse("8xA100-40GB");
  const auto list = parse_layout_list("7,4-3*4,3-2-2*3", fleet);
  ASSERT_TRUE(list) << list.error().message;
  std::string names;
  for (const SlotSet set : *list) names += layout_name(fleet.board(0), set) + " ";
  EXPECT_EQ(names, "7 4-3 4-3 4-3 4-3 3-2-2 3-2-2 3-2-2 ");
}

TEST(LayoutList, TakesEachLayoutOnItsOwnBoard) {
  EXPECT_TRUE(parse_layout_list("7,4", *Fleet::parse("A100-40GB+A30")));
  EXPECT_NE(parse_layout_list("4,7", *Fleet::parse("A100-40GB+A30")).error().message.find("A30"),
            std::string::npos);
}

TEST(LayoutList, SaysWhatIsWrong) {
  const Fleet fleet = *Fleet::parse("3xA100-40GB");
  const auto error = [&](std::string_view text) {
    const auto list = parse_layout_list(text, fleet);
    return list ? "no error" : list.error().message;
  };
  EXPECT_EQ(error("7,7"),
            "layouts: 2 given for 3 GPUs in '7,7', expected one for each (LAYOUT*COUNT repeats)");
  EXPECT_EQ(error("7*4"), "layouts: more than the fleet's 3 GPUs in '7*4'");
  EXPECT_EQ(error("7,7,7,7"), "layouts: more than the fleet's 3 GPUs in '7,7,7,7'");
  EXPECT_EQ(error("7,4-3*0,7"), "layouts: found '4-3*0', expected LAYOUT*COUNT");
  EXPECT_EQ(error("7*two,7"), "layouts: found '7*two', expected LAYOUT*COUNT");
  EXPECT_NE(error("7,3-3-1,7")
                .find("layout '3-3-1' on A100-40GB: these slices cannot stand on one GPU together"),
            std::string::npos);
  EXPECT_NE(error("7,4-4,7").find("found 2 slices of 4g.20gb, expected at most 1"),
            std::string::npos);
  EXPECT_NE(error("").find("layout ''"), std::string::npos);
  EXPECT_EQ(error("7,7,4-1g.5gb+me"),
            "layouts: found '4-1g.5gb+me', expected base or double-memory profiles only");
}

TEST(Fleet, WithPowerScaledDrawsThatMuchInEveryState) {
  const Fleet fleet = *Fleet::parse("1xA100-40GB+2xH200-141GB");
  Fleet half = fleet.with_power_scaled(.5);
  half = Fleet(half);  // A copy keeps the boards alive that the first one made.
  EXPECT_EQ(half.name(), fleet.name());
  for (GpuIndex gpu = 0; gpu < fleet.gpu_count(); ++gpu) {
    const BoardPower& power = half.board(gpu).power;
    const BoardPower& whole = fleet.board(gpu).power;
    ASSERT_EQ(power.busy_w.size(), whole.busy_w.size());
    for (std::size_t busy = 0; busy < power.busy_w.size(); ++busy)
      EXPECT_DOUBLE_EQ(power.busy_w[busy], whole.busy_w[busy] / 2);
    EXPECT_DOUBLE_EQ(power.context_idle_w, whole.context_idle_w / 2);
    EXPECT_DOUBLE_EQ(power.cap_w, whole.cap_w / 2);
    EXPECT_DOUBLE_EQ(power.job_scale, .5);
  }
}

}  // namespace
}  // namespace smartmig
