// The durable memory of the live controller: one SQLite file in the state folder. It holds what we
// owe (jobs, runs), what we made (slices), what we are about to do (intents), everything that
// happened (events, from which replay rebuilds each decision), what was decided, and who asked for
// what (audit). docs/formats/journal.md describes the tables.
//
// Invariants: 1. what commit() has answered survives a crash of the program and of the machine
// (WAL, synchronous=FULL); 2. every row carries a checksum over its columns and its table's
// name; 3. numbers of jobs, intents, events and audit rows count up and are never given twice,
// whatever is trimmed; 4. a file of a newer schema is refused, one of an older schema is brought up
// to date in one transaction; 5. a journal that went back in time, by a lost log or an older copy,
// is told by its high-water mark (journal_mark.h); 6. nothing is answered once a file of the
// journal was removed or replaced.
//
// Writing is for one thread. Reading by JournalReader has a connection of its own and may be done
// from other threads, one reader for each; it sees committed rows alone.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "fleet/fleet.h"

struct sqlite3;

namespace smartmig {

enum class JobPhase : std::uint8_t {
  kQueued,
  kStarting,
  kRunning,
  kSaving,
  kDone,
  kFailed,
  kCancelled
};
std::string_view to_string(JobPhase phase);  // "queued"
std::optional<JobPhase> job_phase(std::string_view name);
inline bool is_final(JobPhase phase) { return phase >= JobPhase::kDone; }

struct JobRow {
  std::int64_t number = 0;  // Its id.
  std::string key;          // The client's, unique with the owner; empty: none.
  std::string owner;        // Of the token it came with.
  std::string body;         // What was asked for, as normalised JSON.
  JobPhase phase = JobPhase::kQueued;
  TimeUs submit_us = 0;
  TimeUs deadline_us = 0;
  TimeUs start_us = -1;  // Of the first run; -1: none yet.
  TimeUs end_us = -1;    // -1: not yet.
  double left = 1;       // Of its work, as of the last complete checkpoint.
  int attempt = 0;       // Runs so far; the name of the last one is "NUMBER.ATTEMPT".
  std::string gpu;       // UUIDs of where it runs, or ran last.
  std::string slice;
  TimeUs begin_us = -1;    // Of the progress of the run under way; -1: none is.
  TimeUs lost_us = 0;      // Work that was done and not kept, in time on the slices it was done on.
  bool cancelled = false;  // To be so once its run has ended.
  std::string note;        // Why it failed, or what happened to it; one line.

  bool operator==(const JobRow&) const = default;
};

// A slice we made, or adopted.
struct SliceRow {
  std::string uuid;
  std::string gpu;
  std::uint8_t slot = 0;
  TimeUs made_us = 0;

  bool operator==(const SliceRow&) const = default;
};

// A change of one GPU's layout, from before its first step until it is verified.
struct IntentRow {
  std::int64_t number = 0;
  std::string gpu;
  SlotSet base = 0;    // The last good layout: what a rollback returns to.
  SlotSet target = 0;  // What is meant.
  std::string step;    // The step under way: "create 5", "destroy 3", "undo ..."; empty: none.
  TimeUs opened_us = 0;
  TimeUs closed_us = -1;  // -1: open.
  std::string outcome;    // "done", "rolled back", "fenced", ...; empty while it is open.

  bool operator==(const IntentRow&) const = default;
};

struct EventRow {
  std::int64_t number = 0;
  TimeUs at_us = 0;
  std::string kind;  // "submit", "ended", "round", ...
  std::string body;  // JSON.

  bool operator==(const EventRow&) const = default;
};

struct DecisionRow {
  std::int64_t number = 0;  // Of the event that is its round.
  TimeUs at_us = 0;
  std::string body;    // JSON: stops, repartitions, starts.
  std::string reason;  // In words, a line for each.

  bool operator==(const DecisionRow&) const = default;
};

// What an operator or a fault has said of a GPU.
struct GpuRow {
  std::string uuid;
  bool cordoned = false;
  bool draining = false;
  std::string fence;      // Why nothing is placed or cut there; empty: it is not fenced.
  int failures = 0;       // In a row.
  TimeUs retry_us = -1;   // When the fence is tried again; -1: when an operator says so.
  SlotSet last_good = 0;  // The layout before the last change, for `rollback`.

  bool operator==(const GpuRow&) const = default;
};

struct AuditRow {
  std::int64_t number = 0;
  TimeUs at_us = 0;
  std::int64_t wall_s = 0;  // Of the host's clock, for people.
  std::string who;
  std::string what;  // One line.

