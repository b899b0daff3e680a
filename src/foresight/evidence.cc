#include "foresight/evidence.h"

#include <algorithm>
#include <cmath>

namespace smartmig {
namespace {

constexpr double kLeavesJobs = 10;  // Leaving a job for ever costs so many times the least cost.
// Before anything is known of how differences scatter: as if some futures had shown this.
constexpr double kPriorFutures = 2;
constexpr double kPriorSd = 0.1;
constexpr int kMostStrikes = 8;

}  // namespace

void Evidence::clear(std::size_t contenders) {
  rows_.resize(kRows);
  for (Row& row : rows_) {
    row.weight = 0;
    row.of_this_look = false;
    row.costs.assign(contenders, kNotRun);
  }
  rests_.assign(contenders, {});
  added_ = 0;
  least_ = 0;
  futures_ = 0;
}

// Looks are compared by parts of what they are about: a look at a long queue would count for all.
double Evidence::scale(const Row& row) const {
  return row.of_this_look && least_ > 0 ? futures_ / least_ : 1;
}

void Evidence::begin_look(double kept) {
  for (Row& row : rows_) {
    const double by = scale(row);
    for (double& cost : row.costs) {
      if (cost != kNotRun) cost *= by;
    }
    row.weight *= kept;
    row.of_this_look = false;
  }
  for (Rest& rest : rests_) rest.looks = std::max(0, rest.looks - 1);
  least_ = 0;
  futures_ = 0;
}

void Evidence::add(std::span<const double> costs) {
  double least = kForEver;
  for (const double cost : costs) {
    if (cost != kNotRun) least = std::min(least, cost);
  }
  if (least == kForEver) return;
  Row& row = rows_[added_++ % kRows];
  row.weight = 1;
  row.of_this_look = true;
  for (std::size_t i = 0; i < costs.size(); ++i)
    row.costs[i] = costs[i] == kForEver ? kLeavesJobs * least : costs[i];
  least_ += least;
  ++futures_;
}

Evidence::Difference Evidence::more(std::size_t a, std::size_t b) const {
  double weight = 0, squares = 0, sum = 0, sum_squares = 0;
  for (const Row& row : rows_) {
    if (row.weight == 0 || row.costs[a] == kNotRun || row.costs[b] == kNotRun) continue;
    const double more = (row.costs[a] - row.costs[b]) * scale(row);
    weight += row.weight;
    squares += row.weight * row.weight;
    sum += row.weight * more;
    sum_squares += row.weight * more * more;
  }
  Difference difference;
  if (weight == 0) return difference;
  difference.futures = weight * weight / squares;
  difference.mean = sum / weight;
  const double scatter =
      std::max(0., sum_squares / weight - difference.mean * difference.mean) * difference.futures;
  const double variance =
      (scatter + kPriorFutures * kPriorSd * kPriorSd) / (difference.futures - 1 + kPriorFutures);
  difference.error = std::sqrt(variance / difference.futures);
  return difference;
}

void Evidence::send_to_rest(std::size_t contender, int strikes, int most) {
  Rest& rest = rests_[contender];
  rest.strikes = std::min(kMostStrikes, rest.strikes + strikes);
  // begin_look() takes one off.
  rest.looks = 1 + std::min(most, (1 << rest.strikes) / 2);
}

}  // namespace smartmig
