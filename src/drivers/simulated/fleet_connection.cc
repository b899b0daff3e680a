#include "drivers/simulated/fleet_connection.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>

namespace smartmig {
namespace {

constexpr std::size_t kChunk = 65'536;

}  // namespace

tl::unexpected<DriverError> unreachable(std::string message) {
  return tl::unexpected(DriverError{DriverCode::kUnreachable, std::move(message)});
}

DriverResult<std::unique_ptr<FleetConnection>> FleetConnection::open(const std::string& state) {
  auto socket = connect_to(state);
  if (!socket) return unreachable(socket.error().message);
  return std::unique_ptr<FleetConnection>(new FleetConnection(std::move(*socket)));
}

bool FleetConnection::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

bool FleetConnection::receive_line() {
  in_.clear();
  while (in_.empty() || in_.back() != '\n') {
    const std::size_t before = in_.size();
    in_.resize(before + kChunk);
    const ssize_t count = ::recv(socket_.get(), in_.data() + before, kChunk, 0);
    in_.resize(before + static_cast<std::size_t>(count > 0 ? count : 0));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
  }
  in_.pop_back();
  return true;
}

DriverResult<nlohmann::json> FleetConnection::call(std::string_view fields) {
  const std::int64_t id = ++last_;
  if (!send(fmt::format("{{\"id\":{},{}}}\n", id, fields)) || !receive_line())
    return unreachable("the simulated fleet does not answer");
  try {
    nlohmann::json answer = nlohmann::json::parse(in_);
    if (answer.at("id").get<std::int64_t>() != id)
      return unreachable("the simulated fleet answers another call");
    if (answer.contains("ok")) return std::move(answer["ok"]);
    const nlohmann::json& error = answer.at("error");
    return tl::unexpected(DriverError{driver_code(error.at("code").get_ref<const std::string&>()),
                                      error.at("message").get<std::string>()});
  } catch (const nlohmann::json::exception& error) {
    return unreachable(fmt::format("the simulated fleet's answer: {}", error.what()));
  }
}

bool FleetConnection::is_dead() const {
  pollfd file{.fd = socket_.get(), .events = POLLIN | POLLRDHUP, .revents = 0};
  // Between calls there is nothing to read but the end.
  return ::poll(&file, 1, 0) != 0;
}

void FleetConnection::hang_up() { ::shutdown(socket_.get(), SHUT_RDWR); }

}  // namespace smartmig
