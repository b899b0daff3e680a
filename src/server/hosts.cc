#include "server/hosts.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "server/http.h"

namespace smartmig {
namespace {

std::optional<int> parse_port(std::string_view text) {
  const bool digits =
      !text.empty() && text.size() <= 5 &&
      std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!digits) return std::nullopt;
  const auto port = *parse_integer(text);
  return port <= 65535 ? std::optional<int>(static_cast<int>(port)) : std::nullopt;
}

bool is_host_name(std::string_view text) {
  return !text.empty() && text.size() <= 253 && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
  });
}

int default_port(bool tls) { return tls ? 443 : 80; }

}  // namespace

std::optional<HostPort> parse_host(std::string_view text) {
  HostPort out;
  std::string_view rest;
  if (text.starts_with('[')) {
    const auto end = text.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    out.host = lower_case(text.substr(1, end - 1));
    rest = text.substr(end + 1);
    in6_addr address{};
    if (inet_pton(AF_INET6, out.host.c_str(), &address) != 1) return std::nullopt;
  } else {
    const auto colon = text.find(':');
    out.host = lower_case(text.substr(0, colon));
    if (colon != std::string_view::npos) rest = text.substr(colon);
    if (!is_host_name(out.host)) return std::nullopt;
  }
  if (rest.empty()) return out;
  const auto port = rest.front() == ':' ? parse_port(rest.substr(1)) : std::nullopt;
  if (!port) return std::nullopt;
  out.port = *port;
  return out;
}

std::optional<Origin> parse_origin(std::string_view text) {
  Origin out;
  if (text.starts_with("https://")) {
    out.tls = true;
    text.remove_prefix(8);
  } else if (text.starts_with("http://")) {
    text.remove_prefix(7);
  } else {
    return std::nullopt;
  }
  auto at = parse_host(text);
  if (!at) return std::nullopt;
  out.at = std::move(*at);
  if (out.at.port < 0) out.at.port = default_port(out.tls);
  return out;
}

std::string client_of(const std::string& address) {
  in6_addr bits{};
  if (inet_pton(AF_INET6, address.c_str(), &bits) != 1) return address;
  return fmt::format("{:02x}", fmt::join(bits.s6_addr, bits.s6_addr + 8, ""));
}

bool is_loopback_name(std::string_view host) {
  if (host == "localhost" || host == "::1") return true;
  in_addr address{};
  return inet_pton(AF_INET, std::string(host).c_str(), &address) == 1 &&
         (ntohl(address.s_addr) >> 24) == 127;
}

Hosts::Hosts(std::string_view listen_address, const std::vector<std::string>& names) {
  // A wildcard is no name anybody should ask for.
  if (listen_address != "0.0.0.0" && listen_address != "::")
    names_.push_back(lower_case(listen_address));
  for (const std::string& name : names) names_.push_back(lower_case(name));
}

bool Hosts::is_ours(std::string_view host_header, std::string_view local_address) const {
  const auto asked = parse_host(host_header);
  if (!asked) return false;
  if (std::find(names_.begin(), names_.end(), asked->host) != names_.end()) return true;
  if (asked->host == local_address) return true;
  return is_loopback_name(asked->host) && is_loopback_name(local_address);
}

bool Hosts::same_origin(std::string_view origin, std::string_view host_header, bool tls) {
  const auto from = parse_origin(origin);
  const auto to = parse_host(host_header);
  if (!from || !to) return false;
  const int port = to->port < 0 ? default_port(tls) : to->port;
  return from->tls == tls && from->at.host == to->host && from->at.port == port;
}

}  // namespace smartmig
