#include "bound/problem.h"

#include <algorithm>

#include "bound/makespan.h"
#include "workload/catalogue.h"

namespace smartmig {
namespace {

// What boards of one model draw at least: `floor_w` while they are up, and on top of it a share of
// what their running jobs add.
struct EnergyFloor {
  double floor_w = 0;
  double per_compute_w = 0;  // For each busy compute slice; boards with a power table.
  bool additive = false;     // Else each job's own watts, times `share`.
  double share = 1;
  // Of a board that is charged only while it has a job: the same, from nothing.
  double alone_per_compute_w = 0;
  double alone_share = 1;
};

double watts_of(const Job& job, const SliceKind& kind, const BoardPower& power) {
  const double own =
      job.profile == kNoProfile ? 0 : Catalogue::shipped().profiles()[job.profile].watts[kind.size];
  return own > 0 ? own * power.job_scale : power.busy_w[kind.compute] - power.busy_w[0];
}

EnergyFloor energy_floor(const BoundInput& input, std::uint8_t board_index) {
  const Board& board = *input.fleet->boards()[board_index];
  const BoardPower& power = board.power;
  EnergyFloor floor;
  floor.floor_w = power.busy_w[0];
  if (input.costs->power_down_after_us) floor.floor_w = std::min(floor.floor_w, input.costs->off_w);
  floor.additive = input.costs->real_power && power.additive;
  if (!floor.additive) {
    // The steepest line from the floor that stays below the table.
    floor.per_compute_w = power.busy_w[1] - floor.floor_w;
    floor.alone_per_compute_w = power.busy_w[1];
    for (int busy = 2; busy <= board.compute_slices; ++busy) {
      floor.per_compute_w =
          std::min(floor.per_compute_w, (power.busy_w[busy] - floor.floor_w) / busy);
      floor.alone_per_compute_w = std::min(floor.alone_per_compute_w, power.busy_w[busy] / busy);
    }
    floor.per_compute_w = std::max(floor.per_compute_w, 0.0);
    return floor;
  }
  // min(cap, context + sum of watts) is above the line through its end, where every compute slice
  // has the hungriest job.
  double most_w = 0;
  for (const Job& job : input.jobs) {
    for (const SliceKind& kind : input.fleet->kinds()) {
      if (kind.board != board_index) continue;
      most_w = std::max(most_w, watts_of(job, kind, power) * board.compute_slices / kind.compute);
    }
  }
  if (most_w > 0) {
    floor.share = std::clamp((power.cap_w - floor.floor_w) / most_w, 0.0, 1.0);
    floor.alone_share = std::min(power.cap_w, power.context_idle_w + most_w) / most_w;
  }
  return floor;
}

// How long a GPU is up between the first submit and `end_s` after it.
double up_s(const BoundInput& input, GpuIndex gpu, double end_s) {
  double sum_s = 0;
  double since_s = 0;
  bool up = true;
  for (const GpuEvent& event : input.events) {
    if (event.gpu != gpu || event.fail != up) continue;
    const double at_s = std::clamp(to_s(event.at_us - input.begin_us()), 0.0, end_s);
    if (up) sum_s += at_s - since_s;
    since_s = at_s;
    up = !up;
  }
  return up ? sum_s + end_s - since_s : sum_s;
}

bool as_good(const RunOption& a, const RunOption& b) {
  return a.board == b.board && a.speed >= b.speed && a.energy_w <= b.energy_w &&
         a.after_submits_w <= b.after_submits_w && a.compute <= b.compute && a.memory <= b.memory;
}

}  // namespace

Result<RelaxedProblem> relax(const BoundInput& input) {
  const Fleet& fleet = *input.fleet;
  RelaxedProblem problem;
  problem.capacity.assign(2 * fleet.boards().size(), 0);
  for (GpuIndex gpu = 0; gpu < fleet.gpu_count(); ++gpu) {
    problem.capacity[2 * fleet.board_index(gpu)] += fleet.board(gpu).compute_slices;
    problem.capacity[2 * fleet.board_index(gpu) + 1] += fleet.board(gpu).memory_slices;
  }
  std::vector<EnergyFloor> floors;
  for (std::uint8_t b = 0; b < fleet.boards().size(); ++b) floors.push_back(energy_floor(input, b));

  const TimeUs begin_us = input.begin_us();
  problem.jobs.reserve(input.jobs.size());
  for (std::size_t j = 0; j < input.jobs.size(); ++j) {
    const Job& job = input.jobs[j];
    RelaxedJob relaxed;
    relaxed.release_s = to_s(input.released_us(job) - begin_us);
    relaxed.deadline_s = to_s(job.deadline_us - begin_us);
    relaxed.first_option = static_cast<std::uint32_t>(problem.options.size());
    for (KindSet rest = fleet.kinds_for(job); rest; rest &= rest - 1) {
      const auto k = static_cast<KindIndex>(std::countr_zero(rest));
      const SliceKind& kind = fleet.kinds()[k];
      const Board& board = *fleet.boards()[kind.board];
      const EnergyFloor& floor = floors[kind.board];
      RunOption option;
      option.speed = 1e6 / fleet.full_us(job, k);
      option.energy_w = floor.additive ? floor.share * watts_of(job, kind, board.power)
                                       : floor.per_compute_w * kind.compute;
      option.after_submits_w = floor.additive ? floor.alone_share * watts_of(job, kind, board.power)
                                              : floor.alone_per_compute_w * kind.compute;
      option.board = kind.board;
      option.compute = kind.compute;
      option.memory = static_cast<std::uint8_t>(board.profiles[kind.profile].memory_slices);
      const auto own = problem.options.begin() + relaxed.first_option;
      if (std::any_of(own, problem.options.end(),
                      [&](const RunOption& other) { return as_good(other, option); }))
        continue;
      problem.options.erase(
          std::remove_if(own, problem.options.end(),
                         [&](const RunOption& other) { return as_good(option, other); }),
          problem.options.end());
      problem.options.push_back(option);
    }
    relaxed.option_count =
        static_cast<std::uint32_t>(problem.options.size()) - relaxed.first_option;
    if (relaxed.option_count == 0) {
      return fail("job {} of the table runs on no slice of fleet {}: too little memory, or no time",
                  j + 1, fleet.name());
    }
    problem.jobs.push_back(relaxed);
  }
  problem.earliest_end_s = earliest_end_s(input);
  double charged_s = problem.earliest_end_s;
  if (input.trace) charged_s = problem.last_submit_s = to_s(input.trace->span_us());
  for (GpuIndex gpu = 0; gpu < fleet.gpu_count(); ++gpu)
    problem.floor_j += floors[fleet.board_index(gpu)].floor_w * up_s(input, gpu, charged_s);
  return problem;
}

}  // namespace smartmig
