// The inside of Controller, shared by its files: the loop (controller.cc), the start
// (controller_boot.cc), what comes in (controller_inputs.cc), decisions and orders
// (controller_round.cc), operators' commands (controller_commands.cc) and what can be seen
// (controller_view.cc).
//
// Everything below "the loop's own" is touched by the loop's thread alone. What happens is handled
// in this order: rows for the journal, then the model (a submission: only once it is durable), then
// a round, whose orders go to the workers only when its rows are durable. Where the journal cannot
// be written, rows and orders wait, nothing is decided and submissions are refused.
#pragma once

#include <atomic>
#include <condition_variable>
#include <future>
#include <mutex>
#include <set>
#include <thread>
#include <unordered_map>
#include <variant>

#include "control/controller.h"
#include "control/journal.h"
#include "control/lanes.h"
#include "control/model.h"
#include "control/steps.h"

namespace smartmig {

// What a worker has done.
struct CallDone {
  enum class Kind : std::uint8_t { kStep, kUndo, kStart, kStop, kRead } kind = Kind::kRead;
  GpuIndex gpu = 0;
  std::uint8_t slot = 0;
  bool create = false;
  JobNumber job = 0;
  int attempt = 0;
  StepOutcome outcome;
};

struct Submission {
  JobRequest request;
  std::string owner;
  TimeUs at_us = 0;
  std::promise<Answer<Controller::Submitted>> answer;
};

using Query = std::function<void()>;  // Run on the loop's thread.
using Input = std::variant<Submission, CallDone, std::vector<FleetEvent>, Query>;

// Where inputs wait for the loop. Outlives the controller where a worker was given up.
struct Inbox {
  std::mutex mutex;
  std::condition_variable arrived;
  std::vector<Input> inputs;
  bool closed = false;

  void put(Input input) {
    {
      const std::lock_guard lock(mutex);
      if (closed) return;
      inputs.push_back(std::move(input));
    }
    arrived.notify_one();
  }
};

struct JobBook {
  JobRow row;
  std::optional<TimeUs> max_runtime_us;
  TimeUs run_begin_us = -1;  // Of the run under way.
  TimeUs save_due_us = -1;   // When a save under way should be over.
  bool cancelled = false;    // To be so once its run has ended.
  bool overran = false;      // Killed for its max_runtime_s.
  bool will_not_stop = false;
};

struct GpuBook {
  GpuRow row;
  KnownSlices slices;
  std::set<std::string> ours;  // UUIDs of slices we made or adopted.
  std::optional<IntentRow> intent;
  std::string undo_reason;  // While a change is being undone.
  bool read_ordered = false;
  bool hung = false;  // A call was given up and has not come back.
  bool lost = false;
  bool adopts = false;  // Idle foreign slices become ours with the next look.
  long changes = 0;
};

using Row = std::variant<JobRow, SliceRow, IntentRow, GpuRow, EventRow, DecisionRow, AuditRow,
                         std::pair<std::string, std::string>>;  // The last: a setting.

struct Controller::Impl {
  explicit Impl(const ControllerOptions& given) : options(given) {}
  ~Impl();

  // --- controller_boot.cc
  Result<void> boot(std::unique_ptr<Driver> given);
  Result<void> lock_state();
  Result<void> open_journal();
  Result<Snapshot> stand(std::vector<GpuReading> readings, const std::vector<FleetEvent>& events);
  void settle_ended_runs(const std::vector<FleetEvent>& events);
  void settle_slices(const std::vector<GpuReading>& readings, Snapshot& snapshot);
  void settle_runs(const std::vector<GpuReading>& readings, Snapshot& snapshot);

  // --- controller.cc
  void loop();
  void watch_events();
  std::vector<Input> wait_for_inputs();
  void take(std::vector<Input>& inputs);
  void accept(std::vector<Submission>& submissions);
  std::optional<JobRow> final_job_with(const std::string& owner, const std::string& key);
  Result<void> flush(const std::vector<Row>& more);
  void housekeeping();
  void record(Event event);
  TimeUs clock_us() const { return std::max(fleet.clock.at(monotonic_ns()), boot_us); }
  template <class T>
  T ask(std::function<T()> question);  // Answered by the loop's thread.
  void notice(std::string kind, std::string json);

