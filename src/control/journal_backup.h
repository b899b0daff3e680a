// A copy of the journal that is whole. For the files of the journal alone.
#pragma once

#include <string>

#include "base/result.h"
#include "control/journal_sqlite.h"

namespace smartmig {

// As JournalReader::back_up.
Result<void> copy_journal(sqlite3* from, const std::string& path);

}  // namespace smartmig
