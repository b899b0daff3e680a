// How each kind of row lies in its table: the columns in order, named once. Writing, reading and
// the checksum all walk the same list.
//
// The checksum of a row is Hash64 over the table's name and then every column in order: whole
// numbers, sets of slots, phases and truths as 64-bit integers, fractions as doubles, text as text.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/hash.h"
#include "base/text.h"
#include "control/journal.h"
#include "control/journal_sqlite.h"

namespace smartmig {

struct SettingRow {
  std::string name;
  std::string value;
};

// For each row type: the table's name and its columns; the first is the key.
template <class Row>
struct RowTable;

template <>
struct RowTable<JobRow> {
  static constexpr std::string_view kName = "jobs";
  template <class Row, class Visit>
  static void columns(Row& row, Visit&& visit) {
    visit("number", row.number);
    visit("key", row.key);
    visit("owner", row.owner);
    visit("phase", row.phase);
    visit("submit_us", row.submit_us);
    visit("deadline_us", row.deadline_us);
    visit("start_us", row.start_us);
    visit("end_us", row.end_us);
    visit("left", row.left);
    visit("attempt", row.attempt);
    visit("gpu", row.gpu);
    visit("slice", row.slice);
    visit("begin_us", row.begin_us);
    visit("lost_us", row.lost_us);
    visit("cancelled", row.cancelled);
    visit("note", row.note);
    visit("body", row.body);
  }
};

template <>
struct RowTable<SliceRow> {
  static constexpr std::string_view kName = "slices";
  template <class Row, class Visit>
  static void columns(Row& row, Visit&& visit) {
    visit("uuid", row.uuid);
    visit("gpu", row.gpu);
    visit("slot", row.slot);
    visit("made_us", row.made_us);
  }
};

template <>
struct RowTable<IntentRow> {
  static constexpr std::string_view kName = "intents";
  template <class Row, class Visit>
  static void columns(Row& row, Visit&& visit) {
    visit("number", row.number);
    visit("gpu", row.gpu);
    visit("base", row.base);
    visit("target", row.target);
    visit("step", row.step);
    visit("opened_us", row.opened_us);
    visit("closed_us", row.closed_us);
    visit("outcome", row.outcome);
  }
};

template <>
struct RowTable<GpuRow> {
  static constexpr std::string_view kName = "gpus";
  template <class Row, class Visit>
  static void columns(Row& row, Visit&& visit) {
    visit("uuid", row.uuid);
    visit("cordoned", row.cordoned);
    visit("draining", row.draining);
    visit("fence", row.fence);
    visit("failures", row.failures);
    visit("retry_us", row.retry_us);
    visit("last_good", row.last_good);
  }
};

template <>
struct RowTable<EventRow> {
  static constexpr std::string_view kName = "events";
  template <class Row, class Visit>
  static void columns(Row& row, Visit&& visit) {
    visit("number", row.number);
    visit("at_us", row.at_us);
    visit("kind", row.kind);
    visit("body", row.body);
  }
};

template <>
struct RowTable<DecisionRow> {
  static constexpr std::string_view kName = "decisions";
  template <class Row, class Visit>
  static void columns(Row& row, Visit&& visit) {
    visit("number", row.number);
    visit("at_us", row.at_us);
    visit("body", row.body);
    visit("reason", row.reason);
  }
};

template <>
struct RowTable<AuditRow> {
  static constexpr std::string_view kName = "audit";
  template <class Row, class Visit>
  static void columns(Row& row, Visit&& visit) {
    visit("number", row.number);
    visit("at_us", row.at_us);
    visit("wall_s", row.wall_s);
    visit("who", row.who);
    visit("what", row.what);
  }
};

template <>
struct RowTable<SettingRow> {
  static constexpr std::string_view kName = "settings";
  template <class Row, class Visit>
  static void columns(Row& row, Visit&& visit) {
    visit("name", row.name);
    visit("value", row.value);
  }
};

// SELECT of every column and the checksum; `rest` is WHERE and what follows.
template <class Row>
std::string select_sql(std::string_view rest) {
  std::string sql = "SELECT ";
  Row row;
  RowTable<Row>::columns(row, [&sql](const char* name, auto&) { (sql += name) += ", "; });
  return sql.append("checksum FROM ").append(RowTable<Row>::kName).append(" ").append(rest);
}

// INSERT, or an update of every other column where the key is there already.
template <class Row>
std::string put_sql() {
  std::string names;
  std::string marks;
  std::string updates;
  std::string key;
  Row row;
  RowTable<Row>::columns(row, [&](const char* name, auto&) {
    if (key.empty()) {
      key = name;
    } else {
      updates.append(name).append(" = excluded.").append(name).append(", ");
    }
    (names += name) += ", ";
    marks += "?, ";
  });
  return fmt::format(
      "INSERT INTO {} ({}checksum) VALUES ({}?) ON CONFLICT ({}) DO UPDATE SET {}checksum = "
      "excluded.checksum",
      RowTable<Row>::kName, names, marks, key, updates);
}

// A column is text, a real, or else a whole number of some kind.
template <class Field>
inline constexpr bool kIsText = std::is_same_v<std::remove_const_t<Field>, std::string>;
template <class Field>
inline constexpr bool kIsReal = std::is_same_v<std::remove_const_t<Field>, double>;

template <class Row>
std::int64_t checksum_of(const Row& row) {
  Hash64 hash;
  hash.add(RowTable<Row>::kName);
  RowTable<Row>::columns(row, [&hash](const char*, const auto& field) {
    using Field = std::remove_cvref_t<decltype(field)>;
    if constexpr (kIsText<Field>) {
      hash.add(std::string_view(field));
    } else if constexpr (kIsReal<Field>) {
      hash.add(field);
    } else {
      hash.add(static_cast<std::int64_t>(field));
    }
  });
  return static_cast<std::int64_t>(hash.value());
}

// Runs a statement of put_sql<Row>(); answers SQLite's code, SQLITE_DONE where all is well.
template <class Row>
int write_row(Statement& put, const Row& row) {
  int at = 1;
  RowTable<Row>::columns(row, [&](const char*, const auto& field) {
    using Field = std::remove_cvref_t<decltype(field)>;
    if constexpr (kIsText<Field>) {
      put.bind(at++, std::string_view(field));
    } else if constexpr (kIsReal<Field>) {
      put.bind(at++, field);
    } else {
      put.bind(at++, static_cast<std::int64_t>(field));
    }
  });
  put.bind(at, checksum_of(row));
  return put.run();
}

// The present row of a statement of select_sql<Row>(), or nothing where a column is of another kind
// or out of range or the checksum is off.
template <class Row>
std::optional<Row> read_row(const Statement& select) {
  Row row;
  int at = 0;
  bool good = true;
  RowTable<Row>::columns(row, [&](const char*, auto& field) {
    using Field = std::remove_cvref_t<decltype(field)>;
    const int column = at++;
    if constexpr (kIsText<Field>) {
      good = good && select.kind(column) == SQLITE_TEXT;
      field = select.text(column);
    } else if constexpr (kIsReal<Field>) {
      good = good && select.kind(column) == SQLITE_FLOAT;
      field = select.real(column);
    } else {
      good = good && select.kind(column) == SQLITE_INTEGER;
      const std::int64_t number = select.integer(column);
      if constexpr (std::is_same_v<Field, JobPhase>) {
        good = good && number >= 0 && number <= static_cast<int>(JobPhase::kCancelled);
      }
      field = static_cast<Field>(number);
      good = good && static_cast<std::int64_t>(field) == number;
    }
  });
  if (!good || select.integer(at) != checksum_of(row)) return std::nullopt;
  return row;
}

// "jobs, row 17: its checksum does not match": the present row of any SELECT with the key first.
template <class Row>
std::string bad_row(const Statement& select) {
  const std::string key = select.kind(0) == SQLITE_INTEGER ? std::to_string(select.integer(0))
                                                           : in_quotes(select.text(0));
  return fmt::format("{}, row {}: is damaged, its checksum does not match", RowTable<Row>::kName,
                     key);
}

// Every kind of row, for what is done to all tables alike.
template <class Body>
void for_each_table(Body&& body) {
  body.template operator()<JobRow>();
  body.template operator()<SliceRow>();
  body.template operator()<IntentRow>();
  body.template operator()<GpuRow>();
  body.template operator()<EventRow>();
  body.template operator()<DecisionRow>();
  body.template operator()<AuditRow>();
  body.template operator()<SettingRow>();
}

}  // namespace smartmig
