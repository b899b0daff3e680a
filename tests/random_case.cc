#include "random_case.h"

#include <fmt/format.h>

#include <algorithm>

#include "policy/registry.h"
#include "workload/catalogue.h"

namespace smartmig {
namespace {

template <class T>
const T& pick(Random& random, const std::vector<T>& from) {
  return from[random.below(from.size())];
}

const std::vector<std::string>& fleets() {
  static const std::vector<std::string> all = {
      "1xA100-40GB",       "2xA100-40GB",  "3xA100-40GB",      "1xA30", "1xA100-40GB+1xH100-80GB",
      "1xA100-40GB+1xA30", "1xH200-141GB", "2xA30+1xA100-80GB"};
  return all;
}

std::string random_layout(Random& random, const Board& board) {
  const std::vector<SlotSet> all = layouts(board, base_slots(board));
  return layout_name(board, pick(random, all));
}

std::vector<std::string> random_layouts(Random& random, const Fleet& fleet) {
  std::vector<std::string> list;
  for (GpuIndex gpu = 0; gpu < fleet.gpu_count(); ++gpu)
    list.push_back(random_layout(random, fleet.board(gpu)));
  return list;
}

// Times of a few seconds to minutes, round numbers, so that different jobs meet at one instant.
Job random_job(Random& random, TimeUs submit_us, int largest_size) {
  Job job;
  job.submit_us = submit_us;
  job.kind = random.below(2) ? JobKind::kTraining : JobKind::kInference;
  const double base_s = random.below(4) == 0 ? random.uniform(0.5, 300)
                                             : static_cast<double>(1 + random.below(40)) * 5;
  static const std::vector<std::array<double, kSizeCount>> kSpeeds = {
      {1, 2, 3, 4, 7},
      {1, 4.1 / 2.2, 5.8 / 2.2, 7.1 / 2.2, 10.5 / 2.2},
      {1, 2, 3, 3, 3},
      {1, 0.9, 1.2, 1.1, 1.3},
      {1, 1, 1, 1, 1}};
  const auto& speed = pick(random, kSpeeds);
  for (int size = 0; size < kSizeCount; ++size)
    job.time_us[size] = std::max<TimeUs>(1, to_us(base_s / speed[size]));
  // Some sizes are missing, never the largest of the fleet: every policy must be able to finish.
  for (int size = 0; size < largest_size; ++size) {
    if (random.below(10) == 0) job.time_us[size] = 0;
  }
  if (random.below(6) == 0) job.memory_mib = static_cast<std::int32_t>(random.below(22000));
  const double slack = static_cast<double>(random.below(5)) * 0.5;
  const TimeUs reference = job.time_us[largest_size];
  job.deadline_us = submit_us + std::llround(slack * static_cast<double>(reference));
  if (random.below(8) == 0)
    job.preemptible = random.below(2) ? Preemptible::kYes : Preemptible::kNo;
  if (random.below(6) == 0) job.checkpoint_ms = static_cast<std::int32_t>(random.below(8)) * 1000;
  if (random.below(6) == 0) job.restore_ms = static_cast<std::int32_t>(random.below(8)) * 1000;
  return job;
}

void add_failures(Random& random, const Fleet& fleet, TimeUs span_us,
                  std::vector<GpuEvent>& events) {
  TimeUs at = 0;
  for (int i = 0; i < 3; ++i) {
    at += to_us(static_cast<double>(random.below(60)) * 5);
    const auto gpu = static_cast<GpuIndex>(random.below(fleet.gpu_count()));
    events.push_back({at, gpu, true});
    at += to_us(static_cast<double>(1 + random.below(60)) * 5);
    if (at < span_us || random.below(2))
      events.push_back({at, gpu, random.below(8) != 0 ? false : true});
  }
  // All return in the end, so that every job can run.
  for (GpuIndex gpu = 0; gpu < fleet.gpu_count(); ++gpu)
    events.push_back({at + kMinuteUs, gpu, false});
}

// Of a trace; now and then jobs that fit no slice were left out before its first job or after its
// last one.
TraceWindow random_window(Random& random, const std::vector<Job>& jobs) {
  TraceWindow window{jobs.front().submit_us, jobs.back().submit_us};
  const auto some = [&] { return to_us(static_cast<double>(random.below(120)) * 5); };
  if (random.below(4) == 0)
    window.first_submit_us = std::max<TimeUs>(0, window.first_submit_us - some());
  if (random.below(4) == 0) window.last_submit_us += some();
  return window;
}

// The words of on-demand. Jobs get speed profiles and shares of a GPU to go by.
void choose_on_demand(Random& random, RandomCase& result) {
  result.request = pick(random, std::vector<std::string>{"asked", "on-time", "by-profile"});
  result.fit = pick(random, std::vector<std::string>{"room", "first", "pack", "spread"});
  result.strict = random.below(3) == 0;
  result.keep = random.below(2) == 0;
  std::string word = result.request;
  if (result.request == "by-profile") {
    word.clear();
    for (const char* name : {"bert-inference", "resnet50-inference", "bert-training"}) {
      const int size = pick(random, std::vector<int>{1, 2, 3, 4, 7});
      result.sizes[Catalogue::shipped().find(name).value()] = size;
      word += fmt::format("{}{}={}", word.empty() ? "" : "+", name, size);
    }
  }
  result.policy = fmt::format("on-demand:{},{}{}{}", word, result.fit,
                              result.strict ? ",strict" : "", result.keep ? ",keep" : "");
}

void add_requests(Random& random, std::vector<Job>& jobs) {
  const std::vector<std::string> names = {"bert-inference", "resnet50-inference", "bert-training",
                                          "resnet50-training"};
  for (Job& job : jobs) {
    if (random.below(8) != 0) job.profile = Catalogue::shipped().find(pick(random, names)).value();
    job.request_millionths =
        pick(random, std::vector<std::int32_t>{0, 100000, 142857, 285715, 428571, 500000, 571429,
                                               800000, 1000000});
  }
}

// Jobs that come and end while slices are still being made and destroyed.
void quicken(std::vector<Job>& jobs) {
  constexpr TimeUs kTimes = 50;
  for (Job& job : jobs) {
    job.submit_us /= kTimes;
    job.deadline_us /= kTimes;
    job.estimate_us = job.estimate_us > 0 ? std::max<TimeUs>(1, job.estimate_us / kTimes) : 0;
    for (TimeUs& time_us : job.time_us)
      time_us = time_us > 0 ? std::max<TimeUs>(1, time_us / kTimes) : 0;
  }
}

}  // namespace

std::vector<std::string> policy_kinds() {
  std::vector<std::string> kinds = {"greedy", "on-demand", "miso"};
  for (const std::string& placer : placer_names()) kinds.push_back("static/" + placer);
  for (const char* kind :
       {"none/edf", "day-night/cedf", "day-night/first-fit", "count/cedf", "count/edf",
        "count/slowest-on-time", "none/shortest-remaining", "count/apparent-tardiness"}) {
    kinds.push_back(kind);
  }
  return kinds;
}

RandomCase random_case(std::uint64_t seed, std::uint64_t number, std::string_view policy_kind) {
  Random random(seed, "random case", number);
  RandomCase result;
  result.fleet = pick(random, fleets());
  const Fleet fleet = Fleet::parse(result.fleet).value();
  const std::string kind =
      policy_kind.empty() ? pick(random, policy_kinds()) : std::string(policy_kind);
  const std::size_t slash = kind.find('/');
  result.partitioner = kind.substr(0, slash);
  if (slash != std::string::npos) result.placer = kind.substr(slash + 1);
  result.policy = kind;
  if (result.partitioner == "static") {
    result.layouts = {random_layouts(random, fleet)};
    result.policy = fmt::format("static:{}/{}", fmt::join(result.layouts[0], ","), result.placer);
  } else if (result.partitioner == "day-night") {
    result.layouts = {random_layouts(random, fleet), random_layouts(random, fleet)};
    result.times_us = {kMinuteUs * static_cast<TimeUs>(random.below(3)),
                       kMinuteUs * static_cast<TimeUs>(3 + random.below(5))};
    result.policy = fmt::format("day-night:0:0{}={}+0:0{}={}/{}", result.times_us[0] / kMinuteUs,
                                fmt::join(result.layouts[0], ","), result.times_us[1] / kMinuteUs,
                                fmt::join(result.layouts[1], ","), result.placer);
  }
  Random words(seed, "random case words", number);
  if (result.partitioner == "on-demand") choose_on_demand(words, result);
  if (result.partitioner == "miso" && words.below(3) == 0) {
    result.profile_us = 5 * kSecondUs * static_cast<TimeUs>(1 + words.below(12));
    result.policy = fmt::format("miso:{}", result.profile_us / kSecondUs);
  }
  result.costs = pick(random, std::vector<std::string>{"free", "paper", "real"});
  result.preemption =
      pick(random, std::vector{Preemption::kFree, Preemption::kCheckpoint, Preemption::kOff});
  if (random.below(4) == 0) result.sigma = 0.4;

  // With fixed layouts a job must fit what is there; then it gets every size and no memory need.
  const bool fixed = result.partitioner == "static" || result.partitioner == "day-night";
  const std::size_t count = 1 + random.below(12);
  Random beliefs(seed, "random case estimates", number);
  const bool believed = beliefs.below(4) == 0;
  Random starts(seed, "random case starts", number);
  if (starts.below(3) == 0) result.start_us = to_us(static_cast<double>(starts.below(25)) / 2);
  TimeUs now = random.below(3) ? 0 : to_us(30);
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0 && random.below(3)) now += to_us(static_cast<double>(random.below(30)) * 5);
    Job job = random_job(random, now, fleet.largest_size());
    if (fixed) {
      job.memory_mib = 0;
      for (auto& time : job.time_us) time = time == 0 ? to_us(77) : time;
    }
    const double times = static_cast<double>(1 + beliefs.below(12)) / 4;
    if (believed && beliefs.below(3) > 0)
      job.estimate_us = to_us(times * to_s(time_on_largest(job)) + 1e-6);
    result.jobs.jobs.push_back(job);
  }
  if (result.partitioner == "on-demand") add_requests(words, result.jobs.jobs);
  if ((result.partitioner == "on-demand" || result.partitioner == "miso") && words.below(2) == 0)
    quicken(result.jobs.jobs);
  result.jobs.nominal_days = 1;
  if (random.below(4) == 0) add_failures(random, fleet, now, result.events);
  std::stable_sort(result.events.begin(), result.events.end(),
                   [](const GpuEvent& a, const GpuEvent& b) { return a.at_us < b.at_us; });
  if (random.below(2)) result.jobs.trace = random_window(random, result.jobs.jobs);
  return result;
}

