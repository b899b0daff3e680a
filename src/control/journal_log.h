// The write-ahead log beside the journal, looked at before SQLite does. SQLite takes the log's
// first bad checksum for its end, which is right after a power loss: of what was written after the
// last fsync anything may be missing. But a bad frame among those that were synced would silently
// take every later transaction with it. This tells the two apart.
//
// With synchronous=FULL each transaction is synced before the next one begins. So a whole
// transaction behind the first bad frame, with more of the same log after it, can only stand there
// if the bad frame was good once. What cannot be told from a power loss: damage to the last
// transaction, or to the last page of the one before it.
#pragma once

#include <string>
#include <string_view>

namespace smartmig {

// One line about what is wrong with a log's bytes; empty: nothing, or no more than a torn end.
std::string log_damage(std::string_view log);

}  // namespace smartmig
