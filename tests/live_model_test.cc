// The controller's model against the simulator: driven by a fleet that does exactly what is
// expected of it, it must come to the simulator's schedule; and it must come to it again from its
// own events.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <thread>

#include "base/clock.h"
#include "control/counterfactual.h"
#include "control/model.h"
#include "control/modelled_fleet.h"
#include "fleet/objective.h"
#include "foresight/named_policies.h"
#include "sim/metrics.h"
#include "workload/generator.h"

namespace smartmig {
namespace {

constexpr std::size_t kJobs = 600;

JobTable whole_day(double rate, std::uint64_t seed) {
  GeneratorOptions options;
  options.rate = rate;
  options.seed = seed;
  return generate(options);
}

JobTable part_of_a_day(double rate, std::uint64_t seed) {
  JobTable table = whole_day(rate, seed);
  table.jobs.resize(std::min(kJobs, table.jobs.size()));
  return table;
}

Snapshot empty_fleet(const std::string& fleet, const std::string& policy) {
  Snapshot snapshot;
  snapshot.setup.fleet = fleet;
  snapshot.setup.policy = policy;
  snapshot.setup.limits.changes_per_gpu_hour = 1e9;
  const GpuIndex gpus = Fleet::parse(fleet)->gpu_count();
  snapshot.gpus.resize(gpus);
  return snapshot;
}

// The simulator's first layouts are there from the start.
Snapshot begun_fleet(const std::string& fleet_name, const std::string& policy) {
  Snapshot snapshot = empty_fleet(fleet_name, policy);
  const Fleet fleet = *Fleet::parse(fleet_name);
  State state(fleet, {}, {});
  ViewScratch scratch;
  std::vector<SlotSet> first;
  make_named_policy(policy, fleet)->partitioner->first_layouts(View(state, scratch), first);
  for (GpuIndex gpu = 0; gpu < fleet.gpu_count(); ++gpu)
    snapshot.gpus[gpu].present = snapshot.gpus[gpu].target = first[gpu];
  return snapshot;
}

// Carries out every order in exactly the time the model expects, from the time of its cause on, as
// the simulated fleet does.
class PerfectFleet {
 public:
  // What it does is heard of `late_us` after it happened.
  PerfectFleet(const Snapshot& snapshot, const JobTable& table, TimeUs late_us = 0)
      : table_(table),
        late_us_(late_us),
        model_(*Model::make(snapshot, table.jobs.front().submit_us)) {}

  // After every `rebase_every`-th round the model begins anew from where it stands; 0: never.
  void run(int rebase_every = 0) {
    std::size_t next = 0;
    int rounds = 0;
    while (finish_us_.size() < table_.jobs.size()) {
      while (!due_.empty() && !still_true(due_.begin()->second)) due_.erase(due_.begin());
      TimeUs now = next < table_.jobs.size() ? table_.jobs[next].submit_us : kNever;
      if (!due_.empty()) now = std::min(now, due_.begin()->first);
      now = std::min(now, model_.next_due_us());
      ASSERT_NE(now, kNever) << finish_us_.size() << " jobs ended";
      if (model_.next_due_us() == now) cause_us_ = std::max(cause_us_, now);
      while (!due_.empty() && due_.begin()->first == now) {
        const Due due = due_.begin()->second;
        due_.erase(due_.begin());
        if (!still_true(due)) continue;
        ASSERT_TRUE(feed(due.event)) << to_string(due.event.kind);
        if (due.event.kind == Event::Kind::kEnded) finish_us_[due.event.job] = due.event.at_us;
      }
      for (; next < table_.jobs.size() && table_.jobs[next].submit_us == now; ++next) {
        Event event;
        event.kind = Event::Kind::kSubmit;
        event.at_us = now;
        event.job = static_cast<JobNumber>(next) + 1;
        event.work = table_.jobs[next];
        ASSERT_TRUE(feed(event));
      }
      take(model_.round(cause_us_));
      if (rebase_every > 0 && ++rounds % rebase_every == 0) rebase();
    }
  }

