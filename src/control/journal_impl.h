// What a Journal holds. For the files of the journal alone.
#pragma once

#include <string>

#include "control/journal.h"
#include "control/journal_files.h"
#include "control/journal_rows.h"
#include "control/journal_sqlite.h"

namespace smartmig {

// The log is copied into the journal when it has grown by so many pages of 4 KiB: often enough that
// it stays small, seldom enough that a commit's cost is that of its own fsync.
inline constexpr int kLogPages = 2000;
// A log that readers kept from being begun anew grows beyond that; at this size we wait for them.
inline constexpr int kLogPagesAtMost = 8 * kLogPages;
// How long to wait for readers, or a reader for us.
inline constexpr int kBusyMs = 5000;

struct Journal::Impl {
  Impl(FolderLock folder_lock, Database database);

  template <class Row>
  void put(Statement& statement, const Row& row) {
    SM_CHECK(in_transaction);
    if (failure.empty()) note(write_row(statement, row), Table<Row>::kName);
  }
  // Keeps the first failure of a transaction.
  void note(int code, std::string_view where);
  // Ends the transaction; answers what went wrong in it.
  Result<void> end();
  void keep_log_small();
  bool checkpoint(int mode);

  FolderLock lock;
  Database db;
  Statement begin_it, commit_it, roll_back;
  Statement put_job, put_slice, put_intent, put_gpu, put_event, put_decision, put_audit,
      put_setting;
  Statement forget_slice, setting;
  bool in_transaction = false;
  std::string failure;  // The first of this transaction, one line; empty: none.
  int log_pages = 0;    // In the log, after the last commit.
  // A commit has failed and may have left frames in the log: they must go before the log is taken
  // to be without gaps (journal_log.h).
  bool log_untidy = false;
};

}  // namespace smartmig
