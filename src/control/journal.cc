#include "control/journal.h"

#include <algorithm>
#include <array>

#include "base/clock.h"
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

Journal::Impl::Impl(std::string folder, FolderLock folder_lock, Database database,
                    JournalMark high_water)
    : dir(std::move(folder)),
      lock(std::move(folder_lock)),
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
      setting(db.get(), setting_sql()),
      mark(std::move(high_water)) {
  Statement page_size(db.get(), "PRAGMA page_size");
  if (page_size.step() == SQLITE_ROW) page_bytes = page_size.integer(0);
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
  if (failure.empty()) refuse_if_moved();
  if (failure.empty()) count_transaction();
  in_transaction = false;
  if (failure.empty()) note(commit_it.run(), "");
  if (failure.empty()) {
    // The files may have been moved meanwhile.
    refuse_if_moved();
    if (!failure.empty() && !is_kept()) return fail("{}", std::exchange(failure, {}));
    failure.clear();
    if (counted) write_mark({++commits, next_job = next_job_here});
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
  // Of a log that was removed it saves what was answered.
  log_untidy = !checkpoint(SQLITE_CHECKPOINT_TRUNCATE);
  return fail("{}", std::exchange(failure, {}));
}

// A checkpoint that fails loses nothing: the log keeps what it has, and the next one tries again.
bool Journal::Impl::checkpoint(int mode) {
  if (!log_is_whole()) return false;
  const int code = sqlite3_wal_checkpoint_v2(db.get(), nullptr, mode, nullptr, nullptr);
  if (code == SQLITE_OK && mode == SQLITE_CHECKPOINT_TRUNCATE) log_pages = 0;
  return code == SQLITE_OK;
}

void Journal::Impl::count_transaction() {
  counted = sqlite3_total_changes(db.get()) != changes_before;
  if (counted)
    put(put_setting, SettingRow{std::string(kCommitsSetting), std::to_string(commits + 1)});
}

// The transaction is durable: a mark that cannot be written holds up the next one, not this one.
void Journal::Impl::write_mark(const MarkValue& value) {
  const bool is_new = mark.found() != JournalMark::Found::kWhole;
  mark_behind = !mark.write(value).has_value();
  if (is_new && !mark_behind) files.watch(mark_path(dir));
}

void Journal::Impl::refuse_if_moved() {
  if (const auto in_place = check_files(); !in_place) failure = in_place.error().message;
}

Result<void> Journal::Impl::check_files() const {
  if (const auto in_place = files.check(); !in_place) return in_place;
  if (!log_is_whole())
    return fail("{}: was cut while the controller runs: stop the controller and start it again",
                log_path(journal_path(dir)));
  return {};
}

// Whether what was just committed is in the journal itself, though some other file was moved.
bool Journal::Impl::is_kept() {
  return checkpoint(SQLITE_CHECKPOINT_TRUNCATE) && files.is_in_place(journal_path(dir));
}

// Others may have cut off what was committed: copying such a log would mix old and new pages. The
// file that we have open counts, wherever it is now.
bool Journal::Impl::log_is_whole() const {
  constexpr sqlite3_int64 kHeaderBytes = 32;
  constexpr sqlite3_int64 kFrameHeaderBytes = 24;
  if (log_pages == 0) return true;
  sqlite3_file* log = nullptr;
  sqlite3_int64 bytes = 0;
  if (sqlite3_file_control(db.get(), "main", SQLITE_FCNTL_JOURNAL_POINTER, &log) != SQLITE_OK ||
      log == nullptr || log->pMethods == nullptr)
    return true;
  return log->pMethods->xFileSize(log, &bytes) != SQLITE_OK ||
         bytes >= kHeaderBytes + log_pages * (kFrameHeaderBytes + page_bytes);
}

Journal::Impl::~Impl() {
  if (!log_is_whole()) sqlite3_db_config(db.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
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
  impl_->next_job_here = impl_->next_job;
  impl_->changes_before = sqlite3_total_changes(impl_->db.get());
  // At most one transaction is ahead of its mark.
  if (impl_->mark_behind) {
    const auto written = impl_->mark.write({impl_->commits, impl_->next_job});
    impl_->mark_behind = !written;
    if (!written) impl_->failure = written.error().message;
  }
  if (impl_->failure.empty()) impl_->note(impl_->begin_it.run(), "");
}

void Journal::put(const JobRow& job) {
  impl_->put(impl_->put_job, job);
  if (job.number < INT64_MAX) impl_->next_job_here = std::max(impl_->next_job_here, job.number + 1);
}
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

const Journal::Standing& Journal::standing() const { return impl_->standing; }

Result<void> Journal::check_files() { return impl_->check_files(); }

void Journal::rest() {
  SM_CHECK(!impl_->in_transaction);
  if (impl_->log_untidy) {
    impl_->log_untidy = !impl_->checkpoint(SQLITE_CHECKPOINT_TRUNCATE);
  } else if (impl_->log_pages >= kLogPages) {
    impl_->checkpoint(SQLITE_CHECKPOINT_PASSIVE);
  }
  const std::int64_t now_ns = monotonic_ns();
  if (!impl_->mark.needs_sync() || now_ns - impl_->mark_synced_ns < kSyncMarkEveryNs) return;
  impl_->mark_synced_ns = now_ns;
  (void)impl_->mark.sync();  // Tried again a second later.
}

}  // namespace smartmig
