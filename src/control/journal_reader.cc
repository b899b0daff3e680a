#include <algorithm>
#include <filesystem>

#include "control/journal_backup.h"
#include "control/journal_impl.h"
#include "control/journal_schema.h"
#include "control/journal_verify.h"

namespace smartmig {
namespace {

namespace fs = std::filesystem;

// Events read in one go. Between two of them the file is let go, so that a long reading does not
// keep the writer's log from being begun anew.
constexpr int kEventsAtOnce = 200;
constexpr std::size_t kPageBytes = 16 << 20;  // Read in one go, and a row.

std::size_t bytes_of_row(const Statement& select) {
  std::size_t bytes = 0;
  for (int i = 0; i < sqlite3_column_count(select.get()); ++i)
    bytes += static_cast<std::size_t>(sqlite3_column_bytes(select.get(), i));
  return bytes;
}

// SQLite's form of a path with options behind it.
std::string uri_of(const std::string& path, std::string_view options) {
  std::string uri = "file:";
  for (const char letter : path) {
    if (letter == '%' || letter == '?' || letter == '#') {
      uri += fmt::format("%{:02x}", static_cast<unsigned char>(letter));
    } else {
      uri += letter;
    }
  }
  return uri.append("?").append(options);
}

// Opens and reads something: many troubles show at the first page alone.
int open_to_read(const std::string& path, int flags, Database& db) {
  int code = open_database(path, SQLITE_OPEN_READONLY | flags, db);
  if (code != SQLITE_OK) return code;
  sqlite3_busy_timeout(db.get(), kBusyMs);
  return execute(db.get(), "PRAGMA cell_size_check = ON; SELECT 1 FROM sqlite_schema");
}

// In a folder that cannot be written SQLite has nowhere to keep what readers and writers share. A
// file without a log can be read as one that nobody writes.
Result<int> open_without_log(const std::string& path, Database& db) {
  std::error_code error;
  const auto size = fs::file_size(log_path(path), error);
  if (!error && size > 0) {
    return fail(
        "{}: cannot be read where it is: its folder cannot be written and its log is not empty; "
        "copy both files to a folder of your own",
        path);
  }
  return open_to_read(uri_of(path, "immutable=1"), SQLITE_OPEN_URI, db);
}

}  // namespace

struct JournalReader::Impl {
  Impl(std::string path, Database database)
      : name(std::move(path)),
        db(std::move(database)),
        job(db.get(), select_sql<JobRow>("WHERE number = ?")),
        job_by_key(db.get(), select_sql<JobRow>("WHERE owner = ? AND key = ? AND key <> ''")),
        jobs(db.get(), select_sql<JobRow>("WHERE number > ? ORDER BY number LIMIT ?")),
        jobs_of_phase(db.get(), select_sql<JobRow>(
                                    "WHERE phase = ?3 AND number > ?1 ORDER BY number LIMIT ?2")),
        decisions(db.get(),
                  select_sql<DecisionRow>("WHERE number < ? ORDER BY number DESC LIMIT ?")),
        decision(db.get(), select_sql<DecisionRow>("WHERE number = ?")),
        intents(db.get(), select_sql<IntentRow>("WHERE number < ? ORDER BY number DESC LIMIT ?")),
        intents_of_gpu(
            db.get(),
            select_sql<IntentRow>("WHERE gpu = ?3 AND number < ?1 ORDER BY number DESC LIMIT ?2")),
        audit(db.get(), select_sql<AuditRow>("WHERE number < ? ORDER BY number DESC LIMIT ?")),
        events(db.get(), select_sql<EventRow>("WHERE number >= ? ORDER BY number LIMIT ?")),
        setting(db.get(), setting_sql()) {}

  // Rows of a statement whose values are bound, until it ends or they are `most_bytes`; it is reset
  // afterwards.
  template <class Row>
  Result<std::vector<Row>> rows(Statement& select, std::size_t most_bytes = SIZE_MAX) {
    const ResetLater reset(select);
    std::vector<Row> found;
    for (std::size_t bytes = 0; bytes < most_bytes || found.size() < 2;) {
      const int code = select.step();
      if (code == SQLITE_DONE) return found;
      if (code != SQLITE_ROW) {
        return fail("{}: {}: {}", name, RowTable<Row>::kName, sqlite_trouble(db.get(), code));
      }
      auto row = read_row<Row>(select);
      if (!row) return fail("{}: {}", name, bad_row<Row>(select));
      found.push_back(std::move(*row));
      bytes += bytes_of_row(select);
    }
    return found;
  }
  template <class Row>
  Result<std::optional<Row>> one(Statement& select) {
    auto found = rows<Row>(select);
    if (!found) return pass_on(found);
    if (found->empty()) return std::nullopt;
    return std::move(found->front());
  }
  // Those on one side of a number, at most `limit`; of large ones fewer, though more than one where
  // there are more.
  template <class Row>
  Result<std::vector<Row>> page(Statement& select, std::int64_t from, int limit) {
    select.bind(1, from);
    select.bind(2, std::int64_t{std::max(limit, 0)});
    return rows<Row>(select, kPageBytes);
  }

