// Jobs: list, submit, show, cancel, explain.
#include "base/text.h"
#include "server/answers.h"
#include "server/job_json.h"
#include "server/query.h"

namespace smartmig {
namespace {

constexpr int kUsualJobs = 100;
constexpr int kMostJobs = 10'000;

// Absent: every phase.
std::optional<JobPhase> phase_of(Query& query) {
  if (!query.has("state")) return std::nullopt;
  const std::string text = query.text("state");
  const auto phase = job_phase(text);
  if (!phase)
    query.refuse("state", fmt::format("found {}, expected queued, starting, running, saving, done, "
                                      "failed or cancelled",
                                      in_quotes(text)));
  return phase;
}

// Those with the role submit cancel their own jobs alone.
std::string owner_of(const Caller& caller) {
  return caller.role == Role::kOperate ? std::string() : caller.name;
}

// What a cancel would be refused for, by the journal; nothing where it would not.
std::optional<Refusal> check_cancel(Site& site, std::int64_t number, const std::string& owner) {
  const auto row = site.backend.job(number);
  if (!row) return journal_refusal(row.error());
  if (!*row) return not_found("job", std::to_string(number));
  if (!owner.empty() && (*row)->owner != owner) return Refusal{403, "the job is another's", "id"};
  if (is_final((*row)->phase))
    return Refusal{409, fmt::format("the job is {} already", to_string((*row)->phase)), "id"};
  return std::nullopt;
}

}  // namespace

std::optional<std::int64_t> parse_id(std::string_view text) {
  const auto number = parse_integer(text);
  const bool plain = number && *number > 0 && std::to_string(*number) == text;
  return plain ? number : std::nullopt;
}

RouteAnswer list_jobs(Site& site, const Call& call) {
  Query query(call.request.query, {"state", "after", "limit"});
  const auto phase = phase_of(query);
  const auto after = query.integer("after", 0, INT64_MAX, 0);
  const auto limit = static_cast<int>(query.integer("limit", 1, kMostJobs, kUsualJobs));
  if (query.refusal()) return *query.refusal();
  // One more than asked for tells whether there is a next page.
  const auto rows = site.backend.jobs(phase, after, limit + 1);
  if (!rows) return journal_refusal(rows.error());
  const std::size_t count = std::min(rows->size(), static_cast<std::size_t>(limit));
  const std::span<const JobRow> page(rows->data(), count);
  const JobOutlooks expected = outlooks(site.backend, page);

  HttpResponse response;
  JsonWriter json(response.body);
  json.begin_object();
  json.begin_array("jobs");
  std::size_t shown = 0;
  while (shown < count && response.body.size() < kPageBytes)
    write_job(json, page[shown++], expected);
  json.end_array();
  json.id("next", shown < rows->size() ? page[shown - 1].number : 0);
  json.end_object();
  response.body += '\n';
  return response;
}

RouteAnswer submit_job(Site& site, const Call& call) {
  Query query(call.request.query, {"dry_run"});
  const bool dry_run = query.flag("dry_run", false);
  if (query.refusal()) return *query.refusal();
  const auto submitted = site.backend.submit(call.request.body, call.caller.name, dry_run);
  if (!submitted) return submitted.error();
  const int status = submitted->created && !dry_run ? 201 : 200;
  return json_response([&](JsonWriter& json) { json.id("id", submitted->id); }, status);
}

RouteAnswer show_job(Site& site, const Call& call) {
  const Query query(call.request.query, {});
  if (query.refusal()) return *query.refusal();
  const auto number = parse_id(call.argument);
  if (!number) return not_found("job", in_quotes(call.argument));
  const auto row = site.backend.job(*number);
  if (!row) return journal_refusal(row.error());
  if (!*row) return not_found("job", call.argument);
  const JobOutlooks expected = outlooks(site.backend, std::span(&**row, 1));
  return json_response([&](JsonWriter& json) { write_job_fields(json, **row, expected); });
}

RouteAnswer cancel_job(Site& site, const Call& call) {
  Query query(call.request.query, {"dry_run"});
  const bool dry_run = query.flag("dry_run", false);
  if (query.refusal()) return *query.refusal();
  const auto number = parse_id(call.argument);
  if (!number) return not_found("job", in_quotes(call.argument));
  const std::string owner = owner_of(call.caller);
  if (dry_run) {
    if (const auto refusal = check_cancel(site, *number, owner)) return *refusal;
    return lines_response({fmt::format("would cancel job {}", *number)});
  }
  const auto done = site.backend.cancel(*number, call.caller.name, owner);
  if (!done) return done.error();
  const bool is_over = *done == Cancelled::kDone;
  return json_response([&](JsonWriter& json) {
    json.begin_array("lines");
    json.value(is_over ? fmt::format("job {} is cancelled", *number)
                       : fmt::format("job {} is being cancelled: its run is told to end", *number));
    json.end_array();
    json.field("cancelled", is_over);
  });
}

RouteAnswer explain_job(Site& site, const Call& call) {
  const Query query(call.request.query, {});
  if (query.refusal()) return *query.refusal();
  const auto number = parse_id(call.argument);
  if (!number) return not_found("job", in_quotes(call.argument));
  const auto lines = site.backend.explain_job(*number);
  if (!lines) return lines.error();
  return lines_response(*lines);
}

}  // namespace smartmig
