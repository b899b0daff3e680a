#include "control/journal_sqlite.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

namespace smartmig {

int open_database(const std::string& path, int flags, Database& db) {
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &raw, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  db.reset(raw);
  if (code != SQLITE_OK) return code;
  sqlite3_extended_result_codes(raw, 1);
  // Nothing in a file that somebody else may have made is to be run.
  sqlite3_db_config(raw, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  return SQLITE_OK;
}

int execute(sqlite3* db, const char* sql) {
  return sqlite3_exec(db, sql, nullptr, nullptr, nullptr);
}

bool is_damage(int code) {
  const int kind = code & 0xff;
  return kind == SQLITE_CORRUPT || kind == SQLITE_NOTADB || kind == SQLITE_FORMAT ||
         code == SQLITE_IOERR_SHORT_READ;
}

std::string sqlite_trouble(sqlite3* db, int code) {
  const int kind = code & 0xff;
  // SQLite keeps the system's reason on some paths only; on the others it is still in place.
  const int kept = db ? sqlite3_system_errno(db) : 0;
  const int system = kept ? kept : errno;
  // Quotas and limits of a file's size are a full disk to whoever writes.
  if (kind == SQLITE_FULL ||
      (kind == SQLITE_IOERR && (system == ENOSPC || system == EDQUOT || system == EFBIG))) {
    return "the disk is full";
  }
  if (kind == SQLITE_NOTADB) return "is not a database, or its first page is damaged";
  if (kind == SQLITE_CORRUPT) return "is damaged";
  if (kind == SQLITE_BUSY) return "is held by another program";
  if (kind == SQLITE_READONLY || kind == SQLITE_PERM) return "cannot be written";
  if (kind == SQLITE_CANTOPEN || kind == SQLITE_IOERR) {
    return fmt::format("cannot be {}: {}", kind == SQLITE_CANTOPEN ? "opened" : "read or written",
                       system ? std::strerror(system) : sqlite3_errstr(code));
  }
  return db ? sqlite3_errmsg(db) : sqlite3_errstr(code);
}

Statement::Statement(sqlite3* db, std::string_view sql) {
  sqlite3_stmt* raw = nullptr;
  code_ = sqlite3_prepare_v3(db, sql.data(), static_cast<int>(sql.size()),
                             SQLITE_PREPARE_PERSISTENT, &raw, nullptr);
  statement_.reset(raw);
}

void Statement::bind(int at, std::int64_t number) { sqlite3_bind_int64(get(), at, number); }

void Statement::bind(int at, double number) { sqlite3_bind_double(get(), at, number); }

void Statement::bind(int at, std::string_view text) {
  // A null pointer would bind NULL.
  const char* bytes = text.empty() ? "" : text.data();
  sqlite3_bind_text64(get(), at, bytes, text.size(), SQLITE_STATIC, SQLITE_UTF8);
}

int Statement::step() { return statement_ ? sqlite3_step(get()) : code_; }

void Statement::reset() { sqlite3_reset(get()); }

int Statement::run() {
  const int code = step();
  reset();
  return code;
}

std::string_view Statement::text(int column) const {
  const unsigned char* bytes = sqlite3_column_text(get(), column);
  if (!bytes) return {};
  return {reinterpret_cast<const char*>(bytes),
          static_cast<std::size_t>(sqlite3_column_bytes(get(), column))};
}

}  // namespace smartmig
