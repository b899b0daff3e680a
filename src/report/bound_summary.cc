#include "report/bound_summary.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "fleet/objective.h"

namespace smartmig {
namespace {

double megawattmin(double joules) { return joules / kJoulesPerWattMinute / 1e6; }

// To four decimals, downward: a bound must not be printed above what is proven.
std::string floored(double value) { return fmt::format("{:.4f}", std::floor(value * 1e4) / 1e4); }

}  // namespace

double BoundSummary::linearised_et() const {
  return weigh(linearised_energy_j, program.avg_tardiness_s, energy_weight,
               static_cast<double>(gpus), days);
}

std::string to_text(const BoundSummary& summary) {
  const std::string program =
      summary.program.solved
          ? fmt::format("{} (to {:.3g})", floored(summary.program.avg_tardiness_s / 60),
                        summary.program.step_s / 60)
          : std::string("not solved");
  const auto row = [](std::string_view name, double energy_j, const std::string& late, double et) {
    return fmt::format("{:<11}  {:>16}  {:>22}  {:>8}\n", name, floored(megawattmin(energy_j)),
                       late, floored(et));
  };
  std::string text = fmt::format("{:<11}  {:>16}  {:>22}  {:>8}\n", "bound", "energy, M W*min",
                                 "mean tardiness, min", "ET");
  text += row("linearised", summary.linearised_energy_j, program, summary.linearised_et());
  text += row("certified", summary.energy_j, floored(summary.avg_tardiness_s / 60), summary.et);
  text += fmt::format(
      "\nNo schedule, under any policy, has less energy, less mean tardiness or less ET than the "
      "certified line says; each is a bound of its\nown. `linearised` are the published bounds, "
      "for which every job is as fast on a whole GPU as its most efficient slice would be on all "
      "of one; "
      "where\ntheir tardiness program is not solved its part counts 0. ET = (a*E + T)/(a + 1), a = "
      "{:g}.\n{}: {} jobs; fleet {}, costs {}; ET proven by prices in {} stretches of time.\n",
      summary.energy_weight, summary.workload, summary.jobs, summary.fleet, summary.costs,
      summary.stretches);
  for (const std::string& speed : summary.speeds) text += fmt::format("Speeds: {}.\n", speed);
  if (!summary.linearised_applies) {
    text +=
        "The published energy bound is for boards that are always on and draw what the papers' "
        "table "
        "says; with these costs or failures it is no bound.\n";
  }
  return text;
}

nlohmann::ordered_json to_json(const BoundSummary& summary) {
  nlohmann::ordered_json json;
  json["workload"] = summary.workload;
  json["jobs"] = summary.jobs;
  json["fleet"] = summary.fleet;
  json["costs"] = summary.costs;
  json["energy_weight"] = summary.energy_weight;
  json["linearised"] = {{"energy_j", summary.linearised_energy_j},
                        {"avg_tardiness_s", summary.program.avg_tardiness_s},
                        {"et", summary.linearised_et()},
                        {"tardiness_solved", summary.program.solved},
                        {"tardiness_error_s", summary.program.step_s},
                        {"applies", summary.linearised_applies}};
  json["certified"] = {{"energy_j", summary.energy_j},
                       {"avg_tardiness_s", summary.avg_tardiness_s},
                       {"et", summary.et}};
  json["stretches"] = summary.stretches;
  if (!summary.speeds.empty()) json["speeds"] = summary.speeds;
  json["wall_s"] = summary.wall_s;
  return json;
}

}  // namespace smartmig
