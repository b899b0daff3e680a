// The model under events that nobody ordered: jobs that are lost, steps that fail, slices that come
// and go and are somebody else's, GPUs that close and open. Whatever happens, the picture is one
// that can be, what contradicts it changes nothing, and the same events give the same decisions.
#include "control/model.h"

#include <gtest/gtest.h>

#include <bit>
#include <map>

#include "base/random.h"
#include "control/job_request.h"
#include "control/reasons.h"
#include "fleet/state_check.h"

namespace smartmig {
namespace {

constexpr int kSeeds = 12;
constexpr int kEvents = 600;
constexpr const char* kEventfulPolicies[] = {"smartmig", "count/cedf", "greedy",
                                             "static:7,4-3,2-2-2-1/edf"};

// What can be told of a picture, for comparing.
std::string picture(const Model& model) {
  const State& state = model.state();
  std::string text = fmt::format("{} ", model.frozen());
  for (GpuIndex gpu = 0; gpu < state.fleet().gpu_count(); ++gpu) {
    const GpuState& there = state.gpu(gpu);
    text += fmt::format("{:x}>{:x} {:x} {} {} {}|", there.present, there.target, there.awaited,
                        there.operation_end_us, there.up, model.foreign(gpu));
    if (model.is_held(gpu)) text += "held|";
  }
  for (JobIndex job = 0; job < state.arrived(); ++job) {
    const JobState& its = state.job_state(job);
    text += fmt::format("{} {} {},", static_cast<int>(its.status), its.slice, its.left);
  }
  return text;
}

class Eventful {
 public:
  explicit Eventful(std::uint64_t seed) : random_(seed, "eventful") {
    begin_.setup.fleet = "2xA100-40GB+1xH100-80GB";
    begin_.setup.policy = kEventfulPolicies[random_.below(std::size(kEventfulPolicies))];
    begin_.setup.limits.changes_per_gpu_hour = 200;
    begin_.gpus.resize(3);
    for (auto& gpu : begin_.gpus) gpu.fresh = true;
  }
  const Snapshot& begin() const { return begin_; }
  Event next(const Model& model);

 private:
  // So that most events are about something.
  JobNumber some_job(const Model& model) {
    std::vector<JobNumber> found;
    for (const SliceId id : model.state().running())
      found.push_back(model.number_of(model.state().slice(id).job));
    if (!found.empty() && random_.below(10) > 0) return found[random_.below(found.size())];
    return static_cast<JobNumber>(random_.below(static_cast<std::uint64_t>(last_job_) + 2));
  }
  SlotSet some_of(SlotSet slots) {
    SlotSet some = 0;
    for (; slots; slots &= slots - 1) {
      if (random_.below(3) == 0) some |= SlotSet{1} << std::countr_zero(slots);
    }
    return some;
  }
  // A legal set with at least `kept`.
  SlotSet with_more(const Fleet& fleet, GpuIndex gpu, SlotSet kept) {
    const Board& board = fleet.board(gpu);
    for (int i = 0; i < 6; ++i) {
      const int slot = static_cast<int>(random_.below(board.slots.size()));
      if (fleet.kind_of_slot(gpu, slot) != kNoKind && can_add(board, kept, slot))
        kept |= SlotSet{1} << slot;
    }
    return kept;
  }
  Job some_work(TimeUs now);
  void read(const Model& model, Event& event);

