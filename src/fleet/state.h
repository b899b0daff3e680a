// The state of GPUs, slices and jobs at one time, and the moves that change it. The simulated
// engine and a live controller both drive one of these; policies read it through View. It keeps
// time only as "now": when things happen is the driver's business, so the moves that take time
// return when they end. A value: copies are independent, which is what look-ahead and replay need.
//
// Invariants: 1. the slots present on a GPU are a legal set; 2. a slice has at most one job, and
// job.slice and slice.job agree; 3. under Preemption::kFree the ready queues hold every job in the
// system, else those that wait;
// 4. free() holds the slices that are there, not doomed and, unless kFree, without a job.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "fleet/aggregates.h"
#include "fleet/belief_correction.h"
#include "fleet/belief_errors.h"
#include "fleet/costs.h"
#include "fleet/decision.h"
#include "fleet/fleet.h"
#include "fleet/free_slices.h"
#include "fleet/job_queue.h"
#include "fleet/power.h"
#include "fleet/tardiness.h"

namespace smartmig {

// The order in which a placer takes the ready jobs; ties: the lower index.
enum class JobOrder : std::uint8_t { kDeadline, kClassDeadline, kRemaining };

enum class JobStatus : std::uint8_t { kFuture, kReady, kPending, kRunning, kSaving, kDone };

struct JobState {
  double left = 1;        // Fraction of the work, as of the last start or completed save.
  double saved_left = 1;  // What a save under way will make of it.
  // The same of the work as policies believe it to be: `estimate` times the true work.
  double believed_left = 1;
  double saved_believed_left = 1;
  TimeUs deadline_us = 0;  // After what costs took off.
  std::int64_t key = 0;    // In its queue.
  double estimate = 1;     // Policies see this many times the true times: the job's own estimate,
                           // times the drawn error.
  std::uint32_t slice = kNone;
  std::uint16_t group = 0;  // Index of its queue: jobs that run on the same kinds.
  JobStatus status = JobStatus::kFuture;
  bool faster_by_index : 1 = false;  // Fleet::faster_by_index().
  bool overdue : 1 = false;          // It has run for longer than it was believed to take.
  bool saved_overdue : 1 = false;    // What a save under way will make of it.
};
static_assert(sizeof(JobState) == 64);

// A job that outlives its estimate is expected to run for this part of what it has run, again
// (docs/model/semantics.md, "What a policy believes").
inline constexpr double kOverdueShare = 0.5;

enum class SlicePhase : std::uint8_t { kAbsent, kCreating, kReady, kDestroying };

// What an assignment under way does to a slice; kEmpties at all other times.
enum class SliceFate : std::uint8_t { kEmpties, kKeepsJob, kChangesJob };

struct SliceState {
  TimeUs begin_us = 0;  // Progress starts here, after the process's start and a restore.
  TimeUs end_us = 0;    // Of the job, or of its save.
  JobIndex job = kNone;
  std::uint32_t running_at = kNone;  // Index into running().
  KindIndex kind = kNoKind;
  std::uint8_t slot = 0;
  SlicePhase phase = SlicePhase::kAbsent;
  SliceFate fate = SliceFate::kEmpties;
  bool doomed = false;
};

struct GpuState {
  SlotSet present = 0;  // Room taken: ready, being created or being destroyed.
  SlotSet target = 0;
  SlotSet awaited = 0;  // A job waits for these.
  TimeUs operation_end_us = kNever;
  std::uint8_t operation_slot = 0;
  bool up = true;
};

class State {
 public:
  struct Options {
    Costs costs;
    Preemption preemption = Preemption::kFree;
    JobOrder job_order = JobOrder::kDeadline;
    GpuOrder gpu_order = GpuOrder::kIndex;
    double estimate_sigma = 0;
    std::uint64_t seed = 1;
    bool attribute_energy = false;  // Keep each job's share (records).
    bool aggregates = false;        // Keep what aggregates() has.
    bool tardiness = false;         // Keep what tardiness_us() tells.
    bool correct_beliefs = false;   // By what ended jobs have taught.
  };

