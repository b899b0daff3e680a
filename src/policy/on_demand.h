// `on-demand`: the rules of systems that make a slice when a job asks for it and destroy it when
// the job ends (docs/model/semantics.md).
#pragma once

#include <memory>
#include <string_view>

#include "policy/policy.h"
#include "policy/requests.h"
#include "policy/slice_places.h"

namespace smartmig {

struct OnDemandRules {
  Requests requests;
  Fit fit = Fit::kRoom;
  bool strict = false;  // Nothing behind a job that finds no place is looked at.
  bool keep = false;    // Slices stay when their job ends, until they are in the way.

  // "REQUEST[,FIT][,QUEUE][,keep]". The error says what was expected.
  static Result<OnDemandRules> parse(std::string_view text);
};

std::unique_ptr<Partitioner> make_on_demand(const OnDemandRules& rules, const Fleet& fleet);

}  // namespace smartmig
