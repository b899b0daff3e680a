// Bounds the memory of answers that clients do not take. A large answer is built by a few threads
// at a time, and then holds its bytes from a budget until it is sent. Where the budget is used up,
// the connections that take their answers slowest are closed to make room: clients that do not read
// use up no more than the budget, and hold up those that read for about a second.
//
//   auto permit = budget.begin_building();
//   ... build the answer ...
//   const auto hold = budget.reserve(socket, size, deadline);  // Null: there is no room.
//   permit.reset();
//   ... send, and tell hold->sent(n) as it goes ...
//
// May be called from any thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <list>
#include <memory>
#include <mutex>

namespace smartmig {

class SendBudget {
 public:
  using Clock = std::chrono::steady_clock;
  struct Limits {
    std::size_t answer = std::size_t{64} << 20;  // Bytes of one answer.
    std::size_t total = std::size_t{128} << 20;  // Bytes of all answers that wait to be sent.
    int builders = 4;                            // Threads that build a large answer at a time.
    // A connection may be closed for another's sake once it has had so long.
    std::chrono::milliseconds grace{1'000};
  };
  explicit SendBudget(const Limits& limits) : limits_(limits) {}
  SendBudget(const SendBudget&) = delete;
  SendBudget& operator=(const SendBudget&) = delete;

  const Limits& limits() const { return limits_; }

  // Ends with its destructor.
  class Permit {
   public:
    explicit Permit(SendBudget& budget) : budget_(budget) {}
    ~Permit();
    Permit(const Permit&) = delete;
    Permit& operator=(const Permit&) = delete;

   private:
    SendBudget& budget_;
  };
  // Waits until fewer than `builders` others build. Building waits for no client, so this is short.
  std::unique_ptr<Permit> begin_building();

  // The bytes of one answer until its destructor, which must come before the socket is closed.
  class Hold;
  // Null: the answer is larger than any may be, or there is no room for it by then.
  std::unique_ptr<Hold> reserve(int socket, std::size_t bytes, Clock::time_point deadline);

  std::size_t held() const;       // Bytes, now ...
  std::size_t most_held() const;  // ... and the most so far.

 private:
  struct Entry {
    int socket = -1;
    std::size_t bytes = 0;
    std::size_t sent = 0;
    Clock::time_point begin;
    bool closed = false;
  };
  using Entries = std::list<Entry>;

  // Closes the slowest connection that has had its time; false: there is none. mutex_ is held.
  bool close_slowest(Clock::time_point now);
  void release(Entries::iterator entry);

  const Limits limits_;
  mutable std::mutex mutex_;  // Guards all below.
  std::condition_variable changed_;
  Entries entries_;
  std::size_t held_ = 0, most_held_ = 0;
  std::size_t leaving_ = 0;  // Of held_, the bytes of connections that were closed.
  int building_ = 0;
};

class SendBudget::Hold {
 public:
  Hold(SendBudget& budget, Entries::iterator entry) : budget_(budget), entry_(entry) {}
  ~Hold() { budget_.release(entry_); }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;
  void sent(std::size_t bytes);

 private:
  SendBudget& budget_;
  Entries::iterator entry_;
};

}  // namespace smartmig
