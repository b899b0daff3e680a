// Speed of the environments to learn in: one kind a call, one JSON object out.
//   bench_environment placement|mean-field|one-gpu|size STEPS [THREADS]
// A step is one decision of one environment, with its observation and mask built and no network:
// actions are drawn from what is allowed. Days are generated before the clock starts.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "learn/environments.h"

namespace smartmig {
namespace {

constexpr std::size_t kEnvironments = 64;

// Each member takes an allowed option, or, nine times in ten, that of its own head: layouts that
// all change at every decision would measure nothing but that.
void draw(const VectorEnvironment& environment, Random& random,
          std::vector<std::uint16_t>& chosen) {
  const ActionShape shape = environment.actions();
  std::fill(chosen.begin(), chosen.end(), 0);
  const auto options = static_cast<std::size_t>(shape.options);
  for (std::size_t row = 0; row < environment.members().size(); ++row) {
    const std::size_t head = row % static_cast<std::size_t>(shape.heads);
    const std::uint8_t* mask = environment.masks().data() + row * options;
    for (int member = environment.members()[row]; member > 0; --member) {
      const std::uint64_t bits = random.bits();
      std::size_t option = (bits & 0xffffffff) * options >> 32;
      if (shape.heads > 1 && (bits >> 32) % 10 != 0) option = head;
      while (!mask[option]) option = option + 1 < options ? option + 1 : 0;
      ++chosen[row * options + option];
    }
  }
}

void measure(std::string_view what, VectorEnvironment& environment, std::size_t steps,
             int threads) {
  WorkerPool pool(threads);
  Random random(1, "environment bench");
  std::vector<std::uint16_t> chosen(environment.count() *
                                    static_cast<std::size_t>(environment.actions().size()));
  double sum = 0;
  const auto start = std::chrono::steady_clock::now();
  for (std::size_t done = 0; done < steps; done += environment.count()) {
    draw(environment, random, chosen);
    environment.step(chosen, pool);
    sum += environment.rewards()[0];
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  const auto finished = environment.take_finished();
  fmt::print(
      "{{\"what\": \"{}\", \"environments\": {}, \"threads\": {}, \"steps\": {}, \"wall_s\": "
      "{:.4f}, \"steps_per_s\": {:.0f}, \"episodes\": {}, \"mean_et\": {:.4f}, \"rewards\": "
      "{:.4f}}}\n",
      what, environment.count(), threads, steps, seconds.count(),
      static_cast<double>(steps) / seconds.count(), finished.episodes, finished.mean_et, sum);
}

std::unique_ptr<VectorEnvironment> make(std::string_view what) {
  const auto with_count = [](auto settings) {
    settings.episodes.environments = kEnvironments;
    return make_environment(settings);
  };
  if (what == "placement") return with_count(course_placement());
  if (what == "mean-field") return with_count(mean_field().value());
  if (what == "one-gpu") return with_count(one_gpu().value());
  if (what == "size") return with_count(size_placement().value());
  return nullptr;
}

}  // namespace
}  // namespace smartmig

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  const long steps = argc > 2 ? std::atol(argv[2]) : 0;
  const int threads = argc > 3 ? std::atoi(argv[3]) : 1;
  const auto environment = steps > 0 ? smartmig::make(what) : nullptr;
  if (!environment) {
    fmt::print(stderr,
               "usage: bench_environment placement|mean-field|one-gpu|size STEPS [THREADS]\n");
    return 2;
  }
  smartmig::measure(what, *environment, static_cast<std::size_t>(steps), threads);
  return 0;
}
