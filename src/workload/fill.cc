#include "workload/fill.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "base/random.h"
#include "base/text.h"
#include "workload/catalogue.h"
#include "workload/job_table.h"
#include "workload/profile_pool.h"
#include "workload/select.h"

namespace smartmig {
namespace {

template <class Enum>
Result<Enum> parse_word(std::string_view word, std::initializer_list<std::string> words) {
  const auto at = std::ranges::find(words, word);
  if (at != words.end()) return static_cast<Enum>(at - words.begin());
  return fail("found {}, expected one of {}", in_quotes(word),
              join(std::span(words.begin(), words.size()), ", "));
}

// One stream for each rule.
struct Streams {
  explicit Streams(std::uint64_t seed)
      : kind(seed, "fill-kind"), profile(seed, "fill-profile"), deadline(seed, "fill-deadline") {}
  Random kind;
  Random profile;
  Random deadline;
};

// Scales the profile's speeds so that the observed time is the one on the size the job had. Where
// the profile does not run on that size, the observed time counts for the next larger one on which
// it does; every profile of the catalogue runs on 7g. The size that was used.
int scale_times(const std::array<double, kSizeCount>& speed, TimeUs duration_us, int seen_on,
                Job& job) {
  auto at = static_cast<std::size_t>(seen_on);
  while (speed[at] == 0) {
    ++at;
    SM_CHECK(at < speed.size());
  }
  for (std::size_t i = 0; i < speed.size(); ++i) {
    if (speed[i] == 0) continue;
    const double time_us = static_cast<double>(duration_us) * speed[at] / speed[i];
    // Bounded before the rounding, which must not overflow; is_in_range() then drops the job.
    job.time_us[i] = std::max<TimeUs>(1, std::llround(std::min(time_us, 4e6 * kMaxSeconds)));
  }
  return static_cast<int>(at);
}

constexpr double kMost = kMaxSeconds * 1e6;

// What the source believed of the observed time, as a time on the largest size.
TimeUs scale_estimate(const TraceJob& raw, const Job& job) {
  const double times = static_cast<double>(raw.estimate_us) / static_cast<double>(raw.duration_us);
  const double estimate_us = times * static_cast<double>(time_on_largest(job));
  return std::max<TimeUs>(1, std::llround(std::min(estimate_us, kMost)));
}

// Could the job stand in a job table, with any deadline the rule can draw?
bool is_in_range(const Job& job, const DeadlineRule& rule) {
  const auto longest = static_cast<double>(*std::ranges::max_element(job.time_us));
  return longest <= kMost && static_cast<double>(job.submit_us) + rule.high * longest <= kMost;
}

// Before any is made: a file of a few kilobytes can ask for more jobs than memory holds.
Result<void> check_split(const Trace& trace, const FillOptions& options, const std::string& name) {
  if (options.multi_gpu != MultiGpu::kSplit) return {};
  std::size_t jobs = 0;
  for (const TraceJob& job : trace.jobs)
    jobs += job.gpu_count > 1 ? static_cast<std::size_t>(job.gpu_count) : 0;
  if (jobs <= options.max_split_jobs) return {};
  return fail(
      "{}: --multi-gpu split makes {} jobs of its {} rows, expected at most {}; --multi-gpu drop "
      "or one makes at most one of each row",
      name, jobs, trace.report.rows_read, options.max_split_jobs);
}

class Filler {
 public:
  Filler(const Trace& trace, const FillOptions& options, ProfilePool pool)
      : options_(options), pool_(std::move(pool)), streams_(options.seed) {
    filled_.report = trace.report;
    const auto any = [&](std::string TraceJob::*field) {
      return std::ranges::any_of(trace.jobs,
                                 [&](const TraceJob& j) { return !(j.*field).empty(); });
    };
    for (const auto& [name, field] : kSelectorColumns) {
      if (!any(field)) continue;
      filled_.table.extra_header += fmt::format("{}{}", extra_.empty() ? "" : ",", name);
      extra_.push_back(field);
    }
    ran_ = std::ranges::any_of(trace.jobs, [](const TraceJob& j) { return j.start_us >= 0; });
    if (options.multi_gpu != MultiGpu::kSplit) return;
    for (const TraceJob& job : trace.jobs) ids_.insert(job.id);
  }

