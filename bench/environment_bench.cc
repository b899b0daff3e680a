// Speed of the environments to learn in: one kind a call, one JSON object out.
//   bench_environment placement|mean-field|one-gpu|size STEPS [THREADS]
//   bench_environment decision GPUS       one decision of a mean-field network (64-64) on a fleet
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
#include "policy/learned.h"

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

// Microseconds for one decision of a mean-field policy that looks at the fleet and draws every
// GPU's next layout, but changes none: what must not grow with the fleet.
void decision(GpuIndex gpus) {
  const Fleet fleet = Fleet::parse(fmt::format("{}xA100-40GB", gpus)).value();
  LearnedSettings settings;
  settings.board = "A100-40GB";
  settings.every = 1;
  const LearnedShape shape = learned_shape(settings, fleet.board(0));
  Network network({.inputs = shape.inputs,
                   .hidden = {64, 64},
                   .outputs = shape.heads * shape.options,
                   .value_head = false,
                   .activation = Activation::kTanh});
  Random random(1, "decision bench");
  network.initialise(random);
  // Staying is all but certain.
  const Layer& last = network.layers().back();
  for (int n = 0; n < shape.options; ++n)
    network.parameters()[last.biases + static_cast<std::size_t>(n * shape.options + n)] = 60;
  Normaliser normaliser;
  normaliser.mean.assign(static_cast<std::size_t>(shape.inputs), 0);
  normaliser.scale.assign(static_cast<std::size_t>(shape.inputs), 1);
  const auto partitioner =
      make_learned_layouts(std::make_shared<const LearnedPolicy>(
                               LearnedPolicy{settings, std::move(network), std::move(normaliser)}),
                           1);
  GeneratorOptions workload;
  workload.fixed_rate = true;
  workload.count = 1000;
  const JobTable jobs = generate(workload);
  State::Options options;
  options.aggregates = true;
  State state(fleet, jobs.jobs, options);
  ViewScratch scratch;
  View view(state, scratch);
  std::vector<SlotSet> layouts;
  partitioner->first_layouts(view, layouts);
  for (GpuIndex gpu = 0; gpu < gpus; ++gpu)
    state.place_initial(gpu, LayoutNumbers(fleet.board(0)).layout(static_cast<int>(gpu % 12)));
  Decision decision;
  double seconds = 0;
  for (JobIndex job = 0; job < jobs.jobs.size(); ++job) {
    state.set_now(jobs.jobs[job].submit_us);
    state.arrive(job);
    decision.clear();
    const auto start = std::chrono::steady_clock::now();
    partitioner->decide(view, decision);
    seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  const TurnCounts turns = partitioner->turn_counts();
  fmt::print(
      "{{\"what\": \"decision\", \"gpus\": {}, \"decisions\": {}, \"us_per_decision\": {:.3f}, "
      "\"gpus_changed\": {}}}\n",
      gpus, turns.decisions, seconds * 1e6 / static_cast<double>(turns.decisions),
      turns.gpus_changed);
}

}  // namespace
}  // namespace smartmig

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  const long steps = argc > 2 ? std::atol(argv[2]) : 0;
  const int threads = argc > 3 ? std::atoi(argv[3]) : 1;
  if (what == "decision" && steps > 0) {
    smartmig::decision(static_cast<smartmig::GpuIndex>(steps));
    return 0;
  }
  const auto environment = steps > 0 ? smartmig::make(what) : nullptr;
  if (!environment) {
    fmt::print(stderr,
               "usage: bench_environment placement|mean-field|one-gpu|size STEPS [THREADS] | "
               "decision GPUS\n");
    return 2;
  }
  smartmig::measure(what, *environment, static_cast<std::size_t>(steps), threads);
  return 0;
}
