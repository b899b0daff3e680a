#include "report/timeline.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "policy/registry.h"
#include "report/bin_means.h"
#include "report/packed.h"
#include "workload/generator.h"

namespace smartmig {
namespace {

struct TimelineRun {
  explicit TimelineRun(int count, const char* policy = "count/cedf")
      : jobs(make_jobs(count)), engine(fleet, jobs, *make_policy(policy, fleet), options()) {
    EXPECT_TRUE(engine.run());
  }
  static JobTable make_jobs(int count) {
    GeneratorOptions options;
    options.fixed_rate = true;
    options.rate = 3;
    options.count = count;
    return generate(options);
  }
  static EngineOptions options() {
    EngineOptions options;
    options.records = true;
    options.stays = true;
    return options;
  }
  Fleet fleet = *Fleet::parse("2xA100-40GB");
  JobTable jobs;
  Engine engine;
};

TimeUs busy_us(const Timeline& timeline) {
  TimeUs sum = 0;
  for (const TimelinePiece& piece : timeline.pieces) sum += piece.busy_us;
  return sum;
}

TEST(Timeline, HasEveryStayWhereThereIsRoom) {
  const TimelineRun ran(100);
  const Timeline timeline = make_timeline(ran.engine, 1'000'000);
  EXPECT_EQ(timeline.merged_us, 0);
  EXPECT_EQ(timeline.pieces.size(), ran.engine.records()->stays().size());
  for (const TimelinePiece& piece : timeline.pieces) EXPECT_NE(piece.job, kNone);
}

TEST(Timeline, MergesTheShortestUntilItFitsAndLosesNoTime) {
  const TimelineRun ran(300);
  const Timeline whole = make_timeline(ran.engine, 1'000'000);
  const Timeline merged = make_timeline(ran.engine, 400);
  EXPECT_GT(merged.merged_us, 0);
  EXPECT_LE(merged.pieces.size(), 400u);
  EXPECT_EQ(busy_us(merged), busy_us(whole));
  std::size_t stays = 0;
  for (const TimelinePiece& piece : merged.pieces) {
    stays += piece.stays;
    EXPECT_EQ(piece.job == kNone, piece.stays > 1);
    EXPECT_LE(piece.busy_us, piece.end_us - piece.begin_us);
  }
  EXPECT_EQ(stays, whole.pieces.size());
}

TEST(Timeline, PiecesOfASliceDoNotOverlap) {
  const TimelineRun ran(300);
  for (const std::size_t room : {1'000'000, 300}) {
    std::map<SliceId, TimeUs> until;
    for (const TimelinePiece& piece : make_timeline(ran.engine, room).pieces) {
      EXPECT_GE(piece.begin_us, until[piece.slice]);
      until[piece.slice] = piece.end_us;
    }
  }
}

TEST(Timeline, PowerIsTheRunsEnergyAndTheQueueIsWhatWaits) {
  const TimelineRun ran(200, "none/edf");
  const Timeline timeline = make_timeline(ran.engine, 1'000'000);
  double energy_j = 0;
  double waited_s = 0;
  for (std::size_t bin = 0; bin < timeline.queue.size(); ++bin) {
    const TimeUs begin = timeline.begin_us + static_cast<TimeUs>(bin) * timeline.bin_us;
    const double length = to_s(std::min(timeline.bin_us, timeline.end_us - begin));
    energy_j += timeline.power_w[bin] * length;
    waited_s += timeline.queue[bin] * length;
  }
  const double run_j = ran.engine.energy_j();
  EXPECT_NEAR(energy_j / run_j, 1, 1e-9);
  double expected_s = 0;
  for (JobIndex job = 0; job < ran.jobs.jobs.size(); ++job)
    expected_s += to_s(ran.engine.finish_us()[job] - ran.jobs.jobs[job].submit_us);
  for (const StayRecord& stay : ran.engine.records()->stays())
    expected_s -= to_s(stay.end_us - stay.begin_us);
  EXPECT_GT(expected_s, 0);
  EXPECT_NEAR(waited_s / expected_s, 1, 1e-9);
}

TEST(Timeline, APartHasWhatTheWholeHasThen) {
  const TimelineRun ran(300);
  const Timeline whole = make_timeline(ran.engine, 1'000'000);
  const TimeSpan span = {whole.begin_us + 20 * kMinuteUs, whole.begin_us + 50 * kMinuteUs};
  const Timeline part = make_timeline(ran.engine, 1'000'000, span);
  TimeUs expected = 0;
  for (const TimelinePiece& piece : whole.pieces) {
    const TimeUs begin = std::max(piece.begin_us, span.begin_us);
    expected += std::max<TimeUs>(0, std::min(piece.end_us, span.end_us) - begin);
  }
  EXPECT_EQ(busy_us(part), expected);
  EXPECT_GT(expected, 0);
  // A GPU has from the begin on what it had then.
  for (GpuIndex gpu = 0; gpu < 2; ++gpu) {
    SlotSet then = 0;
    for (const TimelineLayout& layout : whole.layouts)
      if (layout.gpu == gpu && layout.begin_us <= span.begin_us) then = layout.ready;
    const auto first =
        std::find_if(part.layouts.begin(), part.layouts.end(),
                     [&](const TimelineLayout& layout) { return layout.gpu == gpu; });
    ASSERT_NE(first, part.layouts.end());
    EXPECT_EQ(first->begin_us, span.begin_us);
    EXPECT_EQ(first->ready, then);
  }
  // Bins of the part are bins of the whole: both begin on a round time of the run.
  ASSERT_EQ(part.bin_us % kSecondUs, 0);
  double part_j = 0;
  for (const double watts : part.power_w) part_j += watts * to_s(part.bin_us);
  double whole_j = 0;
  for (std::size_t bin = 0; bin < whole.power_w.size(); ++bin) {
    const TimeUs begin = whole.begin_us + static_cast<TimeUs>(bin) * whole.bin_us;
    if (begin >= span.begin_us && begin < span.end_us)
      whole_j += whole.power_w[bin] * to_s(whole.bin_us);
  }
  EXPECT_NEAR(part_j / whole_j, 1, 1e-9);
}

TEST(Timeline, ALongRunThatDoesNotFitShowsADayOfItToo) {
  const TimelineRun ran(300);
  EXPECT_EQ(timeline_widgets(ran.engine, {"t", "run"}, 1'000'000).size(), 1u);
  EXPECT_EQ(timeline_widgets(ran.engine, {"t", "run"}, 300).size(), 1u) << "shorter than two days";

  // A job at noon of each of five days: on time, 3 h late, 1 h late, 5 h late, 2 h late.
  JobTable table;
  int day = 0;
  for (const TimeUs late_h : {0, 3, 1, 5, 2}) {
    Job job;
    job.submit_us = day++ * kDayUs + 12 * kHourUs;
    job.time_us.fill(6 * kHourUs);
    job.deadline_us = job.submit_us + (6 - late_h) * kHourUs;
    table.jobs.push_back(job);
  }
  table.nominal_days = 5;
  Engine engine(ran.fleet, table, *make_policy("none/edf", ran.fleet), TimelineRun::options());
  ASSERT_TRUE(engine.run());
  EXPECT_EQ(median_clock_day(engine), 4);
  EXPECT_EQ(timeline_widgets(engine, {"t", "run"}, 1'000).size(), 1u) << "it fits";
  const auto widgets = timeline_widgets(engine, {"t", "run"}, 10);
  ASSERT_EQ(widgets.size(), 2u);
  EXPECT_EQ(widgets[1].label, "run, day 4 of the run");
}

TEST(Timeline, TheStillPictureStaysSmall) {
  const TimelineRun ran(2000);
  const Timeline timeline = make_timeline(ran.engine, 1'000'000);
  const std::string svg = timeline_still(timeline, ran.engine, {"t", "A day"});
  EXPECT_LT(svg.size(), 200'000u);
  EXPECT_NE(svg.find("class=\"training\""), std::string::npos);
  EXPECT_NE(svg.find(">GPU 1</text>"), std::string::npos);
}

TEST(Timeline, ItsDataNamesEveryJobThatHasAPiece) {
  const TimelineRun ran(50);
  const Timeline timeline = make_timeline(ran.engine, 1'000'000);
  const auto json = nlohmann::json::parse(timeline_data(timeline, ran.engine));
  EXPECT_EQ(json["jobs"]["count"], 50);
  EXPECT_EQ(json["pieces"]["count"], timeline.pieces.size());
  EXPECT_EQ(json["gpus"].size(), 2u);
  EXPECT_EQ(json["queue"].size(), timeline.queue.size());
}

TEST(Timeline, ClockTicksAreRound) {
  std::string labels;
  for (const Tick& tick : clock_ticks(50 * kMinuteUs, 26 * kHourUs, 10)) labels += tick.label + ' ';
  EXPECT_EQ(labels, "03:00 06:00 09:00 12:00 15:00 18:00 21:00 00:00 ");
  labels.clear();
  for (const Tick& tick : clock_ticks(0, 50 * kDayUs, 6)) labels += tick.label + ' ';
  EXPECT_EQ(labels, "day 0 day 10 day 20 day 30 day 40 day 50 ");
}

TEST(BinMeans, SpreadsAValueOverTheBinsItSpans) {
  BinMeans<std::int64_t> bins(100, 145, 10);
  bins.add(95, 105, 2);   // Half of the first bin, which begins at 100.
  bins.add(108, 131, 1);  // A fifth, two whole bins, a tenth.
  bins.add(141, 999, 4);  // Four fifths of the last, which is half as long.
  EXPECT_EQ(bins.means(), (std::vector<double>{1.2, 1, 1, .1, 3.2}));
}

TEST(Packed, IsBase64OfGzipOfSevenBitGroups) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  PackedColumn column;
  column.add(300);
  column.add_signed(-1);
  column.add_signed(2);
  EXPECT_EQ(column.text(), base64(gzip("\xac\x02\x01\x04")));
}

}  // namespace
}  // namespace smartmig
