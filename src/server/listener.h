// Takes in connections and gives each a thread for as long as it lasts. Their number is bounded, in
// all and for each address that is not loopback, and those beyond are turned away at once: clients
// that are slow use up their own share only.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <unordered_map>

#include "server/connection.h"

namespace smartmig {

class Listener {
 public:
  struct Limits {
    int connections = 512;
    int per_client = 64;
  };
  // Serves a connection until it ends. Where it answers a function, that one gets the connection
  // then, for good, and it counts here no more.
  using Handover = std::function<void(std::unique_ptr<Connection>)>;
  using Serve = std::function<Handover(Connection&)>;

  // Binds; port 0: any free one.
  static Result<std::unique_ptr<Listener>> open(const std::string& address, int port,
                                                const Limits& limits,
                                                std::shared_ptr<TlsContext> tls);
  ~Listener();  // stop()

  int port() const { return port_; }
  void start(Serve serve);
  // For connections that come from now on. The listener was opened with TLS.
  void set_tls(std::shared_ptr<TlsContext> tls);
  // No new ones; those that wait for a request end, those under way get a few seconds.
  void stop();
  bool stopping() const;

 private:
  Listener(int socket, const Limits& limits, std::shared_ptr<TlsContext> tls);
  std::shared_ptr<TlsContext> tls() const;
  void accept_loop();
  void admit(int socket, Peer peer);
  void serve(std::unique_ptr<Connection> connection);
  bool enter(int socket, const Peer& peer);
  void leave(int socket, const Peer& peer);

  const int socket_;
  int wake_ = -1;  // An eventfd: stop() reaches a thread that waits in poll.
  int port_ = 0;
  const Limits limits_;
  Serve serve_;
  std::thread acceptor_;

  mutable std::mutex mutex_;  // Guards all below.
  std::shared_ptr<TlsContext> tls_;
  std::condition_variable ended_;
  std::set<int> sockets_;  // Of the connections that are served.
  std::unordered_map<std::string, int> by_client_;
  int threads_ = 0;
  bool stopping_ = false;
};

}  // namespace smartmig
