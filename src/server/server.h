// The live interface over HTTP: the routes of routes.h behind the checks of gate.h.
//
//   Server server(options, backend);
//   if (auto started = server.start(); !started) ...  // One line that says what to change.
//   ... server.port() ...
//   server.stop();
//
// A simulated fleet on a loopback address is served without tokens unless a token file is given.
// Anything else needs TLS and tokens, or start() refuses.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "server/backend.h"
#include "server/event_streams.h"
#include "server/gate.h"
#include "server/listener.h"
#include "server/rate_limit.h"
#include "server/routes.h"
#include "server/send_budget.h"

namespace smartmig {

struct ServerOptions {
  std::string address = "127.0.0.1";
  int port = 8080;         // 0: any that is free.
  bool simulated = true;   // The fleet is no hardware.
  std::string token_file;  // Lines NAME ROLE TOKEN, mode 0600.
  std::string tls_certificate_file;
  std::string tls_key_file;
  std::vector<std::string> host_names;  // By which clients may ask for us, beside the address.

  double requests_per_s = 100;  // For each client address; 0: no limit.
  bool limit_loopback = false;  // Clients on this machine too.
  // Wrong tokens from one client address, loopback included; 0: no limit. An address over it is
  // told to wait before its token is looked at, whether that is right or wrong.
  double wrong_tokens_per_s = 10;
  Listener::Limits connections;
  EventStreams::Limits events;
  SendBudget::Limits answers;
  int metrics_gpus = 1000;

  // Wall time. A whole head or body must come, and a whole answer go, within theirs; a connection
  // may wait for its next request for `idle`.
  std::chrono::milliseconds idle{15'000};
  std::chrono::milliseconds read{10'000};
  std::chrono::milliseconds write{30'000};

  // One line for each request that changes something or is refused: who, what, status, time. Never
  // a body, a query or a token. Called from many threads.
  std::function<void(const std::string&)> log = [](const std::string&) {};
};

// What a server needs of this machine: tokens, certificates, the port. Whoever must be sure of them
// before doing something else opens them first; clients that come meanwhile wait.
struct ServerParts {
  std::unique_ptr<Gate> gate;
  std::unique_ptr<Listener> listener;
};
// The error is one line that says what to change.
Result<ServerParts> open_parts(const ServerOptions& options);

class Server {
 public:
  // `backend` must outlive it.
  Server(ServerOptions options, Backend& backend);
  ~Server();  // stop()

  Result<void> start();  // With parts of its own.
  void start(ServerParts parts);
  int port() const { return listener_->port(); }
  // Ends streams, lets answers under way go out.
  void stop();
  // Where the file is bad the old tokens stay and the log gets a line. Streams end, so that their
  // clients show their tokens again.
  void reload_tokens();
  // The certificate and its key for connections that come from now on. Where they are bad the old
  // ones stay and the log gets a line. Does nothing without TLS.
  void reload_certificate();
  // Of answers that wait to be sent.
  const SendBudget& send_budget() const { return budget_; }
  const EventStreams& events() const { return *events_; }

 private:
  using Clock = Connection::Clock;
  struct Handled {
    HttpResponse response;
    std::optional<std::uint64_t> events_after;
    std::uint64_t generation = 0;  // Of event streams, when the caller was asked who it is.
    std::string who;
    bool changes = false;
    std::unique_ptr<SendBudget::Permit> building;  // Held from before a large answer is built.
  };

  Listener::Handover serve(Connection& connection);
  // The next request; nothing where the connection is over, after an answer if one was due.
  std::optional<HttpRequest> read_request(Connection& connection, std::string& buffer);
  bool read_head(Connection& connection, std::string& buffer, std::size_t& head_size);
  bool read_body(Connection& connection, std::string& buffer, HttpRequest& request);
  void refuse(Connection& connection, const Refusal& refusal);
  Handled handle(const HttpRequest& request, const Peer& peer);
  std::optional<HttpResponse> too_fast(const Peer& peer);
  tl::expected<Caller, HttpResponse> identify(const HttpRequest& request, const Peer& peer);
  Listener::Handover open_stream(Connection& connection, const Handled& handled);
  bool send(Connection& connection, const HttpResponse& response, bool keep_alive);
  // The answer of a request that was handled; a large one holds its bytes from the budget.
  bool send(Connection& connection, Handled& handled, bool keep_alive, bool with_body);
  bool send_large(Connection& connection, Handled& handled, bool keep_alive);
  // Frees the body and lets another thread build a large answer.
  static void release(Handled& handled);
  bool is_first_429_of_second(Clock::time_point now);
  void log(const HttpRequest& request, const Handled& handled, Clock::time_point begin);

  const ServerOptions options_;
  Backend& backend_;
  std::unique_ptr<Gate> gate_;
  RateLimit rate_;
  RateLimit wrong_tokens_;
  std::mutex guesses_mutex_;  // Held while a token is judged and counted.
  SendBudget budget_;
  std::unique_ptr<EventStreams> events_;
  std::unique_ptr<Listener> listener_;
  std::atomic<std::int64_t> last_429_s_{-1};  // When one was logged last.
};

}  // namespace smartmig