  double avg_tardiness_s() const {
    double sum = 0;
    for (const auto& [number, end] : finish_us_)
      sum += to_s(
          std::max<TimeUs>(0, end - table_.jobs[static_cast<std::size_t>(number) - 1].deadline_us));
    return sum / static_cast<double>(finish_us_.size());
  }
  double energy_j() { return energy_j_ + model_.state().power().energy_j(model_.now()); }
  const std::map<JobNumber, TimeUs>& finish_us() const { return finish_us_; }
  Model& model() { return model_; }

 private:
  void rebase() {
    energy_j_ += model_.state().power().energy_j(model_.now());
    Event begin;
    begin.kind = Event::Kind::kBegin;
    begin.snapshot = model_.snapshot();
    const EventRow row = to_row(begin);
    model_ = *Model::make(parse_event(row)->snapshot, model_.now());
    begin.snapshot = model_.snapshot();
    EXPECT_EQ(to_row(begin).body, row.body);
  }
  bool feed(const Event& event) {
    cause_us_ = std::max(cause_us_, event.at_us);
    // What the journal would give back, not the object itself.
    return model_.apply(*parse_event(to_row(event)));
  }
  struct Run {
    int number = 0;  // Counts its stop as well.
    TimeUs end_us = 0;
  };
  // What is expected of a run, unless it is stopped first, or of a step.
  struct Due {
    Event event;
    int run = 0;
  };
  bool still_true(const Due& due) const {
    return due.event.kind == Event::Kind::kStepDone || due.run == runs_.at(due.event.job).number;
  }
  void take(const Round& round) {
    for (const Order& order : round.orders) {
      Due due;
      due.event.at_us = order.expected_us;
      due.event.gpu = order.gpu;
      due.event.kind = Event::Kind::kStepDone;
      if (order.job != kNone && !take(order, due)) continue;
      due_.emplace(due.event.at_us + late_us_, due);
    }
  }
  bool take(const Order& order, Due& due) {
    due.event.job = model_.number_of(order.job);
    Run& run = runs_[due.event.job];
    if (order.kind == Order::Kind::kStart) {
      due.event.kind = Event::Kind::kEnded;
      run.end_us = order.expected_us;
    } else {
      if (run.end_us <= cause_us_) return false;  // It has ended, and that is not heard of yet.
      due.event.kind = Event::Kind::kSaved;
      due.event.left = model_.state().job_state(order.job).saved_left;
    }
    due.run = ++run.number;
    return true;
  }

