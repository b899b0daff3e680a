// What the slow reference knows at one instant, and the plain questions its parts ask about it.
// Nothing here is remembered that can be recomputed: whether a slice is doomed, occupied or awaited
// is found by looking at all jobs. Section names in comments are those of docs/model/semantics.md.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "base/random.h"
#include "reference/reference.h"

namespace smartmig::reference {

// An operation under way on a GPU. A slice being created is not there yet; one being destroyed
// still takes its room but is no longer there for jobs.
struct Operation {
  bool create = true;
  int slot = 0;
  TimeUs end_us = 0;
};

// `on-demand`: an operation that a GPU is still to begin.
struct Queued {
  bool create = true;
  int slot = 0;
  TimeUs since_us = 0;
};

struct Gpu {
  const Board* board = nullptr;
  bool up = true;
  SlotSet present = 0;  // Slices that take room now.
  SlotSet target = 0;   // Slices wanted; a present slice outside it is doomed.
  std::optional<Operation> operation;
  bool repartitioned_now = false;     // At this instant.
  bool failed_now = false;            // At this instant, even if it has returned.
  std::vector<Queued> queue;          // `on-demand`: first to begin first.
  bool due = false;                   // `miso`: its jobs have changed since its layout was chosen.
  bool has_new_job = false;           // `miso`: since then one has come.
  TimeUs profiles_until_us = 0;       // `miso`
  std::vector<SlotSet> maximal_sets;  // `miso`: in order of their layout's number.
  TimeUs last_job_us = -1;            // When a job last left it; -1: never, or not since it failed.
};

enum class Phase {
  kFuture,    // Not yet submitted.
  kReady,     // Waits for a decision.
  kAwaiting,  // Was given (gpu, slot), which is not free or not made yet.
  kRunning,   // On (gpu, slot), its restore included.
  kSaving,    // Stopped, but still on (gpu, slot).
  kDone,
};

struct JobState {
  Phase phase = Phase::kFuture;
  double left = 1;  // Fraction that was left at the last start (or is left, while it does not run).
  double factor = 1;  // Believed times are this many times the true ones.
  // "What a policy believes", as of the last start (or now, while it does not run).
  double believed_left = 1;
  bool overdue = false;
  TimeUs deadline_us = 0;
  int gpu = -1;
  int slot = -1;
  TimeUs start_us = 0;
  TimeUs overhead_us = 0;
  TimeUs end_us = 0;
  TimeUs save_end_us = 0;
  double left_saved = 1;  // What `left` becomes when the save ends.
  double believed_left_saved = 1;
  bool overdue_saved = false;
  // `miso`: the GPU it went to and the slot it was given there; -1: none.
  int home = -1;
  int given = -1;
  std::map<int, long> worth;  // By compute size, of slices it runs on there.
};

// A slice that a job can be given: there, and not doomed.
struct Slice {
  int gpu = 0;
  int slot = 0;
};

struct Placement {
  int job = 0;
  Slice slice;
};

struct State {
  const Setup* setup = nullptr;
  TimeUs now_us = 0;
  std::vector<Gpu> gpus;
  std::vector<JobState> jobs;
  Random random_placer;
  Outcome outcome;

  explicit State(const Setup& a_setup);
};

// Geometry of one slice.
const Profile& profile_of(const State& state, Slice slice);
int compute_size(const State& state, Slice slice);
int first_memory_slice(const State& state, Slice slice);

// "Time and progress". `full` times are real numbers of microseconds.
bool runs_on(const State& state, int job, const Profile& profile);
bool runs_on(const State& state, int job, Slice slice);
double full_us(const State& state, int job, const Board& board, const Profile& profile);
double left_now(const State& state, int job);
double believed_left_now(const State& state, int job);
// What a policy sees, for a full time.
TimeUs remaining_us(const State& state, int job, double full);
TimeUs remaining_us(const State& state, int job, Slice slice);

// The least full time of the job over the base profiles of that size of the fleet's boards;
// infinite if it runs on none of them.
double least_full_us(const State& state, int job, int size);
// The sizes that any board of the fleet has, ascending.
std::vector<int> fleet_sizes(const State& state);

// The job that runs or saves on the slice, or -1; the job that waits for it, or -1.
int job_on(const State& state, Slice slice);
int job_awaiting(const State& state, Slice slice);
// There and not doomed, by index: GPU, then first memory slice.
std::vector<Slice> usable_slices(const State& state);
// Of those, the ones without a job and not waited for.
std::vector<Slice> free_slices(const State& state);
// Slots of a GPU with a job. Except under `free`, where nothing is promised for longer than an
// instant, also those that a job waits for.
SlotSet slots_in_use(const State& state, int gpu);
int busy_compute_slices(const State& state, int gpu);

// Whether jobs are stopped and moved at no cost.
inline bool is_free(const State& state) { return state.setup->preemption == Preemption::kFree; }

// Save and restore of a job under the present costs and preemption.
TimeUs save_us(const State& state, int job);
TimeUs restore_us(const State& state, int job, double left);
// How long a policy expects the job to make no progress yet: what is left of the overhead of one
// that runs, else the start of a process.
TimeUs delay_us(const State& state, int job);
// Whether the job's process has started by then ("Energy"); it is on a slice.
bool works(const State& state, int job, TimeUs at_us);

// Changes of one job, now.
void start_job(State& state, int job, Slice slice);
void stop_job_free(State& state, int job);    // `free`: it is ready at once.
void stop_job_saving(State& state, int job);  // `checkpoint`: it saves first, perhaps for no time.
void end_save(State& state, int job);
void make_ready(State& state, int job);  // It stops waiting for a slice.
// Jobs whose slice has come to be there without a job start on it.
void start_awaiting_jobs(State& state);

// The parts of an instant, each in its own file.
SlotSet first_layout(const State& state, int gpu);
void decide_partition(State& state);  // Targets; with greedy also who waits for which slice.
TimeUs next_partitioner_timer(const State& state);
void displace_jobs(State& state);
std::vector<Placement> place(State& state, const std::vector<int>& ready,
                             const std::vector<Slice>& free);

// A partitioner names a multiset for a GPU ("Layouts", second rule and the dooming of the third).
void name_target(State& state, int gpu, SlotSet layout);
void decide_greedy(State& state);
void decide_on_demand(State& state);
void decide_miso(State& state);
TimeUs next_miso_timer(const State& state);
// Begins the operations of a GPU's queue that can begin; what takes no time also ends.
void work_off_queues(State& state);
void end_operation(Gpu& gpu);

Sums sum_up(const State& state);

// Watts of one GPU at a time from now on up to which nothing happens.
double power_w(const State& state, int gpu, TimeUs at_us);

}  // namespace smartmig::reference
