#include "drivers/simulated/fleet_server.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

namespace smartmig {
namespace {

constexpr std::size_t kMaxPeers = 500;

// False on an error; true when time is up or something can be read or sent.
bool poll_until(std::vector<pollfd>& files, std::int64_t wake_ns) {
  const std::int64_t left = std::max<std::int64_t>(0, wake_ns - monotonic_ns());
  const timespec timeout{.tv_sec = left / kSecondNs, .tv_nsec = left % kSecondNs};
  return ::ppoll(files.data(), files.size(), &timeout, nullptr) >= 0 || errno == EINTR;
}

}  // namespace

Result<void> FleetServer::run() {
  std::vector<pollfd> files;
  std::vector<FleetService::Client> clients;
  while (true) {
    files.assign({{.fd = listener_->get(), .events = POLLIN, .revents = 0},
                  {.fd = stop_->get(), .events = POLLIN, .revents = 0}});
    clients.clear();
    std::int64_t wake_ns = service_->next_wake_ns();
    for (const auto& [client, peer] : peers_) {
      int events = POLLRDHUP;
      if (!peer.out.empty()) {
        events |= POLLOUT;
      } else if (!service_->is_waiting(client)) {
        // One call at a time: a client that waits is not read from.
        events |= POLLIN;
        if (peer.in.find('\n') != std::string::npos) wake_ns = 0;
      }
      files.push_back(
          {.fd = peer.socket.get(), .events = static_cast<short>(events), .revents = 0});
      clients.push_back(client);
    }
    if (!poll_until(files, wake_ns)) return fail("the fleet's sockets: {}", std::strerror(errno));
    if (files[1].revents != 0) return {};
    for (std::size_t i = 0; i < clients.size(); ++i) {
      const int seen = files[i + 2].revents;
      Peer& peer = peers_.at(clients[i]);
      if (seen & POLLIN) receive(peer);
      serve_line(clients[i], peer);
      if (seen & (POLLHUP | POLLERR | POLLRDHUP)) peer.gone = true;
    }
    service_->advance(monotonic_ns());
    deliver_answers();
    drop_gone();
    if (files[0].revents != 0) accept_all();
  }
}

void FleetServer::accept_all() {
  while (true) {
    Descriptor socket(::accept4(listener_->get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket) return;
    // One too many is closed at once.
    if (peers_.size() < kMaxPeers)
      peers_.emplace(++last_, Peer{.socket = std::move(socket), .in = {}, .out = {}});
  }
}

void FleetServer::receive(Peer& peer) {
  std::array<char, 65'536> bytes;
  const ssize_t count = ::recv(peer.socket.get(), bytes.data(), bytes.size(), 0);
  if (count > 0) {
    peer.in.append(bytes.data(), static_cast<std::size_t>(count));
  } else if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
    peer.gone = true;
  }
}

// One call of each client a round: none waits for another's, and answers do not pile up.
void FleetServer::serve_line(FleetService::Client client, Peer& peer) {
  if (service_->is_waiting(client) || !peer.out.empty()) return;
  const std::size_t end = peer.in.find('\n');
  if (std::min(end, peer.in.size()) > FleetRequest::kMaxLine) peer.gone = true;
  if (peer.gone || end == std::string::npos) return;
  service_->receive(client, std::string_view(peer.in).substr(0, end), monotonic_ns());
  peer.in.erase(0, end + 1);
}

void FleetServer::deliver_answers() {
  for (auto& [client, line] : service_->take_answers()) {
    const auto peer = peers_.find(client);
    if (peer != peers_.end()) peer->second.out += line;
  }
  for (auto& [client, peer] : peers_) send(peer);
}

void FleetServer::send(Peer& peer) {
  std::size_t sent = 0;
  while (sent < peer.out.size()) {
    const ssize_t count =
        ::send(peer.socket.get(), peer.out.data() + sent, peer.out.size() - sent, MSG_NOSIGNAL);
    if (count < 0) {
      if (errno != EAGAIN && errno != EINTR) peer.gone = true;
      break;
    }
    sent += static_cast<std::size_t>(count);
  }
  peer.out.erase(0, sent);
}

void FleetServer::drop_gone() {
  for (auto at = peers_.begin(); at != peers_.end();) {
    if (!at->second.gone) {
      ++at;
      continue;
    }
    service_->closed(at->first, monotonic_ns());
    at = peers_.erase(at);
  }
}

}  // namespace smartmig
