// The server itself: sessions of the dashboard, its files, and whether all is well.
#include "base/shipped.h"
#include "base/text.h"
#include "server/answers.h"
#include "server/command_body.h"
#include "server/query.h"
#include "server/web_files.h"

namespace smartmig {
namespace {

// Nothing from elsewhere, nothing inline, in nobody's frame.
constexpr std::string_view kPolicy =
    "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'";

HttpResponse file_response(std::string_view name, std::string_view content_type) {
  HttpResponse response{200, std::string(content_type), std::string(shipped_file(name))};
  response.headers.emplace_back("Content-Security-Policy", kPolicy);
  return response;
}

HttpResponse session_response(const Site& site, const Caller& caller) {
  return json_response([&](JsonWriter& json) {
    json.field("name", caller.name);
    json.field("role", to_string(caller.role));
    json.field("tokens", site.gate.asks_for_tokens());
  });
}

}  // namespace

RouteAnswer show_session(Site& site, const Call& call) {
  const Query query(call.request.query, {});
  if (query.refusal()) return *query.refusal();
  return session_response(site, call.caller);
}

RouteAnswer open_session(Site& site, const Call& call) {
  const Query query(call.request.query, {});
  if (query.refusal()) return *query.refusal();
  if (const auto refusal = check_empty_body(call.request.body)) return *refusal;
  HttpResponse response = session_response(site, call.caller);
  if (!site.gate.asks_for_tokens()) return response;
  if (call.caller.by != Caller::By::kToken)
    return Refusal{401, "a session is opened with a token: Authorization: Bearer TOKEN", ""};
  const auto cookie = site.gate.open_session(call.request);
  if (!cookie) return Refusal{503, "no session can be opened now", ""};
  response.headers.emplace_back("Set-Cookie",
                                site.gate.cookie_header(*cookie, site.gate.session_life()));
  return response;
}

RouteAnswer close_session(Site& site, const Call& call) {
  const Query query(call.request.query, {});
  if (query.refusal()) return *query.refusal();
  site.gate.close_session(call.request);
  HttpResponse response;
  response.status = 204;
  response.headers.emplace_back("Set-Cookie", site.gate.cookie_header("", std::chrono::seconds(0)));
  return response;
}

RouteAnswer show_page(Site&, const Call&) {
  return file_response("index.html", "text/html; charset=utf-8");
}

RouteAnswer show_interface(Site&, const Call&) {
  return file_response("openapi.json", "application/json");
}

RouteAnswer show_web_file(Site&, const Call& call) {
  const WebFile* file = find_web_file(call.argument);
  if (!file) return not_found("file", in_quotes(call.argument));
  return file_response(file->name, file->content_type);
}

RouteAnswer show_health(Site&, const Call&) {
  return json_response([](JsonWriter& json) { json.field("status", "alive"); });
}

RouteAnswer show_readiness(Site& site, const Call&) {
  if (const std::string why = site.backend.why_not_ready(); !why.empty())
    return Refusal{503, "not ready: " + why, ""};
  return json_response([](JsonWriter& json) { json.field("status", "ready"); });
}

}  // namespace smartmig
