// How the jobs of a simulated fleet behave: as their orders say, unless told otherwise for some of
// them or drawn for a share of all. A run keeps what it started with; the plan itself is of the
// process and forgotten when it ends.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fields.h"
#include "drivers/simulated/fleet_change.h"

namespace smartmig {

// Of all runs, drawn by their names, so that the same seed gives the same ones.
struct BehaviourShares {
  double fail = 0;            // Of the runs; each fails at a uniform part of its work.
  double overrun = 0;         // Of the jobs, in every run of theirs.
  double overrun_factor = 2;  // By how much those.
  double stubborn = 0;        // Of the jobs; they never stop, but can be killed.
  std::uint64_t seed = 1;
};

struct BehaviourRule {
  std::int64_t number = 0;
  std::string run;  // That run alone; empty: by `job`.
  std::string job;  // The runs of that job, "12" of "12.1"; empty: any.
  int times = 1;    // For so many starts; 0: for ever.
  RunBehaviour behaviour;
};

class BehaviourPlan {
 public:
  explicit BehaviourPlan(const BehaviourShares& shares) : shares_(shares) {}
  std::int64_t add(BehaviourRule rule);
  std::size_t clear(std::optional<std::int64_t> number);
  const std::vector<BehaviourRule>& rules() const { return rules_; }
  // How this run behaves: by the first rule that fits, else as drawn.
  RunBehaviour of(std::string_view run) const;
  // It was started so; counts.
  void used(std::string_view run);

 private:
  static bool fits(const BehaviourRule& rule, std::string_view run);
  BehaviourShares shares_;
  std::vector<BehaviourRule> rules_;
  std::int64_t last_ = 0;
};

BehaviourRule read_rule(const JsonFields& fields);
void write_rule(const BehaviourRule& rule, std::string& out);

}  // namespace smartmig
