// Every operation of the interface: where it is, who may use it, and what answers it. The OpenAPI
// document (web/openapi.json) says the same for clients, and a test holds one to the other.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server/backend.h"
#include "server/gate.h"
#include "server/http.h"

namespace smartmig {

// What handlers work with.
struct Site {
  Backend& backend;
  Gate& gate;
  int metrics_gpus = 1000;  // GPUs with series of their own on the metrics page.
};

struct Call {
  const HttpRequest& request;
  const Caller& caller;
  std::string argument;  // What stands for {id} in the path; empty: nothing does.
};

struct RouteAnswer {
  RouteAnswer(HttpResponse from) : response(std::move(from)) {}
  RouteAnswer(const Refusal& refusal) : response(refusal_response(refusal)) {}
  HttpResponse response;
  // Set: what follows are live events after this notice, until the client goes.
  std::optional<std::uint64_t> events_after = std::nullopt;
};

struct Route {
  std::string_view method;
  std::string_view pattern;  // "/api/v1/jobs/{id}"
  Role role;                 // The least that may call it; kNobody: anyone.
  RouteAnswer (*answer)(Site& site, const Call& call);
  bool large = false;  // The answer grows with the fleet or the journal (send_budget.h).

  bool changes() const { return method != "GET"; }
};

std::span<const Route> routes();

// The route of a request. Where the path is known and the method is not: `allowed` has those that
// are.
struct Found {
  const Route* route = nullptr;
  std::string argument;
  std::string allowed;  // "GET, POST"
};
Found find_route(const HttpRequest& request);

// Handlers, by what they are about. Each answers one route.
RouteAnswer list_jobs(Site& site, const Call& call);
RouteAnswer submit_job(Site& site, const Call& call);
RouteAnswer show_job(Site& site, const Call& call);
RouteAnswer cancel_job(Site& site, const Call& call);
RouteAnswer explain_job(Site& site, const Call& call);

RouteAnswer show_fleet(Site& site, const Call& call);
RouteAnswer show_groups(Site& site, const Call& call);
RouteAnswer show_gpu(Site& site, const Call& call);
RouteAnswer list_changes(Site& site, const Call& call);
RouteAnswer explain_gpu(Site& site, const Call& call);
RouteAnswer show_plan(Site& site, const Call& call);
RouteAnswer export_layouts(Site& site, const Call& call);
RouteAnswer show_metrics(Site& site, const Call& call);

RouteAnswer list_decisions(Site& site, const Call& call);
RouteAnswer show_decision(Site& site, const Call& call);
RouteAnswer list_audit(Site& site, const Call& call);
RouteAnswer stream_events(Site& site, const Call& call);

RouteAnswer do_apply(Site& site, const Call& call);
RouteAnswer do_rollback(Site& site, const Call& call);
RouteAnswer do_freeze(Site& site, const Call& call);
RouteAnswer do_unfreeze(Site& site, const Call& call);
RouteAnswer do_recover(Site& site, const Call& call);
RouteAnswer do_power_cap(Site& site, const Call& call);
RouteAnswer do_cordon(Site& site, const Call& call);
RouteAnswer do_drain(Site& site, const Call& call);
RouteAnswer do_uncordon(Site& site, const Call& call);
RouteAnswer do_adopt(Site& site, const Call& call);
RouteAnswer do_unhold(Site& site, const Call& call);

RouteAnswer show_session(Site& site, const Call& call);
RouteAnswer open_session(Site& site, const Call& call);
RouteAnswer close_session(Site& site, const Call& call);

RouteAnswer show_page(Site& site, const Call& call);
RouteAnswer show_web_file(Site& site, const Call& call);
RouteAnswer show_interface(Site& site, const Call& call);
RouteAnswer show_health(Site& site, const Call& call);
RouteAnswer show_readiness(Site& site, const Call& call);

}  // namespace smartmig