  Random random_;
  Snapshot begin_;
  JobNumber last_job_ = 0;
};

Job Eventful::some_work(TimeUs now) {
  static constexpr const char* kProfiles[] = {"bert-training", "resnet50-training",
                                              "bert-inference", "resnet50-inference"};
  JobRequest request;
  request.profile = kProfiles[random_.below(4)];
  request.work_s = random_.uniform(1, 400);
  request.deadline_s = random_.uniform(0, 900);
  return to_job(request, now);
}

// Somebody looks at the GPU. A controller does not take in a look while a step is under way.
void Eventful::read(const Model& model, Event& event) {
  const GpuState& gpu = model.state().gpu(event.gpu);
  if (gpu.operation_end_us != kNever) {
    event.kind = Event::Kind::kStepDone;
    return;
  }
  event.gone = some_of(gpu.present);
  const SlotSet stays = gpu.present & ~event.gone;
  event.slots = with_more(model.fleet(), event.gpu, stays) & ~stays;
  // A slice with a job of ours is not foreign.
  SlotSet idle = 0;
  for (SlotSet rest = stays | event.slots; rest; rest &= rest - 1) {
    const int slot = std::countr_zero(rest);
    const Board& board = model.fleet().board(event.gpu);
    const SliceState& slice = model.state().slice(
        model.fleet().slice_at(event.gpu, board.slots[static_cast<std::size_t>(slot)].start));
    const bool same = (stays >> slot & 1) != 0;
    if (!same || slice.job == kNone || model.number_of(slice.job) == 0) idle |= rest & -rest;
  }
  event.foreign = some_of(idle);
  if (random_.below(20) == 0) event.foreign |= SlotSet{1} << 40;  // Nonsense.
}

Event Eventful::next(const Model& model) {
  using Kind = Event::Kind;
  static constexpr Kind kKinds[] = {
      Kind::kSubmit,   Kind::kSubmit,     Kind::kSubmit, Kind::kEnded,    Kind::kEnded,
      Kind::kGone,     Kind::kSaved,      Kind::kLost,   Kind::kSaving,   Kind::kStepDone,
      Kind::kStepDone, Kind::kStepFailed, Kind::kRead,   Kind::kClose,    Kind::kOpen,
      Kind::kOpen,     Kind::kLayout,     Kind::kFreeze, Kind::kUnfreeze, Kind::kUnfreeze,
      Kind::kUnfreeze, Kind::kLimits,     Kind::kRound,  Kind::kRound,    Kind::kRound,
      Kind::kRound,    Kind::kRound,      Kind::kRound,  Kind::kRound,    Kind::kRound,
      Kind::kHold,     Kind::kUnhold,     Kind::kUnhold, Kind::kRound,    Kind::kRound};
  Event event;
  event.kind = kKinds[random_.below(std::size(kKinds))];
  event.at_us = model.now() + static_cast<TimeUs>(random_.below(20'000'000));
  event.gpu = static_cast<GpuIndex>(random_.below(model.fleet().gpu_count()));
  if (event.kind == Kind::kSubmit) {
    event.job = ++last_job_;
    event.work = some_work(event.at_us);
  } else {
    event.job = some_job(model);
  }
  event.left = random_.uniform();
  if (event.kind == Kind::kRead) read(model, event);
  if (event.kind == Kind::kLayout)
    event.slots = with_more(model.fleet(), event.gpu, model.foreign(event.gpu));
  if (event.kind == Kind::kLimits)
    event.limits = {200, random_.below(2) == 0 ? 0 : random_.uniform(100, 1200)};
  return event;
}

// The decision, or what is seen to be wrong.
std::string feed(Model& model, const Event& event) {
  if (event.kind != Event::Kind::kRound) return model.apply(event) ? "taken" : "refused";
  const Round& round = model.round(event.at_us);
  return round.decided() ? decision_text(round, model) : "nothing";
}

TEST(ModelUnderAnyEvents, KeepsStatesInvariantsAndDecidesTheSameAgain) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Eventful eventful(seed);
    Model model = *Model::make(eventful.begin(), 0);
    std::vector<std::pair<EventRow, std::string>> journal;
    long decided = 0, taken = 0;
    for (int i = 0; i < kEvents; ++i) {
      const Event event = eventful.next(model);
      SCOPED_TRACE(fmt::format("event {} {}", i, to_string(event.kind)));
      const std::string before = picture(model);
      Model copy = model;
      const std::string said = feed(model, event);
      if (said == "refused") {
        ASSERT_EQ(picture(model), before);
      }
      ASSERT_EQ(broken_invariant(model.state()), "");
      // A copy goes its own way, to the same end.
      ASSERT_EQ(picture(copy), before);
      ASSERT_EQ(feed(copy, event), said);
      ASSERT_EQ(picture(copy), picture(model));
      journal.emplace_back(to_row(event), said);
      decided += said != "nothing" && said != "taken" && said != "refused";
      taken += said == "taken";
    }
    EXPECT_GT(decided, kEvents / 40);
    EXPECT_GT(taken, kEvents / 4);
    Model again = *Model::make(eventful.begin(), 0);
    for (const auto& [row, said] : journal) ASSERT_EQ(feed(again, *parse_event(row)), said);
  }
}

