#include "server/send_budget.h"

#include <sys/socket.h>

#include <algorithm>

namespace smartmig {
namespace {

using namespace std::chrono_literals;

}  // namespace

SendBudget::Permit::~Permit() {
  {
    const std::lock_guard lock(budget_.mutex_);
    --budget_.building_;
  }
  budget_.changed_.notify_all();
}

std::unique_ptr<SendBudget::Permit> SendBudget::begin_building() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return building_ < limits_.builders; });
  ++building_;
  return std::make_unique<Permit>(*this);
}

bool SendBudget::close_slowest(Clock::time_point now) {
  Entry* slowest = nullptr;
  double least = 0;
  for (Entry& entry : entries_) {
    const std::chrono::duration<double> age = now - entry.begin;
    if (entry.closed || age < limits_.grace) continue;
    const double rate = static_cast<double>(entry.sent) / age.count();
    // Entries are the latest first: of those that took nothing yet, whoever has had longest goes.
    if (slowest && rate > least) continue;
    slowest = &entry;
    least = rate;
  }
  if (!slowest) return false;
  // Its thread wakes, fails to write and lets go of the answer.
  slowest->closed = true;
  leaving_ += slowest->bytes;
  shutdown(slowest->socket, SHUT_RDWR);
  return true;
}

std::unique_ptr<SendBudget::Hold> SendBudget::reserve(int socket, std::size_t bytes,
                                                      Clock::time_point deadline) {
  if (bytes > limits_.answer || bytes > limits_.total) return nullptr;
  std::unique_lock lock(mutex_);
  while (held_ + bytes > limits_.total) {
    const auto now = Clock::now();
    if (now >= deadline) return nullptr;
    const bool enough_leaves = held_ - leaving_ + bytes <= limits_.total;
    if (!enough_leaves && close_slowest(now)) continue;
    // Until something is sent, or another one has had its time.
    changed_.wait_until(lock, std::min(deadline, now + 50ms));
  }
  entries_.push_front({socket, bytes, 0, Clock::now(), false});
  held_ += bytes;
  most_held_ = std::max(most_held_, held_);
  return std::make_unique<Hold>(*this, entries_.begin());
}

void SendBudget::release(Entries::iterator entry) {
  {
    const std::lock_guard lock(mutex_);
    held_ -= entry->bytes;
    if (entry->closed) leaving_ -= entry->bytes;
    entries_.erase(entry);
  }
  changed_.notify_all();
}

void SendBudget::Hold::sent(std::size_t bytes) {
  const std::lock_guard lock(budget_.mutex_);
  entry_->sent += bytes;
}

std::size_t SendBudget::held() const {
  const std::lock_guard lock(mutex_);
  return held_;
}

std::size_t SendBudget::most_held() const {
  const std::lock_guard lock(mutex_);
  return most_held_;
}

}  // namespace smartmig
