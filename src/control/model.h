// The controller's picture of the fleet and the policy that decides on it: a function of events and
// nothing else, so that a replay of the same events gives the same decisions. It makes no calls: a
// round's orders are for others to carry out, who tell by events how that went.
//
// A change of a GPU's layout is open from its first step until no step can be taken; slices it has
// made get no job before it is closed, so that it can be undone. It goes on where the GPU is closed
// meanwhile: no layout in between is left.
//
// Not thread-safe. A value: a copy decides on its own, which is what `plan` does.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "control/event.h"
#include "fleet/state.h"
#include "policy/instant.h"

namespace smartmig {

struct Order {
  enum class Kind : std::uint8_t { kStop, kDestroy, kCreate, kStart };
  Kind kind = Kind::kStart;
  GpuIndex gpu = 0;
  std::uint8_t slot = 0;
  JobIndex job = kNone;    // Of a stop or start.
  TimeUs expected_us = 0;  // When it, or the run it starts, will be over.
};

// What a decision says, for the journal and for people. Orders follow from it, some of them later.
struct Round {
  TimeUs at_us = 0;
  struct Target {
    GpuIndex gpu = 0;
    SlotSet from = 0;
    SlotSet to = 0;
  };
  struct Placed {
    JobIndex job = 0;
    GpuIndex gpu = 0;
    std::uint8_t slot = 0;
  };
  std::vector<JobIndex> stops;
  std::vector<Target> targets;
  std::vector<Placed> starts;
  int withheld_budget = 0;   // Changes that the limits did not allow.
  int withheld_no_gain = 0;  // Changes while no job was there to gain by them.
  int withheld_power = 0;    // Starts that the power cap did not allow.

  std::vector<Order> orders;  // In the order they are to be carried out.
  struct Closed {
    GpuIndex gpu = 0;
    bool whole = false;  // Else it waits for a job to end.
  };
  std::vector<Closed> closed;  // Changes that came to their end, for now.

  bool decided() const { return !stops.empty() || !targets.empty() || !starts.empty(); }
  void clear();
};

class Model {
 public:
  // Refuses a policy, fleet or costs that it cannot make.
  static Result<Model> make(const Snapshot& snapshot, TimeUs now);
  Model(const Model& other);
  Model(Model&&) = default;
  Model& operator=(Model&&) = default;

  // Takes in anything but kBegin and kRound. False where the event contradicts what is known (no
  // such job, or no step under way): nothing has changed then.
  bool apply(const Event& event);
  // Decides, if something happened that policies are asked about, and settles what can go on.
  const Round& round(TimeUs now);
  // Where things stand after a round: a model made of it goes on from there. It knows nothing of
  // what is over, and its policy begins anew.
  Snapshot snapshot() const;
  bool at_rest() const { return pending_.empty(); }  // As after a round.
  // Goes on with another policy: a rehearsal.
  Result<void> switch_policy(const std::string& spec);

  TimeUs now() const { return state_.now(); }
  // When a round is due although nothing happens; kNever: not.
  TimeUs next_due_us() const;
  bool frozen() const { return frozen_; }
  const Setup& setup() const { return setup_; }
  const Fleet& fleet() const { return *fleet_; }
  const State& state() const { return state_; }
  const Limits& limits() const { return setup_.limits; }
  std::optional<JobIndex> index_of(JobNumber number) const;
  JobNumber number_of(JobIndex job) const { return numbers_[job]; }  // 0: somebody else's process.
  bool is_held(GpuIndex gpu) const { return gpus_[gpu].held; }
  SlotSet foreign(GpuIndex gpu) const { return gpus_[gpu].foreign; }
  // Whether the layout is legal and made of slices that jobs are placed on.
  bool is_for_jobs(GpuIndex gpu, SlotSet layout) const;
  bool change_open(GpuIndex gpu) const { return gpus_[gpu].change_open; }
  SlotSet change_base(GpuIndex gpu) const { return gpus_[gpu].base; }
  double power_w() const;  // Modelled draw of the fleet now.
  // The limit on changes of a GPU: at most so many in any stretch of that length.
  static std::size_t most_changes(const Limits& limits);
  static TimeUs window_us(const Limits& limits);

 private:
  struct GpuNotes {
    SlotSet foreign = 0;
    SlotSet base = 0;   // Before the open change.
    SlotSet fresh = 0;  // Made by it.
    bool change_open = false;
    bool ordered = false;  // By an operator, or under way at the start: done although frozen.
    bool held = false;     // By an operator: the policy does not change the layout.
    enum class Verdict : std::uint8_t { kNotAsked, kMayChange, kWithheld };
    Verdict verdict = Verdict::kNotAsked;  // On the change in the decision at hand ...
    SlotSet asked = 0;                     // ... to this.
    std::vector<TimeUs> changes_us;        // Those that count towards the limit, oldest first.
  };
  Model(std::shared_ptr<const Fleet> fleet, Setup setup, Policy policy, Costs costs,
        Preemption preemption);
  void begin(const Snapshot& snapshot, TimeUs now);
  JobIndex add_job(JobNumber number, const Job& job);
  void take_over(GpuIndex gpu, int slot);
  bool apply_to_job(const Event& event);
  bool apply_to_gpu(const Event& event);
  bool read(const Event& event);

  friend class Instant<Model>;
  View view() { return View(state_, room_.scratch); }
  void decide();
  void ask_partitioner();
  void hold(GpuIndex gpu, bool held);
  void place_on_held();
  void close_held();
  void renew_promises();
  void carry_out(Decision& decision);
  void filter(Decision& decision);
  bool may_change(const Repartition& change);
  void release(const Start& start);
  // What the fleet will draw once every process has started.
  double power_w_when_started() const;
  bool within_power(const Start& start);
  void settle();
  void start_awaiting(const Start& start);
  void order_start(const Start& start, TimeUs end_us);
  void stretch_overdue();
  void touch(GpuIndex gpu) { dirty_.push_back(gpu); }
  SliceId slice_of(GpuIndex gpu, int slot) const {
    return fleet_->slice_at(gpu, fleet_->board(gpu).slots[static_cast<std::size_t>(slot)].start);
  }

  std::shared_ptr<const Fleet> fleet_;
  Setup setup_;
  Policy policy_;
  std::vector<Job> jobs_;
  std::vector<JobNumber> numbers_;
  std::unordered_map<JobNumber, JobIndex> indices_;
  State state_;
  std::vector<GpuNotes> gpus_;
  std::vector<GpuIndex> held_;             // GPUs with a held layout, in order.
  std::vector<GpuIndex> closed_held_;      // Of those, the ones closed while the policy is asked,
  std::vector<State::Awaiting> promised_;  // ... and the jobs that waited for their slices.
  std::vector<GpuIndex> dirty_;
  std::vector<GpuIndex> judged_;  // GPUs with a verdict.
  InstantRoom room_;
  std::vector<Order> pending_;  // For the next round.
  Round round_;
  double power_w_ = 0;  // While a round adds starts under a cap.
  std::size_t foreign_jobs_ = 0;
  bool frozen_ = false;
  bool ask_partitioner_ = false;
  bool start_was_early_ = false;  // A slice that was to have a job is part of a change still.
  TimeUs next_timer_us_ = kNever;
  TimeUs budget_due_us_ = kNever;  // When a change that was withheld may be made.
};

}  // namespace smartmig
