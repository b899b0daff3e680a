#include "server/server.h"

#include <fmt/format.h>

#include <exception>

namespace smartmig {
namespace {

HttpResponse with_header(HttpResponse response, std::string name, std::string value) {
  response.headers.emplace_back(std::move(name), std::move(value));
  return response;
}

HttpResponse no_route(const HttpRequest& request, const std::string& allowed) {
  if (allowed.empty())
    return refusal_response({404, fmt::format("nothing is at {}", request.path), ""});
  const Refusal refusal{405, fmt::format("expected {} at {}", allowed, request.path), ""};
  return with_header(refusal_response(refusal), "Allow", allowed);
}

// An answer that the budget has no room for.
HttpResponse no_room(std::size_t bytes, const SendBudget::Limits& limits) {
  if (bytes > limits.answer)
    return refusal_response({503,
                             fmt::format("the answer has {} bytes, more than the {} of one answer: "
                                         "ask for pages with limit",
                                         bytes, limits.answer),
                             ""});
  return with_header(refusal_response({503, "too many large answers wait to be sent", ""}),
                     "Retry-After", "1");
}

// Nothing where the options go together; else what to add to them.
Result<void> check_options(const ServerOptions& options) {
  if (options.tls_certificate_file.empty() != options.tls_key_file.empty())
    return fail("TLS needs both --tls-cert FILE and --tls-key FILE");
  if (options.simulated && is_loopback_name(options.address)) return {};
  std::string missing;
  if (options.tls_certificate_file.empty()) missing = "--tls-cert FILE --tls-key FILE";
  if (options.token_file.empty())
    missing += missing.empty() ? "--token-file FILE" : " --token-file FILE";
  if (missing.empty()) return {};
  return fail("{} needs TLS and tokens: add {}",
              options.simulated ? fmt::format("{}, which is no loopback address,", options.address)
                                : std::string("a fleet that is not simulated"),
              missing);
}

}  // namespace

Result<ServerParts> open_parts(const ServerOptions& options) {
  if (auto good = check_options(options); !good) return pass_on(good);
  const bool tls = !options.tls_certificate_file.empty();
  auto gate = Gate::open({options.address, options.host_names, options.token_file, tls});
  if (!gate) return pass_on(gate);
  std::shared_ptr<TlsContext> context;
  if (tls) {
    auto loaded = TlsContext::load(options.tls_certificate_file, options.tls_key_file);
    if (!loaded) return pass_on(loaded);
    context = std::move(*loaded);
  }
  auto listener = Listener::open(options.address, options.port, options.connections, context);
  if (!listener) return pass_on(listener);
  return ServerParts{std::move(*gate), std::move(*listener)};
}

Server::Server(ServerOptions options, Backend& backend)
    : options_(std::move(options)),
      backend_(backend),
      rate_(options_.requests_per_s),
      wrong_tokens_(options_.wrong_tokens_per_s),
      budget_(options_.answers) {}

Server::~Server() { stop(); }

Result<void> Server::start() {
  auto parts = open_parts(options_);
  if (!parts) return pass_on(parts);
  start(std::move(*parts));
  return {};
}

void Server::start(ServerParts parts) {
  gate_ = std::move(parts.gate);
  events_ = std::make_unique<EventStreams>(backend_, options_.events);
  listener_ = std::move(parts.listener);
  listener_->start([this](Connection& connection) { return serve(connection); });
}

void Server::stop() {
  if (listener_) listener_->stop();
  events_.reset();
}

void Server::reload_tokens() {
  if (auto done = gate_->reload(); !done) {
    options_.log(fmt::format("tokens stay as they were: {}", done.error().message));
    return;
  }
  if (!gate_->asks_for_tokens()) return;
  events_->close_all();
  options_.log(fmt::format("tokens read again from {}", options_.token_file));
}

void Server::reload_certificate() {
  if (options_.tls_certificate_file.empty()) return;
  auto loaded = TlsContext::load(options_.tls_certificate_file, options_.tls_key_file);
  if (!loaded) {
    options_.log(fmt::format("the certificate stays as it was: {}", loaded.error().message));
    return;
  }
  listener_->set_tls(std::move(*loaded));
  options_.log(fmt::format("certificate read again from {}", options_.tls_certificate_file));
}

Listener::Handover Server::serve(Connection& connection) {
  if (!connection.handshake(Clock::now() + options_.read)) return {};
  std::string buffer;
  while (auto request = read_request(connection, buffer)) {
    const auto begin = Clock::now();
    Handled handled = handle(*request, connection.peer());
    log(*request, handled, begin);
    const bool with_body = request->method != "HEAD";
    if (handled.events_after && with_body) return open_stream(connection, handled);
    const bool keep = request->keep_alive && !listener_->stopping();
    if (!send(connection, handled, keep, with_body)) return {};
    if (!keep) {
      connection.finish();
      return {};
    }
  }
  return {};
}

// Until the empty line that ends the head; `head_size` counts it in.
bool Server::read_head(Connection& connection, std::string& buffer, std::size_t& head_size) {
  auto deadline = Clock::now() + options_.idle;
  bool begun = false;
  for (std::size_t searched = 0;;) {
    // A client may end its last request with one line too many.
    if (!begun && buffer.starts_with("\r\n")) buffer.erase(0, 2);
    if (!begun && !buffer.empty()) {
      begun = true;
      deadline = Clock::now() + options_.read;
    }
    const HeadEnd end = find_head_end(buffer, searched);
    head_size = end.size;
    if (end.found == HeadEnd::Found::kEnd && head_size <= kMaxHeadBytes) return true;
    if (end.found == HeadEnd::Found::kBareLf) {
      refuse(connection, {400, "a line of the request's head ends with LF, expected CR LF", ""});
      return false;
    }
    if (buffer.size() > kMaxHeadBytes) {
      refuse(connection,
             {431, fmt::format("a request's head may have {} bytes", kMaxHeadBytes), ""});
      return false;
    }
    searched = buffer.size();
    if (connection.read_some(buffer, kMaxHeadBytes, deadline) > 0) continue;
    if (begun && Clock::now() >= deadline)
      refuse(connection, {408, "the request did not come to its end in time", ""});
    return false;
  }
}

bool Server::read_body(Connection& connection, std::string& buffer, HttpRequest& request) {
  const auto deadline = Clock::now() + options_.read;
  if (request.expects_continue && buffer.size() < request.content_length &&
      !connection.write_all("HTTP/1.1 100 Continue\r\n\r\n", deadline))
    return false;
  if (buffer.size() < request.content_length) connection.acknowledge();
  while (buffer.size() < request.content_length) {
    if (connection.read_some(buffer, request.content_length - buffer.size(), deadline) > 0)
      continue;
    if (Clock::now() >= deadline)
      refuse(connection, {408, "the request did not come to its end in time", ""});
    return false;
  }
  request.body = buffer.substr(0, request.content_length);
  buffer.erase(0, request.content_length);
  return true;
}

std::optional<HttpRequest> Server::read_request(Connection& connection, std::string& buffer) {
  std::size_t head_size = 0;
  if (!read_head(connection, buffer, head_size)) return std::nullopt;
  auto request = parse_head(std::string_view(buffer).substr(0, head_size));
  if (!request) {
    refuse(connection, request.error());
    return std::nullopt;
  }
  buffer.erase(0, head_size);
  if (!read_body(connection, buffer, *request)) return std::nullopt;
  return std::move(*request);
}

// For what could not be read as a request; where the next one would begin is not known then.
void Server::refuse(Connection& connection, const Refusal& refusal) {
  const auto too_many = too_fast(connection.peer());
  if (!too_many || is_first_429_of_second(Clock::now()))
    options_.log(fmt::format("{}: malformed request: {} {}", connection.peer().address,
                             refusal.status, refusal.error));
  const HttpResponse response = too_many ? *too_many : refusal_response(refusal);
  if (send(connection, response, false)) connection.finish();
}

// A flood of requests is not to become a flood of lines.
bool Server::is_first_429_of_second(Clock::time_point now) {
  const auto second =
      std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count();
  return last_429_s_.exchange(second) != second;
}

std::optional<HttpResponse> Server::too_fast(const Peer& peer) {
  if (peer.loopback && !options_.limit_loopback) return std::nullopt;
  const int wait_s = rate_.take(client_of(peer.address), Clock::now());
  if (wait_s == 0) return std::nullopt;
  return with_header(refusal_response({429, "too many requests from this address", ""}),
                     "Retry-After", std::to_string(wait_s));
}

// Who sends a request; an answer instead where its address has sent too many wrong tokens. A guess
// that is judged tells whether it was right, so that none is judged beyond the limit.
tl::expected<Caller, HttpResponse> Server::identify(const HttpRequest& request, const Peer& peer) {
  if (!gate_->asks_for_tokens() || !request.has_header("authorization"))
    return gate_->identify(request);
  const std::string client = client_of(peer.address);
  // One at a time, or many connections at once would all be judged before the first is counted.
  const std::lock_guard lock(guesses_mutex_);
  if (const int wait_s = wrong_tokens_.look(client, Clock::now()); wait_s > 0)
    return tl::unexpected(
        with_header(refusal_response({429, "too many wrong tokens from this address", ""}),
                    "Retry-After", std::to_string(wait_s)));
  Caller caller = gate_->identify(request);
  if (caller.role == Role::kNobody) wrong_tokens_.take(client, Clock::now());
  return caller;
}

Server::Handled Server::handle(const HttpRequest& request, const Peer& peer) {
  Handled handled;
  handled.who = peer.address;
  handled.changes = request.method != "GET" && request.method != "HEAD";
  const auto refused = [&](const Refusal& refusal) {
    handled.response = refusal_response(refusal);
    if (refusal.status == 401) handled.response.headers.emplace_back("WWW-Authenticate", "Bearer");
    return std::move(handled);
  };
  if (auto answer = too_fast(peer)) {
    handled.response = std::move(*answer);
    return handled;
  }
  if (const auto refusal = gate_->check_host(request, peer)) return refused(*refusal);
  const Found found = find_route(request);
  if (!found.route) {
    handled.response = no_route(request, found.allowed);
    return handled;
  }
  handled.generation = events_->generation();
  auto identified = identify(request, peer);
  if (!identified) {
    handled.response = std::move(identified.error());
    return handled;
  }
  const Caller& caller = *identified;
  if (!caller.name.empty()) handled.who = caller.name;
  const Route& route = *found.route;
  if (const auto refusal = gate_->check_caller(request, caller, route.role, route.changes()))
    return refused(*refusal);
  if (route.method == "POST")
    if (const auto refusal = Gate::check_content_type(request)) return refused(*refusal);
  if (route.large) handled.building = budget_.begin_building();
  try {
    Site site{backend_, *gate_, options_.metrics_gpus};
    RouteAnswer answer = route.answer(site, {request, caller, found.argument});
    handled.response = std::move(answer.response);
    handled.events_after = answer.events_after;
  } catch (const std::exception& error) {  // Out of memory, for one: this request's misfortune.
    return refused({500, fmt::format("failed: {}", error.what()), ""});
  }
  return handled;
}

Listener::Handover Server::open_stream(Connection& connection, const Handled& handled) {
  const Peer& peer = connection.peer();
  const std::string client =
      peer.loopback && !options_.limit_loopback ? "" : client_of(peer.address);
  if (!events_->reserve(client)) {
    const Refusal refusal{503, "too many event streams are open", ""};
    if (send(connection, with_header(refusal_response(refusal), "Retry-After", "5"), false))
      connection.finish();
    return {};
  }
  // Without a length: the stream is over when the connection is.
  constexpr std::string_view kHead =
      "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\n"
      "X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\nretry: 2000\n\n";
  if (!connection.write_all(kHead, Clock::now() + options_.write)) {
    events_->cancel(client);
    return {};
  }
  return [this, client, after = *handled.events_after,
          generation = handled.generation](std::unique_ptr<Connection> taken) {
    events_->add(std::move(taken), client, after, generation);
  };
}

bool Server::send(Connection& connection, const HttpResponse& response, bool keep_alive) {
  // In one piece: one segment, and one wake-up of the client.
  return connection.write_all(head_text(response, keep_alive) + response.body,
                              Clock::now() + options_.write);
}

bool Server::send(Connection& connection, Handled& handled, bool keep_alive, bool with_body) {
  constexpr std::size_t kSmall = 64 * 1024;  // As many of these as there are connections are few.
  if (with_body && handled.response.body.size() > kSmall)
    return send_large(connection, handled, keep_alive);
  std::string text = head_text(handled.response, keep_alive);
  if (with_body) text += handled.response.body;
  // A client that takes its answer slowly holds neither the body nor the permit to build one.
  release(handled);
  return connection.write_all(text, Clock::now() + options_.write);
}

bool Server::send_large(Connection& connection, Handled& handled, bool keep_alive) {
  const std::string_view body = handled.response.body;
  const auto hold =
      budget_.reserve(connection.socket(), body.size(), Clock::now() + options_.write);
  if (!hold) {
    const HttpResponse refusal = no_room(body.size(), budget_.limits());
    release(handled);
    return send(connection, refusal, keep_alive);
  }
  handled.building.reset();
  const auto deadline = Clock::now() + options_.write;
  if (!connection.write_all(head_text(handled.response, keep_alive), deadline)) return false;
  constexpr std::size_t kPiece = 64 * 1024;
  for (std::size_t at = 0; at < body.size(); at += kPiece) {
    const std::string_view piece = body.substr(at, kPiece);
    if (!connection.write_all(piece, deadline)) return false;
    hold->sent(piece.size());
  }
  return true;
}

void Server::release(Handled& handled) {
  std::string().swap(handled.response.body);
  handled.building.reset();
}

void Server::log(const HttpRequest& request, const Handled& handled, Clock::time_point begin) {
  const int status = handled.response.status;
  if (!handled.changes && status < 400) return;
  const auto now = Clock::now();
  if (status == 429 && !is_first_429_of_second(now)) return;
  const std::chrono::duration<double, std::milli> took = now - begin;
  options_.log(fmt::format("{} {} {} {} {:.1f} ms", handled.who, request.method, request.path,
                           status, took.count()));
}

}  // namespace smartmig
