#include "server/rate_limit.h"

#include <algorithm>
#include <cmath>

namespace smartmig {

RateLimit::Bucket& RateLimit::refilled(const std::string& client, Clock::time_point now) {
  const double most = std::max(1.0, per_s_);
  auto found = by_client_.find(client);
  if (found == by_client_.end()) {
    if (buckets_.size() >= most_clients_) {
      by_client_.erase(buckets_.back().client);
      buckets_.pop_back();
    }
    buckets_.push_front({client, most, now});
    found = by_client_.emplace(client, buckets_.begin()).first;
  } else {
    buckets_.splice(buckets_.begin(), buckets_, found->second);
  }
  Bucket& bucket = buckets_.front();
  const std::chrono::duration<double> passed = now - bucket.at;
  bucket.tokens = std::min(most, bucket.tokens + std::max(0.0, passed.count()) * per_s_);
  bucket.at = now;
  return bucket;
}

int RateLimit::seconds_until_one(const Bucket& bucket) const {
  if (bucket.tokens >= 1) return 0;
  return std::max(1, static_cast<int>(std::ceil((1 - bucket.tokens) / per_s_)));
}

int RateLimit::take(const std::string& client, Clock::time_point now) {
  if (per_s_ <= 0) return 0;
  const std::lock_guard lock(mutex_);
  Bucket& bucket = refilled(client, now);
  const int wait_s = seconds_until_one(bucket);
  if (wait_s == 0) bucket.tokens -= 1;
  return wait_s;
}

int RateLimit::look(const std::string& client, Clock::time_point now) {
  if (per_s_ <= 0) return 0;
  const std::lock_guard lock(mutex_);
  // A client that nothing was taken from has no bucket, and needs none.
  if (!by_client_.contains(client)) return 0;
  return seconds_until_one(refilled(client, now));
}

std::size_t RateLimit::clients() const {
  const std::lock_guard lock(mutex_);
  return buckets_.size();
}

}  // namespace smartmig