  std::string name;  // For messages.
  Database db;
  Statement job, job_by_key, jobs, jobs_of_phase;
  Statement decisions, decision;
  Statement intents, intents_of_gpu;
  Statement audit, events, setting;
};

JournalReader::JournalReader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
JournalReader::JournalReader(JournalReader&&) noexcept = default;
JournalReader& JournalReader::operator=(JournalReader&&) noexcept = default;
JournalReader::~JournalReader() = default;

Result<JournalReader> JournalReader::open(const std::string& dir) {
  return open_file(journal_path(dir));
}

Result<JournalReader> JournalReader::open_file(const std::string& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return fail("{}: no such journal", path);
  Database db;
  int code = open_to_read(path, 0, db);
  if ((code & 0xff) == SQLITE_CANTOPEN || (code & 0xff) == SQLITE_READONLY) {
    const auto again = open_without_log(path, db);
    if (!again) return pass_on(again);
    code = *again;
  }
  if (code != SQLITE_OK) return fail("{}: {}", path, sqlite_trouble(db.get(), code));
  if (contents_of(db.get()) == FileContents::kNothing) return fail("{}: holds no journal", path);
  const auto schema = schema_of(db.get());
  if (!schema) return fail("{}: {}", path, schema.error().message);
  if (*schema != Journal::kSchema) {
    return fail("{}: has schema {}, this program reads {}", path, *schema, Journal::kSchema);
  }
  if (const auto tables = check_tables(db.get()); !tables) {
    return fail("{}: {}", path, tables.error().message);
  }
  return JournalReader(std::make_unique<Impl>(path, std::move(db)));
}

Result<std::optional<JobRow>> JournalReader::job(std::int64_t number) {
  impl_->job.bind(1, number);
  return impl_->one<JobRow>(impl_->job);
}

Result<std::optional<JobRow>> JournalReader::job_by_key(const std::string& owner,
                                                        const std::string& key) {
  impl_->job_by_key.bind(1, std::string_view(owner));
  impl_->job_by_key.bind(2, std::string_view(key));
  return impl_->one<JobRow>(impl_->job_by_key);
}

Result<std::vector<JobRow>> JournalReader::jobs(std::optional<JobPhase> phase, std::int64_t after,
                                                int limit) {
  if (!phase) return impl_->page<JobRow>(impl_->jobs, after, limit);
  impl_->jobs_of_phase.bind(3, static_cast<std::int64_t>(*phase));
  return impl_->page<JobRow>(impl_->jobs_of_phase, after, limit);
}

namespace {

std::int64_t newest_or(std::int64_t before) { return before == 0 ? INT64_MAX : before; }

}  // namespace

Result<std::vector<DecisionRow>> JournalReader::decisions(std::int64_t before, int limit) {
  return impl_->page<DecisionRow>(impl_->decisions, newest_or(before), limit);
}

Result<std::optional<DecisionRow>> JournalReader::decision(std::int64_t number) {
  impl_->decision.bind(1, number);
  return impl_->one<DecisionRow>(impl_->decision);
}

Result<std::vector<IntentRow>> JournalReader::intents(const std::string& gpu, std::int64_t before,
                                                      int limit) {
  if (gpu.empty()) return impl_->page<IntentRow>(impl_->intents, newest_or(before), limit);
  impl_->intents_of_gpu.bind(3, std::string_view(gpu));
  return impl_->page<IntentRow>(impl_->intents_of_gpu, newest_or(before), limit);
}

Result<std::vector<AuditRow>> JournalReader::audit(std::int64_t before, int limit) {
  return impl_->page<AuditRow>(impl_->audit, newest_or(before), limit);
}

std::string JournalReader::setting(std::string_view name) {
  return read_setting(impl_->setting, name).value_or("");
}

Result<void> JournalReader::each_event(std::int64_t first,
                                       const std::function<bool(const EventRow&)>& body) {
  for (;;) {
    const auto events = impl_->page<EventRow>(impl_->events, first, kEventsAtOnce);
    if (!events) return pass_on(events);
    for (const EventRow& event : *events) {
      if (!body(event)) return {};
    }
    if (events->empty()) return {};
    first = events->back().number + 1;
  }
}

Result<void> JournalReader::verify() {
  Result<void> good = check_structure(impl_->db.get());
  if (good) good = check_rows(impl_->db.get());
  if (!good) return fail("{}: {}", impl_->name, good.error().message);
  return {};
}

Result<void> JournalReader::check_target(const std::string& path) const {
  return check_backup_target(impl_->name, path);
}

Result<void> JournalReader::back_up(const std::string& path) {
  return copy_journal(impl_->db.get(), path);
}

}  // namespace smartmig
