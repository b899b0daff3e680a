#include "control/journal.h"

#include <array>

#include "control/journal_impl.h"
#include "control/journal_schema.h"

namespace smartmig {
namespace {

constexpr std::array<std::string_view, 7> kPhases = {"queued", "starting", "running",  "saving",
                                                     "done",   "failed",   "cancelled"};

// Rows of a query, in its order.
template <class Row>
Result<void> read_all(sqlite3* db, std::string_view rest, std::vector<Row>& rows) {
  Statement select(db, select_sql<Row>(rest));
  for (;;) {
    const int code = select.step();
    if (code == SQLITE_DONE) return {};
    if (code != SQLITE_ROW) {
      return fail("{}: {}: {}", kJournalName, RowTable<Row>::kName, sqlite_trouble(db, code));
    }
    auto row = read_row<Row>(select);
    if (!row) return fail("{}: {}", kJournalName, bad_row<Row>(select));
    rows.push_back(std::move(*row));
  }
}

}  // namespace

std::string_view to_string(JobPhase phase) { return kPhases[static_cast<std::size_t>(phase)]; }

std::optional<JobPhase> job_phase(std::string_view name) {
  for (std::size_t i = 0; i < kPhases.size(); ++i) {
    if (kPhases[i] == name) return static_cast<JobPhase>(i);
  }
  return std::nullopt;
}

Journal::Impl::Impl(FolderLock folder_lock, Database database)
    : lock(std::move(folder_lock)),
      db(std::move(database)),
      begin_it(db.get(), "BEGIN IMMEDIATE"),
      commit_it(db.get(), "COMMIT"),
      roll_back(db.get(), "ROLLBACK"),
      put_job(db.get(), put_sql<JobRow>()),
      put_slice(db.get(), put_sql<SliceRow>()),
      put_intent(db.get(), put_sql<IntentRow>()),
      put_gpu(db.get(), put_sql<GpuRow>()),
      put_event(db.get(), put_sql<EventRow>()),
      put_decision(db.get(), put_sql<DecisionRow>()),
      put_audit(db.get(), put_sql<AuditRow>()),
      put_setting(db.get(), put_sql<SettingRow>()),
      forget_slice(db.get(), "DELETE FROM slices WHERE uuid = ?"),
      setting(db.get(), setting_sql()) {
  // In place of SQLite's own checkpoint, whose choice of moment we could not make.
  sqlite3_wal_hook(
      db.get(),
      [](void* pages, sqlite3*, const char*, int count) {
        *static_cast<int*>(pages) = count;
        return SQLITE_OK;
      },
      &log_pages);
}

void Journal::Impl::note(int code, std::string_view where) {
  if (code == SQLITE_DONE || !failure.empty()) return;
  const std::string trouble = sqlite_trouble(db.get(), code);
  failure = where.empty() || trouble == "the disk is full"
                ? fmt::format("{}: {}", kJournalName, trouble)
                : fmt::format("{}: {}: {}", kJournalName, where, trouble);
}

Result<void> Journal::Impl::end() {
  SM_CHECK(in_transaction);
  in_transaction = false;
  if (failure.empty()) note(commit_it.run(), "");
  if (failure.empty()) {
    // One who reads for long, such as a backup, is not waited for: the log grows until it is done.
    if (log_pages >= kLogPagesAtMost) {
      sqlite3_busy_timeout(db.get(), 0);
      checkpoint(SQLITE_CHECKPOINT_RESTART);
      sqlite3_busy_timeout(db.get(), kBusyMs);
    }
    return {};
  }
  if (!sqlite3_get_autocommit(db.get())) roll_back.run();
  // Makes room on a full disk, where it works at all, and takes away what the failed commit wrote.
  log_untidy = !checkpoint(SQLITE_CHECKPOINT_TRUNCATE);
  return fail("{}", std::exchange(failure, {}));
}

// A checkpoint that fails loses nothing: the log keeps what it has, and the next one tries again.
bool Journal::Impl::checkpoint(int mode) {
  return sqlite3_wal_checkpoint_v2(db.get(), nullptr, mode, nullptr, nullptr) == SQLITE_OK;
}

Journal::Journal(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Journal::Journal(Journal&&) noexcept = default;
Journal& Journal::operator=(Journal&&) noexcept = default;
Journal::~Journal() = default;

Result<JournalState> Journal::load() {
  JournalState state;
  sqlite3* db = impl_->db.get();
  Result<void> read = read_all(db, "WHERE phase < 4 ORDER BY number", state.jobs);
  if (read) read = read_all(db, "ORDER BY uuid", state.slices);
  if (read) read = read_all(db, "WHERE closed_us = -1 ORDER BY number", state.intents);
  if (read) read = read_all(db, "ORDER BY uuid", state.gpus);
  if (!read) return pass_on(read);
  for (const auto& [table, next] : {std::pair{"jobs", &state.next_job},
                                    {"intents", &state.next_intent},
                                    {"events", &state.next_event},
                                    {"audit", &state.next_audit}}) {
    const auto number = next_number(db, table);
    if (!number) return fail("{}: {}", kJournalName, number.error().message);
    *next = *number;
  }
  return state;
}

Result<std::vector<IntentRow>> Journal::intents_between(TimeUs first_us, TimeUs last_us) {
  std::vector<IntentRow> rows;
  const auto read = read_all(
      impl_->db.get(),
      fmt::format("WHERE opened_us BETWEEN {} AND {} ORDER BY number", first_us, last_us), rows);
  if (!read) return pass_on(read);
  return rows;
}

std::string Journal::setting(std::string_view name) {
  return read_setting(impl_->setting, name).value_or("");
}

void Journal::begin() {
  SM_CHECK(!impl_->in_transaction);
  impl_->in_transaction = true;
  impl_->note(impl_->begin_it.run(), "");
}

void Journal::put(const JobRow& job) { impl_->put(impl_->put_job, job); }
void Journal::put(const SliceRow& slice) { impl_->put(impl_->put_slice, slice); }
void Journal::put(const IntentRow& intent) { impl_->put(impl_->put_intent, intent); }
void Journal::put(const GpuRow& gpu) { impl_->put(impl_->put_gpu, gpu); }
void Journal::put(const EventRow& event) { impl_->put(impl_->put_event, event); }
void Journal::put(const DecisionRow& decision) { impl_->put(impl_->put_decision, decision); }
void Journal::put(const AuditRow& audit) { impl_->put(impl_->put_audit, audit); }

void Journal::set_setting(std::string_view name, std::string_view value) {
  SM_CHECK(!name.starts_with("journal."));  // Those are our own.
  impl_->put(impl_->put_setting, SettingRow{std::string(name), std::string(value)});
}

void Journal::forget_slice(const std::string& uuid) {
  SM_CHECK(impl_->in_transaction);
  if (!impl_->failure.empty()) return;
  impl_->forget_slice.bind(1, std::string_view(uuid));
  impl_->note(impl_->forget_slice.run(), "slices");
}

Result<void> Journal::commit() { return impl_->end(); }

void Journal::rest() {
  SM_CHECK(!impl_->in_transaction);
  if (impl_->log_untidy) {
    impl_->log_untidy = !impl_->checkpoint(SQLITE_CHECKPOINT_TRUNCATE);
  } else if (impl_->log_pages >= kLogPages) {
    impl_->checkpoint(SQLITE_CHECKPOINT_PASSIVE);
  }
}

}  // namespace smartmig
