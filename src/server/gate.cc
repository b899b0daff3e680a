#include "server/gate.h"

#include "base/text.h"

namespace smartmig {

Result<std::unique_ptr<Gate>> Gate::open(const Options& options) {
  std::unique_ptr<Gate> gate(new Gate(options));
  if (gate->asks_for_tokens())
    if (auto done = gate->reload(); !done) return pass_on(done);
  return gate;
}

Result<void> Gate::reload() {
  if (!asks_for_tokens()) return {};
  auto loaded = Tokens::load(options_.token_file);
  if (!loaded) return pass_on(loaded);
  auto fresh = std::make_shared<const Tokens>(std::move(*loaded));
  const std::lock_guard lock(mutex_);
  tokens_ = std::move(fresh);
  return {};
}

std::shared_ptr<const Tokens> Gate::tokens() const {
  const std::lock_guard lock(mutex_);
  return tokens_;
}

std::optional<Refusal> Gate::check_host(const HttpRequest& request, const Peer& peer) const {
  if (!request.has_header("host")) return Refusal{400, "the request has no Host", ""};
  if (hosts_.is_ours(request.header("host"), peer.local_address)) return std::nullopt;
  return Refusal{403, "the Host is not one of this server's names (--host-name adds one)", ""};
}

Caller Gate::identify(const HttpRequest& request) {
  const auto tokens = this->tokens();
  if (!tokens) return {"local", Role::kOperate, Caller::By::kNothing};
  // A token that is sent counts alone: who means to be somebody else is not taken for the cookie.
  if (request.has_header("authorization")) {
    const auto token = bearer_token(request.header("authorization"));
    const auto* entry = token ? tokens->find(*token) : nullptr;
    return entry ? Caller{entry->name, entry->role, Caller::By::kToken} : Caller{};
  }
  const auto digest = sessions_.find(cookie_value(request.header("cookie"), Sessions::kCookie),
                                     Sessions::Clock::now());
  const auto* entry = digest ? tokens->find(*digest) : nullptr;
  return entry ? Caller{entry->name, entry->role, Caller::By::kCookie} : Caller{};
}

std::optional<Refusal> Gate::check_caller(const HttpRequest& request, const Caller& caller,
                                          Role needed, bool changes) const {
  if (needed > Role::kNobody && caller.role == Role::kNobody)
    return Refusal{401, "expected a token of this server: Authorization: Bearer TOKEN", ""};
  if (caller.role < needed)
    return Refusal{403,
                   fmt::format("the role {} may not do this, expected {}", to_string(caller.role),
                               to_string(needed)),
                   ""};
  if (!changes) return std::nullopt;
  const bool has_origin = request.has_header("origin");
  if (has_origin &&
      !Hosts::same_origin(request.header("origin"), request.header("host"), options_.tls))
    return Refusal{403, "the Origin is not this server", ""};
  if (!has_origin && caller.by == Caller::By::kCookie)
    return Refusal{403, "a request with a session's cookie needs an Origin", ""};
  return std::nullopt;
}

std::optional<Refusal> Gate::check_content_type(const HttpRequest& request) {
  const std::string type = lower_case(request.header("content-type"));
  if (trim(split(type, ';').front()) == "application/json") return std::nullopt;
  return Refusal{415, "expected Content-Type: application/json", ""};
}

std::optional<std::string> Gate::open_session(const HttpRequest& request) {
  const auto tokens = this->tokens();
  const auto token = bearer_token(request.header("authorization"));
  const auto* entry = tokens && token ? tokens->find(*token) : nullptr;
  return entry ? sessions_.open(entry->digest, Sessions::Clock::now()) : std::nullopt;
}

void Gate::close_session(const HttpRequest& request) {
  sessions_.close(cookie_value(request.header("cookie"), Sessions::kCookie));
}

std::string Gate::cookie_header(std::string_view value, std::chrono::seconds life) const {
  return fmt::format("{}={}; Path=/; Max-Age={}; HttpOnly; SameSite=Strict{}", Sessions::kCookie,
                     value, life.count(), options_.tls ? "; Secure" : "");
}

}  // namespace smartmig
