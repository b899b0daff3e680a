// The inside of Controller, shared by its files: the loop (controller.cc), the start
// (controller_boot.cc, controller_settle.cc), a journal that cannot be trusted
// (controller_doubt.cc), what comes in (controller_inputs.cc), faults and the way back from them
// (controller_repair.cc), decisions and orders (controller_round.cc), operators' commands
// (controller_commands.cc), layouts by hand (controller_layouts.cc), what can be seen
// (controller_view.cc) and what is forgotten (controller_keep.cc).
//
// Everything below "the loop's own" is touched by the loop's thread alone. What happens is handled
// in this order: rows for the journal, then the model (a submission: only once it is durable), then
// a round, whose orders go to the workers only when its rows are durable. Where the journal cannot
// be written, rows and orders wait, nothing is decided and submissions are refused.
#pragma once

#include <atomic>
#include <condition_variable>
#include <ctime>
#include <future>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <unordered_map>
#include <variant>

#include "control/controller.h"
#include "control/counterfactual.h"
#include "control/journal.h"
#include "control/lanes.h"
#include "control/model.h"
#include "control/steps.h"

namespace smartmig {

// What a worker has done.
struct CallDone {
  enum class Kind : std::uint8_t { kStep, kUndo, kRetry, kStart, kStop, kRead } kind = Kind::kRead;
  GpuIndex gpu = 0;
  std::uint8_t slot = 0;
  bool create = false;
  JobNumber job = 0;
  int attempt = 0;
  std::string stray;  // Of a stop that is no job's: the run.
  std::string slice;  // Of a start.
  StepOutcome outcome;
  std::vector<std::string> never_began;  // Of a read: runs whose start was unclear.
  // Where the look in `outcome` lacks a run of ours: the events up to that look, or why they could
  // not be fetched. Only they tell how the run ended.
  std::optional<DriverResult<std::vector<FleetEvent>>> events;

  bool heard_all() const { return events && events->has_value(); }
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
  TimeUs stop_due_us = -1;   // When a save under way should be over, or when it was killed.
  TimeUs overdue_us = -1;    // When its run should have ended long ago: a look tells whether it is
                             // there. -1: it has no run.
  TimeUs last_loss_us = 0;   // Of its last run.
  bool begun = false;        // Its run is known to have.
  bool unclear = false;      // It is not known whether its run was begun.
  bool stop_failed = false;  // It was told to stop or killed, and the call failed.
  bool will_not_stop = false;

  TimeUs ran_us(TimeUs now) const {
    return row.begin_us < 0 ? 0 : std::max<TimeUs>(0, now - row.begin_us);
  }
};
// The note of a job that is killed for its max_runtime_s; JobRow::cancelled is set as well.
inline constexpr std::string_view kOverran = "it ran past its max_runtime_s";

// Who changed the layout of a GPU last, for `rollback`.
struct LayoutChange {
  enum class By : std::uint8_t { kUnchanged, kPolicy, kOperator };
  By by = By::kUnchanged;
  std::string who;  // The policy, or the operator's name.
  TimeUs at_us = 0;
  // Later changes have higher numbers; all changes of one decision or command have the same.
  std::int64_t number = 0;
};
struct LayoutHold {
  std::string who;
  TimeUs at_us = 0;
  SlotSet slots = 0;  // What was asked for: a start goes there, where the change had not begun.
};

struct GpuBook {
  GpuRow row;
  KnownSlices slices;
  std::set<std::string> ours;  // UUIDs of slices we made or adopted.
  std::optional<IntentRow> intent;
  std::string undo_reason;        // Why the intent's change is being undone; empty: it is not.
  std::optional<SlotSet> wanted;  // What the change that failed was for: a retry goes there.
  LayoutChange last_change;
  std::optional<LayoutHold> hold;
  bool read_ordered = false;
  bool read_again = false;  // Something has happened since that was ordered.
  bool look_again = false;  // A look came while a step was under way.
  bool moving = false;      // The way back, or another try, is ordered.
  bool hung = false;        // A call was given up and has not come back.
  bool lost = false;
  bool adopts = false;           // Idle foreign slices become ours with the next look.
  std::set<std::string> strays;  // Runs that belong to no job any more, to be killed.
  int names_used = 0;  // Starts in a row that were refused since a run of that name had been.
  long changes = 0;
};

// Why an operator is to look at the fleet before anything is touched.
enum class JournalDoubt : std::uint8_t {
  kNothing,
  kLost,      // It was damaged or is gone: what it held is not known.
  kWentBack,  // It holds less than was committed: its log was lost, or it is an older copy.
};

using Row = std::variant<JobRow, SliceRow, IntentRow, GpuRow, EventRow, DecisionRow, AuditRow,
                         std::pair<std::string, std::string>>;  // The last: a setting.

// Settings of the journal that several files of the controller use.
inline constexpr const char* kFleetSetting = "fleet";  // Whose journal it is; empty: a new one.
// Jobs before it are of a journal that was lost.
inline constexpr const char* kFirstJobSetting = "least job";
inline constexpr const char* kNextJobSetting = "next job";  // The least that the next one may have.
inline constexpr const char* kFleetEventSetting = "fleet event";  // The last that is journalled.
inline constexpr const char* kFrozenSetting = "frozen";           // "yes" or "no".
inline constexpr const char* kRecoveredSetting = "recovered";     // "no": `recover` is needed, ...
inline constexpr const char* kDoubtSetting = "doubt";             // ... and this is why.
inline constexpr const char* kPowerCapSetting = "power cap";      // In watts; 0: there is none.

struct Controller::Impl {
  explicit Impl(const ControllerOptions& given) : options(given) {}
  ~Impl();

