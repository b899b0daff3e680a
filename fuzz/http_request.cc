// What a client may send before anybody knows who it is: the head with its path and query, the
// headers that say who asks and from where, and the bodies of commands. The first byte chooses.
#include "check.h"
#include "server/command_body.h"
#include "server/hosts.h"
#include "server/http.h"
#include "server/query.h"
#include "server/routes.h"
#include "server/sessions.h"
#include "server/tokens.h"

namespace smartmig {
namespace {

void check_refusal(const Refusal& refusal) {
  SM_CHECK(refusal.status >= 400 && refusal.status < 600);
  SM_CHECK(!refusal.error.empty() && refusal.error.find('\n') == std::string::npos);
}

void check_head(std::string_view text) {
  const HeadEnd end = find_head_end(text, 0);
  if (end.found == HeadEnd::Found::kEnd)
    SM_CHECK(text.substr(0, end.size).ends_with("\r\n\r\n") &&
             end.size == text.find("\r\n\r\n") + 4);
  const auto request = parse_head(text);
  if (!request) return check_refusal(request.error());
  SM_CHECK(request->content_length <= kMaxBodyBytes && request->headers.size() <= kMaxHeaders);
  SM_CHECK(request->path.starts_with('/'));
  // A name of a route or an argument, never a way out of it.
  const Found found = find_route(*request);
  SM_CHECK(!found.route || request->segments.size() <= 5);
  Query query(request->query, {"limit", "dry_run"});
  query.integer("limit", 1, 10, 1);
  query.flag("dry_run", false);
  if (query.refusal()) check_refusal(*query.refusal());
  // Every answer is one that its own rules allow: no header is split by what was sent.
  const std::string head = head_text(refusal_response({400, request->path, "x"}), true);
  SM_CHECK(head.find("\r\n\r\n") == head.size() - 4);
}

void check_headers(std::string_view text) {
  if (const auto host = parse_host(text)) SM_CHECK(host->port <= 65535 && !host->host.empty());
  if (const auto origin = parse_origin(text)) SM_CHECK(origin->at.port >= 0);
  const Hosts hosts("127.0.0.1", {"sched.example"});
  // Ours is a name we know, whatever stands around it.
  if (hosts.is_ours(text, "127.0.0.1")) {
    const std::string host = parse_host(text)->host;
    SM_CHECK(host == "sched.example" || is_loopback_name(host));
  }
  if (const auto token = bearer_token(text))
    SM_CHECK(token->find(' ') == std::string_view::npos && !token->empty());
  const auto cookie = cookie_value(text, Sessions::kCookie);
  SM_CHECK(cookie.find(';') == std::string_view::npos);
}

void check_body(std::string_view text) {
  for (const auto kind : {Command::Kind::kApply, Command::Kind::kRollback, Command::Kind::kPowerCap,
                          Command::Kind::kFreeze}) {
    const auto command = parse_command(kind, "", text);
    if (!command) check_refusal(command.error());
  }
}

void check_tokens(std::string_view text) {
  const auto tokens = Tokens::parse(text, "fuzz");
  check_error(tokens);
  SM_CHECK(!tokens || tokens->size() > 0);
}

}  // namespace
}  // namespace smartmig

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace smartmig;
  if (size == 0) return 0;
  const std::string_view text = as_text(data + 1, size - 1);
  switch (data[0]) {
    case 'h':
      check_headers(text);
      break;
    case 'b':
      check_body(text);
      break;
    case 't':
      check_tokens(text);
      break;
    default:
      check_head(text);
  }
  return 0;
}
