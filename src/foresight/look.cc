#include "foresight/look.h"

#include <algorithm>
#include <cmath>

namespace smartmig {
namespace {

constexpr int kChecked = 16;  // Steps between two looks at what a simulation has cost.
constexpr std::size_t kStepsForEachJob = 50;
constexpr std::size_t kFewestSteps = 1000;
constexpr double kSure = 2;  // Standard errors by which a contender is surely worse.

// Boards without a job draw this under any policy.
double idle_w(const Fleet& fleet, const Costs& costs) {
  if (costs.power_down_after_us) return 0;
  double watts = 0;
  for (GpuIndex gpu = 0; gpu < fleet.gpu_count(); ++gpu) watts += fleet.board(gpu).power.busy_w[0];
  return watts;
}

}  // namespace

Look::Look(const FleetSample& sample, std::vector<Contender> contenders, const View& view)
    : sample_(sample), idle_w_(idle_w(sample.fleet(), view.costs())) {
  options_.costs = view.costs();
  options_.preemption = view.preemption();
  options_.tardiness = true;
  for (Contender& contender : contenders) {
    Runner& runner = runners_.emplace_back();
    runner.policy = std::move(contender.policy);
    runner.effort = contender.effort;
  }
}

Look::Answer Look::choose(const View& view, const Present& present, const LookTerms& terms,
                          std::size_t active, std::span<const Contender> learned,
                          Evidence& evidence, Random random) {
  events_ = 0;
  evidence.begin_look(terms.kept);
  for (std::size_t i = 0; i < runners_.size(); ++i)
    runners_[i].races = !evidence.rests(i) || i == active;
  const ErrorModel errors(view, terms.future.recent_jobs, present.done);
  for (std::size_t f = 0; f < terms.most_futures; ++f) {
    if (f >= terms.least_futures && events_ > terms.most_events) break;
    draw_future(view, sample_, present, terms.future, errors, random, future_);
    if (future_.table.jobs.empty()) return {active, events_};
    run_future(terms, active, learned);
    evidence.add(costs_);
    drop_losers(terms, active, evidence);
    if (std::ranges::count_if(runners_, [](const Runner& r) { return r.races; }) <= 1) break;
  }
  for (std::size_t i = 0; i < runners_.size(); ++i)
    if (runners_[i].races) evidence.forgive(i);
  return {best(terms, active, evidence), events_};
}

// The present contender first, so that there is something to compare with.
void Look::run_future(const LookTerms& terms, std::size_t active,
                      std::span<const Contender> learned) {
  costs_.assign(runners_.size(), Evidence::kNotRun);
  first_queue_left_.reset();
  late_share_.reset();
  double least = Evidence::kForEver;
  const auto run = [&](std::size_t i) {
    if (!runners_[i].races) return;
    costs_[i] =
        simulate(runners_[i], *learned[i].policy.partitioner, terms, least * terms.hopeless);
    least = std::min(least, costs_[i]);
  };
  run(active);
  for (std::size_t i = 0; i < runners_.size(); ++i) {
    if (i != active) run(i);
  }
}

// The contender that races and is furthest ahead of the present one.
std::size_t Look::leader(std::size_t active, const Evidence& evidence) const {
  std::size_t leader = active;
  double most = 0;
  for (std::size_t i = 0; i < runners_.size(); ++i) {
    if (!runners_[i].races) continue;
    const double ahead = evidence.more(active, i).mean;
    if (ahead > most) most = ahead, leader = i;
  }
  return leader;
}

// Those that are surely worse than the best so far. The present one stays as long as it could be
// kept.
void Look::drop_losers(const LookTerms& terms, std::size_t active, Evidence& evidence) {
  const std::size_t best = leader(active, evidence);
  for (std::size_t i = 0; i < runners_.size(); ++i) {
    Runner& runner = runners_[i];
    if (!runner.races || i == best || i == active) continue;
    const Evidence::Difference more = evidence.more(i, best);
    const bool hopeless = more.mean > terms.hopeless - 1;
    const bool loses =
        more.futures >= static_cast<double>(terms.least_futures) && more.mean > kSure * more.error;
    if (!hopeless && !loses) continue;
    runner.races = false;
    evidence.send_to_rest(i, hopeless ? 2 : 1, terms.most_rests);
  }
}

std::size_t Look::best(const LookTerms& terms, std::size_t active, const Evidence& evidence) const {
  const std::size_t best = leader(active, evidence);
  const Evidence::Difference gain = evidence.more(active, best);
  return gain.mean > std::max(terms.least_gain, terms.errors * gain.error) ? best : active;
}

double Look::cost(State& state, const LookTerms& terms, const Meter& meter) const {
  const double joules =
      state.power().energy_j(state.now()) - idle_w_ * to_s(state.now() - meter.begin_us);
  return to_min(state.tardiness_us() - meter.late_before_us) +
         terms.per_watt_minute * joules / kJoulesPerWattMinute +
         terms.later_arrivals * late_share_.value_or(0) * meter.draining_us / kMinuteUs;
}

double Look::queue_left(const State& state, const Meter& meter) {
  if (state.now() < meter.last_arrival_us) return 0;
  const auto waiting = static_cast<double>(state.ready_count());
  if (!first_queue_left_) first_queue_left_ = std::max(1., waiting);
  return waiting / *first_queue_left_;
}

double Look::simulate(Runner& runner, const Partitioner& learned, const LookTerms& terms,
                      double limit) {
  if (!runner.engine) {
    runner.engine =
        std::make_unique<Engine>(sample_.fleet(), future_.table, runner.policy, options_);
  }
  Engine& engine = *runner.engine;
  engine.policy().partitioner->learn_from(learned);
  engine.restart(future_.table, 1, future_.standing);
  State& state = engine.state();
  Meter meter;
  meter.begin_us = future_.standing.now_us;
  meter.late_before_us = state.tardiness_us();
  meter.last_arrival_us = future_.table.jobs.back().submit_us;
  const auto jobs = future_.table.jobs.size();
  const auto most_steps = static_cast<long>(kFewestSteps + kStepsForEachJob * jobs);
  bool too_dear = false;
  long steps = 0;
  while (!too_dear && steps < most_steps) {
    const TimeUs before_us = state.now();
    const double left = queue_left(state, meter);
    if (!engine.step()) break;
    meter.draining_us += left * static_cast<double>(state.now() - before_us);
    too_dear = ++steps % kChecked == 0 && cost(state, terms, meter) > limit;
  }
  events_ += steps * runner.effort;
  if (!late_share_)
    late_share_ = static_cast<double>(state.late_jobs()) / static_cast<double>(jobs);
  // Of one that was stopped the cost so far is too little, but enough to tell. One that goes on for
  // ever, by stops and starts that lead nowhere, is as bad as one that leaves a job for ever.
  const bool tells = engine.completed() == jobs || too_dear;
  return tells ? cost(state, terms, meter) : Evidence::kForEver;
}

}  // namespace smartmig
