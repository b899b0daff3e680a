// Speed of networks and of PPO: one measurement a call, one JSON object out.
//   bench_nn forward            one observation through 54-64-64-144
//   bench_nn sample MEMBERS     a decision for that many GPUs in 12 layouts, 3 options each
//   bench_nn ppo STEPS THREADS WIDTH...   88 inputs, 21 options, minibatches of 4096, 10 epochs
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string_view>

#include "learn/ppo.h"
#include "learn/toy_environment.h"
#include "nn/masked_categorical.h"

namespace smartmig {
namespace {

// Seconds a call takes: the best of several rounds, since what else runs only adds to it.
template <class Body>
double seconds_for(int calls, Body&& body) {
  double best = 1e9;
  for (int round = 0; round < 20; ++round) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) body();
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    best = std::min(best, passed.count() / calls);
  }
  return best;
}

void measure_forward() {
  Network network({.inputs = 54, .hidden = {64, 64}, .outputs = 144});
  Random random(1, "bench");
  network.initialise(random);
  const std::vector<float> inputs(54, 0.3F);
  std::vector<float> logits(144);
  Workspace workspace;
  const double s = seconds_for(1000, [&] { network.forward(inputs, 1, workspace, logits, {}); });
  fmt::print("{{\"what\": \"forward\", \"us\": {:.3f}}}\n", s * 1e6);
}

void measure_sample(std::uint32_t members) {
  constexpr int kLayouts = 12;
  Network network({.inputs = 54, .hidden = {64, 64}, .outputs = kLayouts * kLayouts});
  Random random(1, "bench");
  network.initialise(random);
  const std::vector<float> inputs(54, 0.3F);
  std::vector<float> logits(kLayouts * kLayouts);
  std::vector<std::uint8_t> masks(logits.size());
  std::vector<float> p(logits.size());
  std::vector<float> log_p(logits.size());
  std::vector<std::uint32_t> counts(kLayouts);
  Workspace workspace;
  const double s = seconds_for(200, [&] {
    network.forward(inputs, 1, workspace, logits, {});
    std::fill(masks.begin(), masks.end(), std::uint8_t{1});
    keep_most_likely(logits, kLayouts, 3, masks);
    masked_softmax(logits, masks, {}, kLayouts, p, log_p);
    for (int head = 0; head < kLayouts; ++head) {
      sample_counts(std::span(p).subspan(head * kLayouts, kLayouts), members / kLayouts, random,
                    counts);
    }
  });
  fmt::print("{{\"what\": \"sample\", \"members\": {}, \"us\": {:.3f}}}\n", members, s * 1e6);
}

void measure_ppo(std::int64_t steps, int threads, std::vector<int> hidden) {
  PpoSettings settings;
  settings.steps = steps;
  settings.environments = 32;
  settings.rollout_steps = 256;
  ToyEnvironment<WideTask> environment(settings.environments, 1);
  WorkerPool pool(threads);
  Ppo ppo(settings, {.hidden = std::move(hidden)}, environment, pool);
  std::vector<double> speeds;
  double last_return = 0;
  while (!ppo.done()) {
    const PpoProgress row = ppo.iterate();
    speeds.push_back(row.steps_per_s);
    last_return = row.mean_return;
  }
  std::sort(speeds.begin(), speeds.end());
  fmt::print(
      "{{\"what\": \"ppo\", \"steps\": {}, \"threads\": {}, \"steps_per_s\": {:.0f}, "
      "\"best_steps_per_s\": {:.0f}, \"last_return\": {:.3f}}}\n",
      ppo.state().steps, threads, speeds[speeds.size() / 2], speeds.back(), last_return);
}

int run(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  if (what == "forward") {
    measure_forward();
  } else if (what == "sample" && argc == 3) {
    measure_sample(static_cast<std::uint32_t>(std::atol(argv[2])));
  } else if (what == "ppo" && argc > 4) {
    std::vector<int> hidden;
    for (int i = 4; i < argc; ++i) hidden.push_back(std::atoi(argv[i]));
    measure_ppo(std::atol(argv[2]), std::atoi(argv[3]), hidden);
  } else {
    fmt::print(stderr,
               "bench_nn: expected forward, sample MEMBERS or ppo STEPS THREADS WIDTH...\n");
    return 2;
  }
  return 0;
}

}  // namespace
}  // namespace smartmig

int main(int argc, char** argv) { return smartmig::run(argc, argv); }
