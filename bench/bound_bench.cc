// Speed of the certified bound on the papers' day scaled to a fleet: one measurement a call, one
// JSON object out.
//   bench_bound GPUS THREADS [STRETCHES ROUNDS]    ET bound of a day, load per GPU as in the papers
#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdlib>

#include "bound/bound.h"
#include "workload/generator.h"

int main(int argc, char** argv) {
  using namespace smartmig;
  if (argc != 3 && argc != 5) {
    fmt::print(stderr, "bench_bound GPUS THREADS [STRETCHES ROUNDS]\n");
    return 2;
  }
  const int gpus = std::atoi(argv[1]);
  const Fleet fleet = Fleet::parse(fmt::format("{}xA100-40GB", gpus)).value();
  GeneratorOptions generator;
  generator.rate = 20.0 * gpus / 8;
  const JobTable table = generate(generator);
  const Costs costs = Costs::free();
  BoundInput input;
  input.fleet = &fleet;
  input.jobs = table.jobs;
  input.costs = &costs;
  AscentOptions options;
  options.threads = std::atoi(argv[2]);
  if (argc == 5) {
    options.finest = static_cast<std::size_t>(std::atoi(argv[3]));
    options.rounds = std::atoi(argv[4]);
  }
  const auto start = std::chrono::steady_clock::now();
  const CertifiedBound bound = certify(input, Objective::kEt, options).value();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  fmt::print(
      "{{\"gpus\": {}, \"jobs\": {}, \"et\": {}, \"stretches\": {}, \"wall_s\": {:.3f}, "
      "\"peak_mib\": {:.1f}}}\n",
      gpus, table.jobs.size(), bound.value, bound.prices.stretches(), seconds.count(),
      static_cast<double>(usage.ru_maxrss) / 1024);
  return 0;
}
