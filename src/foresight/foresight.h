// The default policy: several contenders, of which the one that would do best from here on decides,
// as simulations of the present tell (docs/model/smartmig.md).
#pragma once

#include <string>

#include "foresight/look.h"
#include "policy/registry.h"

namespace smartmig {

// How far ahead it looks, and how often. What looking costs is counted in simulated instants: so
// many for each event of the fleet, and a credit from which a run that is only beginning, or has
// few events, takes more. On a fleet of which a sample is simulated an event counts for the
// sample's share.
struct ForesightTerms {
  LookTerms look;
  std::size_t most_gpus = 32;            // Of a sample.
  double arrivals_for_each_job = 4;      // In a future, for each job of the present;
  std::size_t least_arrivals = 16;       // at least and
  std::size_t most_arrivals = 400;       // at most so many.
  double events_for_each_event = 40;     // Simulated.
  double credit_events = 300'000;        // Simulated, at first;
  double credit_for_each_event = 0.002;  // and the part of what is left that an event may use.
};

// Errors: the file of the rule's knobs, "" for the shipped ones.
Result<Policy> make_foresight(const std::string& knobs_file, const Fleet& fleet,
                              const PolicyOptions& options, const ForesightTerms& terms = {});

}  // namespace smartmig
