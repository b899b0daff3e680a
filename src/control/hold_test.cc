// A layout that an operator holds: every family of policies leaves it as it is and still places
// jobs on its slices, it is in a snapshot, and it ends with kUnhold.
#include <gtest/gtest.h>

#include <map>
#include <queue>
#include <set>

#include "control/job_request.h"
#include "control/model.h"
#include "fleet/state_check.h"

namespace smartmig {
namespace {

// At least one of each family: joint, by the number of jobs, learned, fixed, by the time of day.
constexpr const char* kFamilies[] = {"smartmig",
                                     "greedy",
                                     "count/cedf",
                                     "mean-field/cedf",
                                     "none/edf",
                                     "static:4-3*3/cedf",
                                     "day-night:0=7*3+1=2-2-2-1*3/cedf"};

// A fleet that carries out each order when the model expects it to be done.
class ObedientFleet {
 public:
  explicit ObedientFleet(const Snapshot& begin) : model(*Model::make(begin, 0)) {}

  void tell(Event event) {
    event.at_us = now;
    ASSERT_TRUE(model.apply(event)) << to_string(event.kind);
  }
  void tell(Event::Kind kind, GpuIndex gpu, SlotSet slots = 0) {
    Event event;
    event.kind = kind;
    event.gpu = gpu;
    event.slots = slots;
    tell(event);
  }
  void submit(JobNumber number, const char* profile, double work_s, double deadline_s) {
    JobRequest request;
    request.profile = profile;
    request.work_s = work_s;
    request.deadline_s = deadline_s;
    Event event;
    event.kind = Event::Kind::kSubmit;
    event.job = number;
    event.work = to_job(request, now);
    tell(event);
  }
  void run_until(TimeUs end_us) {
    round();
    while (!endings_.empty() && endings_.top().first <= end_us) {
      now = std::max(now, endings_.top().first);
      const Order order = endings_.top().second;
      const TimeUs at_us = endings_.top().first;
      endings_.pop();
      end(order, at_us);
      round();
    }
    now = std::max(now, end_us);
    round();
  }

  Model model;
  TimeUs now = 0;
  std::map<GpuIndex, int> cuts, starts;  // Orders so far.
  int done = 0;

