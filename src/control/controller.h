// The live controller: observe, decide, journal, carry out, verify. One thread owns the model and
// the journal and gathers what happens; workers make the driver's calls, one at a time for each
// GPU, and can be abandoned. All public calls may come from any thread.
//
//   auto controller = Controller::start(options, std::move(driver));
//   auto id = (*controller)->submit(request, "alice");
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "control/day_comparison.h"
#include "control/driver.h"
#include "control/event.h"
#include "control/job_request.h"

namespace smartmig {

struct ControllerOptions {
  std::string state_dir;
  Setup setup;                 // Its `fleet` is the driver's to say.
  std::string driver;          // Its name, for people.
  std::string version;         // Of the program.
  double tick_ms = 2;          // At most one decision in this fleet time.
  double call_timeout_s = 30;  // Wall time after which a driver's call is given up.
  double stop_grace_s =
      60;  // Fleet time over the expected end of a save, then its slice is fenced.
  double retry_first_s = 10;  // Fleet time until a fenced GPU is tried again; doubles each time.
  double retry_most_s = 3600;
  int keep_days = 30;  // Finished jobs, closed intents, events, decisions and the audit log.
  std::int64_t keep_events = 5'000'000;  // At most so many, and some to begin from.
  std::int64_t keep_rows = 5'000'000;    // Of finished jobs, intents and audit: at most so many.
  int most_jobs = 1'000'000;             // That wait or run; more are refused.
  std::int64_t rebase_events = 500'000;  // So many, and the journal gets a new beginning.
  int workers = 16;
  // Called by the loop's thread at the named points of a change or a run, before what the name says
  // is durable: "step journalled", "calls handed out", ... For tests, which end the process there.
  std::function<void(std::string_view)> at;
};

// --- what can be seen

struct SliceView {
  std::string uuid;
  std::string profile;  // "3g.20gb"
  std::uint8_t slot = 0;
  std::uint8_t start = 0;    // First memory slice.
  std::uint8_t width = 0;    // Memory slices.
  std::uint8_t compute = 0;  // Compute slices.
  // "ready", "creating", "destroying", "foreign"; a slice whose job will not stop: "fenced".
  std::string_view state = "ready";
  JobNumber job = 0;               // 0: none.
  TimeUs since_us = 0;             // The job's start.
  TimeUs expected_end_us = 0;      // Of it.
  std::string_view job_kind = "";  // "inference" or "training"; empty: no job.
  TimeUs deadline_us = 0;          // Of the job.
};

inline constexpr std::array<std::string_view, 5> kGpuStates = {"up", "cordoned", "draining",
                                                               "fenced", "lost"};

struct GpuView {
  GpuIndex index = 0;
  std::string uuid;
  std::string board;
  int memory_slices = 0;  // Of the board, in use or not.
  std::string layout;     // "4-2-1"
  std::string target;     // The same unless it is being changed.
  std::string_view state = kGpuStates[0];
  std::string trouble;            // Why it is fenced; one line.
  TimeUs retry_us = -1;           // When the fence is tried again.
  bool held = false;              // By an operator: the policy does not change its layout.
  std::string held_by;            // Who holds it; empty: it is not held.
  TimeUs held_us = -1;            // Since when; -1: it is not held.
  double power_w = 0;             // Modelled, from what runs.
  long changes = 0;               // Of its layout since the controller started.
  std::vector<SliceView> slices;  // By first memory slice.
};

// What another policy would have made of the same jobs since the controller started, beside what
// its own has; see control/counterfactual.h.
struct ModelledView {
  std::string policy;
  double energy_j = 0, own_energy_j = 0;
  std::int64_t done = 0, own_done = 0;
  std::int64_t late = 0, own_late = 0;
  double tardiness_s = 0, own_tardiness_s = 0;  // Sums over the jobs done.
  std::optional<DayVerdict> last_day;           // None before a day with enough jobs.
};

struct FleetSummary {
  TimeUs now_us = 0;
  std::string fleet;  // "8xA100-40GB"
  std::string policy;
  std::string driver;
  double speed = 1;
  bool frozen = false;
  bool recovered = true;  // False: the journal was damaged or lost, an operator must say `recover`.
  std::string trouble;    // What keeps it from deciding (a full disk), or that events are not
                          // received; empty: nothing.
  bool events_received = true;  // False: ends of runs are not noticed now.
  double power_w = 0;
  double power_cap_w = 0;  // 0: none.
  double energy_j = 0;     // Modelled, since the controller started.
  std::int64_t queued = 0, running = 0;
  std::int64_t late_queued = 0;  // Of the queued, past their deadline.
  std::optional<ModelledView> modelled;
};
struct FleetView : FleetSummary {
  std::vector<GpuView> gpus;
};

// Counters since the start, for the metrics page.
struct Counters {
  std::int64_t submitted = 0, done = 0, failed = 0, cancelled = 0, late = 0;
  double tardiness_s = 0;  // Sum over the jobs done.
  std::int64_t rounds = 0, decisions = 0, starts = 0, stops = 0, layout_changes = 0;
  std::int64_t withheld_budget = 0, withheld_no_gain = 0, withheld_power = 0;
  std::int64_t rollbacks = 0, fences = 0, calls = 0, call_errors = 0, calls_given_up = 0;
  std::int64_t commits = 0, lost_runs = 0;
  double lost_s = 0;
  std::vector<std::int64_t>
      decide_ms_buckets;  // See kDecideBucketsMs; cumulative is the page's business.
  double decide_s_sum = 0;
};
inline constexpr double kDecideBucketsMs[] = {0.1, 0.25, 0.5, 1,   2.5, 5,
                                              10,  25,   50,  100, 250, 1000};

// What would be done, or was.
struct PlannedChange {
  std::string gpu;       // UUID.
  std::string from, to;  // Layouts.
  std::string reason;
};
struct PlannedStart {
  JobNumber job = 0;
  std::string gpu;
  std::string profile;
  std::uint8_t slot = 0;
  std::string reason;
};
struct PlannedStop {
  JobNumber job = 0;
  std::string gpu;
  std::string reason;
};
struct Plan {
  std::int64_t number = 0;  // Of the decision; 0: nothing was done.
  TimeUs at_us = 0;
  std::string policy;
  std::vector<PlannedStop> stops;
  std::vector<PlannedChange> changes;
  std::vector<PlannedStart> starts;
};

// A line of the live events, as it goes out to subscribers: {"kind": ..., ...} without newline.
struct Notice {
  std::uint64_t number = 0;
  std::string kind;  // "job", "gpu", "decision", "fleet"
  std::string json;
};

// --- what can be asked

struct Command {
  enum class Kind : std::uint8_t {
    kFreeze,
    kUnfreeze,
    kRecover,
    kCordon,
    kDrain,
    kUncordon,
    kAdopt,
    kApply,
    kRollback,
    kPowerCap,
    kUnhold
  };
  Kind kind = Kind::kFreeze;
  std::string gpu;  // UUID or index; for kRollback empty: every GPU of the latest change.
  // kApply: layouts by GPU ("4-2-1"); empty: what the policy would do now, also while frozen.
  std::vector<std::pair<std::string, std::string>> layouts;
  bool hold = false;  // kApply: the policy leaves these layouts as they are until kUnhold.
  double power_cap_w = 0;
  bool dry_run = false;
};
struct Outcome {
  std::vector<std::string> lines;  // What was done, or would be; for people.
};

// What a cancel has come to when it is answered.
enum class Cancelled : std::uint8_t {
  kDone,     // The job waited, and is cancelled.
  kOrdered,  // The job has a run, which is told to end; the job is cancelled once it has.
};

class Controller {
 public:
  // Refuses, in one line, what cannot be served: another controller on this state or fleet, a newer
  // journal, a policy that the fleet cannot have.
  static Result<std::unique_ptr<Controller>> start(const ControllerOptions& options,
                                                   std::unique_ptr<Driver> driver);
  ~Controller();  // Stops deciding, closes the journal; jobs run on.