  // `fleet` and `jobs` must outlive the state.
  State(const Fleet& fleet, std::span<const Job> jobs, const Options& options);
  // As new, with another table and seed. Allocates only where it is larger than any before.
  void restart(std::span<const Job> jobs, std::uint64_t seed);

  // What a policy believes of a job's work.
  struct Belief {
    double left = 1;
    bool overdue = false;
  };

  // A job that waits for a slice that is not there yet, or that another job is still on.
  struct Awaiting {
    GpuIndex gpu;
    std::uint8_t slot;
    JobIndex job;
  };

  // --- reading
  const Fleet& fleet() const { return *fleet_; }
  TimeUs now() const { return now_; }
  Preemption preemption() const { return preemption_; }
  const Costs& costs() const { return costs_; }
  const Job& job(JobIndex job) const { return jobs_[job]; }
  const JobState& job_state(JobIndex job) const { return job_states_[job]; }
  const SliceState& slice(SliceId slice) const { return slices_[slice]; }
  const GpuState& gpu(GpuIndex gpu) const { return gpus_[gpu]; }
  const FreeSlices& free() const { return free_; }
  FreeSlices& free() { return free_; }
  std::span<const SliceId> running() const {
    return running_;
  }  // Slices with a job, in no particular order.
  std::size_t jobs_in_system() const { return in_system_; }
  long events() const { return events_; }        // Arrivals and completions so far.
  JobIndex arrived() const { return arrived_; }  // Jobs come in the order of the table.
  std::size_t ready_count() const { return ready_count_; }
  long preemptions() const { return preemptions_; }  // Stops before the end, so far.
  GpuIndex gpus_up() const { return gpus_up_; }
  std::uint32_t health_changes() const { return health_changes_; }  // Failures and returns so far.
  SlotSet slots_in_use(GpuIndex gpu) const;  // With a job, or waited for by one.
  bool is_awaited(GpuIndex gpu, int slot) const { return gpus_[gpu].awaited >> slot & 1; }
  std::span<const Awaiting> awaiting() const { return awaiting_; }
  PowerMeter& power() { return power_; }
  const PowerMeter& power() const { return power_; }
  bool has_aggregates() const { return aggregates_.has_value(); }
  // As of now; only with Options::aggregates.
  const Aggregates& aggregates() {
    SM_CHECK(aggregates_.has_value());
    aggregates_->pass_time(now_);
    return *aggregates_;
  }
  // The sum over jobs of how far their end, or now, lies after their deadline; only with
  // Options::tardiness.
  TimeUs tardiness_us() {
    SM_CHECK(tardiness_.has_value());
    return tardiness_->so_far_us(now_);
  }
  // Jobs whose end, or now, lies after their deadline; the same.
  std::size_t late_jobs() {
    SM_CHECK(tardiness_.has_value());
    return tardiness_->late_so_far(now_);
  }

  // The fraction of the job's work that is left now.
  double left_now(JobIndex job) const { return left_now(job_states_[job]); }
  double left_now(const JobState& state) const {
    if (state.status != JobStatus::kRunning) return state.left;
    const SliceState& slice = slices_[state.slice];
    if (now_ <= slice.begin_us) return state.left;
    return state.left * static_cast<double>(slice.end_us - now_) /
           static_cast<double>(slice.end_us - slice.begin_us);
  }
  // The fraction of its work that policies believe to be left. They know how long it has run, not
  // how far it has come; where its estimate is right the two are one.
  double believed_left_now(const JobState& state) const {
    if (state.status != JobStatus::kRunning) return state.believed_left;
    const SliceState& slice = slices_[state.slice];
    if (now_ <= slice.begin_us) return state.believed_left;
    if (state.estimate != 1) return belief_in_run(state, slice).left;
    return state.believed_left * static_cast<double>(slice.end_us - now_) /
           static_cast<double>(slice.end_us - slice.begin_us);
  }
  // How long it has run, wherever it did, in units of what it was believed to take.
  double believed_done_now(const JobState& state) const {
    bool overdue = state.overdue;
    double left = state.believed_left;
    if (state.status == JobStatus::kRunning && now_ > slices_[state.slice].begin_us) {
      const Belief belief = belief_in_run(state, slices_[state.slice]);
      left = belief.left, overdue = belief.overdue;
    }
    return overdue ? left / kOverdueShare : 1 - left;
  }
  // Whether it has done work that a stop now would save, or has saved some.
  bool has_run(JobIndex job) const {
    const JobState& state = job_states_[job];
    return state.left < 1 || (state.status == JobStatus::kRunning && progress_began(state));
  }
  // How long a policy expects a job to make no progress yet: what is left of its overhead if it
  // runs, else the start of a process.
  TimeUs delay_us(const JobState& state) const {
    if (state.status != JobStatus::kRunning) return costs_.start_us;
    return std::max<TimeUs>(0, slices_[state.slice].begin_us - now_);
  }
  // Time on a kind for that fraction, at least 1 us.
  static TimeUs whole_us(double time) { return time < 1.5 ? 1 : static_cast<TimeUs>(time + 0.5); }

