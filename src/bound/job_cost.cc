#include "bound/job_cost.h"

#include <algorithm>
#include <cmath>

namespace smartmig {

// The hull from "not running" upward: each step is dearer, for its speed, than the one before.
void JobCost::find_steps(const RelaxedJob& job, Piece& piece) {
  struct Point {
    double cost, speed;
    std::uint32_t option;
  };
  std::array<Point, kMaxKinds + 1> points;
  std::size_t count = 0;
  const std::span<const RunOption> options = problem_.options_of(job);
  for (std::uint32_t o = 0; o < options.size(); ++o) {
    const RunOption& option = options[o];
    const double cost =
        weights_.per_joule * (piece.after_submits ? option.after_submits_w : option.energy_w) +
        prices_.at(2 * option.board, piece.stretch) * option.compute +
        prices_.at(2 * option.board + 1, piece.stretch) * option.memory;
    // Insertion by cost: they come nearly sorted.
    std::size_t at = count++;
    for (; at > 0 && points[at - 1].cost > cost; --at) points[at] = points[at - 1];
    points[at] = {cost, option.speed, job.first_option + o};
  }
  std::array<Point, kMaxKinds + 1> hull;
  hull[0] = {0, 0, kNone};
  std::size_t top = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const Point& point = points[i];
    if (point.speed <= hull[top].speed) continue;
    while (top > 0 &&
           (hull[top].speed - hull[top - 1].speed) * (point.cost - hull[top - 1].cost) <=
               (point.speed - hull[top - 1].speed) * (hull[top].cost - hull[top - 1].cost))
      --top;
    hull[++top] = point;
  }
  piece.first_step = static_cast<std::uint32_t>(steps_.size());
  piece.step_count = static_cast<std::uint32_t>(top);
  for (std::size_t i = 1; i <= top; ++i) {
    const double speed = hull[i].speed - hull[i - 1].speed;
    const double cost = hull[i].cost - hull[i - 1].cost;
    steps_.push_back({cost / speed, speed, cost, hull[i - 1].option, hull[i].option});
  }
}

void JobCost::push(double price, double amount) {
  heap_.push_back({price, amount});
  std::push_heap(heap_.begin(), heap_.end());
}

// The job might end here; `price` is that of the dearest work done for it.
inline void JobCost::consider(double end_s, double deadline_s, double price) {
  const double value = cost_ + weights_.per_late_s * std::max(0.0, end_s - deadline_s);
  if (value >= best_) return;
  best_ = value;
  best_end_s_ = end_s;
  best_price_ = price;
}

// Passes the piece: work at its steps comes in, the dearest work goes out.
void JobCost::pass(const Piece& piece, double late_per_s, double deadline_s) {
  const std::span<const Step> steps = std::span(steps_).subspan(piece.first_step, piece.step_count);
  double full_speed = 0;
  double full_cost = 0;
  for (const Step& step : steps) full_speed += step.speed, full_cost += step.cost;
  double now_s = piece.begin_s;
  std::array<double, kMaxKinds> amount{};  // Work done here, by step.
  if (done_ < 1) {
    const double whole_s = (1 - done_) / full_speed;
    const double length_s = std::min(whole_s, piece.end_s - now_s);
    for (std::size_t s = 0; s < steps.size(); ++s) amount[s] = steps[s].speed * length_s;
    cost_ += full_cost * length_s;
    now_s += length_s;
    done_ = length_s < whole_s ? done_ + full_speed * length_s : 1;
  }
  if (done_ >= 1) {
    std::size_t used = steps.size();  // Steps from here on have no work left.
    for (;;) {
      while (used > 0 && amount[used - 1] <= 0 &&
             (heap_.empty() || steps[used - 1].price >= heap_.front().price))
        --used;
      const bool own = used > 0 && amount[used - 1] > 0 &&
                       (heap_.empty() || steps[used - 1].price >= heap_.front().price);
      const double price = own ? steps[used - 1].price : heap_.empty() ? 0 : heap_.front().price;
      consider(now_s, deadline_s, price);
      const std::size_t growing = own ? used - 1 : used;
      double speed = 0;
      double cost = 0;
      for (std::size_t s = 0; s < growing; ++s) speed += steps[s].speed, cost += steps[s].cost;
      const double saved_per_s = price * speed - cost;
      if (growing == 0 || saved_per_s <= 0) break;
      if (piece.end_s == HUGE_VAL && saved_per_s <= late_per_s) break;
      double& dearest = own ? amount[used - 1] : heap_.front().amount;
      const double out_s = dearest / speed;
      const double length_s = std::min(out_s, piece.end_s - now_s);
      for (std::size_t s = 0; s < growing; ++s) amount[s] += steps[s].speed * length_s;
      cost_ -= saved_per_s * length_s;
      now_s += length_s;
      if (length_s < out_s) {
        dearest -= speed * length_s;
        consider(now_s, deadline_s, price);
        break;
      }
      if (own) {
        dearest = 0;
        --used;
      } else {
        std::pop_heap(heap_.begin(), heap_.end());
        heap_.pop_back();
      }
    }
  }
  for (std::size_t s = 0; s < steps.size(); ++s) {
    if (amount[s] > 0) push(steps[s].price, amount[s]);
  }
}

