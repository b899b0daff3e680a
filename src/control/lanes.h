// Driver's calls from threads that can be abandoned: one lane for each GPU, in which one task runs
// at a time, in order. A task that takes too long is given up: its lane stays shut until the task
// comes back, and another thread takes the place of the one it holds. Tasks and their results may
// come from and go to any thread.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/clock.h"

namespace smartmig {

class Lanes {
 public:
  using Task = std::function<void()>;

  // Keeps `threads` threads at work beside those that are held by given-up tasks.
  explicit Lanes(int threads);
  // Waits for tasks under way, but not for given-up ones: what they use must outlive them, which is
  // why tasks own it by shared_ptr.
  ~Lanes();

  // `deliver` follows the task; by then it cannot be given up any more: what a task delivers that
  // was named by give_up() always comes after that.
  void add(std::uint32_t lane, Task task, Task deliver = nullptr);
  // Lanes whose task has run for longer than `limit_ns`; each is named once, and from then on its
  // task counts as given up.
  std::vector<std::uint32_t> give_up(std::int64_t now_ns, std::int64_t limit_ns);

 private:
  struct Work {
    Task task, deliver;
  };
  struct Lane {
    std::deque<Work> waiting;
    bool running = false;
    bool given_up = false;
    bool finished = false;  // It delivers.
    std::int64_t begin_ns = 0;
  };
  struct Shared {  // Outlives the object where a task was given up.
    mutable std::mutex mutex;
    std::condition_variable work;
    std::unordered_map<std::uint32_t, Lane> lanes;
    std::deque<std::uint32_t> runnable;  // Lanes with a task that may begin.
    int wanted = 0;                      // Threads.
    int threads = 0;                     // Not held by a given-up task.
    bool stopping = false;
  };
  static void serve(const std::shared_ptr<Shared>& shared);
  static void add_thread(const std::shared_ptr<Shared>& shared);

  std::shared_ptr<Shared> shared_;
};

}  // namespace smartmig
