// The papers' workload generator, to the number (docs/model/workload.md), with its choices as
// options. Everything is drawn from named streams of (seed, day), so that two days share no draw
// and a day is the same whichever days are generated beside it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/random.h"
#include "base/result.h"
#include "workload/job.h"

namespace smartmig {

// deadline = submit + U(low, high) * time on `size` (on the largest size it runs on where that one
// is missing).
struct DeadlineRule {
  double low = 1;
  double high = 1.5;
  int size = 7;
};
// "1:1.5" or "1:1.5@1g"; 0 <= low <= high <= 1e6.
Result<DeadlineRule> parse_deadline_rule(std::string_view text);
std::string to_string(const DeadlineRule& rule);
// A deadline for a job whose submit time and times on slices are set; one draw.
TimeUs draw_deadline(const DeadlineRule& rule, const Job& job, Random& random);

// How the times on 1g are spread; the mean of each kind is the papers' in all of them.
enum class JobTimes : std::uint8_t {
  kPaper,        // Inference exponential, training lognormal and narrow.
  kConstant,     // Every job its kind's mean.
  kExponential,  // Both kinds.
  kHeavy         // Both lognormal, the standard deviation nearly three times the mean.
};
Result<JobTimes> parse_job_times(std::string_view word);

struct GeneratorOptions {
  bool fixed_rate = false;  // false: the daily curve; true: `count` jobs at `rate` a minute.
  double rate = 20;         // Multiplies the curve; for fixed_rate, jobs a minute.
  int days = 1;             // On end, from midnight; daily curve only.
  int count = 0;            // Jobs; fixed_rate only.
  std::uint64_t seed = 1;
  std::uint64_t day = 0;  // The number of the stream.
  DeadlineRule deadlines;
  double training_share = 0.2;
  JobTimes times = JobTimes::kPaper;
  bool linear_speeds = false;  // Speed k on size k, in place of the papers' four profiles.
  // By hour of day, before `rate`. In an hour of 0 no gap begins; the one before it may end there.
  std::array<double, 24> rate_per_minute;

  GeneratorOptions();  // The papers' values.
};

// Days to learn on have numbers from here on, which no day of a report reaches.
inline constexpr std::uint64_t kTrainingDays = 1'000'000;

// One line that names the option out of range. At most 1e8 jobs are expected, and 100 years.
Result<void> check_options(const GeneratorOptions& options);

// Jobs in order of arrival. The options must pass check_options(); anything else is a bug of the
// caller.
JobTable generate(const GeneratorOptions& options);

}  // namespace smartmig
