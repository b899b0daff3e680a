// Sessions of the dashboard: a random cookie for a token, so that no script ever holds the token.
// A session ends after its time, when its user says so, and with the token it stands for. Bounded:
// the oldest goes when there are too many. May be called from any thread.
#pragma once

#include <chrono>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "server/tokens.h"

namespace smartmig {

class Sessions {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::string_view kCookie = "smartmig_session";

  explicit Sessions(std::size_t most = 1024, std::chrono::seconds life = std::chrono::hours(12))
      : most_(most), life_(life) {}

  // The value of a new session's cookie; nothing where the system has no random bytes.
  std::optional<std::string> open(const Digest& token, Clock::time_point now);
  // The token that the session stands for.
  std::optional<Digest> find(std::string_view cookie, Clock::time_point now);
  void close(std::string_view cookie);

  std::size_t size() const;
  std::chrono::seconds life() const { return life_; }

 private:
  struct Session {
    Digest cookie{};  // Its sum: what is kept cannot be sent back.
    Digest token{};
    Clock::time_point end;
  };
  void drop_ended(Clock::time_point now);

  const std::size_t most_;
  const std::chrono::seconds life_;
  mutable std::mutex mutex_;
  std::deque<Session> sessions_;  // Guarded by mutex_; by their ends.
};

// The value of that name in a Cookie header; empty where there is none.
std::string_view cookie_value(std::string_view header, std::string_view name);

}  // namespace smartmig
