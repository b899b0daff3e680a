// One job under prices: it chooses when to end, and before that, moment by moment, a mix of the
// ways in which it can run, so that tardiness, energy and the slices it uses cost least. This is
// the inner problem of the relaxation; it is solved exactly, up to rounding.
//
// Between two of the prices' edges the cost of ending at C is convex in C: work that is done more
// cheaply in the time gained replaces the dearest work done so far. So time is passed once from the
// submit on, with a heap of the work chosen so far by its price, and the least cost is seen at one
// of the moments where the dearest work changes.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "bound/prices.h"
#include "bound/problem.h"

namespace smartmig {

class JobCost {
 public:
  // `problem` and `prices` must outlive it; the prices may change between calls.
  JobCost(const RelaxedProblem& problem, const Prices& prices, const Weights& weights)
      : problem_(problem), prices_(prices), weights_(weights) {}

  // The least cost of the job. Allocates nothing once its vectors have grown.
  double least(const RelaxedJob& job);
  // Adds what the cheapest way found by the last call uses of each resource in each stretch, in
  // slice-seconds; `usage` is laid out as Prices::value.
  void add_usage(std::span<double> usage) const;

 private:
  // One step up the concave hull of (cost, speed) of the options in a stretch: `speed` more for
  // `cost` more, at `price` for the whole of the job's work.
  struct Step {
    double price = 0;
    double speed = 0;
    double cost = 0;
    std::uint32_t from = 0;  // Options; kNone: not running.
    std::uint32_t to = 0;
  };
  struct Work {
    double price = 0;
    double amount = 0;
    friend bool operator<(const Work& a, const Work& b) { return a.price < b.price; }
  };
  // A stretch, or the part of one between submit, deadline, last submit and its edges.
  struct Piece {
    double begin_s = 0;
    double end_s = 0;
    std::size_t stretch = 0;
    bool after_submits = false;  // RelaxedProblem::last_submit_s is past.
    std::uint32_t first_step = 0;
    std::uint32_t step_count = 0;
  };

  void find_steps(const RelaxedJob& job, Piece& piece);
  void pass(const Piece& piece, double late_per_s, double deadline_s);
  void consider(double end_s, double deadline_s, double price);
  void push(double price, double amount);

  const RelaxedProblem& problem_;
  const Prices& prices_;
  Weights weights_;
  // Of the job at hand.
  std::vector<Piece> pieces_;
  std::vector<Step> steps_;
  std::vector<Work> heap_;  // The dearest first.
  double done_ = 0;         // Work in the heap; 1 once the job can end.
  double cost_ = 0;         // Of the work in the heap.
  double best_ = 0;
  double best_end_s_ = 0;
  double best_price_ = 0;  // Work dearer than this is not done.
};

}  // namespace smartmig
