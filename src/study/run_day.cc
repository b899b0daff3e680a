#include "study/run_day.h"

#include <algorithm>
#include <new>

#include "base/random.h"

namespace smartmig {

std::uint64_t day_seed(std::uint64_t seed, std::uint64_t day) {
  return day == 0 ? seed : Random(seed, "day", day).bits();
}

Result<void> check_requests(const Policy& policy, const JobTable& jobs) {
  const auto asks = [](const Job& job) { return job.request_millionths > 0; };
  if (!policy.partitioner->needs_requests() || std::ranges::any_of(jobs.jobs, asks)) return {};
  return fail(
      "policy {}: no job says what was asked for, expected jobs with a column request (the share "
      "of a GPU)",
      policy.name);
}

// Runs on worker threads, where an exception could only end the program.
Result<Metrics> run_day(const RunSettings& settings, const Policy& policy, const JobTable& jobs,
                        std::uint64_t day, const RunWatch& watch) try {
  EngineOptions options = settings.engine;
  options.seed = day_seed(settings.engine.seed, day);
  options.hourly_energy = settings.tariff.has_value();
  if (const auto known = check_requests(policy, jobs); !known) return pass_on(known);
  Policy own = policy;
  own.reseed(options.seed);
  Engine engine(*settings.fleet, jobs, own, options);
  if (const auto done = engine.run(); !done) return pass_on(done);
  if (watch) watch(engine);
  Metrics metrics = measure(engine, settings.energy_weight);
  if (settings.tariff) price(*settings.tariff, engine.energy_by_hour_j(), metrics);
  return metrics;
} catch (const std::bad_alloc&) {
  return fail("out of memory");
}

}  // namespace smartmig
