// The little of SQLite that the journal needs: a connection that closes itself, statements prepared
// once and used many times, and what went wrong as a line for the operator.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace smartmig {

struct CloseDatabase {
  void operator()(sqlite3* db) const { sqlite3_close_v2(db); }
};
using Database = std::unique_ptr<sqlite3, CloseDatabase>;

// Opens `path` with `flags` of sqlite3_open_v2 for one thread; `db` is null where even that failed.
// Answers an SQLite code.
int open_database(const std::string& path, int flags, Database& db);

// Runs statements that answer no rows.
int execute(sqlite3* db, const char* sql);

// What a code means, without the file's name: "the disk is full", "cannot be written: ...".
std::string sqlite_trouble(sqlite3* db, int code);
// The file is not what was written, rather than out of reach.
bool is_damage(int code);

// One prepared statement. Bind from 1 on, step until it answers SQLITE_DONE, reset. Text that is
// bound must live until the reset. A statement that could not be prepared answers why when stepped.
class Statement {
 public:
  Statement() = default;
  Statement(sqlite3* db, std::string_view sql);

  void bind(int at, std::int64_t number);
  void bind(int at, double number);
  void bind(int at, std::string_view text);
  int step();
  void reset();
  // Binds nothing more: one step, then a reset.
  int run();

  // Of the present row, from 0 on. The kinds are checked by the caller (kind()).
  int kind(int column) const { return sqlite3_column_type(get(), column); }
  std::int64_t integer(int column) const { return sqlite3_column_int64(get(), column); }
  double real(int column) const { return sqlite3_column_double(get(), column); }
  std::string_view text(int column) const;

  bool prepared() const { return statement_ != nullptr; }
  sqlite3_stmt* get() const { return statement_.get(); }

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  int code_ = SQLITE_MISUSE;
};

// Resets a statement when a function is left: a statement left halfway holds the file's read lock.
class ResetLater {
 public:
  explicit ResetLater(Statement& statement) : statement_(statement) {}
  ~ResetLater() { statement_.reset(); }
  ResetLater(const ResetLater&) = delete;
  ResetLater& operator=(const ResetLater&) = delete;

 private:
  Statement& statement_;
};

}  // namespace smartmig
