#include "fleet/job_queue.h"

namespace smartmig {

std::uint32_t JobQueue::new_chunk() {
  if (!spare_.empty()) {
    const std::uint32_t chunk = spare_.back();
    spare_.pop_back();
    pool_[chunk].begin = pool_[chunk].end = 0;
    return chunk;
  }
  pool_.emplace_back();
  return static_cast<std::uint32_t>(pool_.size() - 1);
}

std::size_t JobQueue::chunk_for(const Entry& entry) const {
  if (order_.size() == 1) return 0;
  const auto above = std::upper_bound(
      order_.begin(), order_.end(), entry,
      [this](const Entry& e, std::uint32_t c) { return e < pool_[c].entries[pool_[c].begin]; });
  return above == order_.begin() ? 0 : static_cast<std::size_t>(above - order_.begin()) - 1;
}

void JobQueue::insert(Entry entry) {
  ++size_;
  if (order_.empty()) order_.push_back(new_chunk());
  std::size_t at = chunk_for(entry);
  if (pool_[order_[at]].end == kChunk) {
    Chunk* full = &pool_[order_[at]];
    if (full->begin > 0) {
      // Room at the front: slide down.
      std::move(full->entries.begin() + full->begin, full->entries.begin() + full->end,
                full->entries.begin());
      full->end -= full->begin;
      full->begin = 0;
    } else {
      // At the very end start an empty chunk, else split in half.
      const bool append = at + 1 == order_.size() && full->entries[kChunk - 1] < entry;
      const std::uint32_t fresh = new_chunk();
      full = &pool_[order_[at]];  // The pool may have moved.
      const std::uint32_t keep = append ? kChunk : kChunk / 2;
      std::copy(full->entries.begin() + keep, full->entries.end(), pool_[fresh].entries.begin());
      pool_[fresh].end = kChunk - keep;
      full->end = keep;
      order_.insert(order_.begin() + static_cast<std::ptrdiff_t>(at) + 1, fresh);
      if (append || !(entry < pool_[fresh].entries[0])) ++at;
    }
  }
  Chunk& chunk = pool_[order_[at]];
  const auto first = chunk.entries.begin() + chunk.begin;
  const auto last = chunk.entries.begin() + chunk.end;
  const auto place = std::upper_bound(first, last, entry);
  if (place == first && chunk.begin > 0) {
    chunk.entries[--chunk.begin] = entry;
    return;
  }
  std::move_backward(place, last, last + 1);
  *place = entry;
  ++chunk.end;
}

void JobQueue::erase(Entry entry) {
  SM_CHECK(size_ > 0);
  --size_;
  const std::size_t at = chunk_for(entry);
  Chunk& chunk = pool_[order_[at]];
  const auto first = chunk.entries.begin() + chunk.begin;
  const auto last = chunk.entries.begin() + chunk.end;
  const auto place = std::lower_bound(first, last, entry);
  SM_CHECK(place != last && place->job == entry.job && place->key == entry.key);
  if (place == first) {
    ++chunk.begin;
  } else {
    std::move(place + 1, last, place);
    --chunk.end;
  }
  if (chunk.begin == chunk.end) {
    spare_.push_back(order_[at]);
    order_.erase(order_.begin() + static_cast<std::ptrdiff_t>(at));
  }
}

void JobQueue::clear() {
  spare_.insert(spare_.end(), order_.begin(), order_.end());
  order_.clear();
  size_ = 0;
}

}  // namespace smartmig
