#include "study/published_items.h"

#include <algorithm>

#include "base/json_fields.h"
#include "base/shipped.h"

namespace smartmig {
namespace {

constexpr double kHuge = 1e12;
constexpr int kMaxDays = 100'000;

std::optional<double> optional_number(const JsonFields& fields, std::string_view key) {
  if (!fields.has(key)) return std::nullopt;
  return fields.number(key, -kHuge, kHuge);
}

PublishedRow read_row(const JsonFields& fields) {
  fields.only({"what", "unit", "theirs", "error", "of", "policy", "median", "scale", "why"});
  PublishedRow row;
  row.what = fields.text("what");
  row.unit = fields.text("unit");
  row.theirs = optional_number(fields, "theirs");
  row.error = fields.number("error", 0, kHuge, 0);
  row.of = fields.text("of");
  if (fields.has("policy")) row.policy = static_cast<std::size_t>(fields.integer("policy", 0, 99));
  row.median = fields.boolean("median", false);
  row.scale = fields.number("scale", -kHuge, kHuge, 1);
  row.why = fields.text("why", "");
  return row;
}

PublishedKind read_kind(const JsonFields& fields) {
  const std::string word = fields.text("kind", "compare");
  if (word == "compare") return PublishedKind::kCompare;
  if (word == "geometry") return PublishedKind::kGeometry;
  if (word == "speeds") return PublishedKind::kSpeeds;
  if (word == "jobs") return PublishedKind::kJobs;
  fields.report("kind", "expected compare, geometry, speeds or jobs");
  return PublishedKind::kCompare;
}

PublishedRun read_run(const JsonFields& fields) {
  fields.only({"kind", "about", "args", "days", "quick_days", "why", "rows"});
  PublishedRun run;
  run.kind = read_kind(fields);
  run.about = fields.text("about", "");
  run.args = fields.text("args", "");
  if (fields.has("days")) run.days = fields.integer("days", 1, kMaxDays);
  run.quick_days = run.days;
  if (fields.has("quick_days")) run.quick_days = fields.integer("quick_days", 1, run.days);
  run.why = fields.text("why", "");
  fields.each("rows", [&](const JsonFields& row) { run.rows.push_back(read_row(row)); });
  return run;
}

PublishedKnee read_knee(const JsonFields& fields, std::size_t runs) {
  fields.only({"what", "unit", "runs", "values", "energy", "tardiness", "why"});
  PublishedKnee knee;
  knee.what = fields.text("what");
  knee.unit = fields.text("unit");
  for (const int run : fields.integers("runs", 0, static_cast<int>(runs) - 1))
    knee.runs.push_back(static_cast<std::size_t>(run));
  knee.values = fields.numbers("values", -kHuge, kHuge);
  const auto energy = fields.numbers("energy", -kHuge, kHuge);
  const auto tardiness = fields.numbers("tardiness", -kHuge, kHuge);
  if (knee.values.size() != knee.runs.size() || energy.size() != knee.runs.size() ||
      tardiness.size() != knee.runs.size()) {
    fields.report("runs", "expected as many values, energies and tardinesses as runs");
    return knee;
  }
  for (std::size_t i = 0; i < energy.size(); ++i) knee.theirs.push_back({energy[i], tardiness[i]});
  knee.why = fields.text("why", "");
  return knee;
}

PublishedItem read_item(const JsonFields& fields) {
  fields.only({"name", "title", "source", "text", "runs", "knees", "ranking"});
  PublishedItem item;
  item.name = fields.text("name");
  item.title = fields.text("title");
  item.source = fields.text("source");
  item.text = fields.text("text");
  fields.each("runs", [&](const JsonFields& run) { item.runs.push_back(read_run(run)); });
  if (fields.has("knees")) {
    fields.each("knees", [&](const JsonFields& knee) {
      item.knees.push_back(read_knee(knee, item.runs.size()));
    });
  }
  item.ranking = fields.boolean("ranking", false);
  return item;
}

}  // namespace

Result<std::vector<PublishedItem>> parse_published(std::string_view json, const std::string& name) {
  JsonDocument document(name);
  std::vector<PublishedItem> items;
  if (document.parse(json)) {
    const JsonFields root = document.root();
    root.only({"about", "items"});
    root.text("about");
    root.each("items", [&](const JsonFields& item) { items.push_back(read_item(item)); });
  }
  if (document.error()) return tl::unexpected<Error>(*document.error());
  return items;
}

const std::vector<PublishedItem>& published_items() {
  static const std::vector<PublishedItem> items = [] {
    auto parsed = parse_published(shipped_file("published.json"), "data/published.json");
    SM_CHECK(parsed.has_value());
    return std::move(*parsed);
  }();
  return items;
}

}  // namespace smartmig
