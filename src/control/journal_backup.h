// A copy of the journal that is whole. For the files of the journal alone.
#pragma once

#include <string>

#include "base/result.h"
#include "control/journal_sqlite.h"

namespace smartmig {

// As JournalReader::check_target and back_up.
Result<void> check_backup_target(const std::string& journal, const std::string& path);
Result<void> copy_journal(sqlite3* from, const std::string& path);

// Removes what backups into a folder left that were killed.
void remove_partial_backups(const std::string& dir);

}  // namespace smartmig
