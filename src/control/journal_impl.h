// What a Journal holds. For the files of the journal alone.
#pragma once

#include <string>

#include "control/journal.h"
#include "control/journal_files.h"
#include "control/journal_mark.h"
#include "control/journal_rows.h"
#include "control/journal_sqlite.h"

namespace smartmig {

// The log is copied into the journal when it has grown to so many pages of 4 KiB: often enough that
// it stays small, and so rarely that this costs little beside the commits.
inline constexpr int kLogPages = 2000;
// A log that was not copied, or that readers kept from being restarted, grows beyond that; from
// this size on every commit tries to copy and restart it.
inline constexpr int kLogPagesAtMost = 8 * kLogPages;
// How long to wait for readers, or a reader for us.
inline constexpr int kBusyMs = 5000;
// So often the mark is made durable. A power loss that takes the log with it goes unnoticed for
// what was committed after that.
inline constexpr std::int64_t kSyncMarkEveryNs = 1'000'000'000;
// Of pages in memory, so that a decision over many jobs need not read the file.
inline constexpr int kCacheMib = 128;

struct Journal::Impl {
  Impl(std::string folder, FolderLock folder_lock, Database database, JournalMark high_water);
  ~Impl();
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  template <class Row>
  void put(Statement& statement, const Row& row) {
    SM_CHECK(in_transaction);
    if (failure.empty()) note(write_row(statement, row), RowTable<Row>::kName);
  }
  // Keeps the first failure of a transaction.
  void note(int code, std::string_view where);
  // Ends the transaction; answers what went wrong in it.
  Result<void> end();
  bool checkpoint(int mode);
  // Writes the transaction's number into it, unless it changed nothing.
  void count_transaction();
  void write_mark(const MarkValue& value);
  void refuse_if_moved();
  Result<void> check_files() const;
  bool is_kept();
  bool log_is_whole() const;

  std::string dir;
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

  FilesInPlace files;
  JournalMark mark;
  Standing standing;
  std::int64_t commits = 0;        // Transactions so far; counted in the journal and by the mark.
  std::int64_t next_job = 1;       // After the highest job number of any transaction.
  std::int64_t next_job_here = 1;  // With the one under way.
  int changes_before = 0;          // Of the connection, at begin().
  bool counted = false;            // The transaction under way carries its number.
  std::int64_t page_bytes = 4096;
  bool mark_behind = false;  // It could not be written: the next transaction waits until it can be.
  std::int64_t mark_synced_ns = 0;
};

}  // namespace smartmig
