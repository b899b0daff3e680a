// Speed of reading a job table that is in memory: bench_reader JOBS. One JSON object out.
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>

#include "workload/generator.h"
#include "workload/job_table.h"

int main(int argc, char** argv) {
  using namespace smartmig;
  const int jobs = argc > 1 ? std::atoi(argv[1]) : 0;
  if (jobs < 1) {
    fmt::print(stderr, "usage: bench_reader JOBS\n");
    return 2;
  }
  GeneratorOptions options;
  options.fixed_rate = true;
  options.rate = 8;
  options.count = jobs;
  const std::string text = format_job_table(generate(options));
  const auto start = std::chrono::steady_clock::now();
  const auto table = parse_job_table(text, "bench");
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  SM_CHECK(table.has_value() && table->jobs.size() == static_cast<std::size_t>(jobs));
  fmt::print(
      "{{\"what\": \"read\", \"jobs\": {}, \"mb\": {:.1f}, \"wall_s\": {:.6f}, \"mb_per_s\": "
      "{:.0f}}}\n",
      jobs, static_cast<double>(text.size()) / 1e6, seconds.count(),
      static_cast<double>(text.size()) / 1e6 / seconds.count());
  return 0;
}
