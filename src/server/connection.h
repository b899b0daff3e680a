// One client's connection, plain or TLS. The socket never blocks; every call has a deadline, so
// that a client which sends or takes a byte now and then holds a thread no longer than one that
// does nothing. For one thread at a time.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

struct ssl_st;
struct ssl_ctx_st;

namespace smartmig {

// Where a connection comes from and at which of our addresses it arrived; IPv4 as a.b.c.d always.
struct Peer {
  std::string address;
  std::string local_address;
  bool loopback = false;
};

// Certificate and key, for all connections. TLS 1.2 with forward secrecy, or TLS 1.3.
class TlsContext {
 public:
  // Refuses a key that others can read.
  static Result<std::shared_ptr<TlsContext>> load(const std::string& certificate_file,
                                                  const std::string& key_file);
  ~TlsContext();
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;
  ssl_ctx_st* get() const { return context_; }

 private:
  explicit TlsContext(ssl_ctx_st* context) : context_(context) {}
  ssl_ctx_st* context_;
};

class Connection {
 public:
  using Clock = std::chrono::steady_clock;

  // Takes the socket over. `tls` null: plain.
  Connection(int socket, Peer peer, const std::shared_ptr<TlsContext>& tls);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  const Peer& peer() const { return peer_; }
  bool is_tls() const { return ssl_ != nullptr; }
  int socket() const { return socket_; }

  // False: failed, or not done in time.
  bool handshake(Clock::time_point deadline);
  // Appends what is there, at least a byte. 0: closed, failed, or nothing in time.
  std::size_t read_some(std::string& out, std::size_t most, Clock::time_point deadline);
  // What has come is acknowledged now. Many clients send a head and hold the body back until then;
  // the usual wait for something to acknowledge it with costs them 40 ms a request.
  void acknowledge();
  bool write_all(std::string_view bytes, Clock::time_point deadline);
  // As much as goes at once; nothing where the connection is broken.
  struct Written {
    std::size_t bytes = 0;
    bool broken = false;
  };
  Written write_some(std::string_view bytes);
  // Says that no more comes and takes in what the client still sends, for a moment: a socket closed
  // over unread bytes would take our last answer with it.
  void finish();

 private:
  bool wait(short events, Clock::time_point deadline);
  long raw_read(char* to, std::size_t size, short& wanted);
  long raw_write(const char* from, std::size_t size, short& wanted);

  int socket_;
  Peer peer_;
  std::shared_ptr<TlsContext> tls_;
  ssl_st* ssl_ = nullptr;
};

}  // namespace smartmig