  // Ready jobs that run on the same kinds, in the placer's order.
  struct Group {
    KindSet kinds = 0;
    JobQueue queue;
  };
  std::span<const Group> groups() const { return groups_; }
  // What the jobs that ended last took, over what they were believed to take.
  const BeliefErrors& belief_errors() const { return belief_errors_; }
  // The same over what they would be believed to take now.
  double belief_error(std::size_t i) const {
    const BeliefError& error = belief_errors_[i];
    return correction_ ? error.ratio / correction_->factor(error.features) : error.ratio;
  }

  // --- moves; those that start something that takes time return when it ends
  void set_now(TimeUs now) { now_ = now; }
  void arrive(JobIndex job);
  // Starts the job on a slice that is there and free (end returned), or lets it wait for one
  // (kNever).
  TimeUs start(const Start& start);
  void wait_for(const Start& start);  // Even where the slice is there and free.
  // Makes this the assignment (Decision::whole). `started` gets the jobs that did not keep their
  // slice.
  void assign_whole(std::span<const Start> starts, std::vector<JobIndex>& started);
  // Stops a running job: at once (kNever), or after its save, whose end is returned.
  TimeUs stop(JobIndex job);
  void end_save(SliceId slice);
  void complete(SliceId slice);
  // The job that waits for this slice, if it is there and has no job: take it out and start it (the
  // caller does).
  std::optional<Start> next_awaiting(GpuIndex gpu);
  // A new target. Jobs that wait for slices no longer wanted are ready again; under kFree jobs on
  // doomed slices stop.
  void set_target(GpuIndex gpu, SlotSet target);
  // Starts the GPU's next operations; those without duration are done at once. Returns the end of
  // one that takes time. `even_closed`: of a change that had begun when the GPU was closed.
  TimeUs advance(GpuIndex gpu, bool even_closed = false);
  void end_operation(GpuIndex gpu);
  void fail(GpuIndex gpu);
  void bring_back(GpuIndex gpu);
  void cut_deadline(JobIndex job, TimeUs by_us);
  // Under kFree a new decision starts from nothing: jobs that wait for a slice are plainly ready
  // again.
  void drop_all_awaiting();
  // The layout is there from the start, at no cost.
  void place_initial(GpuIndex gpu, SlotSet set);
  // Another placer decides from now on. O(jobs in the system + GPUs) where an order changes.
  void set_orders(JobOrder job_order, GpuOrder gpu_order);
  // Under kFree and kRemaining the keys of running jobs change with time; a placer's call must find
  // them right.
  void refresh_keys();

