// Speed and memory of the event engine: one measurement a call, one JSON object out.
//   bench_engine day DAYS            the papers' day, 8 GPUs, static/cedf, everything reassigned at
//   each event bench_engine fleet GPUS JOBS     no preemption, first-fit, records off, the papers'
//   load for each GPU bench_engine queue JOBS          all jobs waiting at once on one GPU: bytes a
//   job
// wall_s is the engine alone, without making the jobs. peak_mib is the whole process.
#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>

#include "policy/registry.h"
#include "sim/engine.h"
#include "workload/generator.h"

namespace smartmig {
namespace {

double peak_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

// What is resident now, from Linux's page counts.
double resident_mib() {
  long pages = 0;
  long resident = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  SM_CHECK(file && std::fscanf(file, "%ld %ld", &pages, &resident) == 2);
  std::fclose(file);
  return static_cast<double>(resident) * 4096 / (1024 * 1024);
}

struct Timed {
  long events = 0;
  double seconds = 0;
  double cpu_s = 0;  // Of this process: what a busy machine leaves alone.
};

double cpu_now_s() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

Timed run(const Fleet& fleet, const JobTable& jobs, const std::string& spec,
          Preemption preemption) {
  const Policy policy = make_policy(spec, fleet).value();
  EngineOptions options;
  options.preemption = preemption;
  const auto start = std::chrono::steady_clock::now();
  const double cpu_start_s = cpu_now_s();
  Engine engine(fleet, jobs, policy, options);
  const auto done = engine.run();
  SM_CHECK(done.has_value());
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  return {engine.events(), seconds.count(), cpu_now_s() - cpu_start_s};
}

void print(std::string_view what, std::size_t gpus, std::size_t jobs, const Timed& timed) {
  fmt::print(
      "{{\"what\": \"{}\", \"gpus\": {}, \"jobs\": {}, \"events\": {}, \"wall_s\": {:.6f}, "
      "\"events_per_s\": {:.0f}, \"events_per_cpu_s\": {:.0f}, "
      "\"peak_mib\": {:.1f}}}\n",
      what, gpus, jobs, timed.events, timed.seconds,
      static_cast<double>(timed.events) / timed.seconds,
      static_cast<double>(timed.events) / timed.cpu_s, peak_mib());
}

void day(int days) {
  const Fleet fleet = Fleet::parse("8xA100-40GB").value();
  Timed sum;
  std::size_t jobs = 0;
  for (int i = 0; i < days; ++i) {
    GeneratorOptions options;
    options.day = static_cast<std::uint64_t>(i);
    const JobTable table = generate(options);
    const Timed timed =
        run(fleet, table, "static:7,7,4-3,4-2-1,4-2-1,3-3,3-3,2-2-1-1-1/cedf", Preemption::kFree);
    sum.events += timed.events;
    sum.seconds += timed.seconds;
    sum.cpu_s += timed.cpu_s;
    jobs += table.jobs.size();
  }
  print("day", fleet.gpu_count(), jobs, sum);
}

JobTable steady_jobs(int gpus, int count) {
  GeneratorOptions options;
  options.fixed_rate = true;
  options.rate = 0.36 * gpus;  // The papers' day: 4,149 jobs in 1,440 minutes on 8 GPUs.
  options.count = count;
  return generate(options);
}

void fleet(int gpus, int count) {
  const Fleet fleet = Fleet::parse(fmt::format("{}xA100-40GB", gpus)).value();
  const JobTable jobs = steady_jobs(gpus, count);
  print("fleet", fleet.gpu_count(), jobs.jobs.size(),
        run(fleet, jobs, fmt::format("static:4-2-1*{}/first-fit", gpus), Preemption::kOff));
}

void queue(int count) {
  const Fleet fleet = Fleet::parse("1xA100-40GB").value();
  JobTable jobs = steady_jobs(1, count);
  for (Job& job : jobs.jobs) job.submit_us = 0;
  const double before = resident_mib();
  const Policy policy = make_policy("static:4-2-1/first-fit", fleet).value();
  EngineOptions options;
  options.preemption = Preemption::kOff;
  Engine engine(fleet, jobs, policy, options);
  SM_CHECK(engine.step());
  const double engine_bytes = (resident_mib() - before) * 1024 * 1024 / count;
  fmt::print(
      "{{\"what\": \"queue\", \"jobs\": {}, \"waiting\": {}, \"table_bytes_per_job\": {}, "
      "\"engine_bytes_per_job\": {:.1f}, "
      "\"bytes_per_job\": {:.1f}, \"peak_mib\": {:.1f}}}\n",
      count, engine.state().ready_count(), sizeof(Job), engine_bytes,
      engine_bytes + static_cast<double>(sizeof(Job)), peak_mib());
}

}  // namespace
}  // namespace smartmig

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  const auto number = [&](int i) { return argc > i ? std::atoi(argv[i]) : 0; };
  if (what == "day" && number(2) > 0) {
    smartmig::day(number(2));
  } else if (what == "fleet" && number(2) > 0 && number(3) > 0) {
    smartmig::fleet(number(2), number(3));
  } else if (what == "queue" && number(2) > 0) {
    smartmig::queue(number(2));
  } else {
    fmt::print(stderr, "usage: bench_engine day DAYS | fleet GPUS JOBS | queue JOBS\n");
    return 2;
  }
  return 0;
}
