#include "base/worker_pool.h"

#include "base/thread_pool.h"

namespace smartmig {

WorkerPool::WorkerPool(int threads) {
  if (threads <= 0) threads = core_count();
  for (int i = 1; i < threads; ++i) workers_.emplace_back([this] { work(); });
}

WorkerPool::~WorkerPool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  begin_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void WorkerPool::take_turns(const Task& task) {
  for (std::size_t i = next_++; i < task.count; i = next_++) task.call(task.body, i);
}

void WorkerPool::run_task(const Task& task) {
  {
    const std::lock_guard lock(mutex_);
    task_ = task;
    next_ = 0;
    busy_ = workers_.size();
    ++round_;
  }
  begin_.notify_all();
  take_turns(task);
  std::unique_lock lock(mutex_);
  end_.wait(lock, [this] { return busy_ == 0; });
}

void WorkerPool::work() {
  std::size_t seen = 0;
  for (;;) {
    Task task;
    {
      std::unique_lock lock(mutex_);
      begin_.wait(lock, [&] { return stopping_ || round_ != seen; });
      if (stopping_) return;
      seen = round_;
      task = task_;
    }
    take_turns(task);
    {
      const std::lock_guard lock(mutex_);
      --busy_;
    }
    end_.notify_one();
  }
}

}  // namespace smartmig
