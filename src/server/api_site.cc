// The server itself: sessions of the dashboard, its files, and whether all is well.
#include "base/shipped.h"
#include "server/answers.h"
#include "server/query.h"

namespace smartmig {
namespace {

struct StaticFile {
  std::string_view path;
  std::string_view name;  // In web/.
  std::string_view content_type;
};

// All that is ever served as a file: names are looked up here and nowhere else.
constexpr StaticFile kFiles[] = {
    {"/", "index.html", "text/html; charset=utf-8"},
    {"/report.css", "report.css", "text/css; charset=utf-8"},
    {"/openapi.json", "openapi.json", "application/json"},
};

// Nothing from elsewhere, nothing inline, in nobody's frame.
constexpr std::string_view kPolicy =
    "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'";

HttpResponse session_response(const Caller& caller) {
  return json_response([&](JsonWriter& json) {
    json.field("name", caller.name);
    json.field("role", to_string(caller.role));
  });
}

}  // namespace

RouteAnswer show_session(Site&, const Call& call) {
  const Query query(call.request.query, {});
  if (query.refusal()) return *query.refusal();
  return session_response(call.caller);
}

RouteAnswer open_session(Site& site, const Call& call) {
  const Query query(call.request.query, {});
  if (query.refusal()) return *query.refusal();
  HttpResponse response = session_response(call.caller);
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

RouteAnswer show_file(Site&, const Call& call) {
  for (const StaticFile& file : kFiles) {
    if (file.path != call.request.path) continue;
    HttpResponse response{200, std::string(file.content_type),
                          std::string(shipped_file(file.name))};
    response.headers.emplace_back("Content-Security-Policy", kPolicy);
    return response;
  }
  return not_found("file", call.request.path);
}

RouteAnswer show_health(Site&, const Call&) {
  return json_response([](JsonWriter& json) { json.field("status", "alive"); });
}

RouteAnswer show_readiness(Site& site, const Call&) {
  if (!site.backend.ready()) return Refusal{503, "not ready: the controller does not decide", ""};
  return json_response([](JsonWriter& json) { json.field("status", "ready"); });
}

}  // namespace smartmig
