#include "study/run_day.h"

#include <new>

#include "base/random.h"

namespace smartmig {

std::uint64_t day_seed(std::uint64_t seed, std::uint64_t day) {
  return day == 0 ? seed : Random(seed, "day", day).bits();
}

// Runs on worker threads, where an exception could only end the program.
Result<Metrics> run_day(const RunSettings& settings, const Policy& policy, const JobTable& jobs,
                        std::uint64_t day) try {
  EngineOptions options = settings.engine;
  options.seed = day_seed(settings.engine.seed, day);
  Policy own = policy;
  own.reseed(options.seed);
  Engine engine(*settings.fleet, jobs, own, options);
  if (const auto done = engine.run(); !done) return pass_on(done);
  return measure(engine, settings.energy_weight);
} catch (const std::bad_alloc&) {
  return fail("out of memory");
}

}  // namespace smartmig
