// What the policy that looks ahead chooses from: the rule by prices, rules that are simple, and
// fixed layouts.
#pragma once

#include <string>
#include <vector>

#include "policy/knobs.h"
#include "policy/registry.h"

namespace smartmig {

struct Contender {
  std::string name;  // For people.
  Policy policy;
  int effort = 1;  // What it costs to simulate an instant under it, about, over the simplest.
};

// The same ones for every fleet, in the same order. `knobs` are for the rule by prices, which is
// the first; whole GPUs come second.
std::vector<Contender> make_contenders(const Fleet& fleet, const PolicyOptions& options,
                                       const SmartmigKnobs& knobs);

}  // namespace smartmig