  const JobTable& table_;
  TimeUs late_us_;
  Model model_;
  TimeUs cause_us_ = 0;             // Of what is decided next.
  std::multimap<TimeUs, Due> due_;  // By when it is heard of.
  std::map<JobNumber, Run> runs_;   // The last of each job.
  std::map<JobNumber, TimeUs> finish_us_;
  double energy_j_ = 0;  // Of models before this one.
};

constexpr const char* kFleet = "8xA100-40GB";

struct Simulated {
  Simulated(const JobTable& table, const char* policy)
      : fleet(*Fleet::parse(kFleet)),
        engine(fleet, table, *make_named_policy(policy, fleet), options()) {
    EXPECT_TRUE(engine.run().has_value());
  }
  static EngineOptions options() {
    EngineOptions options;
    options.costs = Costs::real();
    options.preemption = Preemption::kCheckpoint;
    return options;
  }
  Fleet fleet;
  Engine engine;
};

class LiveModelOf : public testing::TestWithParam<const char*> {};

TEST_P(LiveModelOf, ComesToTheSimulatorsSchedule) {
  const JobTable table = part_of_a_day(20, 5);
  const Metrics expected = measure(Simulated(table, GetParam()).engine, 2e-7);
  PerfectFleet live(begun_fleet(kFleet, GetParam()), table);
  live.run();
  // A slice gets its job when the whole change it belongs to is done, some tenths of a second later
  // than in the simulator; and nothing is cut for nobody.
  EXPECT_NEAR(live.avg_tardiness_s(), expected.avg_tardiness_s, 0.01 * expected.avg_tardiness_s);
  EXPECT_NEAR(live.energy_j(), expected.energy_j, 0.002 * expected.energy_j);
}

// The last jobs, too, which nothing else happens after. Of these days `smartmig` stops the last.
TEST_P(LiveModelOf, LeavesNoJobBehindWhereAllIsHeardOfLate) {
  struct Case {
    std::uint64_t seed;
    std::size_t jobs;
    int late_s;
  };
  for (const Case& one : {Case{2183, 60, 20}, {693, 60, 60}, {88, 100, 20}, {15, 150, 60}}) {
    SCOPED_TRACE(one.seed);
    JobTable table = part_of_a_day(20, one.seed);
    table.jobs.resize(one.jobs);
    PerfectFleet live(begun_fleet(kFleet, GetParam()), table, one.late_s * kSecondUs);
    live.run();
    EXPECT_EQ(live.finish_us().size(), table.jobs.size());
  }
}

// At a thousand times real time a millisecond is a second. A day is chaotic, so this takes several.
TEST_P(LiveModelOf, LosesLittleWhereAllIsHeardOfASecondLater) {
  double et = 0;
  double expected_et = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const JobTable table = whole_day(20, seed);
    const Metrics expected = measure(Simulated(table, GetParam()).engine, 2e-7);
    PerfectFleet live(begun_fleet(kFleet, GetParam()), table, kSecondUs);
    live.run();
    expected_et += expected.et;
    const double energy_share = expected.et - expected.avg_tardiness_s / 60;
    et += live.avg_tardiness_s() / 60 + energy_share * live.energy_j() / expected.energy_j;
  }
  EXPECT_NEAR(et, expected_et, 0.02 * expected_et);
}

TEST_P(LiveModelOf, GoesOnFromASnapshotOfItself) {
  const JobTable table = part_of_a_day(20, 7);
  PerfectFleet whole(begun_fleet(kFleet, GetParam()), table);
  whole.run();
  PerfectFleet pieces(begun_fleet(kFleet, GetParam()), table);
  // One that looks ahead draws futures from the jobs that it has seen arrive.
  pieces.run(GetParam() == std::string_view("smartmig") ? 200 : 7);
  ASSERT_EQ(pieces.finish_us().size(), whole.finish_us().size());
  // Policies that remember (learned ones, a change that they have planned) begin anew each time.
  EXPECT_NEAR(pieces.energy_j(), whole.energy_j(), 0.02 * whole.energy_j());
}

TEST(LiveModel, IsTheSimulatorToTheMicrosecondWhereLayoutsStay) {
  for (const char* policy : {"none/edf", "static:7,4-3*4,3-2-2*3/cedf"}) {
    SCOPED_TRACE(policy);
    const JobTable table = part_of_a_day(20, 6);
    const Simulated expected(table, policy);
    for (const int rebase_every : {0, 3}) {
      PerfectFleet live(begun_fleet(kFleet, policy), table);
      live.run(rebase_every);
      ASSERT_EQ(live.finish_us().size(), table.jobs.size());
      for (const auto& [number, end] : live.finish_us())
        ASSERT_EQ(end, expected.engine.finish_us()[static_cast<std::size_t>(number) - 1]) << number;
    }
  }
}

bool comes_true(const std::function<bool()>& what, int most_s) {
  const std::int64_t end_ns = monotonic_ns() + most_s * std::int64_t{1'000'000'000};
  while (!what()) {
    if (monotonic_ns() > end_ns) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

ModelledFleet whole_fleet(const JobTable& table, std::int64_t remembered_jobs) {
  const Setup setup = empty_fleet(kFleet, "none/edf").setup;
  return *ModelledFleet::make(setup, {}, table.jobs.front().submit_us, remembered_jobs);
}

ModelledFleet::Totals totals_of(ModelledFleet fleet, const JobTable& table) {
  for (std::size_t i = 0; i < table.jobs.size(); ++i)
    fleet.submit(static_cast<JobNumber>(i) + 1, table.jobs[i], table.jobs[i].submit_us);
  TimeUs now = table.jobs.back().submit_us;
  while (!fleet.idle()) fleet.advance(now += kSecondUs);
  EXPECT_EQ(fleet.totals(now).done, static_cast<std::int64_t>(table.jobs.size()));
  return fleet.totals(now);
}

TEST(ModelledFleet, IsTheSimulator) {
  const JobTable table = part_of_a_day(20, 8);
  const Simulated simulated(table, "none/edf");
  const Metrics expected = measure(simulated.engine, 2e-7);
  for (const std::int64_t remembered : {100'000, 50}) {
    SCOPED_TRACE(remembered);
    const auto totals = totals_of(whole_fleet(table, remembered), table);
    EXPECT_NEAR(totals.tardiness_s, expected.avg_tardiness_s * kJobs, 1e-6 * totals.tardiness_s);
    EXPECT_NEAR(100.0 * static_cast<double>(totals.late) / kJobs, expected.late_pct, 1e-9);
    // It is looked at up to a second after the last job.
    EXPECT_NEAR(totals.energy_j, expected.energy_j, 0.001 * expected.energy_j);
  }
}

TEST(ModelledFleet, GathersWhatHappensForFewerRounds) {
  const JobTable table = part_of_a_day(20, 8);
  ModelledFleet often = whole_fleet(table, 100'000);
  ModelledFleet seldom = often;
  seldom.set_gather(5 * kSecondUs);
  const auto exact = totals_of(often, table);
  const auto gathered = totals_of(seldom, table);
  EXPECT_NEAR(gathered.energy_j, exact.energy_j, 0.01 * exact.energy_j);
  EXPECT_GT(gathered.tardiness_s, exact.tardiness_s);
  EXPECT_LT(gathered.tardiness_s, exact.tardiness_s + 60.0 * kJobs);
}

TEST(ModelledFleet, ForgetsAJobThatIsWithdrawn) {
  const JobTable table = part_of_a_day(20, 8);
  ModelledFleet fleet = whole_fleet(table, 100'000);
  TimeUs now = table.jobs.front().submit_us;
  for (JobNumber number = 1; number <= 20; ++number)
    fleet.submit(number, table.jobs[static_cast<std::size_t>(number) - 1], now);
  now += kSecondUs;
  fleet.advance(now);
  // Of eight that run and twelve that wait, some of each.
  for (JobNumber number = 1; number <= 20; number += 2) fleet.withdraw(number, now);
  fleet.withdraw(77, now);
  for (int i = 0; i < 100'000 && !fleet.idle(); ++i) fleet.advance(now += kSecondUs);
  EXPECT_TRUE(fleet.idle());
  EXPECT_EQ(fleet.totals(now).done, 10);
}

TEST(Counterfactual, IsGivenUpWhereItsQueueGrowsForEver) {
  constexpr std::size_t kMostWaiting = 100;
  const JobTable table = part_of_a_day(20, 8);
  const TimeUs now = table.jobs.front().submit_us;
  Counterfactual other(whole_fleet(table, 100'000), "none/edf", {now, monotonic_ns(), 1},
                       kMostWaiting);
  const auto submit = [&](std::size_t first, std::size_t end) {
    for (std::size_t i = first; i < end; ++i)
      other.submitted(static_cast<JobNumber>(i) + 1, table.jobs[i], now);
  };
  submit(0, kMostWaiting);
  EXPECT_FALSE(comes_true([&] { return !other.totals(now); }, 1));
  submit(kMostWaiting, 2 * kMostWaiting);  // Eight run.
  EXPECT_TRUE(comes_true([&] { return !other.totals(now); }, 20));
  submit(2 * kMostWaiting, kJobs);  // To nobody.
  EXPECT_FALSE(other.totals(now).has_value());
}

INSTANTIATE_TEST_SUITE_P(Policies, LiveModelOf,
                         testing::Values("none/edf", "static:7,4-3*4,3-2-2*3/cedf", "count/cedf",
                                         "greedy", "mean-field/cedf", "smartmig"));

}  // namespace
}  // namespace smartmig
