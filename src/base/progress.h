// Signs of life on standard error for work that lasts over two seconds. On a terminal one line is
// drawn again and again; elsewhere (a log, a batch job) a line is printed now and then. The lines
// come from a thread of their own, so that a long step shows life too.
//
// SMARTMIG_PROGRESS=off prints nothing, SMARTMIG_PROGRESS=SECONDS prints a line after so many
// seconds and every so many seconds, on a terminal and elsewhere.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace smartmig {

// When lines are printed, and where.
struct ProgressPace {
  bool on = true;
  bool redraw = false;  // One line that is drawn over.
  std::chrono::milliseconds first{2'000};
  std::chrono::milliseconds again{10'000};    // Doubles with each line...
  std::chrono::milliseconds longest{60'000};  // ...up to this.
  std::FILE* out = stderr;
};
// For standard error as it is, and the environment.
ProgressPace usual_pace();

// Prints what `text` says, as long as it exists. `text` is called from another thread, with the
// seconds since the start.
class ProgressLine {
 public:
  using Text = std::function<std::string(double elapsed_s)>;
  explicit ProgressLine(Text text, const ProgressPace& pace = usual_pace());
  ~ProgressLine();  // Wipes a line that was drawn.
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

 private:
  void print_until_stopped();

  Text text_;
  ProgressPace pace_;
  std::chrono::steady_clock::time_point start_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopped_ = false;  // Guarded by mutex_.
  bool drawn_ = false;    // Of the thread alone.
  std::thread thread_;
};

// Counts steps: "compare: 12 of 90, about 40 s left". With a total of 0 it says how long it has
// lasted: "compare: reading the jobs, 12 s". Steps that mean nothing to a reader are shown as their
// share: "bound: 12 %, about 40 s left". Safe to call from several threads.
class Progress {
 public:
  enum class Shown { kCount, kPercent };
  explicit Progress(std::string what, std::size_t total = 0, Shown shown = Shown::kCount,
                    const ProgressPace& pace = usual_pace());

  void step() { ++done_; }  // One more of `total` is done.

 private:
  std::string text(double elapsed_s) const;

  std::string what_;
  std::size_t total_;
  Shown shown_;
  std::atomic<std::size_t> done_{0};
  ProgressLine line_;  // Last: its thread reads the others.
};

}  // namespace smartmig