 private:
  void round() {
    for (const Order& order : model.round(now).orders) {
      cuts[order.gpu] += order.kind == Order::Kind::kCreate || order.kind == Order::Kind::kDestroy;
      starts[order.gpu] += order.kind == Order::Kind::kStart;
      endings_.emplace(order.expected_us, order);
    }
    ASSERT_EQ(broken_invariant(model.state()), "");
  }
  void end(const Order& order, TimeUs at_us) {
    if (order.job == kNone) return tell(Event::Kind::kStepDone, order.gpu);
    const JobState& job = model.state().job_state(order.job);
    const bool saves = order.kind == Order::Kind::kStop;
    if (job.status != (saves ? JobStatus::kSaving : JobStatus::kRunning) ||
        model.state().slice(job.slice).end_us != at_us)
      return;
    Event event;
    event.kind = saves ? Event::Kind::kSaved : Event::Kind::kEnded;
    event.job = model.number_of(order.job);
    event.left = job.saved_left;
    done += !saves;
    tell(event);
  }
  struct Later {
    bool operator()(const std::pair<TimeUs, Order>& a, const std::pair<TimeUs, Order>& b) const {
      return a.first > b.first;
    }
  };
  std::priority_queue<std::pair<TimeUs, Order>, std::vector<std::pair<TimeUs, Order>>, Later>
      endings_;
};

SlotSet a100(const std::string& name) {
  return *parse_layout(**BoardTable::shipped().find("A100-40GB"), name);
}

Snapshot three_gpus(const std::string& policy) {
  Snapshot begin;
  begin.setup.fleet = "3xA100-40GB";
  begin.setup.policy = policy;
  begin.setup.limits.changes_per_gpu_hour = 1000;
  begin.gpus.resize(3);
  for (auto& gpu : begin.gpus) gpu.present = gpu.target = a100("7");
  return begin;
}

// Short jobs and long ones, tight deadlines and loose ones, in waves with quiet between them.
void send_waves(ObedientFleet& fleet, int waves, JobNumber& number) {
  static constexpr const char* kProfiles[] = {"bert-training", "resnet50-training",
                                              "bert-inference", "resnet50-inference"};
  for (int wave = 0; wave < waves; ++wave) {
    for (int i = 0; i < 9; ++i) {
      fleet.submit(++number, kProfiles[i % 4], 20 + 35 * i, i % 3 == 0 ? 60 : 3000);
      fleet.run_until(fleet.now + 7 * kSecondUs);
    }
    fleet.run_until(fleet.now + 20 * kMinuteUs);
  }
}

TEST(Hold, NoPolicyChangesAHeldLayoutAndAllPlaceJobsOnIt) {
  for (const char* policy : kFamilies) {
    SCOPED_TRACE(policy);
    ObedientFleet fleet(three_gpus(policy));
    const SlotSet held = a100("3-2-1-1");
    fleet.tell(Event::Kind::kLayout, 1, held);
    fleet.tell(Event::Kind::kHold, 1);
    fleet.run_until(kMinuteUs);
    ASSERT_EQ(fleet.model.state().gpu(1).present, held);  // An operator's change is made.
    fleet.cuts.clear();
    JobNumber number = 0;
    send_waves(fleet, 4, number);
    fleet.run_until(fleet.now + 10 * kHourUs);
    EXPECT_EQ(fleet.cuts[1], 0);
    EXPECT_EQ(fleet.model.state().gpu(1).target, held);
    EXPECT_GT(fleet.starts[1], 0);
    EXPECT_GT(fleet.starts[0] + fleet.starts[2], 0);
    EXPECT_EQ(fleet.done, number);
  }
}

TEST(Hold, JobsRunWhereEveryLayoutIsHeld) {
  for (const char* policy : kFamilies) {
    SCOPED_TRACE(policy);
    ObedientFleet fleet(three_gpus(policy));
    const SlotSet held[] = {a100("4-3"), a100("7"), a100("1-1-1-1-1-1-1")};
    for (GpuIndex gpu = 0; gpu < 3; ++gpu) {
      fleet.tell(Event::Kind::kLayout, gpu, held[gpu]);
      fleet.tell(Event::Kind::kHold, gpu);
    }
    fleet.run_until(kMinuteUs);
    fleet.cuts.clear();
    JobNumber number = 0;
    send_waves(fleet, 2, number);
    fleet.run_until(fleet.now + 10 * kHourUs);
    EXPECT_EQ(fleet.done, number);
    for (GpuIndex gpu = 0; gpu < 3; ++gpu) {
      EXPECT_EQ(fleet.cuts[gpu], 0);
      EXPECT_EQ(fleet.model.state().gpu(gpu).present, held[gpu]);
    }
  }
}

TEST(Hold, WithoutItThePolicyOverrulesTheOperator) {
  for (const char* policy : {"smartmig", "greedy", "count/cedf"}) {
    SCOPED_TRACE(policy);
    ObedientFleet fleet(three_gpus(policy));
    for (GpuIndex gpu = 0; gpu < 3; ++gpu)
      fleet.tell(Event::Kind::kLayout, gpu, a100("1-1-1-1-1-1-1"));
    fleet.run_until(kMinuteUs);
    fleet.cuts.clear();
    JobNumber number = 0;
    send_waves(fleet, 2, number);
    EXPECT_GT(fleet.cuts[0] + fleet.cuts[1] + fleet.cuts[2], 0);
  }
}

TEST(Hold, EndsWithUnhold) {
  for (const char* policy : {"smartmig", "greedy", "count/cedf", "static:4-3*3/cedf"}) {
    SCOPED_TRACE(policy);
    ObedientFleet fleet(three_gpus(policy));
    for (GpuIndex gpu = 0; gpu < 3; ++gpu) {
      fleet.tell(Event::Kind::kLayout, gpu, a100("1-1-1-1-1-1-1"));
      fleet.tell(Event::Kind::kHold, gpu);
    }
    fleet.run_until(kMinuteUs);
    fleet.cuts.clear();
    for (GpuIndex gpu = 0; gpu < 3; ++gpu) fleet.tell(Event::Kind::kUnhold, gpu);
    JobNumber number = 0;
    send_waves(fleet, 2, number);
    EXPECT_GT(fleet.cuts[0] + fleet.cuts[1] + fleet.cuts[2], 0);
  }
}

TEST(Hold, IsInTheSnapshotAndInItsText) {
  ObedientFleet fleet(three_gpus("smartmig"));
  fleet.tell(Event::Kind::kHold, 2);
  fleet.run_until(kMinuteUs);
  Event begin;
  begin.kind = Event::Kind::kBegin;
  begin.snapshot = fleet.model.snapshot();
  ASSERT_TRUE(begin.snapshot.gpus[2].held);
  const auto read = parse_event(to_row(begin));
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_TRUE(read->snapshot.gpus[2].held);
  EXPECT_FALSE(read->snapshot.gpus[1].held);
  const Model again = *Model::make(read->snapshot, kMinuteUs);
  EXPECT_TRUE(again.is_held(2));
  EXPECT_FALSE(again.is_held(0));
}

// With a step under way the text has one more part before the hold.
TEST(Hold, IsReadBackBesideAStepThatIsUnderWay) {
  Event begin;
  begin.kind = Event::Kind::kBegin;
  begin.snapshot = three_gpus("smartmig");
  begin.snapshot.gpus[0].held = true;
  begin.snapshot.gpus[0].step = Snapshot::Step{3, true, 5, 1, 2};
  const auto read = parse_event(to_row(begin));
  ASSERT_TRUE(read.has_value()) << read.error().message;
  ASSERT_TRUE(read->snapshot.gpus[0].step.has_value());
  EXPECT_EQ(read->snapshot.gpus[0].step->slot, 3);
  EXPECT_TRUE(read->snapshot.gpus[0].held);
}

}  // namespace
}  // namespace smartmig
