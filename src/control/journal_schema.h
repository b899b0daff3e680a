// The journal's tables by version. docs/formats/journal.md describes them.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "control/journal.h"
#include "control/journal_sqlite.h"

namespace smartmig {

// Names of settings that are the journal's own. `kSchemaSetting` is in every version, past and to
// come: it says which one it is.
inline constexpr std::string_view kSchemaSetting = "journal.schema";
// The lowest number not given yet, as of the last trim: "journal.next.jobs". What is in the table
// counts as well.
inline constexpr std::string_view kNextSetting = "journal.next.";

// The number of the last transaction, which journal.mark must not be ahead of. Absent in files of
// programs that kept no mark.
inline constexpr std::string_view kCommitsSetting = "journal.commits";

// One transaction: all tables, empty. Answers SQLite's code.
int create_tables(sqlite3* db);

enum class FileContents : std::uint8_t { kNothing, kTables, kUnreadable };
// Whether there is anything in the file.
FileContents contents_of(sqlite3* db);

// The version of the file; an error where there is none to be read.
Result<int> schema_of(sqlite3* db);
int put_schema(sqlite3* db, int version);

// From one version to the next; answers SQLite's code. It writes the checksums of rows it changes.
struct Migration {
  int from = 0;
  int (*run)(sqlite3* db) = nullptr;
};
std::span<const Migration> migrations();
// Brings a file of version `from` to `to`, in one transaction.
Result<void> migrate(sqlite3* db, std::span<const Migration> steps, int from, int to);

// Whether tables and indexes are exactly those of create_tables(); the first that is not.
Result<void> check_tables(sqlite3* db);

// The value of a setting, empty where there is none; an error where its row is damaged.
Result<std::string> read_setting(Statement& by_name, std::string_view name);
std::string setting_sql();  // For the above.

// The lowest number that no row of a table has or ever had; for those that trim() shortens.
Result<std::int64_t> next_number(sqlite3* db, std::string_view table);

}  // namespace smartmig
