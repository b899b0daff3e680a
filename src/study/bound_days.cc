#include "study/bound_days.h"

#include <fmt/format.h>

#include <optional>

#include "base/thread_pool.h"
#include "bound/linearised.h"
#include "bound/tardiness_program.h"

namespace smartmig {

BoundInput bound_input(const RunSettings& settings, const JobTable& jobs) {
  BoundInput input;
  input.fleet = settings.fleet;
  input.jobs = jobs.jobs;
  input.costs = &settings.engine.costs;
  input.events = settings.engine.events;
  input.trace = jobs.trace;
  input.days = jobs.nominal_days;
  input.energy_weight = settings.energy_weight;
  return input;
}

namespace {

// The steps of one day, all of which are taken by its end.
class DaySteps {
 public:
  explicit DaySteps(Progress* progress) : progress_(progress) {}
  ~DaySteps() { reach(1); }
  DaySteps(const DaySteps&) = delete;
  DaySteps& operator=(const DaySteps&) = delete;

  // `share` of the day's work is done.
  void reach(double share) {
    for (; taken_ < static_cast<std::size_t>(share * kBoundSteps); ++taken_) {
      if (progress_) progress_->step();
    }
  }

 private:
  Progress* progress_;
  std::size_t taken_ = 0;
};

Result<DayBound> bound_day(const RunSettings& settings, const DaySource& source, std::size_t day,
                           const AscentOptions& options, DaySteps& steps) {
  const auto table = source(day);
  if (!table) return pass_on(table);
  const BoundInput input = bound_input(settings, **table);
  // Three searches, which take about as long as each other, and the program.
  constexpr double kShare = 0.3;
  double before = 0;
  const auto search = [&](Objective objective) {
    auto found = certify(input, objective, options,
                         [&](double share) { steps.reach(before + kShare * share); });
    before += kShare;
    return found;
  };
  const auto et = search(Objective::kEt);
  if (!et) return pass_on(et);
  const auto energy = search(Objective::kEnergy);
  if (!energy) return pass_on(energy);
  const auto tardiness = search(Objective::kTardiness);
  if (!tardiness) return pass_on(tardiness);
  ProgramOptions program_options;
  program_options.limit_s = 3;
  const ProgramBound program = solve_tardiness_program(input, program_options);
  DayBound bound;
  bound.et = et->value;
  bound.energy_j = energy->value;
  bound.avg_tardiness_s = tardiness->value;
  bound.linearised_energy_j = linearised_energy_j(input);
  bound.linearised_tardiness_s = program.proven_s;
  bound.program_tried = program.tried;
  bound.program_solved = program.solved;
  bound.linearised_et = weigh(bound.linearised_energy_j, program.avg_tardiness_s,
                              settings.energy_weight, settings.fleet->gpu_count(), input.days);
  return bound;
}

}  // namespace

Result<std::vector<DayBound>> bound_days(const RunSettings& settings, std::size_t days,
                                         const DaySource& source, int threads, Progress* progress) {
  std::vector<DayBound> bounds(days);
  std::vector<std::optional<Error>> errors(days);
  AscentOptions options;
  options.threads = 1;  // The days are what runs side by side.
  parallel_for(days, threads, [&](std::size_t day) {
    DaySteps steps(progress);
    if (auto bound = bound_day(settings, source, day, options, steps)) {
      bounds[day] = *bound;
    } else {
      errors[day] = Error{fmt::format("day {}: {}", day, bound.error().message)};
    }
  });
  for (const auto& error : errors) {
    if (error) return tl::unexpected<Error>(*error);
  }
  return bounds;
}

Result<std::vector<double>> certified_ets(const RunSettings& settings, std::size_t days,
                                          const DaySource& source, AscentOptions options,
                                          int threads) {
  std::vector<Result<double>> found(days);
  options.threads = 1;  // The days are what runs side by side.
  parallel_for(days, threads, [&](std::size_t day) {
    const auto table = source(day);
    if (!table) {
      found[day] = pass_on(table);
      return;
    }
    const auto bound = certify(bound_input(settings, **table), Objective::kEt, options);
    if (bound) {
      found[day] = bound->value;
    } else {
      found[day] = pass_on(bound);
    }
  });
  std::vector<double> bounds;
  for (const Result<double>& bound : found) {
    if (!bound) return pass_on(bound);
    bounds.push_back(*bound);
  }
  return bounds;
}

double mean_of(const std::vector<DayBound>& bounds, double DayBound::*of) {
  double sum = 0;
  for (const DayBound& bound : bounds) sum += bound.*of;
  return sum / static_cast<double>(bounds.size());
}

Result<std::vector<double>> published_energy_bounds(const RunSettings& settings, std::size_t days,
                                                    const DaySource& source, int threads,
                                                    Progress* progress) {
  std::vector<double> bounds_j(days);
  std::vector<std::optional<Error>> errors(days);
  parallel_for(days, threads, [&](std::size_t day) {
    if (const auto table = source(day)) {
      bounds_j[day] = linearised_energy_j(bound_input(settings, **table));
    } else {
      errors[day] = Error{fmt::format("day {}: {}", day, table.error().message)};
    }
    if (progress) progress->step();
  });
  for (const auto& error : errors) {
    if (error) return tl::unexpected<Error>(*error);
  }
  return bounds_j;
}

}  // namespace smartmig