  void add(const TraceJob& raw) {
    if (raw.gpu_count == 1 || options_.multi_gpu == MultiGpu::kOne) {
      const double fraction = std::min(1.0, raw.gpu_fraction * raw.gpu_count);
      add_one(raw, fraction, raw.id);
      if (raw.gpu_count == 1) return;
      filled_.report.dropped.add(LossReason::kFurtherGpus,
                                 {0, 0, raw.gpu_hours() - to_s(raw.duration_us) / 3600 * fraction});
      ++merged_;
    } else if (options_.multi_gpu == MultiGpu::kDrop) {
      filled_.report.drop(LossReason::kSeveralGpus, raw);
    } else {
      for (int i = 0; i < raw.gpu_count; ++i) {
        add_one(raw, raw.gpu_fraction, part_id(raw.id, i));
      }
      ++split_;
    }
  }

  Result<FilledTrace> finish(const std::string& name) {
    TraceReport& report = filled_.report;
    if (filled_.table.jobs.empty()) {
      return fail("{}: has no job left among {} rows; dropped: {}", name, report.rows_read,
                  report.dropped.text());
    }
    finish_job_table(filled_.table);
    report.kept = kept_;
    const std::size_t jobs = filled_.table.jobs.size();
    filled_.counts = {jobs, own_deadlines_, estimated_, jobs - unknown_kinds_};
    tell();
    return std::move(filled_);
  }

 private:
  void add_one(const TraceJob& raw, double fraction, std::string_view id) {
    Job job;
    job.submit_us = raw.submit_us;
    const bool draws_training = streams_.kind.uniform() < options_.training_share;
    const bool known = raw.kind != TraceKind::kUnknown;
    const bool training = known ? raw.kind == TraceKind::kTraining : draws_training;
    job.kind = training ? JobKind::kTraining : JobKind::kInference;

    const int seen_on = size_of_request(fraction);
    job.profile = pool_.draw(job.kind, seen_on, streams_.profile);
    const int scaled_on = scale_times(pool_.speed(job.profile), raw.duration_us, seen_on, job);
    if (options_.right_size && fraction < 1) {
      std::fill_n(job.time_us.begin(), seen_on, 0);
    }
    if (options_.memory == MemoryRule::kTrace) job.memory_mib = raw.memory_mib;
    if (options_.memory == MemoryRule::kProfile && job.profile != kNoProfile) {
      job.memory_mib = Catalogue::shipped().profiles()[job.profile].memory_mib;
    }
    const double gpu_hours = to_s(raw.duration_us) / 3600 * fraction;
    const bool first_of_row = last_row_ != &raw;
    last_row_ = &raw;
    if (!is_in_range(job, options_.deadlines)) {
      streams_.deadline.uniform();
      filled_.report.dropped.add(LossReason::kTooLong, {first_of_row ? 1u : 0u, 1, gpu_hours});
      return;
    }
    set_deadline(raw, job);
    job.request_millionths = request_of(raw, fraction);
    if (raw.estimate_us > 0 && options_.own_estimates) {
      job.estimate_us = scale_estimate(raw, job);
      ++estimated_;
    }
    unknown_kinds_ += !known;
    moved_ += scaled_on != seen_on;
    with_memory_ += job.memory_mib > 0;
    kept_ += {first_of_row ? 1u : 0u, 1, gpu_hours};
    keep(raw, job, id);
    filled_.sources.push_back({gpu_hours, first_of_row});
  }

  // What was asked for, where the source says it; of one of several GPUs what the job gets of it.
  static std::int32_t request_of(const TraceJob& raw, double fraction) {
    if (raw.asked_fraction <= 0) return 0;
    const double share = raw.gpu_count == 1 ? raw.asked_fraction : fraction;
    return std::max(1, static_cast<std::int32_t>(std::lround(share * kWholeGpu)));
  }

  // A draw for every job, so that a deadline of its own leaves those of the others as they were.
  void set_deadline(const TraceJob& raw, Job& job) {
    job.deadline_us = draw_deadline(options_.deadlines, job, streams_.deadline);
    if (raw.deadline_us < 0 || !options_.own_deadlines) return;
    job.deadline_us = raw.deadline_us;
    ++own_deadlines_;
  }

