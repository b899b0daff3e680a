// The default policy: several contenders, of which the one that would do best from here on decides,
// as simulations of the present tell (docs/model/smartmig.md).
#pragma once

#include <string>

#include "foresight/look.h"
#include "policy/registry.h"

namespace smartmig {

// How far ahead it looks, and how often. What looking costs is counted in simulated instants: so
// many for each event of the fleet and for each hour that passes on the fleet's clock, and a credit
// from which a run that is only beginning takes more. On a fleet of which a sample is simulated an
// event counts for the sample's share, but takes as much of the credit.
struct ForesightTerms {
  LookTerms look;
  std::size_t most_gpus = 32;           // The largest sample that is simulated.
  double arrivals_for_each_job = 4;     // In a future, for each job of the present;
  double least_arrivals = 16;           // at least and
  double most_arrivals_for_jobs = 400;  // at most so many.
  // While jobs have to wait at least as many as have come since they last did not, at most:
  double most_arrivals = 1600;
  double later_arrivals = 0.3;           // After a future's end, for each of those.
  double events_for_each_event = 30;     // Simulated.
  double events_for_each_hour = 15'000;  // Between events,
  double most_for_each_event = 2000;     // but no more than this for each.
  double credit_events = 150'000;        // Simulated, at first;
  double credit_for_each_event = 0.01;   // and the part of what is left that an event may use.
};

// Errors: the file of the rule's knobs, "" for the shipped ones.
Result<Policy> make_foresight(const std::string& knobs_file, const Fleet& fleet,
                              const PolicyOptions& options, const ForesightTerms& terms = {});

}  // namespace smartmig