std::string RandomCase::describe() const {
  std::string text = fmt::format("{} {} costs {} start {} us preemption {} sigma {}\n", fleet,
                                 policy, costs, start_us, to_string(preemption), sigma);
  if (jobs.trace) {
    text += fmt::format("  a trace, submits from {} to {}\n", jobs.trace->first_submit_us,
                        jobs.trace->last_submit_us);
  }
  for (std::size_t i = 0; i < jobs.jobs.size(); ++i) {
    const Job& job = jobs.jobs[i];
    text += fmt::format(
        "  job {} submit {} deadline {} times {} memory {} kind {} preemptible {} save {} restore "
        "{} estimate {} profile {} request {}\n",
        i, job.submit_us, job.deadline_us, fmt::join(job.time_us, " "), job.memory_mib,
        static_cast<int>(job.kind), static_cast<int>(job.preemptible), job.checkpoint_ms,
        job.restore_ms, job.estimate_us, job.profile, job.request_millionths);
  }
  for (const GpuEvent& event : events) {
    text +=
        fmt::format("  {} gpu {} at {}\n", event.fail ? "fail" : "return", event.gpu, event.at_us);
  }
  return text;
}

EngineOptions engine_options(const RandomCase& random) {
  EngineOptions options;
  options.costs = Costs::parse(random.costs).value();
  options.costs.start_us = random.start_us;
  options.preemption = random.preemption;
  options.estimate_sigma = random.sigma;
  options.events = random.events;
  return options;
}

}  // namespace smartmig
