#include "bound/check.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/thread_pool.h"
#include "workload/catalogue.h"

namespace smartmig {
namespace {

// IEEE operations are correctly rounded, so the true result lies between the neighbours of what
// they give.
double up(double x) {
  if (!std::isfinite(x)) return x;
  if (x == 0) return std::numeric_limits<double>::denorm_min();
  const auto bits = std::bit_cast<std::int64_t>(x);
  return std::bit_cast<double>(bits + (x > 0 ? 1 : -1));  // What std::nextafter does, but inline.
}
double down(double x) { return -up(-x); }

// What boards of one model draw at least: floor_w while they are up, and above it so many watts for
// each compute slice in use, or such a share of each job's own.
struct Draw {
  double floor_w = 0;
  double slice_w = 0;
  bool by_job = false;
  double share = 0;
  // The same for a board that is charged only while it has a job: watts in all.
  double alone_slice_w = 0;
  double alone_share = 0;
};

double own_watts(const Job& job, const SliceKind& kind, const BoardPower& power) {
  if (job.profile != kNoProfile) {
    const double measured = Catalogue::shipped().profiles()[job.profile].watts[kind.size];
    if (measured > 0) return measured * power.job_scale;
  }
  return power.busy_w[kind.compute] - power.busy_w[0];
}

Draw least_draw(const BoundInput& input, std::size_t board_index) {
  const Board& board = *input.fleet->boards()[board_index];
  Draw draw;
  draw.floor_w = board.power.busy_w[0];
  if (input.costs->power_down_after_us) draw.floor_w = std::min(draw.floor_w, input.costs->off_w);
  draw.by_job = input.costs->real_power && board.power.additive;
  if (draw.by_job) {
    double most_w = 0;
    for (const Job& job : input.jobs) {
      for (const SliceKind& kind : input.fleet->kinds()) {
        if (kind.board == board_index) {
          const double w = own_watts(job, kind, board.power);
          most_w = std::max(most_w, up(up(w * board.compute_slices) / kind.compute));
        }
      }
    }
    draw.share = draw.alone_share = 1;
    if (most_w > 0) {
      draw.share = std::min(1.0, down(down(board.power.cap_w - draw.floor_w) / most_w));
      const double all_w = down(board.power.context_idle_w + down(most_w));
      draw.alone_share = down(std::min(board.power.cap_w, all_w) / most_w);
    }
    draw.share = std::max(0.0, draw.share);
    draw.alone_share = std::max(0.0, draw.alone_share);
  } else {
    draw.slice_w = draw.alone_slice_w = HUGE_VAL;
    for (int busy = 1; busy <= board.compute_slices; ++busy) {
      const double above_w = down(board.power.busy_w[busy] - draw.floor_w);
      draw.slice_w = std::min(draw.slice_w, down(above_w / busy));
      draw.alone_slice_w = std::min(draw.alone_slice_w, down(board.power.busy_w[busy] / busy));
    }
    draw.slice_w = std::max(0.0, draw.slice_w);
  }
  return draw;
}

// A way to run a job: at most `speed` of its work in a second, for at least `energy` of the
// objective (`after_submits` on a trace after its last submit), and the slices it takes.
struct Way {
  double speed = 0;
  double energy = 0;
  double after_submits = 0;
  std::size_t board = 0;
  int compute = 0;
  int memory = 0;
};

std::vector<Way> ways_of(const BoundInput& input, const Weights& weights,
                         const std::vector<Draw>& draws, const Job& job) {
  const Fleet& fleet = *input.fleet;
  const KindSet kinds = fleet.kinds_for(job);
  std::vector<Way> ways;
  for (KindIndex k = 0; k < fleet.kinds().size(); ++k) {
    if (!(kinds >> k & 1)) continue;
    const SliceKind& kind = fleet.kinds()[k];
    const Board& board = *fleet.boards()[kind.board];
    const Draw& draw = draws[kind.board];
    const double own_w = own_watts(job, kind, board.power);
    const double w = draw.by_job ? down(draw.share * own_w) : down(draw.slice_w * kind.compute);
    const double alone_w =
        draw.by_job ? down(draw.alone_share * own_w) : down(draw.alone_slice_w * kind.compute);
    Way way;
    way.speed = up(1e6 / down(fleet.full_us(job, k)));
    way.energy = std::max(0.0, down(weights.per_joule * w));
    way.after_submits = std::max(0.0, down(weights.per_joule * alone_w));
    way.board = kind.board;
    way.compute = kind.compute;
    way.memory = board.profiles[kind.profile].memory_slices;
    ways.push_back(way);
  }
  return ways;
}

// The times at which a job may end, piece by piece: between two edges of the prices, the submit,
// the deadline and the last submit of a trace, the proven cost is linear in the time of the end.
class JobFloor {
 public:
  JobFloor(const Prices& prices, const Weights& weights, std::vector<Way> ways, TimeUs submit_us,
           TimeUs deadline_us, TimeUs last_submit_us)
      : prices_(prices),
        late_per_s_(weights.per_late_s),
        ways_(std::move(ways)),
        deadline_us_(deadline_us),
        last_submit_us_(last_submit_us) {
    cut(submit_us);
  }

