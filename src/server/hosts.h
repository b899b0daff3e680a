// Which names this server goes by. A page of somebody else that reaches us under a name of its own
// (DNS rebinding) shows by its Host, one that sends us requests by its Origin.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smartmig {

// "host:port" apart: "[::1]:80" is "::1" and 80. Nothing where it is neither a name nor an address.
struct HostPort {
  std::string host;  // Lower case, an IPv6 address without brackets.
  int port = -1;     // -1: none given.
};
std::optional<HostPort> parse_host(std::string_view text);

// "https://host:port" apart; nothing for "null" and whatever has a path.
struct Origin {
  bool tls = false;
  HostPort at;
};
std::optional<Origin> parse_origin(std::string_view text);

// Who counts as one client: an address of IPv4, or the /64 that one of IPv6 is in.
std::string client_of(const std::string& address);

bool is_loopback_name(std::string_view host);  // "localhost", 127.x.x.x, "::1"

class Hosts {
 public:
  // The address it listens on and further names; loopback names count where it is reached through
  // loopback.
  Hosts(std::string_view listen_address, const std::vector<std::string>& names);

  // `local_address` is the one this connection came in on.
  bool is_ours(std::string_view host_header, std::string_view local_address) const;
  // The origin is the place that the request itself went to.
  static bool same_origin(std::string_view origin, std::string_view host_header, bool tls);

 private:
  std::vector<std::string> names_;
};

}  // namespace smartmig