TEST(ModelUnderAnyEvents, DecidesOtherwiseWhereOneOfThemIsAnother) {
  int same = 0, different = 0;
  for (std::uint64_t seed = 1; seed <= 4 * kSeeds; ++seed) {
    Eventful eventful(seed);
    Model model = *Model::make(eventful.begin(), 0);
    std::vector<Event> events;
    std::vector<std::string> said;
    std::vector<std::size_t> ends;
    for (int i = 0; i < 200; ++i) {
      events.push_back(eventful.next(model));
      said.push_back(feed(model, events.back()));
      if (events.back().kind == Event::Kind::kEnded && said.back() == "taken" && i < 100)
        ends.push_back(events.size() - 1);
    }
    for (const std::size_t changed : ends) {
      Model again = *Model::make(eventful.begin(), 0);
      bool differs = false;
      for (std::size_t i = 0; i < events.size() && !differs; ++i) {
        Event event = events[i];
        if (i == changed) event.kind = Event::Kind::kLost;  // It has not ended after all.
        differs = feed(again, event) != said[i];
      }
      ++(differs ? different : same);
    }
  }
  // The job that is back may find nothing to do it on until the end.
  EXPECT_GT(different, 20);
  EXPECT_LT(5 * same, different);
}

// One GPU, and what is told to its model; minutes of a whole GPU.
class OneGpu {
 public:
  explicit OneGpu(const std::string& policy, const std::string& preemption = "checkpoint") {
    begin.setup.fleet = "1xA100-40GB";
    begin.setup.policy = policy;
    begin.setup.preemption = preemption;
    begin.gpus.resize(1);
    begin.gpus[0].present = begin.gpus[0].target = layout("7");
  }
  static SlotSet layout(const std::string& name) {
    return *parse_layout(**BoardTable::shipped().find("A100-40GB"), name);
  }
  static Job job(double minutes, TimeUs now = 0) {
    JobRequest request;
    request.profile = "bert-training";
    request.work_s = 60 * minutes;
    request.deadline_s = 600 * minutes;
    return to_job(request, now);
  }
  void make() { model.emplace(*Model::make(begin, 0)); }
  bool tell(Event::Kind kind, JobNumber number = 0, double left = 1) {
    Event event;
    event.kind = kind;
    event.at_us = now;
    event.job = number;
    event.left = left;
    event.slots = layout("4-3");
    event.limits = model->limits();
    event.limits.power_cap_w = cap;
    if (kind == Event::Kind::kSubmit) event.work = job(10, now);
    return model->apply(event);
  }
  // What the next round orders: "destroy create start".
  std::string round() {
    static constexpr const char* kNames[] = {"stop", "destroy", "create", "start"};
    std::string text;
    for (const Order& order : model->round(now += kSecondUs).orders)
      text += fmt::format("{}{}", text.empty() ? "" : " ", kNames[static_cast<int>(order.kind)]);
    return text.empty() ? "nothing" : text;
  }

  Snapshot begin;
  std::optional<Model> model;
  TimeUs now = 0;
  double cap = 0;
};

