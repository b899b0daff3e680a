// A line of progress on standard error, only on a terminal and only for work that lasts over two
// seconds. Safe to call from several threads.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>

namespace smartmig {

class Progress {
 public:
  Progress(std::string what, std::size_t total);
  ~Progress();  // Wipes the line.
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void step();  // One more of `total` is done.

 private:
  std::string what_;
  std::size_t total_;
  std::atomic<std::size_t> done_{0};
  std::chrono::steady_clock::time_point start_;
  std::mutex mutex_;
  std::chrono::steady_clock::time_point shown_;
  bool terminal_;
  bool drawn_ = false;
};

}  // namespace smartmig