  // For any price x of the job's work, a schedule that ends at C costs at least
  //   x - integral of gain(x) over its time + tardiness,
  // gain(x) being the most that running could bring in above its cost. Every piece may have its own
  // x: first one that is good for all, then a better one wherever the least piece is.
  double value() {
    std::vector<double> floor(pieces_.size(), -HUGE_VAL);
    lowest(best_price(0, pieces_.size()), 0, pieces_.size(), &floor);
    std::vector<bool> tried(pieces_.size(), false);
    for (;;) {
      const auto least =
          static_cast<std::size_t>(std::min_element(floor.begin(), floor.end()) - floor.begin());
      if (tried[least]) return std::max(0.0, std::min(floor[least], beyond_));
      tried[least] = true;
      const double own = lowest(best_price(least, least + 1), least, least + 1).value;
      floor[least] = std::max(floor[least], own);
    }
  }

 private:
  struct Piece {
    TimeUs begin_us = 0;
    TimeUs end_us = 0;         // kNever: the last one, which does not end.
    std::vector<double> cost;  // Of each way, in a second, at least.
  };

  double lateness(TimeUs end_us) const {
    if (end_us <= deadline_us_) return 0;
    return std::max(0.0,
                    down(late_per_s_ * down(static_cast<double>(end_us - deadline_us_) / 1e6)));
  }

  // The pieces that matter: later ends cost more in tardiness alone than some schedule costs in
  // all, one that stays on one kind of slice from the submit on.
  void cut(TimeUs now_us) {
    std::vector<double> done(ways_.size(), 0);
    std::vector<double> spent(ways_.size(), 0);
    double enough = HUGE_VAL;
    for (std::size_t i = 0; i < prices_.stretches(); ++i) {
      const TimeUs edge_us = i + 1 < prices_.stretches() ? to_us(prices_.edges_s[i + 1]) : kNever;
      while (now_us < edge_us) {
        if (lateness(now_us) >= enough) {
          beyond_ = lateness(now_us);
          return;
        }
        Piece piece;
        piece.begin_us = now_us;
        piece.end_us = edge_us;
        for (const TimeUs cut_us : {deadline_us_, last_submit_us_}) {
          if (now_us < cut_us) piece.end_us = std::min(piece.end_us, cut_us);
        }
        const double length_s =
            piece.end_us == kNever ? HUGE_VAL : static_cast<double>(piece.end_us - now_us) / 1e6;
        for (std::size_t w = 0; w < ways_.size(); ++w) {
          const Way& way = ways_[w];
          const double slices = down(down(prices_.at(2 * way.board, i) * way.compute) +
                                     down(prices_.at(2 * way.board + 1, i) * way.memory));
          const double energy = now_us < last_submit_us_ ? way.energy : way.after_submits;
          const double cost = std::max(0.0, down(energy + slices));
          piece.cost.push_back(cost);
          const double need_s = std::min(length_s, (1 - done[w]) / way.speed);
          spent[w] += cost * need_s;
          if (done[w] < 1 && need_s < length_s) {
            enough = std::min(enough, spent[w] + lateness(now_us + to_us(need_s) + 1));
            done[w] = 1;
          } else {
            done[w] = std::min(1.0, done[w] + way.speed * need_s);
          }
        }
        now_us = piece.end_us;
        pieces_.push_back(std::move(piece));
      }
    }
  }

  // The most that running can bring in above its cost in a second of the piece, if all the work is
  // worth x, and the speed at which it does.
  struct Gain {
    double rate = 0;
    double speed = 0;
  };
  Gain gain(const Piece& piece, double x) const {
    Gain most;
    for (std::size_t w = 0; w < ways_.size(); ++w) {
      const double rate = up(up(x * ways_[w].speed) - piece.cost[w]);
      if (rate > most.rate) most = {rate, ways_[w].speed};
    }
    return most;
  }