// On boards measured job by job as well as on those with a curve.
TEST(Model, StartsKeepTheFleetWithinItsPowerCap) {
  const std::map<const char*, std::vector<double>> caps = {{"2xA100-40GB", {200, 300, 480}},
                                                           {"2xH200-141GB", {450, 700, 1000}}};
  for (const auto& [fleet, some] : caps) {
    for (const double cap : some) {
      SCOPED_TRACE(fmt::format("{} {}", fleet, cap));
      Snapshot begin;
      begin.setup.fleet = fleet;
      begin.setup.policy = "static:1-1-1-1-1-1-1*2/edf";
      begin.setup.limits.power_cap_w = cap;
      begin.gpus.resize(2);
      for (auto& gpu : begin.gpus) {
        const Board& board = **BoardTable::shipped().find(std::string_view(fleet).substr(2));
        gpu.present = gpu.target = *parse_layout(board, "1-1-1-1-1-1-1");
      }
      for (JobNumber number = 1; number <= 14; ++number) {
        JobRequest request;
        request.profile = "h200-train-resnet50-b64";
        request.work_s = 600;
        request.deadline_s = 6000;
        begin.jobs.push_back({number, to_job(request, 0), 1});
      }
      auto model = Model::make(begin, 0);
      ASSERT_TRUE(model.has_value()) << model.error().message;
      const Round& round = model->round(kSecondUs);
      EXPECT_GT(round.starts.size(), 0u);
      EXPECT_LT(round.starts.size(), 14u);
      EXPECT_GT(round.withheld_power, 0);
      EXPECT_LE(model->power_w(), cap);
      // Nor is room left that one more could have had.
      const State& state = model->state();
      double least = cap;
      for (GpuIndex gpu = 0; gpu < 2; ++gpu) {
        if (state.power().busy(gpu) == 7) continue;
        const KindIndex kind = model->fleet().kind_of_slot(gpu, 0);
        least = std::min(least, state.power().watts_with(gpu, kind, begin.jobs[0].job) -
                                    state.power().watts_at(gpu, kSecondUs));
      }
      EXPECT_GT(model->power_w() + least, cap);
    }
  }
}

// One was told to save under another rule: it keeps its slice until it has.
TEST(Model, AJobThatSavesKeepsItsSliceWhereThereIsNoPreemptionAnyMore) {
  for (const bool reads_as_saving : {true, false}) {
    OneGpu on("none/edf", "none");
    on.begin.jobs = {{1, OneGpu::job(10), 1}, {2, OneGpu::job(10), 1}};
    const auto slot = static_cast<std::uint8_t>(std::countr_zero(OneGpu::layout("7")));
    on.begin.runs = {
        {1, 0, slot, 0, reads_as_saving ? Snapshot::kUnknownEnd : 10 * kMinuteUs, reads_as_saving}};
    on.make();
    EXPECT_EQ(on.round(), "nothing");
    ASSERT_TRUE(on.tell(Event::Kind::kSaved, 1, 0.25));
    EXPECT_EQ(on.round(), "start");
    EXPECT_EQ(on.model->state().job_state(*on.model->index_of(1)).left, 0.25);
    EXPECT_EQ(broken_invariant(on.model->state()), "");
    EXPECT_FALSE(on.tell(Event::Kind::kSaving, 2)) << "nobody saves";
  }
}

// A decision in between would count on a slice that may not be free yet.
TEST(Model, ASaveThatShouldBeOverIsWaitedFor) {
  OneGpu on("smartmig");
  on.begin.jobs = {{1, OneGpu::job(10), 1}};
  const auto slot = static_cast<std::uint8_t>(std::countr_zero(OneGpu::layout("7")));
  on.begin.runs = {{1, 0, slot, 0, 5 * kSecondUs, true}};
  on.make();
  EXPECT_EQ(on.round(), "nothing");
  EXPECT_EQ(on.model->next_due_us(), kNever);
  on.now = kMinuteUs;
  ASSERT_TRUE(on.tell(Event::Kind::kSaved, 1, 0.5));
  EXPECT_NE(on.round(), "nothing");
}