double JobCost::least(const RelaxedJob& job) {
  pieces_.clear();
  steps_.clear();
  heap_.clear();
  done_ = cost_ = 0;
  best_ = HUGE_VAL;
  const std::vector<double>& edges = prices_.edges_s;
  auto stretch = static_cast<std::size_t>(
      std::upper_bound(edges.begin(), edges.end(), job.release_s) - edges.begin() - 1);
  double now_s = job.release_s;
  for (;;) {
    const bool late = now_s >= job.deadline_s;
    // From here on it is later still, and nothing costs less than nothing.
    if (late && weights_.per_late_s * (now_s - job.deadline_s) >= best_) break;
    Piece piece;
    piece.begin_s = now_s;
    piece.end_s = stretch + 1 < edges.size() ? edges[stretch + 1] : HUGE_VAL;
    piece.stretch = stretch;
    piece.after_submits = now_s >= problem_.last_submit_s;
    double cut_s = piece.end_s;
    if (!late) cut_s = std::min(cut_s, job.deadline_s);
    if (!piece.after_submits) cut_s = std::min(cut_s, problem_.last_submit_s);
    if (cut_s < piece.end_s) {
      piece.end_s = cut_s;
    } else {
      ++stretch;
    }
    find_steps(job, piece);
    pieces_.push_back(piece);
    pass(piece, late ? weights_.per_late_s : 0, job.deadline_s);
    now_s = piece.end_s;
    if (now_s == HUGE_VAL) break;
  }
  return best_;
}

void JobCost::add_usage(std::span<double> usage) const {
  const std::size_t stretches = prices_.stretches();
  const auto add = [&](std::uint32_t option, std::size_t stretch, double seconds) {
    if (option == kNone) return;
    const RunOption& o = problem_.options[option];
    usage[2 * o.board * stretches + stretch] += o.compute * seconds;
    usage[(2 * o.board + 1) * stretches + stretch] += o.memory * seconds;
  };
  // Below the price of the dearest work everything is done; at it, the earliest, as far as needed.
  double left = 1;
  for (const bool at_price : {false, true}) {
    for (const Piece& piece : pieces_) {
      const double length_s = std::min(piece.end_s, best_end_s_) - piece.begin_s;
      if (length_s <= 0) break;
      for (std::uint32_t s = piece.first_step; s < piece.first_step + piece.step_count; ++s) {
        const Step& step = steps_[s];
        if (at_price ? step.price != best_price_ : step.price >= best_price_) continue;
        const double work = std::min(left, step.speed * length_s);
        left -= work;
        add(step.to, piece.stretch, work / step.speed);
        add(step.from, piece.stretch, -work / step.speed);
      }
    }
  }
}

}  // namespace smartmig
