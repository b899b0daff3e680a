#include "server/listener.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <exception>
#include <system_error>

#include "server/hosts.h"

namespace smartmig {
namespace {

using namespace std::chrono_literals;

constexpr int kSendBuffer = 128 * 1024;  // Bytes of one connection; Linux takes twice as many.

std::string address_text(const sockaddr_storage& address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    inet_ntop(AF_INET, &v4.sin_addr, text, sizeof text);
    return text;
  }
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
  inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof text);
  constexpr std::string_view kMapped = "::ffff:";
  std::string_view out = text;
  if (IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr) && out.starts_with(kMapped))
    out.remove_prefix(kMapped.size());
  return std::string(out);
}

Peer peer_of(int socket, const sockaddr_storage& remote) {
  Peer peer;
  peer.address = address_text(remote);
  sockaddr_storage local{};
  socklen_t size = sizeof local;
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&local), &size) == 0)
    peer.local_address = address_text(local);
  peer.loopback = is_loopback_name(peer.address);
  return peer;
}

int port_of(int socket) {
  sockaddr_storage local{};
  socklen_t size = sizeof local;
  getsockname(socket, reinterpret_cast<sockaddr*>(&local), &size);
  return ntohs(local.ss_family == AF_INET ? reinterpret_cast<sockaddr_in&>(local).sin_port
                                          : reinterpret_cast<sockaddr_in6&>(local).sin6_port);
}

// A bound, listening socket for one of the addresses that a name stands for; -1 with errno.
int bound_socket(const addrinfo& at) {
  const int out = socket(at.ai_family, at.ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (out < 0) return -1;
  const int on = 1;
  setsockopt(out, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(out, at.ai_addr, at.ai_addrlen) == 0 && listen(out, 1024) == 0) return out;
  const int error = errno;
  close(out);
  errno = error;
  return -1;
}

// Sent without waiting; a client that cannot take it is not waited for.
void turn_away(int socket) {
  constexpr std::string_view kBusy =
      "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\n"
      "Content-Length: 52\r\nRetry-After: 1\r\nConnection: close\r\n\r\n"
      "{\"error\":\"too many connections are open\",\"field\":\"\"}";
  send(socket, kBusy.data(), kBusy.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  close(socket);
}

}  // namespace

Listener::Listener(int socket, const Limits& limits, std::shared_ptr<TlsContext> tls)
    : socket_(socket),
      wake_(eventfd(0, EFD_CLOEXEC)),
      port_(port_of(socket)),
      limits_(limits),
      tls_(std::move(tls)) {
  SM_CHECK(wake_ >= 0);
}

Result<std::unique_ptr<Listener>> Listener::open(const std::string& address, int port,
                                                 const Limits& limits,
                                                 std::shared_ptr<TlsContext> tls) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int failed = getaddrinfo(address.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (failed != 0) return fail("cannot listen on {}: {}", address, gai_strerror(failed));
  int socket = -1;
  for (const addrinfo* at = found; at && socket < 0; at = at->ai_next) socket = bound_socket(*at);
  const int error = errno;
  freeaddrinfo(found);
  if (socket < 0) return fail("cannot listen on {}:{}: {}", address, port, std::strerror(error));
  return std::unique_ptr<Listener>(new Listener(socket, limits, std::move(tls)));
}

Listener::~Listener() {
  stop();
  close(socket_);
  close(wake_);
}

void Listener::start(Serve serve) {
  serve_ = std::move(serve);
  acceptor_ = std::thread([this] { accept_loop(); });
}

void Listener::set_tls(std::shared_ptr<TlsContext> tls) {
  const std::lock_guard lock(mutex_);
  SM_CHECK(tls_ && tls);
  tls_ = std::move(tls);
}

std::shared_ptr<TlsContext> Listener::tls() const {
  const std::lock_guard lock(mutex_);
  return tls_;
}

bool Listener::stopping() const {
  const std::lock_guard lock(mutex_);
  return stopping_;
}

void Listener::accept_loop() {
  while (!stopping()) {
    pollfd items[] = {{socket_, POLLIN, 0}, {wake_, POLLIN, 0}};
    if (poll(items, 2, -1) < 0 && errno != EINTR) return;
    if (items[1].revents != 0) return;
    sockaddr_storage remote{};
    socklen_t size = sizeof remote;
    const int client =
        accept4(socket_, reinterpret_cast<sockaddr*>(&remote), &size, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (client < 0) {
      // Out of descriptors: it passes as connections end, and must not spin until then.
      if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
        std::this_thread::sleep_for(20ms);
      continue;
    }
    const int on = 1;
    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    // Left to itself the kernel keeps megabytes for each client that does not read.
    setsockopt(client, SOL_SOCKET, SO_SNDBUF, &kSendBuffer, sizeof kSendBuffer);
    admit(client, peer_of(client, remote));
  }
}

void Listener::admit(int socket, Peer peer) {
  if (!enter(socket, peer)) return turn_away(socket);
  auto connection = std::make_unique<Connection>(socket, peer, tls());
  try {
    // Counted in threads_, which stop() waits for.
    std::thread([this, raw = connection.get()] {
      serve(std::unique_ptr<Connection>(raw));
    }).detach();
    connection.release();               // NOLINT(bugprone-unused-return-value): the thread has it.
  } catch (const std::system_error&) {  // No more threads on this machine.
    leave(socket, peer);
  }
}

bool Listener::enter(int socket, const Peer& peer) {
  const std::lock_guard lock(mutex_);
  if (stopping_ || threads_ >= limits_.connections) return false;
  int& of_client = by_client_[client_of(peer.address)];
  if (!peer.loopback && of_client >= limits_.per_client) return false;
  ++of_client;
  ++threads_;
  sockets_.insert(socket);
  return true;
}

void Listener::leave(int socket, const Peer& peer) {
  const std::lock_guard lock(mutex_);
  sockets_.erase(socket);
  const auto at = by_client_.find(client_of(peer.address));
  if (--at->second == 0) by_client_.erase(at);
  --threads_;
  ended_.notify_all();
}

void Listener::serve(std::unique_ptr<Connection> connection) {
  const int socket = connection->socket();
  const Peer peer = connection->peer();
  Handover handover;
  try {
    handover = serve_(*connection);
  } catch (const std::exception&) {  // Out of memory, for one: this connection's misfortune.
  }
  {
    // Out of the list first: once it is closed or given away its number may be another's.
    const std::lock_guard lock(mutex_);
    sockets_.erase(socket);
  }
  if (handover) handover(std::move(connection));
  connection.reset();
  leave(-1, peer);
}

void Listener::stop() {
  constexpr auto kGrace = 5s;
  std::unique_lock lock(mutex_);
  if (!stopping_) {
    stopping_ = true;
    const std::uint64_t one = 1;
    SM_CHECK(write(wake_, &one, sizeof one) == sizeof one);
  }
  for (const int socket : sockets_) shutdown(socket, SHUT_RD);
  if (!ended_.wait_for(lock, kGrace, [&] { return threads_ == 0; })) {
    for (const int socket : sockets_) shutdown(socket, SHUT_RDWR);
    ended_.wait(lock, [&] { return threads_ == 0; });
  }
  lock.unlock();
  if (acceptor_.joinable()) acceptor_.join();
}

}  // namespace smartmig
