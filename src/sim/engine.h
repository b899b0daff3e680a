// The event engine: advances a State through a workload with a policy. Between two instants it
// touches only what changes. Deterministic; no global state; copying an engine copies the run,
// which can then go on by itself.
//
//   Engine engine(fleet, jobs, policy, options);
//   auto done = engine.run();       // or step() while it returns true
//   Metrics metrics = measure(engine);
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "fleet/gpu_event.h"
#include "policy/displace.h"
#include "policy/policy.h"
#include "sim/records.h"

namespace smartmig {

struct EngineOptions {
  Costs costs;
  Preemption preemption = Preemption::kFree;
  double estimate_sigma = 0;
  std::uint64_t seed = 1;
  bool records = false;
  std::vector<GpuEvent> events;  // In order of time.
};

class Engine {
 public:
  // `fleet` and `jobs` must outlive the engine; the policy is copied. There must be at least one
  // job.
  Engine(const Fleet& fleet, const JobTable& jobs, const Policy& policy,
         const EngineOptions& options);

  // Goes on to the next instant; false when all jobs are done or nothing can happen any more.
  bool step();
  // Runs to the end. The error names a job that can never run, and why.
  Result<void> run();

  const State& state() const { return state_; }
  const JobTable& jobs() const { return *jobs_; }
  TimeUs begin_us() const { return begin_us_; }
  TimeUs end_us() const { return last_completion_us_; }
  long events() const { return events_; }  // Arrivals and completions.
  long repartitions() const { return repartitions_; }
  std::size_t completed() const { return completed_; }
  std::span<const TimeUs> finish_us() const { return finish_us_; }
  const std::optional<Records>& records() const { return records_; }

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
  void complete(SliceId slice, TimeUs now);
  void process_endings(TimeUs now);
  void process_gpu_events(TimeUs now);
  void process_arrivals(TimeUs now);
  void decide();
  void carry_out(const Decision& decision);
  void assign_whole(std::span<const Start> starts);
  void note_start(JobIndex job);
  void settle_dirty();
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
  std::vector<GpuIndex> dirty_;          // Perhaps not yet at their target.
  std::vector<GpuIndex> repartitioned_;  // At this instant.
  std::vector<GpuIndex> touched_;
  std::vector<JobIndex> started_;  // At this instant.
  std::vector<std::uint32_t> deferred_saves_;
  std::vector<std::uint32_t> deferred_operations_;
  Decision decision_;
  ViewScratch scratch_;
  DisplacementRoom displacement_;
  std::optional<Records> records_;
  std::size_t next_arrival_ = 0;
  std::size_t next_gpu_event_ = 0;
  TimeUs next_timer_ = kNever;
  TimeUs begin_us_ = 0;
  TimeUs last_completion_us_ = 0;
  long events_ = 0;
  long repartitions_ = 0;
  std::size_t completed_ = 0;
  int idle_timers_ = 0;  // Timers in a row at which nothing ran and nothing was to come.
  bool call_partitioner_ = false;
  // Under free preemption nearly every end changes at every instant: then looking through the
  // running slices, of which the placer looks at each anyway, is cheaper than keeping them in a
  // heap.
  bool scans_ = false;
  TimeUs first_ends_us_ = kNever;  // Of the running jobs, as next_time() found it.
};

}  // namespace smartmig
