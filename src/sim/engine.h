// The event engine: advances a State through a workload with a policy. Between two instants it
// touches only what changes. Deterministic; no global state; copying an engine copies the run,
// which can then go on by itself.
//
//   Engine engine(fleet, jobs, policy, options);
//   auto done = engine.run();       // or step() while it returns true
//   Metrics metrics = measure(engine);
//
// A step is advance(), partition() and place(); a caller that decides in place of one of the ports
// makes these itself and gives its own decision to the part in question.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "fleet/gpu_event.h"
#include "policy/instant.h"
#include "sim/hourly_energy.h"
#include "sim/layout_times.h"
#include "sim/records.h"
#include "sim/standing.h"

namespace smartmig {

struct EngineOptions {
  Costs costs;
  Preemption preemption = Preemption::kFree;
  double estimate_sigma = 0;
  std::uint64_t seed = 1;
  bool records = false;
  bool stays = false;            // With records: Records::stays(), too.
  bool aggregates = false;       // For a caller that looks at them; a policy says so itself.
  bool tardiness = false;        // For State::tardiness_us().
  bool start_times = false;      // For first_start_us().
  bool hourly_energy = false;    // For energy_by_hour_j().
  bool layout_times = false;     // For layout_times().
  std::vector<GpuEvent> events;  // In order of time.
};

class Engine {
 public:
  // `fleet` and `jobs` must outlive the engine; the policy is copied. There must be at least one
  // job.
  Engine(const Fleet& fleet, const JobTable& jobs, const Policy& policy,
         const EngineOptions& options);
  // As new, for another table, which must outlive the engine too; policies draw from this seed.
  // Not for engines that keep records. Allocates only where the table is larger than any before.
  void restart(const JobTable& jobs, std::uint64_t seed);
  // The same, but the run begins in the middle: the policy takes the fleet over as it stands, and
  // decides at once. Nothing before that time is counted.
  void restart(const JobTable& jobs, std::uint64_t seed, const Standing& standing);

  // Advances to the next instant; false when all jobs are done or nothing can happen any more.
  bool step();
  // Advances the clock to the next instant and applies what happens by itself then.
  bool advance();
  // Whether this instant is one at which the partitioner decides.
  bool partitioner_due() const { return call_partitioner_; }
  // The partitioner decides if it is due, or these layouts take the place of its decision; then
  // operations and jobs that waited start, and jobs are displaced.
  void partition();
  void partition(const Decision& layouts);
  // The placer decides, or these starts, marked in the view as a placer does, take the place of its
  // decision. The instant is then over.
  void place();
  void place(std::span<const Start> starts);
  View view() { return View(state_, room_.scratch); }
  // Runs to the end. The error names a job that can never run, and why.
  Result<void> run();

  const State& state() const { return state_; }
  State& state() { return state_; }
  const JobTable& jobs() const { return *jobs_; }
  const Policy& policy() const { return policy_; }
  Policy& policy() { return policy_; }
  TimeUs begin_us() const { return begin_us_; }
  TimeUs end_us() const { return last_completion_us_; }
  // Up to when boards may be charged: the last completion, or, on a trace, the last submit if that
  // is later.
  TimeUs charged_end_us() const;
  // Of a run that has ended: what its boards are charged (docs/model/semantics.md, "Energy").
  double energy_j() const;
  long events() const { return state_.events(); }  // Arrivals and completions.
  long repartitions() const { return repartitions_; }
  std::size_t completed() const { return completed_; }
  std::span<const TimeUs> finish_us() const { return finish_us_; }
  // When each job started first, -1 before; empty unless asked for.
  std::span<const TimeUs> first_start_us() const { return first_start_us_; }
  const std::optional<Records>& records() const { return records_; }
  // Of a run that has ended and was asked for it; the sum is its energy.
  ByHour energy_by_hour_j() const;
  const std::optional<LayoutTimes>& layout_times() const { return layout_times_; }

 private:
  // What ends at a time: a slice's job or save, or a GPU's operation. Entries are not taken out
  // when plans change; one that no longer says the same as the state is passed over.
  struct Ending {
    TimeUs at_us;
    std::uint32_t id;
    bool operation;
    friend bool operator>(const Ending& a, const Ending& b) {
      return a.at_us != b.at_us ? a.at_us > b.at_us
             : a.id != b.id     ? a.id > b.id
                                : a.operation > b.operation;
    }
  };

  TimeUs next_time();
  bool still_true(const Ending& ending) const;
  void push(TimeUs at_us, std::uint32_t id, bool operation);
  void pop();
  void forget_stale();
  void pass_time(TimeUs now);
  void complete(SliceId slice, TimeUs now);
  void process_endings(TimeUs now);
  void process_gpu_events(TimeUs now);
  void process_arrivals(TimeUs now);
  void forget(const JobTable& jobs, std::uint64_t seed);
  void begin();
  void begin(const Standing& standing);
  void resume_run(const Standing::Run& run);
  friend class Instant<Engine>;
  Instant<Engine> instant() { return {*this, policy_, state_, room_}; }
  void ask_partitioner();
  void end_instant();
  void carry_out(const Decision& decision);
  void assign_whole(std::span<const Start> starts);
  void note_start(JobIndex job);
  void note_first_start(JobIndex job);
  void settle();
  void end_run();
  std::vector<IdlePiece> uncharged() const;
  void charge_layout_changes();
  void touch(GpuIndex gpu) {
    if (records_) touched_.push_back(gpu);
  }

  const Fleet* fleet_;
  const JobTable* jobs_;
  Policy policy_;
  State state_;
  std::vector<GpuEvent> gpu_events_;
  std::vector<Ending> endings_;  // A heap, earliest first.
  std::vector<TimeUs> finish_us_;
  std::vector<TimeUs> first_start_us_;
  std::vector<GpuIndex> dirty_;          // Perhaps not yet at their target.
  std::vector<GpuIndex> repartitioned_;  // At this instant.
  std::vector<GpuIndex> touched_;
  std::vector<JobIndex> started_;  // At this instant.
  std::vector<std::uint32_t> deferred_saves_;
  std::vector<std::uint32_t> deferred_operations_;
  InstantRoom room_;
  std::vector<SlotSet> first_layouts_;
  std::optional<Records> records_;
  std::optional<HourlyEnergy> hourly_;
  std::optional<LayoutTimes> layout_times_;
  std::size_t next_arrival_ = 0;
  std::size_t next_gpu_event_ = 0;
  TimeUs next_timer_ = kNever;
  bool saved_at_once_ = false;  // A job that was stopped is ready already.
  TimeUs begin_us_ = 0;
  TimeUs last_completion_us_ = 0;
  long repartitions_ = 0;
  std::size_t completed_ = 0;
  int idle_timers_ = 0;  // Timers in a row at which nothing ran and nothing was to come.
  bool call_partitioner_ = false;
  bool ended_ = false;  // end_run() is done.
  // Under free preemption nearly every end changes at every instant: then looking through the
  // running slices, of which the placer looks at each anyway, is cheaper than keeping them in a
  // heap.
  bool scans_ = false;
  TimeUs first_ends_us_ = kNever;  // Of the running jobs, as next_time() found it.
};

}  // namespace smartmig