  struct Submitted {
    JobNumber id = 0;
    bool created = true;  // False: the key was known, with the same request.
  };
  // Answers once the job is durable. 409: the key is known with another request; 503: not accepted.
  // 400: it fits no slice of the fleet.
  Answer<Submitted> submit(const JobRequest& request, const std::string& owner);
  Answer<void> check(const JobRequest& request) const;  // Whether submit() would take it.
  // `owner` empty: anybody's.
  Answer<Cancelled> cancel(JobNumber job, const std::string& who, const std::string& owner);
  Answer<Outcome> command(const Command& command, const std::string& who);

  // The whole picture. Of a large fleet it may be two seconds old, though not older than the last
  // command, so that those who look do not wait for decisions.
  std::shared_ptr<const FleetView> look() const;
  FleetSummary summary() const;                             // The same without GPUs.
  std::optional<GpuView> gpu(const std::string& id) const;  // UUID or index.
  Counters counters() const;
  bool alive() const;  // Its loop came round within the last 30 s.
  // Empty: it is recovered, decides, writes its journal and receives the fleet's events. Else a
  // reason that anybody may read: no names of files; the summary's `trouble` has the details.
  std::string why_not_ready() const;
  bool ready() const { return why_not_ready().empty(); }
  TimeUs now_us() const;
  // What it would do now, by its own policy or another; changes nothing.
  Answer<Plan> plan(const std::string& policy);
  // When a queued job may start and end if nothing else comes: its place in line and a rough time
  // from what runs. Empty for jobs that are not queued.
  struct Expectation {
    JobNumber job = 0;
    TimeUs start_us = 0;
    TimeUs end_us = 0;
    TimeUs late_us = 0;
  };
  std::vector<Expectation> expectations(std::size_t most) const;
  // Why the job waits or where it runs and why, in lines.
  Answer<std::vector<std::string>> explain_job(JobNumber job);
  Answer<std::vector<std::string>> explain_gpu(const std::string& id);

  // Notices after the one of that number (the first has 1), waiting up to `wait_ms`; the oldest are
  // forgotten when there are many, and `missed` is set then. Numbers of what was returned are in
  // it.
  std::vector<Notice> notices_after(std::uint64_t after, int wait_ms, bool& missed);
  std::uint64_t last_notice() const;

 private:
  struct Impl;
  explicit Controller(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace smartmig
