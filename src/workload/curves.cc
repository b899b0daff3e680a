// The hour-of-day curves of catalogue.h.
#include <algorithm>
#include <numeric>

#include "base/json_fields.h"
#include "base/shipped.h"
#include "base/text.h"
#include "workload/catalogue.h"

namespace smartmig {
namespace {

// From "by_hour" (a shape) or "rate_per_minute" (a shape and a level); either is brought to mean 1.
void read_shape(const JsonFields& fields, DiurnalCurve& curve) {
  const bool is_rate = fields.has("rate_per_minute");
  if (is_rate && fields.has("by_hour")) {
    fields.report("by_hour", "stands beside rate_per_minute, expected one");
  }
  const char* key = is_rate ? "rate_per_minute" : "by_hour";
  const std::vector<double> hours = fields.numbers(key, 0, 1e9);
  if (hours.size() != curve.by_hour.size()) {
    fields.report(key, fmt::format("found {} numbers, expected {}, one for each hour of the day",
                                   hours.size(), curve.by_hour.size()));
    return;
  }
  const double mean = std::accumulate(hours.begin(), hours.end(), 0.0) / 24;
  if (mean < 1e-9) {
    fields.report(key, "found 0 in every hour, expected some above");
    return;
  }
  for (std::size_t h = 0; h < hours.size(); ++h) {
    curve.by_hour[h] = hours[h] / mean;
    if (is_rate) curve.rate_per_minute[h] = hours[h];
  }
}

DiurnalCurve read_curve(const JsonFields& fields) {
  fields.only({"name", "by_hour", "rate_per_minute", "phase_known", "phase_shift_h",
               "phase_correlation", "what", "clock", "source", "note", "events", "days"});
  DiurnalCurve curve;
  curve.name = fields.text("name");
  read_shape(fields, curve);
  curve.phase_known = fields.boolean("phase_known", false);
  if (fields.has("phase_shift_h")) curve.phase_shift_h = fields.integer("phase_shift_h", -23, 23);
  curve.phase_correlation = fields.number("phase_correlation", -1, 1, 0);
  curve.what = fields.text("what");
  curve.clock = fields.text("clock");
  curve.source = fields.text("source");
  curve.note = fields.text("note", "");
  // More than an int holds: requests of a large service in two weeks.
  curve.events = static_cast<std::int64_t>(fields.number("events", 0, 1e15, 0));
  if (fields.has("days")) curve.days = fields.integer("days", 0, 100'000);
  return curve;
}

}  // namespace

std::vector<DiurnalCurve> read_curves(const JsonFields& fields, std::string_view key) {
  std::vector<DiurnalCurve> curves;
  fields.each(key, [&](const JsonFields& entry) {
    DiurnalCurve curve = read_curve(entry);
    if (std::ranges::find(curves, curve.name, &DiurnalCurve::name) != curves.end()) {
      entry.report("name", fmt::format("found {}, which another curve has, expected a new name",
                                       in_quotes(curve.name)));
    }
    curves.push_back(std::move(curve));
  });
  return curves;
}

Result<std::vector<DiurnalCurve>> parse_curves(std::string_view json, const std::string& name) {
  JsonDocument document(name);
  if (!document.parse(json)) return tl::unexpected(*document.error());
  const JsonFields root = document.root();
  root.only({"about", "curves"});
  std::vector<DiurnalCurve> curves = read_curves(root, "curves");
  if (document.error()) return tl::unexpected(*document.error());
  return curves;
}

const std::vector<DiurnalCurve>& shipped_curves() {
  static const std::vector<DiurnalCurve> curves = [] {
    auto parsed = parse_curves(shipped_file("curves.json"), "curves.json");
    SM_CHECK(parsed.has_value());
    return *std::move(parsed);
  }();
  return curves;
}

Result<const DiurnalCurve*> find_curve(std::string_view name) {
  std::vector<std::string> names;
  for (const DiurnalCurve& curve : shipped_curves()) {
    if (curve.name == name) return &curve;
    names.push_back(curve.name);
  }
  return fail("no hour-of-day curve {}{}", in_quotes(name), suggestion(name, names));
}

}  // namespace smartmig
