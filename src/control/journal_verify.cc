#include "control/journal_verify.h"

#include <algorithm>

#include "control/journal_rows.h"

namespace smartmig {
namespace {

template <class Row>
Result<void> check_table(sqlite3* db) {
  Statement all(db, select_sql<Row>(""));
  for (;;) {
    const int code = all.step();
    if (code == SQLITE_DONE) return {};
    if (code != SQLITE_ROW) return fail("{}: {}", RowTable<Row>::kName, sqlite_trouble(db, code));
    if (!read_row<Row>(all)) return fail("{}", bad_row<Row>(all));
  }
}

}  // namespace

Result<void> check_structure(sqlite3* db) {
  // Not quick_check: a damaged index would hide a job from whoever looks it up.
  Statement check(db, "PRAGMA integrity_check(1)");
  const int code = check.step();
  if (code != SQLITE_ROW) return fail("{}", sqlite_trouble(db, code));
  if (check.text(0) == "ok") return {};
  // The text has several lines and names pages by number.
  std::string text(check.text(0));
  std::replace(text.begin(), text.end(), '\n', ' ');
  return fail("is damaged: {}", text);
}

Result<void> check_rows(sqlite3* db) {
  Result<void> result;
  for_each_table([&]<class Row>() {
    if (result) result = check_table<Row>(db);
  });
  return result;
}

}  // namespace smartmig