  // The least proven cost at price x of ending in one of the pieces first..last-1, and about how it
  // changes with x; `each`, if any, gets that of every piece.
  struct Lowest {
    double value = HUGE_VAL;
    double slope = 0;
  };
  Lowest lowest(double x, std::size_t first, std::size_t last,
                std::vector<double>* each = nullptr) const {
    double gained = 0;
    double slope = 1;
    Lowest least;
    const auto consider = [&](double value, double& here) {
      here = std::min(here, value);
      if (value < least.value) least = {value, slope};
    };
    for (std::size_t i = 0; i < last; ++i) {
      const Piece& piece = pieces_[i];
      const Gain gain_here = gain(piece, x);
      double here = HUGE_VAL;
      if (i >= first) consider(down(down(x - gained) + lateness(piece.begin_us)), here);
      if (piece.end_us == kNever) {
        // Else the cost does not fall any more.
        if (gain_here.rate > late_per_s_) slope = -1, consider(-HUGE_VAL, here);
      } else {
        const double length_s = up(static_cast<double>(piece.end_us - piece.begin_us) / 1e6);
        gained = up(gained + up(gain_here.rate * length_s));
        slope -= gain_here.speed * length_s;
        if (i >= first) consider(down(down(x - gained) + lateness(piece.end_us)), here);
      }
      if (i >= first && each) (*each)[i] = here;
    }
    return least;
  }

  // The price at which lowest(), which is concave in it, is about largest. Not trusted: any price
  // is good.
  double best_price(std::size_t first, std::size_t last) const {
    double low = 0;
    double high = 1e-300;
    for (std::size_t w = 0; w < ways_.size(); ++w)
      high = std::max(high, (pieces_[first].cost[w] + late_per_s_) / ways_[w].speed);
    while (high < 1e100 && lowest(high, first, last).slope > 0) low = high, high *= 2;
    constexpr int kHalvings = 45;
    for (int i = 0; i < kHalvings; ++i) {
      const double middle = low + (high - low) / 2;
      (lowest(middle, first, last).slope > 0 ? low : high) = middle;
    }
    return low;
  }

