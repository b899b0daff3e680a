#include "policy/placers.h"

#include <gtest/gtest.h>

#include <set>

#include "policy/situation.h"

namespace smartmig {
namespace {

// Three GPUs; a job is busy on one 1g slice of the last. What each placer does with one more job at
// time 0:
//   0  4-2-1    4g@0 2g@4 1g@6
//   1  7        7g@0
//   2  3-2-1-1  3g@4 2g@0 1g@3 free, 1g@2 busy
std::string choice(std::string_view placer, const Job& job) {
  Situation situation("3xA100-40GB", "4-2-1,7,3-2-1-1", {flat_job(1000, 1000), job},
                      fmt::format("static:4-2-1,7,3-2-1-1/{}", placer));
  situation.run(0, 2, 2);
  situation.arrive(1, 1);
  const auto starts = situation.place();
  return starts.size() == 1 ? starts[0].substr(sizeof "job 1 on " - 1) : "not one start";
}

TEST(Placers, EachChoosesItsOwnSliceForAJobWithSomeSlack) {
  // On time by 45 s everywhere but on 1g; the 4g is a little faster than the 7g.
  const Job job = make_job({84, 42, 28, 19, 20}, 45);
  EXPECT_EQ(choice("edf", job), "2:2@0") << "GPU 2 is the most occupied; its slowest slice on time";
  // Extra joules: 3g on GPU 2 124.9 W * 28 s = 3497, its 2g 86.3 * 42 = 3625, the 4g 203.9 * 19 =
  // 3874, the 7g 208.5 * 20 = 4170, the 2g of GPU 0 120 * 42 = 5040.
  EXPECT_EQ(choice("met", job), "2:3@4") << "least extra energy of those on time";
  EXPECT_EQ(choice("cedf", job), "1:7@0") << "GPU 1 has the largest mean slice";
  EXPECT_EQ(choice("shortest-remaining", job), "1:7@0") << "slices as cedf";
  EXPECT_EQ(choice("slowest-on-time", job), "0:2@4")
      << "the smallest on time anywhere, lowest index";
  EXPECT_EQ(choice("apparent-tardiness", job), "1:7@0") << "slices as cedf";
  EXPECT_EQ(choice("smallest-first", job), "0:1@6") << "late or not";
  EXPECT_EQ(choice("largest-first", job), "1:7@0");
  EXPECT_EQ(choice("first-fit", job), "0:4@0");
  EXPECT_EQ(choice("earliest-finish", job), "0:4@0");
}

TEST(Placers, ThoseThatMindTheDeadlineTakeTheEarliestEndOnceItIsLost) {
  const Job late = make_job({84, 42, 28, 19, 20}, 5);
  for (const char* placer : {"edf", "cedf", "shortest-remaining", "slowest-on-time",
                             "apparent-tardiness", "met", "earliest-finish"}) {
    EXPECT_EQ(choice(placer, late), "0:4@0") << placer;
  }
  EXPECT_EQ(choice("largest-first", late), "1:7@0");
  EXPECT_EQ(choice("smallest-first", late), "0:1@6");
}

TEST(Placers, GoByTheJobsTimesNotBySize) {
  // Fastest on 3g, and only there on time.
  const Job odd = make_job({84, 42, 10, 40, 40}, 30);
  EXPECT_EQ(choice("earliest-finish", odd), "2:3@4");
  EXPECT_EQ(choice("first-fit", odd), "0:4@0");
  for (const char* placer : {"edf", "cedf", "slowest-on-time"})
    EXPECT_EQ(choice(placer, odd), "2:3@4") << placer;
}

TEST(Placers, PassOverSlicesOnWhichTheJobDoesNotRun) {
  Job narrow = make_job({84, 0, 28, 0, 0}, 1000);
  EXPECT_EQ(choice("first-fit", narrow), "0:1@6");
  EXPECT_EQ(choice("largest-first", narrow), "2:3@4");
  narrow.memory_mib = 15'000;
  EXPECT_EQ(choice("smallest-first", narrow), "2:3@4");
}

TEST(Placers, MetAvoidsTardinessBeforeEnergy) {
  const Job job = make_job({84, 42, 28, 19, 18}, 18);
  EXPECT_EQ(choice("met", job), "1:7@0") << "a second late outweighs any energy at a = 2e-7";
}

// Which of four jobs goes first to a single slice.
std::string first_job(std::string_view placer) {
  const std::vector<Job> jobs = {
      flat_job(12, 100),                        // Earliest deadline.
      flat_job(5, 200),                         // Shortest.
      flat_job(80, 150),                        // Least slack: 70 s.
      make_job({350, 175, 117, 88, 50}, 300)};  // Class 1; the others are class 4.
  Situation situation("A100-40GB", "7", jobs, fmt::format("none/{}", placer));
  situation.arrive(0, 3);
  return situation.place().at(0);
}

TEST(Placers, EachTakesJobsInItsOwnOrder) {
  for (const std::string& placer : placer_names()) {
    const char* expected = placer == "cedf"                 ? "job 3 on 0:7@0"
                           : placer == "shortest-remaining" ? "job 1 on 0:7@0"
                                                            : "job 0 on 0:7@0";
    EXPECT_EQ(first_job(placer), expected) << placer;
  }
}

// Times of 60 and 10 s, mean 35 s. While job 0 is late and job 1 has 60 s of slack, 60 / 70 +
// ln(10) is below ln(60): the short one first, although the other is late already. With 140 s of
// slack it is above.
TEST(Placers, ApparentTardinessWeighsSlackAgainstLength) {
  for (const auto& [slack_s, first] : {std::pair{60, "job 1 on 0:7@0"}, {140, "job 0 on 0:7@0"}}) {
    Situation situation("A100-40GB", "7", {flat_job(60, 50), flat_job(10, 10 + slack_s)},
                        "none/apparent-tardiness");
    situation.arrive(0, 1);
    EXPECT_EQ(situation.place().at(0), first) << slack_s;
  }
}

TEST(Placers, TieToTheLowerJobAndGoOnUntilSlicesRunOut) {
  for (const std::string& placer : placer_names()) {
    if (placer == "random") continue;
    Situation situation("A100-40GB", "3-3", {flat_job(9, 50), flat_job(9, 50), flat_job(9, 50)},
                        fmt::format("static:3-3/{}", placer));
    situation.arrive(0, 2);
    EXPECT_EQ(situation.place(), (std::vector<std::string>{"job 0 on 0:3@0", "job 1 on 0:3@4"}))
        << placer;
  }
}

TEST(Placers, AJobThatRunsNowhereDoesNotHoldUpThoseBehindIt) {
  Job large = flat_job(9, 10);
  large.memory_mib = 30'000;
  for (const std::string& placer : placer_names()) {
    Situation situation("A100-40GB", "3-3", {large, flat_job(9, 50)},
                        fmt::format("static:3-3/{}", placer));
    situation.arrive(0, 1);
    const auto starts = situation.place();
    ASSERT_EQ(starts.size(), 1u) << placer;
    EXPECT_TRUE(starts[0].starts_with("job 1")) << placer;
  }
}

TEST(Placers, EdfCountsWhatItPlacedAtThisInstant) {
  // Both GPUs are empty: the first job makes GPU 0 the more occupied, the second follows it there.
  Situation situation("2xA100-40GB", "3-3,3-3", {flat_job(9, 50), flat_job(9, 60)},
                      "static:3-3*2/edf");
  situation.arrive(0, 1);
  EXPECT_EQ(situation.place(), (std::vector<std::string>{"job 0 on 0:3@0", "job 1 on 0:3@4"}));
}

TEST(Placers, UnderFreeTheWholeAssignmentIsMadeAndTheSlicesStayFree) {
  Situation situation("A100-40GB", "4-3", {flat_job(9, 50), flat_job(9, 40)},
                      "static:4-3/first-fit", Preemption::kFree);
  situation.run(0, 0, 0);
  situation.arrive(1, 1);
  EXPECT_EQ(situation.place(), (std::vector<std::string>{"job 1 on 0:4@0", "job 0 on 0:3@4"}));
  EXPECT_TRUE(situation.decision.whole);
  EXPECT_EQ(situation.place().size(), 2u) << "what it marked as taken is free again";
}

TEST(RandomPlacer, DrawsEverySliceAndTheSameOnesFromTheSameSeed) {
  const auto draws = [](Policy& policy) {
    Situation situation("2xA100-40GB", "4-3,2-2-2-1", {flat_job(9, 50)}, "none/first-fit",
                        Preemption::kFree);
    situation.arrive(0, 0);
    std::vector<SliceId> slices;
    for (int i = 0; i < 200; ++i) {
      View view = situation.view();
      decide_placement(policy, view, situation.decision);
      slices.push_back(situation.decision.starts.at(0).slice);
    }
    return slices;
  };
  const Fleet fleet = *Fleet::parse("2xA100-40GB");
  Policy policy = *make_policy("none/random", fleet, {2e-7, 7});
  Policy twin = policy;
  Policy other = *make_policy("none/random", fleet, {2e-7, 8});
  const auto drawn = draws(policy);
  EXPECT_EQ(drawn, draws(twin)) << "a clone goes on with draws of its own, from the same place";
  EXPECT_NE(drawn, draws(other));
  EXPECT_EQ(std::set<SliceId>(drawn.begin(), drawn.end()).size(), 6u)
      << "each of six slices, in 200 draws";
}

}  // namespace
}  // namespace smartmig
