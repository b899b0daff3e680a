#include "control/lanes.h"

namespace smartmig {

Lanes::Lanes(int threads) : shared_(std::make_shared<Shared>()) {
  shared_->wanted = threads;
  const std::lock_guard lock(shared_->mutex);
  for (int i = 0; i < threads; ++i) add_thread(shared_);
}

// The mutex is held.
void Lanes::add_thread(const std::shared_ptr<Shared>& shared) {
  ++shared->threads;
  std::thread([shared] { serve(shared); }).detach();
}

Lanes::~Lanes() {
  std::unique_lock lock(shared_->mutex);
  shared_->stopping = true;
  shared_->work.notify_all();
  shared_->work.wait(lock, [this] { return shared_->threads == 0; });
}

void Lanes::add(std::uint32_t lane, Task task, Task deliver) {
  const std::lock_guard lock(shared_->mutex);
  Lane& there = shared_->lanes[lane];
  there.waiting.push_back({std::move(task), std::move(deliver)});
  if (there.running || there.waiting.size() > 1) return;
  shared_->runnable.push_back(lane);
  shared_->work.notify_one();
}

void Lanes::serve(const std::shared_ptr<Shared>& shared) {
  std::unique_lock lock(shared->mutex);
  while (true) {
    shared->work.wait(lock, [&] { return shared->stopping || !shared->runnable.empty(); });
    if (shared->stopping) break;
    const std::uint32_t number = shared->runnable.front();
    shared->runnable.pop_front();
    Work work;
    {
      Lane& lane = shared->lanes[number];
      work = std::move(lane.waiting.front());
      lane.waiting.pop_front();
      lane.running = true;
      lane.begin_ns = monotonic_ns();
    }
    lock.unlock();
    work.task();
    work.task = nullptr;
    lock.lock();
    shared->lanes[number].finished = true;
    lock.unlock();
    if (work.deliver) work.deliver();
    work.deliver = nullptr;
    lock.lock();
    Lane& lane = shared->lanes[number];
    const bool was_given_up = lane.given_up;
    lane.running = lane.given_up = lane.finished = false;
    if (lane.waiting.empty()) {
      shared->lanes.erase(number);
    } else {
      shared->runnable.push_back(number);
      shared->work.notify_one();
    }
    if (was_given_up) return;  // Another thread has taken this one's place; it is not counted.
  }
  --shared->threads;
  shared->work.notify_all();
}

std::vector<std::uint32_t> Lanes::give_up(std::int64_t now_ns, std::int64_t limit_ns) {
  std::vector<std::uint32_t> found;
  const std::lock_guard lock(shared_->mutex);
  for (auto& [number, lane] : shared_->lanes) {
    if (!lane.running || lane.finished || lane.given_up || now_ns - lane.begin_ns <= limit_ns)
      continue;
    lane.given_up = true;
    --shared_->threads;
    add_thread(shared_);
    found.push_back(number);
  }
  return found;
}

}  // namespace smartmig
