// How a journal is opened, and what can be wrong with it.
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/text.h"
#include "control/journal_backup.h"
#include "control/journal_impl.h"
#include "control/journal_log.h"
#include "control/journal_schema.h"
#include "control/journal_verify.h"

namespace smartmig {
namespace {

namespace fs = std::filesystem;
using OpenError = Journal::OpenError;
using Trouble = Journal::Trouble;
using Opened = tl::expected<void, OpenError>;

tl::unexpected<OpenError> refuse(Trouble trouble, std::string_view message) {
  return tl::unexpected(OpenError{trouble, std::string(message)});
}
tl::unexpected<OpenError> refuse_journal(Trouble trouble, std::string_view message) {
  return refuse(trouble, fmt::format("{}: {}", kJournalName, message));
}
tl::unexpected<OpenError> refuse_code(sqlite3* db, int code) {
  return refuse_journal(is_damage(code) ? Trouble::kDamaged : Trouble::kUnusable,
                        sqlite_trouble(db, code));
}

// Before SQLite sees it: opening replays the log, and what SQLite takes for its end is gone.
Opened check_log(const std::string& path) {
  const std::string log = log_path(path);
  std::error_code error;
  const auto size = fs::file_size(log, error);
  if (error || size == 0) return {};
  if (!fs::exists(path, error)) {
    return refuse_journal(Trouble::kDamaged, "is missing, but its log journal.db-wal is there");
  }
  std::ifstream in(log, std::ios::binary);
  std::string bytes(size, '\0');
  if (!in.read(bytes.data(), static_cast<std::streamsize>(size))) {
    return refuse(Trouble::kUnusable, "journal.db-wal: cannot be read");
  }
  if (const std::string damage = log_damage(bytes); !damage.empty()) {
    return refuse(Trouble::kDamaged, "journal.db-wal: " + damage);
  }
  return {};
}

Opened configure(sqlite3* db) {
  sqlite3_busy_timeout(db, kBusyMs);
  // No page leaves memory before its transaction is committed, so the log holds nothing of one that
  // was rolled back. What was freed in the log's file beyond the usual size is given back.
  const std::string sql = fmt::format(
      "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0;"
      "PRAGMA journal_size_limit = {}; PRAGMA cache_size = -{}; PRAGMA cache_spill = OFF;"
      "PRAGMA cell_size_check = ON;",
      std::int64_t{kLogPages} * 4096, kCacheMib * 1024);
  if (const int code = execute(db, sql.c_str()); code != SQLITE_OK) return refuse_code(db, code);
  Statement mode(db, "PRAGMA journal_mode");
  if (mode.step() != SQLITE_ROW || mode.text(0) != "wal") {
    return refuse_journal(Trouble::kUnusable, "its folder does not allow a write-ahead log");
  }
  return {};
}

Opened bring_up_to_date(sqlite3* db) {
  const auto schema = schema_of(db);
  if (!schema) return refuse_journal(Trouble::kDamaged, schema.error().message);
  if (*schema > Journal::kSchema) {
    return refuse(Trouble::kNewer,
                  fmt::format("{} was written by a newer smartmig (schema {}, this program knows "
                              "{}): use that program, or restore a backup",
                              kJournalName, *schema, Journal::kSchema));
  }
  if (*schema == Journal::kSchema) return {};
  const auto done = migrate(db, migrations(), *schema, Journal::kSchema);
  if (!done) return refuse_journal(Trouble::kUnusable, done.error().message);
  return {};
}

// Structure, tables, rows; makes the tables in an empty file.
Opened check_contents(sqlite3* db) {
  if (const auto structure = check_structure(db); !structure) {
    return refuse_journal(Trouble::kDamaged, structure.error().message);
  }
  if (contents_of(db) == FileContents::kNothing) {
    const int code = create_tables(db);
    if (code != SQLITE_OK) return refuse_code(db, code);
    return {};
  }
  if (const auto current = bring_up_to_date(db); !current) return current;
  Result<void> good = check_tables(db);
  if (good) good = check_rows(db);
  if (!good) return refuse_journal(Trouble::kDamaged, good.error().message);
  return {};
}

// A file of which SQLite can only read pages is found out here, not at the first submission.
Opened check_writable(sqlite3* db) {
  int code = execute(db, "BEGIN IMMEDIATE");
  if (code == SQLITE_OK) code = execute(db, "ROLLBACK");
  if (code != SQLITE_OK) return refuse_code(db, code);
  return {};
}

// What the mark knows of the journal against what the journal holds.
Result<Journal::Standing> stand_of(sqlite3* db, const JournalMark& mark, std::int64_t& commits) {
  using Kind = Journal::Standing::Kind;
  Statement by_name(db, setting_sql());
  const auto counted = read_setting(by_name, kCommitsSetting);
  if (!counted) return pass_on(counted);
  const auto events = next_number(db, "events");
  if (!events) return pass_on(events);
  commits = parse_integer(*counted).value_or(0);
  Journal::Standing standing;
  standing.next_job = mark.value().next_job;
  const bool is_empty = counted->empty() && *events == 1;
  switch (mark.found()) {
    case JournalMark::Found::kAbsent:
      // Before the first transaction, or of a program that kept no mark.
      if (counted->empty()) return standing;
      [[fallthrough]];
    case JournalMark::Found::kDamaged:
      standing.why = fmt::format(
          "{} is {}: nothing tells whether the journal has everything that was committed",
          kMarkName, mark.found() == JournalMark::Found::kAbsent ? "missing" : "damaged");
      break;
    case JournalMark::Found::kWhole:
      if (mark.value().commits <= commits) return standing;
      standing.why = is_empty ? fmt::format("the journal is gone: {} transactions were committed",
                                            mark.value().commits)
                              : fmt::format(
                                    "the journal went back: it ends at transaction {}, and "
                                    "{} were committed",
                                    commits, mark.value().commits);
  }
  standing.kind = is_empty ? Kind::kGone : Kind::kWentBack;
  return standing;
}

}  // namespace

tl::expected<Journal, Journal::OpenError> Journal::open(const std::string& dir) {
  if (const auto made = make_state_folder(dir); !made) {
    return refuse(Trouble::kUnusable, made.error().message);
  }
  auto lock = FolderLock::take(dir);
  if (!lock) return refuse(Trouble::kUnusable, lock.error().message);
  remove_partial_backups(dir);
  const std::string path = journal_path(dir);
  if (const auto log = check_log(path); !log) return tl::unexpected(log.error());
  if (const auto made = make_private_file(path); !made) {
    return refuse(Trouble::kUnusable, made.error().message);
  }
  Database db;
  const int code = open_database(path, SQLITE_OPEN_READWRITE, db);
  if (code != SQLITE_OK) return refuse_code(db.get(), code);
  for (const auto step : {configure, check_contents, check_writable}) {
    if (const auto good = step(db.get()); !good) return tl::unexpected(good.error());
  }
  auto mark = JournalMark::open(dir);
  if (!mark) return refuse(Trouble::kUnusable, mark.error().message);
  std::int64_t commits = 0;
  auto standing = stand_of(db.get(), *mark, commits);
  if (!standing) return refuse_journal(Trouble::kDamaged, standing.error().message);
  // There is one before the first transaction that it counts.
  if (standing->kind == Standing::Kind::kTrusted && mark->found() == JournalMark::Found::kAbsent) {
    if (const auto made = mark->write({}); !made)
      return refuse(Trouble::kUnusable, made.error().message);
  }
  auto impl = std::make_unique<Impl>(dir, std::move(*lock), std::move(db), std::move(*mark));
  impl->commits = std::max(commits, impl->mark.value().commits);
  impl->next_job = standing->next_job;
  impl->standing = std::move(*standing);
  for (const std::string& file :
       {path, log_path(path), path + "-shm", (fs::path(dir) / kLockName).string()})
    impl->files.watch(file);
  if (impl->mark.found() == JournalMark::Found::kWhole) impl->files.watch(mark_path(dir));
  // Each session has a log of its own, in which every transaction but the last was synced.
  impl->log_untidy = !impl->checkpoint(SQLITE_CHECKPOINT_TRUNCATE);
  return Journal(std::move(impl));
}

}  // namespace smartmig