  // --- controller_boot.cc
  Result<void> boot(std::unique_ptr<Driver> given);
  Result<void> open_journal();
  DriverResult<std::vector<GpuReading>> read_what_can_be();
  DriverResult<std::vector<GpuReading>> read_settled();
  Result<Snapshot> make_snapshot(std::vector<GpuReading>& readings);
  JobNumber read_numbers(const JournalState& loaded);
  Result<void> read_gpus(const std::vector<GpuRow>& loaded, Snapshot& snapshot);
  Result<void> read_jobs(std::vector<JobRow>& loaded);
  Result<void> count_changes(Snapshot& snapshot);
  Result<void> catch_up();
  void begin_counterfactual(const Snapshot& snapshot);
  void resume_unfinished();

  // --- controller_doubt.cc
  void doubt_journal(JournalDoubt kind, const std::string& why);
  void doubt_what_was_opened(const std::vector<GpuReading>& readings);
  void doubt_while_running(const std::string& run);
  void name_what_was_lost(const std::vector<GpuReading>& readings, JobNumber known_below);
  JobNumber unused_number() const;
  void skip_used_numbers(const std::vector<GpuReading>& readings);
  bool is_ahead(const std::string& run) const;
  void note_unknown_run(const std::string& run);
  bool has_heard_of(JobNumber number, int attempt);
  JobBook* follow_later_attempt(const std::string& run);
  void follow_later_runs(const std::vector<GpuReading>& readings);
  void drop_intent(GpuIndex gpu);

  // --- controller_settle.cc
  void believe_the_journal(const std::vector<SliceRow>& slices, std::vector<GpuReading>& readings);
  void settle_ended_runs(const std::vector<FleetEvent>& events);
  SlotSet slots_we_know(GpuIndex gpu, const GpuReading& reading) const;
  void own_what_was_made(GpuIndex index, const GpuReading& reading, SlotSet among);
  void settle_slices(const std::vector<GpuReading>& readings, Snapshot& snapshot);
  void note_slices(GpuIndex gpu, const GpuReading& reading, SlotSet present,
                   Snapshot::GpuStand& stand);
  void fence_at_start(GpuIndex gpu, const GpuReading& reading, SlotSet present);
  void settle_intent(GpuIndex gpu, Snapshot::GpuStand& stand);
  void settle_runs(const std::vector<GpuReading>& readings, Snapshot& snapshot);
  Snapshot::Run settle_run(JobBook& book, GpuIndex gpu, const SliceReading& slice);
  void settle_lost_runs(const std::set<JobNumber>& found);
  bool note_if_stray(GpuIndex index, const SliceReading& slice);

