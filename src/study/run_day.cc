#include "study/run_day.h"

#include <new>

#include "base/random.h"

namespace smartmig {

std::uint64_t day_seed(std::uint64_t seed, std::uint64_t day) {
  return day == 0 ? seed : Random(seed, "day", day).bits();
}

// Runs on worker threads, where an exception could only end the program.
Result<Metrics> run_day(const RunSettings& settings, const Policy& policy, const JobTable& jobs,
                        std::uint64_t day, const RunWatch& watch) try {
  EngineOptions options = settings.engine;
  options.seed = day_seed(settings.engine.seed, day);
  options.hourly_energy = settings.tariff.has_value();
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