  // --- moves of a live fleet (state_live.cc); not under kFree
  // More jobs stand behind those there were, which have not changed; none of them has arrived.
  void extend(std::span<const Job> jobs);
  // Nothing is placed or cut on a closed GPU, which counts as not up; what runs there goes on.
  void close(GpuIndex gpu);
  void open(GpuIndex gpu);
  // A slice is there, or is gone, without an operation of ours; a job on it is ready again with
  // what it had left at its start.
  void appear(GpuIndex gpu, int slot);
  void vanish(GpuIndex gpu, int slot);
  // The job is off its slice and ready again, with what it had left at its start.
  void abort(SliceId slice);
  // The job leaves the system from wherever it is.
  void withdraw(JobIndex job);
  // The ends of what start(), stop() and advance() began, whenever they come.
  void finish(SliceId slice);
  void finish_save(SliceId slice, double left);
  void finish_operation(GpuIndex gpu);
  void cancel_operation(GpuIndex gpu);  // It failed: all is as before it.
  // As advance() had left it: an operation on this slot is under way.
  void resume_operation(GpuIndex gpu, int slot, bool create, TimeUs end_us);
  // A run that began, or will end, at other times than was thought.
  void revise_run(SliceId slice, TimeUs begin_us, TimeUs end_us);
  void set_left(JobIndex job, double left);  // Of one that is ready, or waits for its slice.

 private:
  Belief belief_in_run(const JobState& state, const SliceState& slice) const;
  void note_belief_error(const JobState& state, const SliceState& slice);
  void correct_belief(JobIndex job, bool arrives);
  void correct_waiting();
  void note_progress(JobState& state);
  bool progress_began(const JobState& state) const { return now_ > slices_[state.slice].begin_us; }
  std::int64_t key_of(JobIndex job) const;
  void prepare_jobs(std::uint64_t seed);
  void enqueue(JobIndex job);
  void dequeue(JobIndex job);
  void insert_by_key(JobIndex job);
  void erase_by_key(JobIndex job);
  void make_ready_again(JobIndex job);
  void run(SliceId slice, JobIndex job);
  void begin(SliceId slice, JobIndex job);
  void preempt(JobIndex job);
  void vacate(SliceId slice, bool slice_stays);
  void make_slice(GpuIndex gpu, int slot);
  void remove_slice(GpuIndex gpu, int slot);
  void update_doom(GpuIndex gpu);
  void drop_awaiting(GpuIndex gpu, SlotSet keep);
  TimeUs operation_time(GpuIndex gpu, int slot, bool create) const;
  void operate(GpuIndex gpu, int slot, bool create, TimeUs end_us);
  SliceId slice_of_slot(GpuIndex gpu, int slot) const {
    return fleet_->slice_at(gpu, fleet_->board(gpu).slots[slot].start);
  }
  bool everything_ready() const { return preemption_ == Preemption::kFree; }

  const Fleet* fleet_;
  std::span<const Job> jobs_;
  Costs costs_;
  Preemption preemption_;
  JobOrder job_order_;
  double estimate_sigma_;
  bool attribute_energy_;
  TimeUs now_ = 0;
  std::vector<JobState> job_states_;
  std::vector<SliceState> slices_;
  std::vector<GpuState> gpus_;
  std::vector<Group> groups_;
  FreeSlices free_;
  std::vector<FreeSlices> other_orders_;  // Of placers before this one; their room is kept.
  std::vector<SliceId> running_;
  std::vector<Awaiting> awaiting_;
  PowerMeter power_;
  BeliefErrors belief_errors_;
  std::optional<BeliefCorrection> correction_;
  std::vector<JobIndex> to_correct_;  // Scratch of correct_waiting().
  std::vector<double> corrected_by_;  // With that, by job: what its estimate was multiplied by.
  std::optional<Aggregates> aggregates_;
  std::optional<TardinessMeter> tardiness_;
  std::vector<Start> moves_;         // Scratch of assign_whole(),
  std::vector<JobIndex> reordered_;  // and of set_orders().
  std::size_t in_system_ = 0;
  std::size_t ready_count_ = 0;
  GpuIndex gpus_up_ = 0;
  long events_ = 0;
  JobIndex arrived_ = 0;
  long preemptions_ = 0;
  std::uint32_t health_changes_ = 0;
};

// The class of a job for `cedf`, 1 to 4 (docs/model/semantics.md).
int job_class(const Fleet& fleet, const Job& job, KindSet kinds);

}  // namespace smartmig