// A change that waits for a job to end, and a job that waits for the change.
TEST(Model, NothingThatWasDecidedBeforeIsCutOrStartedWhileItIsFrozen) {
  OneGpu on("none/edf");
  on.begin.jobs = {{1, OneGpu::job(10), 1}};
  const auto slot = static_cast<std::uint8_t>(std::countr_zero(OneGpu::layout("7")));
  on.begin.runs = {{1, 0, slot, 0, 10 * kMinuteUs, false}};
  on.make();
  EXPECT_EQ(on.round(), "nothing");
  ASSERT_TRUE(on.tell(Event::Kind::kFreeze));
  ASSERT_TRUE(on.tell(Event::Kind::kLayout));
  EXPECT_EQ(on.round(), "nothing") << "the job is on it";
  ASSERT_TRUE(on.tell(Event::Kind::kEnded, 1));
  EXPECT_EQ(on.round(), "destroy") << "an operator wants it";

  OneGpu waits("count/cedf");
  waits.make();
  ASSERT_TRUE(waits.tell(Event::Kind::kSubmit, 1));
  ASSERT_EQ(waits.round(), "start");
  for (JobNumber number = 2; number <= 8; ++number)
    ASSERT_TRUE(waits.tell(Event::Kind::kSubmit, number));
  // It wants smaller slices once the job has ended.
  while (waits.model->state().gpu(0).target == OneGpu::layout("7")) ASSERT_NE(waits.round(), "");
  ASSERT_TRUE(waits.tell(Event::Kind::kFreeze));
  ASSERT_TRUE(waits.tell(Event::Kind::kEnded, 1));
  EXPECT_EQ(waits.round(), "nothing");
  // Nor by a model that begins anew from there.
  Event begin;
  begin.kind = Event::Kind::kBegin;
  begin.snapshot = waits.model->snapshot();
  begin.snapshot.goes_on = true;
  waits.model.emplace(*Model::make(parse_event(to_row(begin))->snapshot, waits.model->now()));
  EXPECT_EQ(waits.round(), "nothing");
  ASSERT_TRUE(waits.tell(Event::Kind::kUnfreeze));
  EXPECT_EQ(waits.round(), "destroy");
  EXPECT_EQ(broken_invariant(waits.model->state()), "");
}

// The policy is asked before the change is over, and nothing else happens afterwards.
TEST(Model, AJobThatComesAsAChangeEndsIsNotForgotten) {
  for (const char* policy : {"smartmig", "greedy", "none/edf"}) {
    SCOPED_TRACE(policy);
    OneGpu on(policy);
    on.begin.gpus[0] = {};
    on.begin.gpus[0].fresh = true;
    on.make();
    ASSERT_EQ(on.round(), "create");
    ASSERT_TRUE(on.tell(Event::Kind::kSubmit, 1));
    ASSERT_TRUE(on.tell(Event::Kind::kStepDone));
    EXPECT_NE(on.round(), "nothing");
  }
}

TEST(Model, AChangeThatWasWithheldIsMadeWhenTheLimitsAllowIt) {
  for (const double rate : {0.5, 1.0, 60.0}) {
    SCOPED_TRACE(rate);
    OneGpu on("greedy");
    on.begin.gpus[0].present = on.begin.gpus[0].target = 0;
    const double window_s = 3600 / std::min(rate, 1.0);
    on.begin.gpus[0].changes_us.assign(rate < 1 ? 1 : static_cast<std::size_t>(rate),
                                       -to_us(0.25 * window_s));
    on.begin.setup.limits.changes_per_gpu_hour = rate;
    on.make();
    ASSERT_TRUE(on.tell(Event::Kind::kSubmit, 1));
    EXPECT_EQ(on.round(), "nothing");
    const TimeUs due_us = on.model->next_due_us();
    EXPECT_NEAR(to_s(due_us), 0.75 * window_s, 1);
    on.now = due_us - 2 * kSecondUs;
    EXPECT_EQ(on.round(), "nothing");
    EXPECT_NEAR(static_cast<double>(on.model->next_due_us()), static_cast<double>(due_us), 2);
    on.now = on.model->next_due_us() - kSecondUs;
    EXPECT_EQ(on.round(), "create");
    EXPECT_EQ(on.model->next_due_us(), kNever);
  }
  OneGpu never("greedy");
  never.begin.gpus[0].present = never.begin.gpus[0].target = 0;
  never.begin.setup.limits.changes_per_gpu_hour = 0;
  never.make();
  ASSERT_TRUE(never.tell(Event::Kind::kSubmit, 1));
  EXPECT_EQ(never.round(), "nothing");
  EXPECT_EQ(never.model->next_due_us(), kNever);
}

