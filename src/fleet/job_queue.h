// Jobs in order of a 64-bit key (ties: lower job first), for queues of ten jobs and of ten million.
// Sorted chunks of at most kChunk entries in an order list: insert and erase move at most one
// chunk, and a queue that grows at its end fills its chunks. The front goes without moving
// anything. A value: copies are independent.
//
// Invariants: 1. no chunk in order_ is empty; 2. entries ascend within a chunk and from chunk to
// chunk.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "workload/job.h"

namespace smartmig {

class JobQueue {
 public:
  struct Entry {
    std::int64_t key = 0;
    JobIndex job = 0;
    friend bool operator<(const Entry& a, const Entry& b) {
      return a.key != b.key ? a.key < b.key : a.job < b.job;
    }
  };
  // A place in the queue: valid until the next insert or erase.
  struct Cursor {
    const Entry* entry = nullptr;  // nullptr: at the end.
    const Entry* chunk_end = nullptr;
    std::size_t chunk = 0;
  };

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  Cursor begin() const { return order_.empty() ? Cursor() : start_of(0); }
  static bool at_end(const Cursor& cursor) { return cursor.entry == nullptr; }
  static const Entry& at(const Cursor& cursor) { return *cursor.entry; }
  void advance(Cursor& cursor) const {
    if (++cursor.entry != cursor.chunk_end) return;
    cursor = cursor.chunk + 1 < order_.size() ? start_of(cursor.chunk + 1) : Cursor();
  }

  void insert(Entry entry);
  void erase(Entry entry);  // Must be there.
  void clear();             // Keeps its room.

 private:
  static constexpr std::uint32_t kChunk = 128;
  struct Chunk {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    std::array<Entry, kChunk> entries;
  };

  Cursor start_of(std::size_t i) const {
    const Chunk& chunk = pool_[order_[i]];
    return {chunk.entries.data() + chunk.begin, chunk.entries.data() + chunk.end, i};
  }
  std::uint32_t new_chunk();
  // The chunk that holds or should hold the entry: the last one whose first entry is not above it.
  std::size_t chunk_for(const Entry& entry) const;

  std::vector<Chunk> pool_;
  std::vector<std::uint32_t> spare_;
  std::vector<std::uint32_t> order_;
  std::size_t size_ = 0;
};

}  // namespace smartmig