  void keep(const TraceJob& raw, const Job& job, std::string_view id) {
    JobTable& table = filled_.table;
    table.jobs.push_back(job);
    table.ids.push_back(id);
    if (ran_) {
      const bool known = raw.start_us >= 0;
      table.ran_at.push_back({raw.start_us, known ? raw.start_us + raw.duration_us : -1});
    }
    if (extra_.empty()) return;
    std::string fields;
    for (const auto field : extra_) {
      if (field != extra_.front()) fields.push_back(',');
      append_csv_field(fields, raw.*field);
    }
    table.extra.push_back(fields);
  }

  // "7/0", "7/1", ...: a name no other job has.
  std::string part_id(const std::string& id, int part) {
    std::string name = fmt::format("{}/{}", id, part);
    while (!ids_.insert(name).second) name += '+';
    return name;
  }

  void tell() {
    TraceReport& report = filled_.report;
    auto& made = report.synthesised;
    made.push_back(fmt::format("all draws: seed {}", options_.seed));
    const auto& rule = options_.deadlines;
    const std::size_t jobs = filled_.table.jobs.size();
    if (own_deadlines_) report.real.push_back(fmt::format("deadlines of {} jobs", own_deadlines_));
    if (own_deadlines_ < jobs) {
      made.push_back(fmt::format("deadlines: submit + U({}, {}) x time on {}g", rule.low, rule.high,
                                 rule.size));
    }
    if (estimated_) {
      report.real.push_back(fmt::format("estimates of {} jobs, which policies see", estimated_));
    }
    if (ran_) report.real.emplace_back("start times");
    made.push_back(
        !pool_.made_up().empty()
            ? fmt::format("speeds: {}, through the observed time", pool_.made_up())
            : fmt::format("speeds: drawn from {} ({} profiles), through the observed time",
                          options_.profiles, pool_.size()));
    if (unknown_kinds_) {
      made.push_back(fmt::format("kind of {} jobs: training with probability {}", unknown_kinds_,
                                 options_.training_share));
    }
    if (options_.memory == MemoryRule::kProfile) {
      made.push_back(fmt::format("memory of {} jobs: their profile's", with_memory_));
    }
    if (options_.right_size) {
      made.push_back("right-size: jobs that asked for a fraction do not run on less than it");
    }
    if (merged_) made.push_back(fmt::format("{} jobs on several GPUs run on one", merged_));
    if (split_) {
      made.push_back(fmt::format("{} jobs on several GPUs run as one job for each GPU", split_));
    }
    if (moved_) {
      report.notes.push_back(
          fmt::format("{} jobs drew a profile that does not run on the slice they had: the "
                      "observed time counts "
                      "for the next larger one",
                      moved_));
    }
  }

  const FillOptions& options_;
  ProfilePool pool_;
  Streams streams_;
  FilledTrace filled_;
  std::unordered_set<std::string> ids_;  // Only where jobs are split.
  const TraceJob* last_row_ = nullptr;
  std::vector<std::string TraceJob::*> extra_;  // What the table's extra columns are.
  bool ran_ = false;
  Amount kept_;
  std::size_t own_deadlines_ = 0, estimated_ = 0;
  std::size_t unknown_kinds_ = 0, moved_ = 0, with_memory_ = 0, merged_ = 0, split_ = 0;
};

}  // namespace

Result<MultiGpu> parse_multi_gpu(std::string_view word) {
  return parse_word<MultiGpu>(word, {"drop", "one", "split"});
}

Result<MemoryRule> parse_memory_rule(std::string_view word) {
  return parse_word<MemoryRule>(word, {"trace", "none", "profile"});
}

int size_of_request(double gpu_fraction) {
  for (int i = 0; i < kSizeCount; ++i) {
    // 3/7 of a GPU, as a decimal or a double, is still three slices.
    if (gpu_fraction * 7 <= kSizes[i] + 1e-9) return i;
  }
  return kSizeCount - 1;
}

Result<FilledTrace> fill(const Trace& trace, const FillOptions& options, const std::string& name) {
  if (const auto few = check_split(trace, options, name); !few) return pass_on(few);
  auto pool = ProfilePool::parse(options.profiles);
  if (!pool) return pass_on(pool);
  Filler filler(trace, options, std::move(*pool));
  for (const TraceJob& job : trace.jobs) filler.add(job);
  return filler.finish(name);
}

}  // namespace smartmig