  bool operator==(const AuditRow&) const = default;
};

// What a start needs: everything that is not finished.
struct JournalState {
  std::vector<JobRow> jobs;  // Not final, by number.
  std::vector<SliceRow> slices;
  std::vector<IntentRow> intents;  // Open.
  std::vector<GpuRow> gpus;
  std::int64_t next_job = 1;
  std::int64_t next_intent = 1;
  std::int64_t next_event = 1;
  std::int64_t next_audit = 1;
};

class Journal {
 public:
  enum class Trouble : std::uint8_t { kNewer, kDamaged, kUnusable };
  struct OpenError {
    Trouble trouble = Trouble::kUnusable;
    std::string message;
  };
  static constexpr int kSchema = 1;
  // How the journal stands against its high-water mark.
  struct Standing {
    enum class Kind : std::uint8_t {
      kTrusted,
      kGone,      // There was one, and this one is empty.
      kWentBack,  // It has less than was committed, or nothing tells how much that was.
    };
    Kind kind = Kind::kTrusted;
    std::string why;            // One line; empty where it is trusted.
    std::int64_t next_job = 1;  // Lower job numbers were given out, whether it knows them or not.
  };

  // Opens DIR/journal.db, makes it where there is none, and verifies every checksum. Holds DIR/lock
  // until the object goes away: a second one is refused, in this program or another.
  static tl::expected<Journal, OpenError> open(const std::string& dir);
  // Moves a damaged journal and what belongs to it aside, to DIR/damaged-N; answers where to.
  static Result<std::string> set_aside(const std::string& dir);
  static std::string last_set_aside(const std::string& dir);  // Empty: none was.

  Journal(Journal&&) noexcept;
  Journal& operator=(Journal&&) noexcept;
  ~Journal();

  // As open() found it. What is committed from then on counts on from the mark: a caller that does
  // not trust the journal says so in its first transaction.
  const Standing& standing() const;
  // Whether the files are still those that were opened; commit() checks it as well.
  Result<void> check_files();

  Result<JournalState> load();
  // Settings by name; empty where there is none.
  std::string setting(std::string_view name);

  // Everything between begin() and commit() is there afterwards, or nothing of it is. The puts
  // insert or replace by number, UUID or name; names of settings that begin with "journal." are the
  // journal's own. An error of any of them is kept and answered by
  // commit(), which then has undone everything: a full disk loses nothing that was answered.
  void begin();
  void put(const JobRow& job);
  void put(const SliceRow& slice);
  void forget_slice(const std::string& uuid);
  void put(const IntentRow& intent);
  void put(const GpuRow& gpu);
  void put(const EventRow& event);
  void put(const DecisionRow& decision);
  void put(const AuditRow& audit);
  void set_setting(std::string_view name, std::string_view value);
  Result<void> commit();
  // Copies the log into the journal when that is due, and once a second makes the mark durable.
  // Takes as long as several commits: call it after each, once what waits for the commit is
  // answered. commit() does it only for a log that has grown far beyond that.
  void rest();

  // Those that were opened from then to then, open or closed.
  Result<std::vector<IntentRow>> intents_between(TimeUs first_us, TimeUs last_us);
  struct Kept {
    TimeUs since_us = 0;           // Finished jobs, closed intents, audit rows; ...
    std::int64_t rows = 0;         // ... of each the last so many.
    std::int64_t jobs_from = 1;    // Jobs before it are not counted: their numbers are far below.
    std::int64_t first_event = 0;  // And decisions.
  };
  // Takes out what is before that, at most `rows` of each; in a transaction of its own. Answers
  // whether more is left.
  Result<bool> trim(const Kept& kept, int rows);

 private:
  struct Impl;
  explicit Journal(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

class JournalReader {
 public:
  static Result<JournalReader> open(const std::string& dir);  // Of a state folder.
  static Result<JournalReader> open_file(
      const std::string& path);  // Of a journal or a copy of one.
  JournalReader(JournalReader&&) noexcept;
  JournalReader& operator=(JournalReader&&) noexcept;
  ~JournalReader();

  Result<std::optional<JobRow>> job(std::int64_t number);
  Result<std::optional<JobRow>> job_by_key(const std::string& owner, const std::string& key);
  // Oldest first; those after `after`, of that phase if given.
  // At most `limit`; of large ones fewer, though more than one where there are more.
  Result<std::vector<JobRow>> jobs(std::optional<JobPhase> phase, std::int64_t after, int limit);
  // Newest first; those before `before` (0: from the newest).
  Result<std::vector<DecisionRow>> decisions(std::int64_t before, int limit);
  Result<std::optional<DecisionRow>> decision(std::int64_t number);
  // Of that GPU, or of all where it is empty.
  Result<std::vector<IntentRow>> intents(const std::string& gpu, std::int64_t before, int limit);
  Result<std::vector<AuditRow>> audit(std::int64_t before, int limit);
  std::string setting(std::string_view name);
  // Every event from `first` on, in order, until the body answers false. A row whose checksum is
  // off is an error.
  Result<void> each_event(std::int64_t first, const std::function<bool(const EventRow&)>& body);
  // The first thing wrong with any row, or with the file; nothing where all is well.
  Result<void> verify();
  // Whether a copy may be written there: not to a name that the state folder uses, by whatever
  // path.
  Result<void> check_target(const std::string& path) const;
  // Writes a copy that is whole, while the controller runs (docs/operations/backup.md): one file,
  // which needs no log beside it. What was at `path` is replaced once the copy is durable.
  Result<void> back_up(const std::string& path);

 private:
  struct Impl;
  explicit JournalReader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace smartmig