TEST(Model, ARaisedCapStartsJobsAtOnce) {
  for (const char* policy : {"greedy", "smartmig", "none/edf"}) {
    SCOPED_TRACE(policy);
    OneGpu on(policy);
    on.begin.setup.fleet = "2xA100-40GB";
    on.begin.gpus.push_back(on.begin.gpus[0]);
    on.begin.setup.limits = {.changes_per_gpu_hour = 0, .power_cap_w = 1};
    const auto slot = static_cast<std::uint8_t>(std::countr_zero(OneGpu::layout("7")));
    on.begin.jobs = {{1, OneGpu::job(10), 1}, {2, OneGpu::job(10), 1}};
    on.begin.jobs[1].job.deadline_us = kMinuteUs;  // A whole GPU is right for it.
    on.begin.runs = {{1, 0, slot, 0, 10 * kMinuteUs, false}};
    on.make();
    EXPECT_EQ(on.round(), "nothing");
    on.cap = 1e6;
    ASSERT_TRUE(on.tell(Event::Kind::kLimits));
    EXPECT_EQ(on.round(), "start");
  }
}

// A reset may take the slice between the end of a save and the news of it.
TEST(Model, WhatAJobHasSavedCountsAfterItsSliceIsGone) {
  OneGpu on("none/edf");
  on.begin.gpus[0].present = on.begin.gpus[0].target = 0;
  on.begin.jobs = {{1, OneGpu::job(10), 0.75}};
  on.make();
  ASSERT_TRUE(on.tell(Event::Kind::kSaved, 1, 0.5));
  EXPECT_EQ(on.model->state().job_state(*on.model->index_of(1)).left, 0.5);
  EXPECT_FALSE(on.tell(Event::Kind::kSaved, 1, 0.6)) << "it had saved more before";
  EXPECT_EQ(broken_invariant(on.model->state()), "");

  OneGpu waits("greedy");
  waits.begin.gpus[0].present = waits.begin.gpus[0].target = 0;
  waits.begin.jobs = {{1, OneGpu::job(10), 0.75}};
  waits.make();
  ASSERT_EQ(waits.round(), "create");
  ASSERT_FALSE(waits.model->state().awaiting().empty());
  ASSERT_TRUE(waits.tell(Event::Kind::kSaved, 1, 0.5));
  EXPECT_EQ(waits.model->state().job_state(*waits.model->index_of(1)).left, 0.5);
  EXPECT_EQ(broken_invariant(waits.model->state()), "");
}

TEST(Model, ALoweredCapStartsNoJobThatWaitedForItsSlice) {
  for (const bool lowered : {false, true}) {
    OneGpu on("greedy");
    on.begin.gpus[0].present = on.begin.gpus[0].target = 0;
    on.make();
    ASSERT_TRUE(on.tell(Event::Kind::kSubmit, 1));
    ASSERT_EQ(on.round(), "create");
    ASSERT_FALSE(on.model->state().awaiting().empty());
    on.cap = 1;
    if (lowered) {
      ASSERT_TRUE(on.tell(Event::Kind::kLimits));
    }
    ASSERT_TRUE(on.tell(Event::Kind::kStepDone));
    EXPECT_EQ(on.round(), lowered ? "nothing" : "start");
    EXPECT_EQ(on.model->state().ready_count(), lowered ? 1u : 0u);
    EXPECT_EQ(broken_invariant(on.model->state()), "");
  }
}

}  // namespace
}  // namespace smartmig