  // --- controller.cc
  void loop();
  void watch_events();
  std::vector<Input> wait_for_inputs();
  void take(std::vector<Input>& inputs);
  void take(const std::vector<FleetEvent>& events);
  void keep_what_came();
  struct NewJob {  // Of a submission; not durable yet.
    Submission* submission;
    JobBook book;
    Event event;
  };
  struct Known {  // A job that was accepted before with the same key.
    JobNumber number = 0;
    std::string body;
    bool is_new = false;  // In the batch at hand, and not durable yet.
  };
  void accept(std::vector<Submission>& submissions);
  Answer<std::optional<Known>> find_known(const Submission& submission,
                                          const std::vector<NewJob>& batch);
  NewJob make_job(Submission& submission, std::string body);
  void enter_job(NewJob& job);
  Result<void> open_reader();
  Result<std::optional<JobRow>> final_job_with(const std::string& owner, const std::string& key);
  Result<void> flush(const std::vector<Row>& more);
  void cannot_write(const std::string& why);
  void housekeeping();
  void do_what_is_due();
  void watch(JobBook& book, TimeUs now);
  void look_for_overdue(TimeUs now);
  void expect_end(JobBook& book, TimeUs end_us);
  void forget_expected_end(JobBook& book);
  void tell_whether_events_are_received();
  std::string why_deaf() const;
  std::string current_trouble() const;
  void tell_trouble();
  void record(Event event);
  // Written together with whatever is written next.
  void put_setting(std::string name, std::string value) {
    rows.emplace_back(std::pair(std::move(name), std::move(value)));
  }
  TimeUs clock_us() const { return std::max(fleet.clock.at(monotonic_ns()), boot_us); }
  template <class T>
  T ask(std::function<T()> question);  // Answered by the loop's thread.
  void notice(std::string kind, std::string json);
  void at(std::string_view point) const {
    if (options.at) options.at(point);
  }

  // --- controller_inputs.cc
  void on(const CallDone& done);
  void on_step(const CallDone& done);
  void on_start(const CallDone& done);
  void on_stop(const CallDone& done);
  void on_read(const CallDone& done);
  void on(const FleetEvent& event);
  void on_run_over(JobBook& book, const FleetEvent& event);
  void end_later_run(const JobBook& book, const FleetEvent& event);
  void saved_before_it_vanished(JobBook& book, double left);
  void off_its_slice(JobBook& book, Event event, double left, TimeUs lost_us,
                     const std::string& note);
  void finish_unfinished(JobBook& book, TimeUs at_us);
  bool reconcile(const CallDone& done);
  bool judge_later(const CallDone& done);
  void take_off_missing(const CallDone& done);
  void take_off_vanished(GpuIndex gpu, SlotSet gone, TimeUs at_us);
  bool is_taken_by_others(GpuIndex gpu, const SliceReading& slice);
  void adopt_idle(GpuIndex gpu, const GpuReading& reading);
  void order_read(GpuIndex gpu);
  void order_stop(JobBook& book, bool save, TimeUs at_us);
  void order_strays_killed(GpuIndex gpu);
  Answer<Cancelled> cancel(JobNumber job, const std::string& who, const std::string& owner);
  void audit(const std::string& who, std::string what);
  void finish(JobBook& book, JobPhase phase, TimeUs at_us, const std::string& note);
  void requeue(JobBook& book, double left, TimeUs lost_us, const std::string& note);
  JobBook* book_of(const std::string& run);
  JobBook* book_told_of(const FleetEvent& event);
  std::vector<JobNumber> jobs_on(GpuIndex gpu) const;
  SlotSet slots_with_jobs(GpuIndex gpu) const;
  std::vector<std::string> runs_on(GpuIndex gpu) const;
  JobNumber job_at(GpuIndex gpu, int slot) const;
  void changed(const JobBook& book);
  void changed(GpuIndex gpu);

  // --- controller_repair.cc
  void undo(GpuIndex gpu, const std::string& why);
  void order_move(GpuIndex gpu, CallDone::Kind kind);
  void on_undo(const CallDone& done);
  void on_retry(const CallDone& done);
  void take_made(const CallDone& done);
  void try_again(GpuIndex gpu);
  void fence(GpuIndex gpu, const std::string& why);
  bool is_clear(GpuIndex gpu) const;
  void lift_fence(GpuIndex gpu);
  void apply_openness(GpuIndex gpu);
  void open_intent(GpuIndex gpu, SlotSet base, SlotSet target, TimeUs at_us);
  void close_intent(GpuIndex gpu, const std::string& outcome);

