#include "learn/episodes.h"

namespace smartmig {
namespace {

// Streams of a block's environments lie next to each other.
constexpr std::uint64_t kMostEnvironments = std::uint64_t{1} << 20;

Random stream(std::uint64_t seed, std::uint64_t block, std::size_t environment) {
  SM_CHECK(environment < kMostEnvironments);
  return Random(seed, "episodes", block * kMostEnvironments + environment);
}

}  // namespace

EpisodeSettings with_sums(EpisodeSettings settings) {
  settings.engine.aggregates = true;
  settings.engine.tardiness = true;
  return settings;
}

Episodes::Episodes(const EpisodeSettings& settings, std::size_t environment)
    : fleet_(settings.fleet),
      days_(settings.days),
      weights_(settings.reward),
      energy_weight_(settings.energy_weight),
      seed_(settings.seed),
      environment_(environment),
      stagger_(settings.stagger),
      draws_(stream(settings.seed, 0, environment)),
      engine_(*fleet_, days_->day(0), settings.policy, settings.engine) {
  part_.jobs.reserve(days_->most_jobs());
}

void Episodes::restart(std::uint64_t block) {
  draws_ = stream(seed_, block, environment_);
  finished_ = {};
  begin(!stagger_);
}

void Episodes::begin(bool whole_day) {
  const JobTable* day = &days_->day(draws_.below(days_->size()));
  const std::uint64_t engine_seed = draws_.bits();
  // Reward is by the whole day's jobs and length, also in a part of it.
  et_ = et_weights(energy_weight_, fleet_->gpu_count(), day->nominal_days);
  per_job_ = 1 / static_cast<double>(day->jobs.size());
  whole_day_ = whole_day;
  if (!whole_day) {
    const auto skip = static_cast<std::ptrdiff_t>(draws_.below(day->jobs.size()));
    part_.jobs.assign(day->jobs.begin() + skip, day->jobs.end());
    part_.nominal_days = day->nominal_days;
    day = &part_;
  }
  engine_.restart(*day, engine_seed);
  charged_ = return_ = 0;
}

Charge Episodes::charge(TimeUs late_us, std::size_t late) const {
  Charge charge;
  charge.tardiness = et_.per_mean_late_s * to_s(late_us) * per_job_;
  charge.late = static_cast<double>(late) * per_job_;
  if (weights_.energy != 0 || engine_.completed() == engine_.jobs().jobs.size())
    charge.energy = et_.per_joule * engine_.state().power().energy_j(engine_.state().now());
  return charge;
}

Charge Episodes::charge_by_sums() {
  return charge(engine_.state().tardiness_us(), engine_.state().late_jobs());
}

float Episodes::settle(const Charge& charge, bool ended) {
  const double total = charge.weighed(weights_);
  const double reward = charged_ - total;
  charged_ = total;
  return_ += reward;
  if (ended) end(charge);
  return static_cast<float>(reward);
}

void Episodes::end(const Charge& charge) {
  if (whole_day_) {
    finished_.mean_et += charge.tardiness + charge.energy;
    finished_.mean_return += return_;
    ++finished_.episodes;
  }
  begin(true);
}

}  // namespace smartmig
