#include "control/journal_schema.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/text.h"
#include "control/journal_rows.h"

namespace smartmig {
namespace {

struct Object {
  const char* name;
  const char* sql;  // As SQLite keeps it, to the byte.
};

// STRICT, so that SQLite's own check finds values of another type. Long columns come last: SQLite
// need not read them to reach the others.
constexpr std::array kObjects = {
    Object{"jobs",
           "CREATE TABLE jobs (number INTEGER PRIMARY KEY, key TEXT NOT NULL, owner TEXT NOT NULL, "
           "phase INTEGER NOT NULL, submit_us INTEGER NOT NULL, deadline_us INTEGER NOT NULL, "
           "start_us INTEGER NOT NULL, end_us INTEGER NOT NULL, left REAL NOT NULL, "
           "attempt INTEGER NOT NULL, gpu TEXT NOT NULL, slice TEXT NOT NULL, "
           "begin_us INTEGER NOT NULL, lost_us INTEGER NOT NULL, cancelled INTEGER NOT NULL, "
           "note TEXT NOT NULL, body TEXT NOT NULL, "
           "checksum INTEGER NOT NULL) STRICT"},
    Object{"jobs_key", "CREATE UNIQUE INDEX jobs_key ON jobs (owner, key) WHERE key <> ''"},
    Object{"jobs_phase", "CREATE INDEX jobs_phase ON jobs (phase)"},
    Object{"jobs_end", "CREATE INDEX jobs_end ON jobs (end_us) WHERE phase >= 4"},
    Object{"slices",
           "CREATE TABLE slices (uuid TEXT PRIMARY KEY, gpu TEXT NOT NULL, slot INTEGER NOT NULL, "
           "made_us INTEGER NOT NULL, checksum INTEGER NOT NULL) STRICT, WITHOUT ROWID"},
    Object{"intents",
           "CREATE TABLE intents (number INTEGER PRIMARY KEY, gpu TEXT NOT NULL, "
           "base INTEGER NOT NULL, target INTEGER NOT NULL, step TEXT NOT NULL, "
           "opened_us INTEGER NOT NULL, closed_us INTEGER NOT NULL, outcome TEXT NOT NULL, "
           "checksum INTEGER NOT NULL) STRICT"},
    Object{"intents_gpu", "CREATE INDEX intents_gpu ON intents (gpu)"},
    Object{"intents_closed", "CREATE INDEX intents_closed ON intents (closed_us)"},
    Object{"gpus",
           "CREATE TABLE gpus (uuid TEXT PRIMARY KEY, cordoned INTEGER NOT NULL, "
           "draining INTEGER NOT NULL, fence TEXT NOT NULL, failures INTEGER NOT NULL, "
           "retry_us INTEGER NOT NULL, last_good INTEGER NOT NULL, checksum INTEGER NOT NULL) "
           "STRICT, WITHOUT ROWID"},
    Object{"events",
           "CREATE TABLE events (number INTEGER PRIMARY KEY, at_us INTEGER NOT NULL, "
           "kind TEXT NOT NULL, body TEXT NOT NULL, checksum INTEGER NOT NULL) STRICT"},
    Object{"decisions",
           "CREATE TABLE decisions (number INTEGER PRIMARY KEY, at_us INTEGER NOT NULL, "
           "body TEXT NOT NULL, reason TEXT NOT NULL, checksum INTEGER NOT NULL) STRICT"},
    Object{"audit",
           "CREATE TABLE audit (number INTEGER PRIMARY KEY, at_us INTEGER NOT NULL, "
           "wall_s INTEGER NOT NULL, who TEXT NOT NULL, what TEXT NOT NULL, "
           "checksum INTEGER NOT NULL) STRICT"},
    Object{"settings",
           "CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL, "
           "checksum INTEGER NOT NULL) STRICT, WITHOUT ROWID"},
};
// The number in jobs_end.
static_assert(static_cast<int>(JobPhase::kDone) == 4);

// Runs `body` in a transaction and answers its code; undoes everything unless that is SQLITE_OK,
// and then says why.
template <class Body>
int in_transaction(sqlite3* db, std::string& trouble, Body&& body) {
  int code = execute(db, "BEGIN IMMEDIATE");
  if (code == SQLITE_OK) code = body();
  if (code == SQLITE_OK) code = execute(db, "COMMIT");
  if (code != SQLITE_OK) trouble = sqlite_trouble(db, code);
  if (code != SQLITE_OK && !sqlite3_get_autocommit(db)) execute(db, "ROLLBACK");
  return code;
}

}  // namespace

int create_tables(sqlite3* db) {
  std::string trouble;
  return in_transaction(db, trouble, [db] {
    for (const Object& object : kObjects) {
      if (const int code = execute(db, object.sql); code != SQLITE_OK) return code;
    }
    return put_schema(db, Journal::kSchema);
  });
}

FileContents contents_of(sqlite3* db) {
  Statement any(db, "SELECT 1 FROM sqlite_schema LIMIT 1");
  const int code = any.run();
  if (code == SQLITE_ROW) return FileContents::kTables;
  return code == SQLITE_DONE ? FileContents::kNothing : FileContents::kUnreadable;
}

std::string setting_sql() { return select_sql<SettingRow>("WHERE name = ?"); }

Result<std::string> read_setting(Statement& by_name, std::string_view name) {
  const ResetLater reset(by_name);
  by_name.bind(1, name);
  const int code = by_name.step();
  if (code == SQLITE_DONE) return std::string();
  if (code != SQLITE_ROW) return fail("settings: {}", sqlite3_errstr(code));
  auto row = read_row<SettingRow>(by_name);
  if (!row) return fail("{}", bad_row<SettingRow>(by_name));
  return std::move(row->value);
}

Result<int> schema_of(sqlite3* db) {
  Statement by_name(db, setting_sql());
  const auto text = read_setting(by_name, kSchemaSetting);
  if (!text) return pass_on(text);
  const auto number = parse_integer(*text);
  if (!number || *number < 0 || *number > INT32_MAX) {
    return fail("settings: {} is {}, expected a version", kSchemaSetting, in_quotes(*text));
  }
  return static_cast<int>(*number);
}

int put_schema(sqlite3* db, int version) {
  Statement put(db, put_sql<SettingRow>());
  const int code = write_row(put, SettingRow{std::string(kSchemaSetting), std::to_string(version)});
  return code == SQLITE_DONE ? SQLITE_OK : code;
}

// Version 1 is the first.
std::span<const Migration> migrations() { return {}; }

Result<void> migrate(sqlite3* db, std::span<const Migration> steps, int from, int to) {
  bool known = true;
  std::string trouble;
  const int code = in_transaction(db, trouble, [&] {
    for (int version = from; version < to; ++version) {
      const Migration* step = nullptr;
      for (const Migration& each : steps) {
        if (each.from == version) step = &each;
      }
      known = step != nullptr;
      if (!known) return SQLITE_ABORT;
      if (const int failed = step->run(db); failed != SQLITE_OK) return failed;
    }
    return put_schema(db, to);
  });
  if (!known) return fail("schema {} is older than this program can bring up to date", from);
  if (code != SQLITE_OK) {
    return fail("cannot be brought from schema {} to {}: {}", from, to, trouble);
  }
  return {};
}

Result<void> check_tables(sqlite3* db) {
  // sqlite_% are SQLite's own, such as the index behind a primary key of text.
  Statement all(db,
                "SELECT name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite^_%' ESCAPE '^'");
  std::size_t found = 0;
  for (;;) {
    const int code = all.step();
    if (code == SQLITE_DONE) break;
    if (code != SQLITE_ROW) return fail("sqlite_schema: {}", sqlite_trouble(db, code));
    const auto same = [&all](const Object& object) {
      return all.text(0) == object.name && all.text(1) == object.sql;
    };
    if (std::none_of(kObjects.begin(), kObjects.end(), same)) {
      return fail("sqlite_schema, {}: is not as smartmig makes it", in_quotes(all.text(0)));
    }
    ++found;
  }
  if (found != kObjects.size()) {
    return fail("sqlite_schema: found {} tables and indexes, expected {}", found, kObjects.size());
  }
  return {};
}

}  // namespace smartmig
