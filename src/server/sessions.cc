#include "server/sessions.h"

#include <openssl/rand.h>

#include <algorithm>

#include "base/text.h"

namespace smartmig {
namespace {

constexpr std::ptrdiff_t kMostOfToken = 32;

}  // namespace

std::optional<std::string> Sessions::open(const Digest& token, Clock::time_point now) {
  std::array<unsigned char, 32> random{};
  if (RAND_bytes(random.data(), static_cast<int>(random.size())) != 1) return std::nullopt;
  std::string cookie;
  for (const unsigned char byte : random)
    fmt::format_to(std::back_inserter(cookie), "{:02x}", byte);
  const std::lock_guard lock(mutex_);
  drop_ended(now);
  // One token's sessions push out its own only.
  const auto of_token = [&](const Session& session) { return same_digest(session.token, token); };
  if (std::count_if(sessions_.begin(), sessions_.end(), of_token) >= kMostOfToken)
    sessions_.erase(std::find_if(sessions_.begin(), sessions_.end(), of_token));
  if (sessions_.size() >= most_) sessions_.pop_front();
  sessions_.push_back({digest_of(cookie), token, now + life_});
  return cookie;
}

std::optional<Digest> Sessions::find(std::string_view cookie, Clock::time_point now) {
  if (cookie.empty()) return std::nullopt;
  const Digest sum = digest_of(cookie);
  const std::lock_guard lock(mutex_);
  drop_ended(now);
  std::optional<Digest> found;
  for (const Session& session : sessions_)
    if (same_digest(session.cookie, sum)) found = session.token;
  return found;
}

void Sessions::close(std::string_view cookie) {
  const Digest sum = digest_of(cookie);
  const std::lock_guard lock(mutex_);
  std::erase_if(sessions_,
                [&](const Session& session) { return same_digest(session.cookie, sum); });
}

std::size_t Sessions::size() const {
  const std::lock_guard lock(mutex_);
  return sessions_.size();
}

void Sessions::drop_ended(Clock::time_point now) {
  while (!sessions_.empty() && sessions_.front().end <= now) sessions_.pop_front();
}

std::string_view cookie_value(std::string_view header, std::string_view name) {
  for (const std::string_view piece : split(header, ';')) {
    const std::string_view pair = trim(piece);
    if (pair.size() > name.size() && pair.starts_with(name) && pair[name.size()] == '=')
      return pair.substr(name.size() + 1);
  }
  return {};
}

}  // namespace smartmig
