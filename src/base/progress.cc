#include "base/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/text.h"

namespace smartmig {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

ProgressPace usual_pace() {
  ProgressPace pace;
  pace.redraw = isatty(STDERR_FILENO) == 1;
  if (pace.redraw) pace.again = pace.longest = milliseconds(200);
  const char* wish = std::getenv("SMARTMIG_PROGRESS");
  if (wish == nullptr) return pace;
  if (const auto seconds = parse_number(wish); seconds && *seconds > 0) {
    pace.first = pace.again = pace.longest =
        milliseconds(static_cast<std::int64_t>(std::clamp(*seconds * 1e3, 1.0, 1e9)));
    pace.redraw = false;
  }
  pace.on = std::string_view(wish) != "off";
  return pace;
}

ProgressLine::ProgressLine(Text text, const ProgressPace& pace)
    : text_(std::move(text)), pace_(pace), start_(Clock::now()) {
  if (pace_.on) thread_ = std::thread([this] { print_until_stopped(); });
}

ProgressLine::~ProgressLine() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  wake_.notify_one();
  thread_.join();
  if (drawn_) fmt::print(pace_.out, "\r\033[K");
  std::fflush(pace_.out);
}

void ProgressLine::print_until_stopped() {
  milliseconds pause = pace_.again;
  auto next = start_ + pace_.first;
  std::unique_lock lock(mutex_);
  while (!wake_.wait_until(lock, next, [this] { return stopped_; })) {
    const auto now = Clock::now();
    const std::string text = text_(std::chrono::duration<double>(now - start_).count());
    if (pace_.redraw) {
      drawn_ = true;
      fmt::print(pace_.out, "\r\033[K{}", text);
    } else {
      fmt::print(pace_.out, "{}\n", text);
    }
    std::fflush(pace_.out);
    next = now + pause;
    pause = std::min(2 * pause, pace_.longest);
  }
}

Progress::Progress(std::string what, std::size_t total, Shown shown, const ProgressPace& pace)
    : what_(std::move(what)),
      total_(total),
      shown_(shown),
      line_([this](double elapsed_s) { return text(elapsed_s); }, pace) {}

std::string Progress::text(double elapsed_s) const {
  if (total_ == 0) return fmt::format("{}, {:.0f} s", what_, elapsed_s);
  const std::size_t done = std::min(done_.load(), total_);
  const std::string so_far = shown_ == Shown::kPercent ? fmt::format("{} %", 100 * done / total_)
                                                       : fmt::format("{} of {}", done, total_);
  if (done == 0) return fmt::format("{}: {}, {:.0f} s", what_, so_far, elapsed_s);
  const double left = elapsed_s * static_cast<double>(total_ - done) / static_cast<double>(done);
  return fmt::format("{}: {}, about {:.0f} s left", what_, so_far, left);
}

}  // namespace smartmig