  // --- controller_round.cc
  void round(TimeUs now);
  void count_round(const Round& decided, double took_s);
  void order(const Order& next, TimeUs at_us);
  void order_step(const Order& next, TimeUs at_us);
  void order_start(const Order& next, TimeUs at_us);
  void close_resumed_intents();
  void remember_reasons(const Round& decided);
  void dispatch();
  std::string slice_name(GpuIndex gpu, int slot) const;
  const std::vector<std::string>& gpu_names() const { return fleet.gpus; }

  // --- controller_commands.cc
  Answer<Outcome> carry_out(const Command& command, const std::string& who);
  Answer<GpuIndex> find_gpu(const std::string& id) const;
  std::optional<std::string> find_gpu_named_twice(const Command& command) const;
  Answer<void> check_command(const Command& command) const;
  Answer<void> do_command(const Command& command, GpuIndex gpu, const std::string& who,
                          std::vector<std::string>& lines);
  void set_frozen(bool freeze, bool dry_run, std::vector<std::string>& lines);
  void recover(bool dry_run, std::vector<std::string>& lines);
  void cordon(GpuIndex gpu, bool drain, bool dry_run, std::vector<std::string>& lines);
  void uncordon(GpuIndex gpu, bool dry_run, std::vector<std::string>& lines);
  void adopt(GpuIndex gpu, bool dry_run, std::vector<std::string>& lines);
  void set_power_cap(double watts, bool dry_run, std::vector<std::string>& lines);
  void stop_all_on(GpuIndex gpu);
  void retry_now(GpuIndex gpu);
  void apply_plan(bool dry_run, std::vector<std::string>& lines);

  // --- controller_layouts.cc
  struct LayoutOrder {  // An operator's.
    GpuIndex gpu = 0;
    SlotSet wanted = 0;
    bool hold = false;
  };
  Answer<SlotSet> check_layout(const LayoutOrder& order) const;
  void say_layout(const LayoutOrder& order, SlotSet target, std::vector<std::string>& lines) const;
  void say_waits(GpuIndex gpu, SlotSet target, std::vector<std::string>& lines) const;
  Answer<void> set_layouts(const std::vector<LayoutOrder>& orders, const std::string& who,
                           bool dry_run, std::vector<std::string>& lines);
  Answer<void> apply_layouts(const Command& command, const std::string& who,
                             std::vector<std::string>& lines);
  Answer<void> roll_back(const Command& command, const std::string& who,
                         std::vector<std::string>& lines);
  void unhold(GpuIndex gpu, bool dry_run, std::vector<std::string>& lines);
  void resume_held_change(GpuIndex gpu);
  std::vector<GpuIndex> latest_changed() const;
  void note_change(GpuIndex gpu, SlotSet from, LayoutChange change);
  void read_layout_notes(GpuIndex gpu);
  std::string changed_by(GpuIndex gpu) const;

  // --- controller_view.cc
  std::shared_ptr<const FleetView> recent_picture();
  std::shared_ptr<const FleetView> draw_picture();
  void refresh_picture();
  void forget_picture();
  GpuView look_at(GpuIndex gpu) const;
  void summarise(FleetSummary& view) const;
  double energy_j(TimeUs now) const;
  std::optional<ModelledView> modelled(TimeUs now) const;
  void compare_days(TimeUs now);
  std::vector<Expectation> expect(std::size_t most);
  std::string_view gpu_state(GpuIndex gpu) const;

  // --- controller_keep.cc
  void write_beginning(Snapshot snapshot, TimeUs at_us);
  void read_beginnings();
  void save_beginnings();
  void rebase();
  void forget_old();

  // --- fixed once started
  ControllerOptions options;
  std::shared_ptr<Driver> driver;
  FleetDescription fleet;
  TimeUs boot_us = 0;
  std::unordered_map<std::string, GpuIndex> gpu_by_uuid;
  std::shared_ptr<const Fleet> boards;
  JournalDoubt doubt = JournalDoubt::kNothing;  // Of this start.
  std::string damage;           // Why the journal is doubted, until `recover`; empty: it is not.
  std::string damaged_journal;  // Where a damaged one is kept.
  JobNumber heard_job = 0;      // The highest number that the fleet has said something of.
  bool missed_events = false;   // The fleet has forgotten some that the journal does not have.
  std::int64_t first_job = 1;   // Of this journal; lower numbers are of one that was lost.
  JobNumber numbers_from = 1;   // Since then they have been given one after the other.
  std::map<GpuIndex, std::string> unread;  // Why these could not be read at the start, nor since.
  std::vector<GpuIndex> half_done;         // With a change under way, and closed by an operator.
  std::unordered_map<GpuIndex, TimeUs> changed_us;  // When the fleet last said so, before it.

