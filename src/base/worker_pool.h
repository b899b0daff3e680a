// Threads that stay, for work that is handed out many times a second: run(count, body) calls
// body(i) for i in 0..count-1 on them and on the caller, and returns when all are done. As with
// parallel_for, which thread runs which i is not defined, so a body writes only to what belongs to
// its i. Allocates nothing after it is made. run() is for one caller at a time, and body must not
// throw.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>
#include <vector>

namespace smartmig {

class WorkerPool {
 public:
  explicit WorkerPool(int threads);  // The caller counted; <= 0: one for each core.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  template <class Body>
  void run(std::size_t count, Body&& body) {
    if (workers_.empty() || count < 2) {
      for (std::size_t i = 0; i < count; ++i) body(i);
      return;
    }
    run_task({count, &body, [](void* b, std::size_t i) {
                (*static_cast<std::remove_reference_t<Body>*>(b))(i);
              }});
  }

 private:
  struct Task {
    std::size_t count = 0;
    void* body = nullptr;
    void (*call)(void*, std::size_t) = nullptr;
  };
  void run_task(const Task& task);
  void work();
  void take_turns(const Task& task);

  std::mutex mutex_;
  std::condition_variable begin_;
  std::condition_variable end_;
  Task task_;              // Guarded by mutex_, like the three below.
  std::size_t round_ = 0;  // Counts the tasks.
  std::size_t busy_ = 0;   // Workers that have not ended this round.
  bool stopping_ = false;
  std::atomic<std::size_t> next_{0};  // The next i of this round.
  std::vector<std::thread> workers_;
};

}  // namespace smartmig
