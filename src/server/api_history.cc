// What was decided, what was done by whom, and what happens now.
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "server/answers.h"
#include "server/query.h"

namespace smartmig {
namespace {

constexpr int kUsualPage = 100;
constexpr int kLargestPage = 1000;

void write_decision_fields(JsonWriter& json, const DecisionRow& row) {
  json.id("id", row.number);
  json.time("at_s", row.at_us);
  // As the journal has it; not a second time through a tree, unless it is none.
  json.raw("decision", nlohmann::json::accept(row.body) ? std::string_view(row.body) : "{}");
  json.begin_array("reasons");
  for (const std::string_view line : split(row.reason, '\n'))
    if (!line.empty()) json.value(line);
  json.end_array();
}

// Newest first; the next page is of those before the last one shown.
template <class Row, class Write>
HttpResponse page_of(std::string_view name, const std::vector<Row>& rows, std::int64_t limit,
                     const Write& write) {
  HttpResponse response;
  JsonWriter json(response.body);
  json.begin_object();
  json.begin_array(name);
  std::size_t shown = 0;
  while (shown < rows.size() && shown < static_cast<std::size_t>(limit) &&
         response.body.size() < kPageBytes) {
    json.begin_object();
    write(json, rows[shown++]);
    json.end_object();
  }
  json.end_array();
  json.id("next", shown < rows.size() ? rows[shown - 1].number : 0);
  json.end_object();
  response.body += '\n';
  return response;
}

}  // namespace

RouteAnswer list_decisions(Site& site, const Call& call) {
  Query query(call.request.query, {"before", "limit"});
  const auto before = query.integer("before", 0, INT64_MAX, 0);
  const auto limit = query.integer("limit", 1, kLargestPage, kUsualPage);
  if (query.refusal()) return *query.refusal();
  const auto rows = site.backend.decisions(before, static_cast<int>(limit) + 1);
  if (!rows) return journal_refusal(rows.error());
  return page_of("decisions", *rows, limit, write_decision_fields);
}

RouteAnswer show_decision(Site& site, const Call& call) {
  const Query query(call.request.query, {});
  if (query.refusal()) return *query.refusal();
  const auto number = parse_id(call.argument);
  if (!number) return not_found("decision", in_quotes(call.argument));
  const auto row = site.backend.decision(*number);
  if (!row) return journal_refusal(row.error());
  if (!*row) return not_found("decision", call.argument);
  return json_response([&](JsonWriter& json) { write_decision_fields(json, **row); });
}

RouteAnswer list_audit(Site& site, const Call& call) {
  Query query(call.request.query, {"before", "limit"});
  const auto before = query.integer("before", 0, INT64_MAX, 0);
  const auto limit = query.integer("limit", 1, kLargestPage, kUsualPage);
  if (query.refusal()) return *query.refusal();
  const auto rows = site.backend.audit(before, static_cast<int>(limit) + 1);
  if (!rows) return journal_refusal(rows.error());
  return page_of("audit", *rows, limit, [](JsonWriter& json, const AuditRow& row) {
    json.id("id", row.number);
    json.time("at_s", row.at_us);
    json.field("wall_s", row.wall_s);
    json.field("who", row.who);
    json.field("what", row.what);
  });
}

RouteAnswer stream_events(Site& site, const Call& call) {
  const Query query(call.request.query, {});
  if (query.refusal()) return *query.refusal();
  std::uint64_t after = site.backend.last_notice();
  // Sent by browsers that come back. What is no number of ours is as good as none.
  if (const auto seen = parse_integer(call.request.header("last-event-id")); seen && *seen > 0)
    after = static_cast<std::uint64_t>(*seen);
  RouteAnswer answer(HttpResponse{200, "text/event-stream", ""});
  answer.events_after = after;
  return answer;
}

}  // namespace smartmig