  std::shared_ptr<Inbox> inbox = std::make_shared<Inbox>();
  std::unique_ptr<Lanes> lanes;
  std::unique_ptr<Counterfactual>
      counterfactual;                 // None where the fleet cannot have the other policy.
  std::optional<DayComparison> days;  // Of the two; the loop's own.
  std::thread loop_thread;
  std::thread event_thread;
  std::atomic<bool> stopping = false;
  std::atomic<bool> refuses_submissions = false;  // The journal cannot be written.
  std::atomic<bool> recovered = true;
  std::atomic<std::int64_t> alive_ns = 0;  // When the loop came round last.

  // --- between the loop and the thread that watches the fleet's events
  mutable std::mutex events_mutex;
  std::condition_variable events_journalled;
  std::uint64_t journalled_event = 0;
  std::int64_t unanswered_ns = 0;  // Since when no call for events was answered; 0: none is out.
  std::string events_error;        // Of the last such call; empty: it has not failed.

  // --- for those who ask
  std::mutex rehearsal_mutex;  // One rehearsal at a time: each has a copy of the model.
  std::vector<Expectation> expected;
  std::size_t expected_most = 0;
  std::int64_t expected_until_ns = 0;
  mutable std::mutex seen_mutex;
  Counters counted;
  std::shared_ptr<const FleetView> picture;  // Of a large fleet.
  std::int64_t picture_ns = 0;               // When it was drawn ...
  std::int64_t picture_event = 0;            // ... and before which event.
  std::int64_t looked_ns = 0;                // When a client last looked.
  std::condition_variable noticed;
  std::deque<Notice> notices;
  // Higher than any that an earlier controller has given, and exact in a double.
  std::uint64_t next_notice = (static_cast<std::uint64_t>(std::time(nullptr)) << 20) + 1;

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
  std::set<GpuIndex> resumed_intents;  // With an intent of an earlier controller that is open.
  std::set<GpuIndex> fenced;           // GPUs to be tried again.
  std::set<GpuIndex> unjudged;         // Of those: slices with jobs are gone, and the events that
                                       // tell how the runs ended are not received.
  std::set<JobNumber> watched;         // Jobs that run and may have to be stopped by the clock.
  // Jobs with a run, by JobBook::overdue_us.
  std::set<std::pair<TimeUs, JobNumber>> overdue_runs;
  bool hears = true;  // As subscribers were told last.
  std::int64_t next_job = 1, next_intent = 1, next_event = 1, next_audit = 1;
  // Events that a model began with, oldest first: replay can start at each.
  struct Beginning {
    std::int64_t event = 0;
    TimeUs at_us = 0;
  };
  std::vector<Beginning> beginnings;
  std::int64_t next_trim_ns = 0;
  double earlier_energy_j = 0;    // Of models before this one, since the controller started.
  std::uint64_t taken_event = 0;  // Of the fleet's, handled.
  TimeUs latest_us = 0;           // Of what was handled since the last round.
  bool round_due = false;
  std::string trouble;  // Why nothing can be written; empty: all is well.
  std::int64_t next_round_ns = 0, last_housekeeping_ns = 0, last_flush_try_ns = 0;
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

// What is answered where something is done, and cannot be journalled yet.
std::string kept_for_later(const std::string& trouble);
// "told to fail (in-use)"
std::string said(const DriverError& error);
// What a job ends with whose runs a journal that went back has forgotten.
inline constexpr std::string_view kEndNotKnown =
    "the journal went back: how its last run ended is not known";
// "123.4": the fourth run of job 123.
std::string run_name(JobNumber job, int attempt);
JobNumber number_of_run(const std::string& run);  // 0: that is no such name.
int attempt_of_run(const std::string& run);       // The same.

}  // namespace smartmig