  // --- controller_inputs.cc
  void on(const CallDone& done);
  void on_step(const CallDone& done);
  void on_undo(const CallDone& done);
  void on_start(const CallDone& done);
  void on(const FleetEvent& event);
  void on_run_over(JobBook& book, const FleetEvent& event);
  void reconcile(GpuIndex gpu, const GpuReading& reading, TimeUs at_us);
  void adopt_idle(GpuIndex gpu, const GpuReading& reading);
  void fence(GpuIndex gpu, const std::string& why);
  void lift_fence(GpuIndex gpu);
  void order_read(GpuIndex gpu);
  void order_kill(JobBook& book);
  Answer<void> cancel(JobNumber job, const std::string& who, const std::string& owner);
  void close_intent(GpuIndex gpu, const std::string& outcome);
  void finish(JobBook& book, JobPhase phase, TimeUs at_us, const std::string& note);
  void requeue(JobBook& book, double left, TimeUs lost_us, const std::string& note);
  void apply_openness(GpuIndex gpu);
  JobBook* book_of(const std::string& run);
  void changed(const JobBook& book);
  void changed(GpuIndex gpu);

  // --- controller_round.cc
  void round(TimeUs now);
  void order(const Order& order, TimeUs at_us);
  void remember_reasons(const Round& decided);
  void dispatch();
  std::string slice_name(GpuIndex gpu, int slot) const;
  const std::vector<std::string>& gpu_names() const { return fleet.gpus; }

  // --- controller_commands.cc
  Answer<Outcome> carry_out(const Command& command, const std::string& who);
  Answer<GpuIndex> find_gpu(const std::string& id) const;
  void stop_all_on(GpuIndex gpu);
  Answer<void> set_layout(GpuIndex gpu, SlotSet wanted, bool dry_run,
                          std::vector<std::string>& lines);
  Answer<void> apply_plan(bool dry_run, std::vector<std::string>& lines);

  // --- controller_view.cc
  std::shared_ptr<const FleetView> look();
  GpuView look_at(GpuIndex gpu) const;
  void summarise(FleetView& view) const;
  std::string_view gpu_state(GpuIndex gpu) const;

  // --- fixed once started
  ControllerOptions options;
  std::shared_ptr<Driver> driver;
  FleetDescription fleet;
  TimeUs boot_us = 0;
  int lock_file = -1;
  std::unordered_map<std::string, GpuIndex> gpu_by_uuid;
  std::shared_ptr<const Fleet> boards;
  std::string damage;  // Of the journal that was found; empty: none.
  std::vector<std::pair<GpuIndex, std::string>> strays;  // Runs to be killed at the start.

  std::shared_ptr<Inbox> inbox = std::make_shared<Inbox>();
  std::unique_ptr<Lanes> lanes;
  std::thread loop_thread;
  std::thread event_thread;
  std::atomic<bool> stopping = false;
  std::atomic<bool> refuses_submissions = false;  // The journal cannot be written.

  // --- between the loop and the thread that watches the fleet's events
  std::mutex events_mutex;
  std::condition_variable events_journalled;
  std::uint64_t journalled_event = 0;

  // --- for those who ask
  mutable std::mutex seen_mutex;
  Counters counted;
  std::condition_variable noticed;
  std::deque<Notice> notices;
  std::uint64_t next_notice = 1;

  // --- the loop's own
  std::optional<Journal> journal;
  std::optional<JournalReader> reader;  // For jobs that are final.
  std::optional<Model> model;
  std::vector<GpuBook> gpus;
  std::unordered_map<JobNumber, JobBook> jobs;      // Not final.
  std::unordered_map<std::string, JobNumber> keys;  // Of those; by owner, a zero byte, the key.
  std::vector<Row> rows;                            // To be written.
  std::vector<std::string> forgotten_slices;        // The same.
  std::vector<std::pair<GpuIndex, std::function<CallDone()>>> calls;  // To be made once they are.
  std::vector<GpuIndex> last_changed;  // By the last decision that changed layouts.
  std::int64_t next_job = 1, next_intent = 1, next_event = 1;
  std::uint64_t taken_event = 0;  // Of the fleet's, handled.
  TimeUs latest_us = 0;           // Of what was handled since the last round.
  bool round_due = false;
  bool recovered = true;
  std::string trouble;  // Why nothing can be written; empty: all is well.
  std::int64_t last_round_ns = 0, last_housekeeping_ns = 0, last_flush_try_ns = 0;
  std::shared_ptr<const FleetView> last_look;
  std::int64_t last_look_ns = 0;
  std::unordered_map<JobNumber, std::string> start_reasons;  // Of jobs that run.
  std::unordered_map<GpuIndex, std::string> change_reasons;
};

template <class T>
T Controller::Impl::ask(std::function<T()> question) {
  auto promise = std::make_shared<std::promise<T>>();
  auto answer = promise->get_future();
  inbox->put(Query([promise, question = std::move(question)] { promise->set_value(question()); }));
  return answer.get();
}

// "123.4": the fourth run of job 123.
std::string run_name(JobNumber job, int attempt);

}  // namespace smartmig
