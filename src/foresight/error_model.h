// How long jobs take, given what they are believed to take. Beliefs are off by a lognormal factor,
// whose spread jobs that ended tell. A belief that is off makes long jobs of some that are not, so
// that the longest beliefs are too long on average: how much so follows from the spread of beliefs
// themselves (regression to the mean, by kind of job). While every job took exactly what it was
// believed to take, beliefs are taken as true.
#pragma once

#include <algorithm>
#include <array>
#include <span>

#include "base/random.h"
#include "fleet/view.h"

namespace smartmig {

class ErrorModel {
 public:
  // Beliefs are those about the last `recent_jobs` arrivals. `done` of jobs that have not ended:
  // how long they have run, in units of what they were believed to take; those above 1 are as far
  // off at least.
  ErrorModel(const View& view, std::size_t recent_jobs, std::span<const double> done);

  bool exact() const { return exact_; }
  // What the job takes over what it is believed to take; it has run for `done` times that, and has
  // not ended.
  double draw(const Job& believed, double done, Random& random) const;

 private:
  struct Moments {
    double count = 0, sum = 0, squares = 0;
    void add(double x) { count += 1, sum += x, squares += x * x; }
    double mean() const { return count > 0 ? sum / count : 0; }
    double variance() const {
      return count > 1 ? std::max(0., (squares - sum * sum / count) / (count - 1)) : 0;
    }
  };
  struct OfKind {
    double mean = 0;    // Of the logarithm of beliefs,
    double trust = 1;   // and how far one that is above or below it is to be believed: 0 to 1.
    double spread = 0;  // Of the logarithm of what is left of the error then.
  };

  double fit(const Moments& ended, std::span<const double> done);  // Returns the spread.

  bool exact_ = false;
  double bias_ = 0;  // Logarithm of the median ratio.
  std::array<OfKind, 2> of_kind_;
};

}  // namespace smartmig
