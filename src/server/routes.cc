#include "server/routes.h"

#include "base/text.h"

namespace smartmig {
namespace {

constexpr Route kRoutes[] = {
    {"GET", "/api/v1/jobs", Role::kRead, list_jobs, true},
    {"POST", "/api/v1/jobs", Role::kSubmit, submit_job},
    {"GET", "/api/v1/jobs/{id}", Role::kRead, show_job},
    {"DELETE", "/api/v1/jobs/{id}", Role::kSubmit, cancel_job},
    {"GET", "/api/v1/explain/job/{id}", Role::kRead, explain_job},
    {"GET", "/api/v1/explain/gpu/{id}", Role::kRead, explain_gpu},
    {"GET", "/api/v1/fleet", Role::kRead, show_fleet, true},
    {"GET", "/api/v1/fleet/groups", Role::kRead, show_groups, true},
    {"GET", "/api/v1/gpus/{id}", Role::kRead, show_gpu},
    {"GET", "/api/v1/gpus/{id}/changes", Role::kRead, list_changes, true},
    {"GET", "/api/v1/plan", Role::kRead, show_plan},
    {"GET", "/api/v1/decisions", Role::kRead, list_decisions, true},
    {"GET", "/api/v1/decisions/{id}", Role::kRead, show_decision},
    {"GET", "/api/v1/events", Role::kRead, stream_events},
    {"GET", "/api/v1/export", Role::kRead, export_layouts, true},
    {"GET", "/api/v1/audit", Role::kOperate, list_audit, true},
    {"POST", "/api/v1/apply", Role::kOperate, do_apply},
    {"POST", "/api/v1/rollback", Role::kOperate, do_rollback},
    {"POST", "/api/v1/freeze", Role::kOperate, do_freeze},
    {"POST", "/api/v1/unfreeze", Role::kOperate, do_unfreeze},
    {"POST", "/api/v1/recover", Role::kOperate, do_recover},
    {"POST", "/api/v1/power-cap", Role::kOperate, do_power_cap},
    {"POST", "/api/v1/gpus/{id}/cordon", Role::kOperate, do_cordon},
    {"POST", "/api/v1/gpus/{id}/drain", Role::kOperate, do_drain},
    {"POST", "/api/v1/gpus/{id}/uncordon", Role::kOperate, do_uncordon},
    {"POST", "/api/v1/gpus/{id}/adopt", Role::kOperate, do_adopt},
    {"POST", "/api/v1/gpus/{id}/unhold", Role::kOperate, do_unhold},
    {"GET", "/session", Role::kRead, show_session},
    // Who has no session has a token at least; a wrong one is refused there.
    {"POST", "/session", Role::kRead, open_session},
    {"DELETE", "/session", Role::kNobody, close_session},
    {"GET", "/metrics", Role::kRead, show_metrics, true},
    {"GET", "/healthz", Role::kNobody, show_health},
    {"GET", "/readyz", Role::kNobody, show_readiness},
    {"GET", "/openapi.json", Role::kNobody, show_interface},
    {"GET", "/", Role::kNobody, show_page},
    {"GET", "/web/{id}", Role::kNobody, show_web_file},
};

// Segment by segment; {id} takes any that is not empty.
bool matches(std::string_view pattern, const std::vector<std::string>& segments,
             std::string& argument) {
  const auto pieces = split(pattern.substr(1), '/');
  if (pieces.size() != segments.size()) return false;
  argument.clear();
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (pieces[i] == "{id}" && !segments[i].empty()) {
      argument = segments[i];
    } else if (pieces[i] != segments[i]) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::span<const Route> routes() { return kRoutes; }

Found find_route(const HttpRequest& request) {
  Found found;
  std::string argument;
  for (const Route& route : kRoutes) {
    if (!matches(route.pattern, request.segments, argument)) continue;
    if (route.method == (request.method == "HEAD" ? "GET" : request.method)) {
      found.route = &route;
      found.argument = std::move(argument);
      return found;
    }
    if (found.allowed.find(route.method) != std::string::npos) continue;
    if (!found.allowed.empty()) found.allowed += ", ";
    found.allowed += route.method;
  }
  return found;
}

}  // namespace smartmig
