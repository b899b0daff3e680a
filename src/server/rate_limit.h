// So many requests a second for each client: a bucket of tokens for each address, which fills with
// time. The table is bounded; when it is full the client that has been silent longest is forgotten,
// which costs it nothing that it had not regained. May be called from any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <list>
#include <mutex>
#include <string>
#include <unordered_map>

namespace smartmig {

class RateLimit {
 public:
  using Clock = std::chrono::steady_clock;

  // `per_s` 0: no limit. A client that was silent may send one second's worth at once.
  explicit RateLimit(double per_s, std::size_t most_clients = 4096)
      : per_s_(per_s), most_clients_(most_clients) {}

  // 0: go on. Else the whole seconds after which it may be tried again.
  int take(const std::string& client, Clock::time_point now);
  // What take() would answer; nothing is taken.
  int look(const std::string& client, Clock::time_point now);
  std::size_t clients() const;

 private:
  struct Bucket {
    std::string client;
    double tokens = 0;
    Clock::time_point at;
  };
  // The bucket with what has come since it was last used; mutex_ is held.
  Bucket& refilled(const std::string& client, Clock::time_point now);
  int seconds_until_one(const Bucket& bucket) const;

  const double per_s_;
  const std::size_t most_clients_;
  mutable std::mutex mutex_;
  std::list<Bucket> buckets_;  // Guarded by mutex_; the latest first.
  std::unordered_map<std::string, std::list<Bucket>::iterator> by_client_;
};

}  // namespace smartmig
