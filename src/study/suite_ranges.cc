#include "study/suite_ranges.h"

#include <algorithm>
#include <cmath>

#include "base/json_fields.h"
#include "base/shipped.h"
#include "base/text.h"
#include "fleet/costs.h"
#include "fleet/fleet.h"
#include "workload/profile_pool.h"
#include "workload/sizes.h"

namespace smartmig {
namespace {

SuiteRange read_range(const JsonFields& fields, std::string_view key, double low, double high) {
  const std::vector<double> ends = fields.numbers(key, low, high);
  if (ends.size() == 2 && ends[0] <= ends[1]) return {ends[0], ends[1]};
  fields.report(key,
                fmt::format("found {} numbers, expected two, the lower one first", ends.size()));
  return {low, low};
}

// A list that is not empty, each item one that `check` takes.
template <class Check>
std::vector<std::string> read_choices(const JsonFields& fields, std::string_view key,
                                      const Check& check) {
  std::vector<std::string> choices = fields.texts(key);
  if (choices.empty()) fields.report(key, "found no choice, expected at least one");
  for (const std::string& choice : choices) {
    if (!check(choice)) fields.report(key, fmt::format("found unknown {}", in_quotes(choice)));
  }
  return choices;
}

bool is_board(const std::string& word) {
  return word == kMixedBoards || Fleet::parse("1x" + word).has_value();
}
bool is_costs(const std::string& word) {
  return word == "free" || word == "paper" || word == "real" || word == kRealWithStart;
}
bool is_arrivals(const std::string& word) {
  return word == "paper" || word == "curve" || word == "flat" || word == "batches";
}

void read_preemption(const JsonFields& fields, SuiteRanges& ranges) {
  const JsonFields by_costs = fields.object("preemption");
  for (const std::string& costs : ranges.costs) {
    ranges.preemption[costs] = read_choices(by_costs, costs, [](const std::string& word) {
      return parse_preemption(word).has_value();
    });
  }
}

SuiteRanges::Generated read_generated(const JsonFields& fields) {
  fields.only({"arrivals", "batch_mean", "sizes", "mean_size_s", "lognormal_sigma", "pareto_shape",
               "training_factor", "stoppable_share", "hours", "max_jobs"});
  SuiteRanges::Generated generated;
  generated.arrivals = read_choices(fields, "arrivals", is_arrivals);
  generated.batch_mean = read_range(fields, "batch_mean", 1, 1e6);
  generated.sizes = read_choices(
      fields, "sizes", [](const std::string& word) { return parse_size_law(word).has_value(); });
  generated.mean_size_s = read_range(fields, "mean_size_s", 1e-3, 1e7);
  generated.lognormal_sigma = read_range(fields, "lognormal_sigma", 0, 5);
  generated.pareto_shape = read_range(fields, "pareto_shape", 0.1, 100);
  generated.training_factor = read_range(fields, "training_factor", 1e-3, 1e3);
  generated.stoppable_share = read_range(fields, "stoppable_share", 0, 1);
  generated.hours = fields.number("hours", 1e-3, 24 * 366);
  generated.max_jobs = fields.integer("max_jobs", 1, 10'000'000);
  return generated;
}

}  // namespace

double SuiteRange::at(double u) const {
  return is_logarithmic() ? low * std::pow(high / low, u) : low + u * (high - low);
}

Result<SuiteRanges> parse_suite_ranges(std::string_view json, const std::string& name) {
  JsonDocument document(name);
  if (!document.parse(json)) return tl::unexpected(*document.error());
  const JsonFields root = document.root();
  root.only({"about", "gpus", "boards", "costs", "start_s", "preemption", "estimate_error",
             "energy_weight", "load", "deadline_factor", "deadline_spread", "training_share",
             "speeds", "workload", "trace", "curves"});
  SuiteRanges ranges;
  ranges.gpus = read_range(root, "gpus", 1, 65536);
  ranges.boards = read_choices(root, "boards", is_board);
  ranges.costs = read_choices(root, "costs", is_costs);
  ranges.start_s = read_range(root, "start_s", 0, 1e6);
  read_preemption(root, ranges);
  ranges.estimate_error = root.numbers("estimate_error", 0, 10);
  if (ranges.estimate_error.empty()) root.report("estimate_error", "found no number");
  ranges.energy_weight = read_range(root, "energy_weight", 0, 1e9);
  ranges.load = read_range(root, "load", 1e-6, 100);
  ranges.deadline_factor = read_range(root, "deadline_factor", 0, 1e5);
  ranges.deadline_spread = root.number("deadline_spread", 1, 10);
  ranges.training_share = read_range(root, "training_share", 0, 1);
  ranges.speeds = read_choices(
      root, "speeds", [](const std::string& word) { return ProfilePool::parse(word).has_value(); });
  ranges.generated = read_generated(root.object("workload"));
  const JsonFields windows = root.object("trace");
  windows.only({"window_hours", "max_jobs"});
  ranges.windows.hours = read_range(windows, "window_hours", 1e-3, 24 * 366);
  ranges.windows.max_jobs = windows.integer("max_jobs", 1, 10'000'000);
  ranges.curves = read_curves(root, "curves");
  if (document.error()) return tl::unexpected(*document.error());
  return ranges;
}

const SuiteRanges& shipped_suite_ranges() {
  static const SuiteRanges ranges = [] {
    auto parsed = parse_suite_ranges(shipped_file("suite.json"), "data/suite.json");
    SM_CHECK(parsed.has_value());
    return *std::move(parsed);
  }();
  return ranges;
}

}  // namespace smartmig
