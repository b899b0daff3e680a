// What is old and finished goes; its numbers are not given again.
#include <algorithm>

#include "base/text.h"
#include "control/journal_impl.h"
#include "control/journal_schema.h"

namespace smartmig {
namespace {

struct Trim {
  std::string_view table;
  // The numbers of rows that may go, oldest first, at most ?2; ?1 is the time, or the number, that
  // they must be from before, and ?3, where it stands, the number that they must not be before.
  std::string_view candidates;
  bool has_first() const { return candidates.find("?3") != std::string_view::npos; }
};

// Rows of audit are in order of time: the first that is younger ends the search.
constexpr Trim kByTime[] = {
    {"jobs", "SELECT number FROM jobs WHERE phase >= 4 AND end_us < ?1 ORDER BY end_us LIMIT ?2"},
    {"intents",
     "SELECT number FROM intents WHERE closed_us >= 0 AND closed_us < ?1 ORDER BY closed_us "
     "LIMIT ?2"},
    {"audit",
     "SELECT number FROM (SELECT number, at_us FROM audit ORDER BY number LIMIT ?2) WHERE at_us < "
     "?1"},
};
// And where there are too many: those before a number, and not before another.
constexpr Trim kByCount[] = {
    {"jobs",
     "SELECT number FROM jobs WHERE phase >= 4 AND number < ?1 AND number >= ?3 ORDER BY number "
     "LIMIT ?2"},
    {"intents",
     "SELECT number FROM intents WHERE closed_us >= 0 AND number < ?1 ORDER BY number LIMIT ?2"},
    {"audit", "SELECT number FROM audit WHERE number < ?1 ORDER BY number LIMIT ?2"},
};
// A decision goes with the events it follows from: replay compares what it finds.
constexpr Trim kByNumber[] = {
    {"events", "SELECT number FROM events WHERE number < ?1 ORDER BY number LIMIT ?2"},
    {"decisions", "SELECT number FROM decisions WHERE number < ?1 ORDER BY number LIMIT ?2"},
};

}  // namespace

Result<std::int64_t> next_number(sqlite3* db, std::string_view table) {
  Statement by_name(db, setting_sql());
  const auto kept = read_setting(by_name, std::string(kNextSetting).append(table));
  if (!kept) return pass_on(kept);
  Statement highest(db, fmt::format("SELECT max(number) FROM {}", table));
  const int code = highest.step();
  if (code != SQLITE_ROW) return fail("{}: {}", table, sqlite_trouble(db, code));
  // max() of an empty table is NULL, which reads as 0.
  return std::max(highest.integer(0) + 1, parse_integer(*kept).value_or(1));
}

Result<bool> Journal::trim(const Kept& kept, int rows) {
  SM_CHECK(rows > 0);
  sqlite3* db = impl_->db.get();
  bool more = false;
  begin();
  // `before` is made of the lowest number of the table that is not given yet.
  const auto trim_table = [&](const Trim& trim, auto before_of) {
    if (!impl_->failure.empty()) return;
    const auto next = next_number(db, trim.table);
    if (!next) {
      impl_->failure = fmt::format("{}: {}", kJournalName, next.error().message);
      return;
    }
    const std::int64_t before = before_of(*next);
    Statement remove(
        db, fmt::format("DELETE FROM {} WHERE number IN ({})", trim.table, trim.candidates));
    remove.bind(1, before);
    remove.bind(2, std::int64_t{rows});
    if (trim.has_first()) remove.bind(3, kept.jobs_from);
    impl_->note(remove.run(), trim.table);
    if (!impl_->failure.empty() || sqlite3_changes(db) == 0) return;
    impl_->put(impl_->put_setting,
               SettingRow{std::string(kNextSetting).append(trim.table), std::to_string(*next)});
    Statement left(db, trim.candidates);
    left.bind(1, before);
    left.bind(2, std::int64_t{1});
    if (trim.has_first()) left.bind(3, kept.jobs_from);
    more = more || left.step() == SQLITE_ROW;
  };
  for (const Trim& trim : kByTime) trim_table(trim, [&](std::int64_t) { return kept.since_us; });
  for (const Trim& trim : kByCount)
    trim_table(trim, [&](std::int64_t next) { return next - kept.rows; });
  for (const Trim& trim : kByNumber)
    trim_table(trim, [&](std::int64_t) { return kept.first_event; });
  const auto done = commit();
  if (!done) return pass_on(done);
  return more;
}

}  // namespace smartmig
