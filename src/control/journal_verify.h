// Whether a journal holds what was written: SQLite's own structure, the tables, every row.
#pragma once

#include <string>

#include "base/result.h"
#include "control/journal_sqlite.h"

namespace smartmig {

// Pages, order and indexes, as SQLite checks them. Says nothing about contents.
Result<void> check_structure(sqlite3* db);
// Every row of every table against its checksum; the first that is off.
Result<void> check_rows(sqlite3* db);

}  // namespace smartmig