  const Prices& prices_;
  double late_per_s_;
  std::vector<Way> ways_;
  TimeUs deadline_us_;
  TimeUs last_submit_us_;  // Of a trace; else kNever.
  std::vector<Piece> pieces_;
  double beyond_ = HUGE_VAL;  // What ending after the pieces costs at least.
};

// How much work of all the jobs the fleet can do is limited: at most `machines` jobs at a time,
// none on more than a GPU. The end of the jobs from `first` on, at the earliest.
double end_of_rest_s(const BoundInput& input, const std::vector<double>& work_s,
                     std::size_t first) {
  const TimeUs zero_us = input.begin_us();
  double left_s = 0;
  for (std::size_t j = first; j < work_s.size(); ++j) left_s = down(left_s + work_s[j]);
  for (std::size_t j = first; j < work_s.size(); ++j) {
    const auto most =
        static_cast<double>(std::min<std::size_t>(j + 1 - first, input.fleet->gpu_count()));
    const double now_s = down(to_s(input.released_us(input.jobs[j]) - zero_us));
    if (j + 1 == work_s.size()) return std::max(0.0, down(now_s + down(left_s / most)));
    const double span_s =
        up(static_cast<double>(input.jobs[j + 1].submit_us - input.jobs[j].submit_us) / 1e6);
    const double after_s = down(left_s - up(most * span_s));
    if (after_s <= 0) {
      // Done before the next release, or, but for rounding, at it.
      const double next_s = down(to_s(input.released_us(input.jobs[j + 1]) - zero_us));
      return std::max(0.0, std::min(next_s, down(now_s + down(left_s / most))));
    }
    left_s = after_s;
  }
  return 0;
}

// No schedule ends before: the fastest slice for each job, and what whole GPUs can do for the jobs
// released from some moment on, each as fast as its most efficient slice would be on all of one.
double earliest_end(const BoundInput& input) {
  const Fleet& fleet = *input.fleet;
  const TimeUs zero_us = input.begin_us();
  int compute = 0;
  for (const Board* board : fleet.boards()) compute = std::max(compute, board->compute_slices);
  std::vector<double> work_s;
  double end_s = 0;
  for (const Job& job : input.jobs) {
    double fastest_us = HUGE_VAL;
    double least_us = HUGE_VAL;
    const KindSet kinds = fleet.kinds_for(job);
    for (KindIndex k = 0; k < fleet.kinds().size(); ++k) {
      if (!(kinds >> k & 1)) continue;
      const double us = down(fleet.full_us(job, k));
      fastest_us = std::min(fastest_us, us);
      least_us = std::min(least_us, down(down(us * fleet.kinds()[k].compute) / compute));
    }
    work_s.push_back(down(least_us / 1e6));
    const double from_s = down(to_s(input.released_us(job) - zero_us));
    end_s = std::max(end_s, down(from_s + down(fastest_us / 1e6)));
  }
  const std::size_t jobs = work_s.size();
  const std::size_t stride = std::max<std::size_t>(1, jobs / 1000);
  for (std::size_t first = 0; first < jobs; ++first) {
    if (jobs - first > 1000 && first % stride != 0) continue;
    end_s = std::max(end_s, end_of_rest_s(input, work_s, first));
  }
  return end_s;
}

double up_time_s(const BoundInput& input, GpuIndex gpu, double end_s) {
  double sum_s = 0;
  double since_s = 0;
  bool is_up = true;
  for (const GpuEvent& event : input.events) {
    if (event.gpu != gpu || event.fail != is_up) continue;
    const double at_s = std::clamp(to_s(event.at_us - input.begin_us()), 0.0, end_s);
    if (is_up) sum_s = down(sum_s + down(down(at_s) - up(since_s)));
    since_s = at_s;
    is_up = !is_up;
  }
  if (is_up) sum_s = down(sum_s + down(end_s - up(since_s)));
  return std::max(0.0, sum_s);
}

}  // namespace

Result<void> check_prices(const Prices& prices, std::size_t resources) {
  const std::size_t stretches = prices.stretches();
  if (stretches == 0 || prices.edges_s[0] != 0)
    return fail("prices: the first stretch must begin at 0");
  for (std::size_t i = 1; i < stretches; ++i) {
    if (!(to_us(prices.edges_s[i]) > to_us(prices.edges_s[i - 1])) ||
        !(prices.edges_s[i] <= kMaxSeconds))
      return fail("prices: stretch {} must begin after the one before", i);
  }
  if (prices.value.size() != resources * stretches)
    return fail("prices: {} for {} resources in {} stretches", prices.value.size(), resources,
                stretches);
  for (std::size_t k = 0; k < prices.value.size(); ++k) {
    if (!(prices.value[k] >= 0) || prices.value[k] > 1e100)
      return fail("prices: found {}, expected a number from 0", prices.value[k]);
    if (k % stretches + 1 == stretches && prices.value[k] != 0)
      return fail("prices: those of the last stretch must be 0");
  }
  return {};
}

double certified_value(const BoundInput& input, const Weights& given, const Prices& prices,
                       int threads) {
  const Fleet& fleet = *input.fleet;
  SM_CHECK(check_prices(prices, 2 * fleet.boards().size()));
  // They are the result of a few operations, each rounded to nearest.
  Weights weights = given;
  for (int i = 0; i < 8; ++i) {
    weights.per_joule = std::max(0.0, down(weights.per_joule));
    weights.per_late_s = std::max(0.0, down(weights.per_late_s));
  }
  std::vector<Draw> draws;
  for (std::size_t b = 0; b < fleet.boards().size(); ++b) draws.push_back(least_draw(input, b));

  const TimeUs zero_us = input.begin_us();
  const TimeUs last_submit_us = input.trace ? input.trace->span_us() : kNever;
  std::vector<double> floors(input.jobs.size());
  constexpr std::size_t kAtOnce = 64;
  parallel_for((floors.size() + kAtOnce - 1) / kAtOnce, threads, [&](std::size_t part) {
    for (std::size_t j = part * kAtOnce; j < std::min(floors.size(), (part + 1) * kAtOnce); ++j) {
      const Job& job = input.jobs[j];
      JobFloor floor(prices, weights, ways_of(input, weights, draws, job),
                     input.released_us(job) - zero_us, job.deadline_us - zero_us, last_submit_us);
      floors[j] = floor.value();
    }
  });
  double value = 0;
  for (const double floor : floors) value = down(value + floor);

  // Less what all slices there are would cost.
  for (GpuIndex gpu = 0; gpu < fleet.gpu_count(); ++gpu) {
    const Board& board = fleet.board(gpu);
    const std::size_t compute = 2 * fleet.board_index(gpu);
    for (std::size_t i = 0; i + 1 < prices.stretches(); ++i) {
      const double length_s =
          up(static_cast<double>(to_us(prices.edges_s[i + 1]) - to_us(prices.edges_s[i])) / 1e6);
      const double per_s = up(up(prices.at(compute, i) * board.compute_slices) +
                              up(prices.at(compute + 1, i) * board.memory_slices));
      value = down(value - up(per_s * length_s));
    }
  }

  const double end_s = input.trace ? down(to_s(last_submit_us)) : earliest_end(input);
  double drawn_j = 0;
  for (GpuIndex gpu = 0; gpu < fleet.gpu_count(); ++gpu) {
    const double floor_w = draws[fleet.board_index(gpu)].floor_w;
    drawn_j = down(drawn_j + down(floor_w * up_time_s(input, gpu, end_s)));
  }
  // Energy and tardiness are never negative.
  return std::max(0.0, down(value + down(weights.per_joule * std::max(0.0, drawn_j))));
}

}  // namespace smartmig
