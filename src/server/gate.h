// Decides whether a request may go on, before anything looks at what it asks for: is it for us, who
// sent it, may they, and did a page of somebody else make them. May be called from any thread.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "server/connection.h"
#include "server/hosts.h"
#include "server/http.h"
#include "server/sessions.h"
#include "server/tokens.h"

namespace smartmig {

// Who asks.
struct Caller {
  enum class By : std::uint8_t { kNothing, kToken, kCookie };
  std::string name;  // Of the token; "local" where none is asked for; empty: nobody known.
  Role role = Role::kNobody;
  By by = By::kNothing;
};

class Gate {
 public:
  struct Options {
    std::string address;  // That the server listens on.
    std::vector<std::string> host_names;
    std::string token_file;  // Empty: everybody may do everything.
    bool tls = false;
  };
  static Result<std::unique_ptr<Gate>> open(const Options& options);

  // The Host is one of ours.
  std::optional<Refusal> check_host(const HttpRequest& request, const Peer& peer) const;
  // Who sent it; nobody where a token is wrong or absent.
  Caller identify(const HttpRequest& request);
  // `changes`: it asks for more than to be told something.
  std::optional<Refusal> check_caller(const HttpRequest& request, const Caller& caller, Role needed,
                                      bool changes) const;
  static std::optional<Refusal> check_content_type(const HttpRequest& request);

  bool asks_for_tokens() const { return !options_.token_file.empty(); }
  bool tls() const { return options_.tls; }
  // Reads the token file again; where it is bad the old tokens stay.
  Result<void> reload();

  // A cookie for the bearer token of this request; nothing where it has none that is right.
  std::optional<std::string> open_session(const HttpRequest& request);
  void close_session(const HttpRequest& request);
  std::string cookie_header(std::string_view value, std::chrono::seconds life) const;
  std::chrono::seconds session_life() const { return sessions_.life(); }

 private:
  explicit Gate(const Options& options)
      : options_(options), hosts_(options.address, options.host_names) {}
  std::shared_ptr<const Tokens> tokens() const;

  const Options options_;
  const Hosts hosts_;
  Sessions sessions_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Tokens> tokens_;  // Guarded by mutex_; null: none are asked for.
};

}  // namespace smartmig
