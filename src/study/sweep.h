// A grid of comparisons, and what it answers: how many GPUs a target needs, what that costs in
// energy, and where more of them buy little.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "study/compare.h"

namespace smartmig {

// One option and the values it takes, as a user would give them.
struct SweepAxis {
  std::string key;
  std::vector<std::string> values;
};
// "gpus=4..16", "rate=12,16,20", "deadlines=1:1.5,2:4": a list, in which A..B stands for all whole
// numbers from A to B. No value twice.
Result<SweepAxis> parse_sweep_axis(std::string_view text);

// "late_pct=5": a quantity of a comparison, and the mean it may have at most.
struct SweepTarget {
  std::size_t quantity = 0;  // Index into kQuantities.
  double at_most = 0;
};
Result<SweepTarget> parse_sweep_target(std::string_view text);

struct SweepPoint {
  std::vector<std::string> values;  // One for each axis.
  Comparison comparison;
  std::size_t jobs = 0;   // That ran, over all days.
  std::size_t unfit = 0;  // That fit no slice of the fleet, or ask for several GPUs: not run.
  // Of the jobs of a day, mean over days: late even alone on the fastest slice.
  double late_at_once_pct = 0;

  // The mean of a quantity; of late jobs with those that fit no slice among them.
  double mean(std::size_t policy, std::size_t quantity) const;
  double late_pct(double of_those_that_ran) const;
};

// What makes the late jobs of a policy at a point, in percent of all jobs; the sum is
// late_pct().
struct LateParts {
  double unfit_pct = 0;           // They fit no slice, or ask for several GPUs.
  double short_deadline_pct = 0;  // Their deadline is shorter than any run on this fleet.
  double waiting_pct = 0;         // They waited, or ran on a slice that was too slow.
};
LateParts late_parts(const SweepPoint& point, std::size_t policy);

// Every combination of values, the last axis running fastest. All points have the same policies.
struct Sweep {
  std::vector<SweepAxis> axes;
  std::vector<SweepPoint> points;

  std::size_t policies() const { return points.front().comparison.policies.size(); }
  std::optional<std::size_t> axis(std::string_view key) const;
};

// The combinations of the axes' values, in the order of Sweep::points.
std::vector<std::vector<std::string>> grid(const std::vector<SweepAxis>& axes);

// Points that differ in one axis only, in the order of its values.
using SweepLine = std::vector<std::size_t>;  // Indices into Sweep::points.
std::vector<SweepLine> lines_along(const Sweep& sweep, std::size_t axis);

// The knee of a policy on a line (study/knee.h) in the plane of energy and mean tardiness.
std::optional<std::size_t> knee_of(const Sweep& sweep, const SweepLine& line, std::size_t policy);

// The first point of a line that meets the target, or else the best one.
struct SweepAnswer {
  std::size_t point = 0;
  bool met = false;
  std::size_t missed_after = 0;  // Points further along the line that miss it again.
};
SweepAnswer answer(const Sweep& sweep, const SweepLine& line, std::size_t policy,
                   const SweepTarget& target);

// The policies of a line along the GPUs by their answers, best first: those that meet the target
// before the others, by fewest GPUs and then by least cost (energy where there is no tariff); the
// others by how close they come.
std::vector<std::size_t> rank_answers(const Sweep& sweep, const SweepLine& line,
                                      const SweepTarget& target);

}  // namespace smartmig
