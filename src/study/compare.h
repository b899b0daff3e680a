// Several policies on the same days: what each costs, and how sure that is. The result is the same
// on any number of threads.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "study/as_it_was.h"
#include "study/assumption.h"
#include "study/bootstrap.h"
#include "study/bound_days.h"
#include "study/run_days.h"
#include "workload/losses.h"

namespace smartmig {

// What is estimated over days, under the names that files and JSON have.
struct Quantity {
  std::string_view key;
  double Metrics::*of;
};
inline constexpr std::array<Quantity, 11> kQuantities = {{
    {"et", &Metrics::et},
    {"energy_j", &Metrics::energy_j},
    {"energy_wmin", &Metrics::energy_wmin},
    {"avg_tardiness_s", &Metrics::avg_tardiness_s},
    {"late_pct", &Metrics::late_pct},
    {"energy_per_job_j", &Metrics::energy_per_job_j},
    {"median_tardiness_s", &Metrics::median_tardiness_s},
    {"p95_tardiness_s", &Metrics::p95_tardiness_s},
    {"p99_tardiness_s", &Metrics::p99_tardiness_s},
    {"cost", &Metrics::cost},  // Both only where there is a tariff that says so.
    {"co2_kg", &Metrics::co2_kg},
}};

struct PolicyResult {
  std::string policy;
  std::vector<Metrics> days;
  std::array<Estimate, kQuantities.size()> estimates;  // As kQuantities.
  // Paired; 0 for the first policy.
  Change et_vs_first;
  Change late_vs_first;  // Of the share of late jobs.
  // Paired; where there are bounds.
  Change et_above_bound;
  Change tardiness_above_bound;
  Change energy_above_published;   // The published energy bound; with it, too.
  Change tardiness_above_program;  // The published one; nothing where a day has too many jobs.

  const Estimate& operator[](double Metrics::*of) const;
  TurnCounts turns() const;  // Over all days.
  double length_s() const;   // Metrics::makespan_s in the mean of the days.
};

// The policies by mean ET, best first; of equal ones the first asked for.
struct Ranking {
  std::vector<std::size_t> order;  // Indices into Comparison::policies.
  Change best_vs_next;             // Of ET, paired; nothing where there is only one policy.

  std::size_t best() const { return order.front(); }
  std::size_t place(std::size_t policy) const;  // 1 for the best.
};

struct Comparison {
  std::vector<PolicyResult> policies;  // In the order asked for.
  std::size_t days = 0;
  Ranking ranking;
  // Both for a file of jobs only.
  std::optional<JobBalance> balance;
  std::optional<AsItWas> as_it_was;
  std::vector<DayBound> bounds;         // By day; empty unless added.
  std::vector<double> energy_bounds_j;  // The published one by day; empty unless added.
  std::vector<std::string> speeds;      // speed_assumptions() of the fleet.
  std::vector<Assumption> assumptions;  // Everything that the results rest on; empty unless added.
  bool priced = false;                  // There is a tariff,
  bool carbon = false;                  // with grams of CO2.
  std::string currency;                 // The tariff's; "": it does not say.

  // Of a trace: Metrics::span_s in the mean of the days.
  std::optional<double> span_s() const;
  // All but cost and carbon where there is no tariff, or none with grams of CO2.
  std::span<const Quantity> quantities() const {
    return std::span(kQuantities).first(kQuantities.size() - 2 + priced + carbon);
  }
};

// The policies of a study by their words: made, and their files read, once for all its days.
Result<std::vector<Policy>> make_policies(const RunSettings& settings,
                                          std::span<const std::string> specs);

// Runs every policy on days 0..days-1 of the source. At most one more day than there are threads is
// held at a time. The error is that of the first run, by day and policy, that cannot be done.
// `progress`, if any, counts the runs.
Result<Comparison> compare(const RunSettings& settings, std::span<const Policy> policies,
                           std::size_t days, const DaySource& source, int threads,
                           Progress* progress = nullptr, const CompareWatch& watch = {});

// Whether 0 lies in the interval of a change: then it may be chance.
bool is_within_interval(const Change& change);

// The day whose ET is the median (the lower of two) under this policy; of equal ones the first.
std::size_t median_day(const PolicyResult& result);

// Sets how far each policy is above the bounds, one for each day. `seed` is the study's.
void add_bounds(Comparison& comparison, std::vector<DayBound> bounds, std::uint64_t seed);
// The same for the published energy bound alone.
void add_energy_bounds(Comparison& comparison, std::vector<double> bounds_j, std::uint64_t seed);

}  // namespace smartmig
