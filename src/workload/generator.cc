#include "workload/generator.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "workload/catalogue.h"

namespace smartmig {
namespace {

// Limits that keep a table in memory and every time far inside an int64 of microseconds: the
// longest gap that Random can draw is 37 times the mean.
constexpr double kMostJobs = 1e8;
constexpr int kMostDays = 36'500;
constexpr double kLeastRate = 1e-6;  // Jobs a minute.
constexpr double kMostRate = 1e9;
constexpr double kMinute = static_cast<double>(kMinuteUs);

// Time on 1g, as the papers give it: inference exponential; training lognormal with these 5 % and
// 95 % points.
constexpr double kInferenceMeanMin = 3;
constexpr double kTraining5Min = 40;
constexpr double kTraining95Min = 60;
constexpr double kNormal95 = 1.6448536269514722;  // The standard normal's 95 % point.
constexpr double kHeavySigma = 1.5;               // Of ln(time); ours.
constexpr double kBertShare = 2.0 / 3.0;          // In both kinds; the rest is ResNet-50.

// Times of arrival in microseconds, from 0. Not rounded between arrivals, so that rounding does not
// add up.
class Arrivals {
 public:
  explicit Arrivals(const GeneratorOptions& options)
      : options_(options), random_(options.seed, "arrivals", options.day) {}

  double next() {
    // Poisson with the rate of the present hour: the gap is drawn at the last arrival and not
    // redrawn when it crosses into the next hour, which is what the papers do.
    double rate = rate_per_minute();
    while (rate == 0) {
      now_us_ =
          (std::floor(now_us_ / static_cast<double>(kHourUs)) + 1) * static_cast<double>(kHourUs);
      rate = rate_per_minute();
    }
    now_us_ += random_.exponential(1 / rate) * kMinute;
    return now_us_;
  }

 private:
  double rate_per_minute() const {
    if (options_.fixed_rate) return options_.rate;
    const auto hour = static_cast<std::int64_t>(now_us_ / static_cast<double>(kHourUs));
    return options_.rate_per_minute[static_cast<std::size_t>(hour % 24)] * options_.rate;
  }

  const GeneratorOptions& options_;
  Random random_;
  double now_us_ = 0;
};

// Catalogue indices of the papers' four profiles.
struct PaperProfiles {
  std::uint16_t bert[2];  // By JobKind.
  std::uint16_t resnet50[2];
};

PaperProfiles paper_profiles() {
  const auto index = [](const char* name) {
    const auto found = Catalogue::shipped().find(name);
    SM_CHECK(found.has_value());
    return *found;
  };
  return {{index("bert-inference"), index("bert-training")},
          {index("resnet50-inference"), index("resnet50-training")}};
}

// Relative speeds; for linear jobs k on size k.
std::array<double, kSizeCount> speeds(std::uint16_t profile) {
  if (profile != kNoProfile) return Catalogue::shipped().profiles()[profile].speed;
  std::array<double, kSizeCount> linear{};
  for (std::size_t i = 0; i < linear.size(); ++i) linear[i] = kSizes[i];
  return linear;
}

// ln(minutes) is normal with this mean and deviation.
struct Lognormal {
  double mu = 0;
  double sigma = 0;
  double mean() const { return std::exp(mu + sigma * sigma / 2); }
};
const Lognormal& paper_training() {
  static const Lognormal times = {
      (std::log(kTraining5Min) + std::log(kTraining95Min)) / 2,
      (std::log(kTraining95Min) - std::log(kTraining5Min)) / (2 * kNormal95)};
  return times;
}

double draw_paper_min(JobKind kind, Random& random) {
  if (kind == JobKind::kInference) return random.exponential(kInferenceMeanMin);
  return random.lognormal(paper_training().mu, paper_training().sigma);
}

double draw_time_1g_us(JobTimes times, JobKind kind, Random& random) {
  const double mean_min = kind == JobKind::kTraining ? paper_training().mean() : kInferenceMeanMin;
  double minutes = mean_min;
  if (times == JobTimes::kPaper) minutes = draw_paper_min(kind, random);
  if (times == JobTimes::kExponential) minutes = random.exponential(mean_min);
  if (times == JobTimes::kHeavy) {
    const double mu = std::log(mean_min) - kHeavySigma * kHeavySigma / 2;
    minutes = random.lognormal(mu, kHeavySigma);
  }
  return minutes * kMinute;
}

// Of `count` jobs at `rate` a minute.
Result<void> check_fixed(const GeneratorOptions& options) {
  if (!(options.count >= 1 && options.count <= kMostJobs)) {
    return fail("count: found {}, expected a whole number from 1 to {}", options.count, kMostJobs);
  }
  const double days = options.count / options.rate / (24 * 60);
  if (days > kMostDays) {
    return fail("count and rate: found {:.3g} days to expect, expected at most {}", days,
                kMostDays);
  }
  return {};
}

Result<void> check_daily(const GeneratorOptions& options) {
  if (options.days < 1 || options.days > kMostDays) {
    return fail("days: found {}, expected a whole number from 1 to {}", options.days, kMostDays);
  }
  double jobs = 0;  // To expect in all.
  for (const double per_minute : options.rate_per_minute) {
    const double rate = per_minute * options.rate;
    if (!(rate == 0 || (rate >= kLeastRate && rate <= kMostRate))) {
      return fail("rate of an hour: found {} a minute, expected 0 or a number from {} to {}", rate,
                  kLeastRate, kMostRate);
    }
    jobs += rate * 60 * options.days;
  }
  if (jobs == 0) return fail("rate of an hour: found 0 in every hour, expected some above");
  if (jobs > kMostJobs) {
    return fail("rate and days: found {:.3g} jobs to expect, expected at most {}", jobs, kMostJobs);
  }
  return {};
}

}  // namespace

GeneratorOptions::GeneratorOptions() {
  const auto curve = find_curve("paper");
  SM_CHECK(curve.has_value());
  rate_per_minute = (*curve)->rate_per_minute;
}

Result<DeadlineRule> parse_deadline_rule(std::string_view text) {
  const auto bad = [&](std::string_view expected) {
    return fail("deadlines: found {}, expected {}", in_quotes(text), expected);
  };
  DeadlineRule rule;
  std::string_view range = text;
  if (const std::size_t at = text.find('@'); at != std::string_view::npos) {
    const std::string_view size = text.substr(at + 1);
    range = text.substr(0, at);
    const bool one_digit = size.size() == 2 && size[1] == 'g' && size[0] >= '0' && size[0] <= '9';
    rule.size = one_digit ? size[0] - '0' : 0;
    if (size_index(rule.size) < 0) return bad("1g, 2g, 3g, 4g or 7g after the '@'");
  }
  const auto ends = split(range, ':');
  if (ends.size() != 2) return bad("LOW:HIGH or LOW:HIGH@SIZE, such as 1:1.5 or 1:1.5@1g");
  const auto low = parse_number(ends[0]);
  const auto high = parse_number(ends[1]);
  if (!low || !high) return bad("two numbers, such as 1:1.5");
  if (*low < 0 || *high < *low || *high > 1e6) return bad("0 <= LOW <= HIGH <= 1e6");
  rule.low = *low;
  rule.high = *high;
  return rule;
}

std::string to_string(const DeadlineRule& rule) {
  const std::string range = fmt::format("{}:{}", rule.low, rule.high);
  return rule.size == 7 ? range : fmt::format("{}@{}g", range, rule.size);
}

TimeUs draw_deadline(const DeadlineRule& rule, const Job& job, Random& random) {
  const int at = size_index(rule.size);
  SM_CHECK(at >= 0);
  TimeUs time_us = job.time_us[static_cast<std::size_t>(at)];
  for (std::size_t i = job.time_us.size(); time_us == 0 && i-- > 0;) time_us = job.time_us[i];
  return job.submit_us +
         std::llround(random.uniform(rule.low, rule.high) * static_cast<double>(time_us));
}

Result<JobTimes> parse_job_times(std::string_view word) {
  static const std::string kWords[] = {"paper", "constant", "exponential", "heavy"};
  const auto at = std::find(std::begin(kWords), std::end(kWords), word);
  if (at != std::end(kWords)) return static_cast<JobTimes>(at - std::begin(kWords));
  return fail("found {}{}", in_quotes(word), suggestion(word, kWords));
}

Result<void> check_options(const GeneratorOptions& options) {
  // Negated, so that a NaN fails.
  if (!(options.rate >= kLeastRate && options.rate <= kMostRate)) {
    return fail("rate: found {}, expected a number from {} to {}", options.rate, kLeastRate,
                kMostRate);
  }
  if (!(options.training_share >= 0 && options.training_share <= 1)) {
    return fail("training share: found {}, expected a number from 0 to 1", options.training_share);
  }
  const DeadlineRule& rule = options.deadlines;
  if (!(rule.low >= 0 && rule.high >= rule.low && rule.high <= 1e6) || size_index(rule.size) < 0) {
    return fail("deadlines: found {}, expected 0 <= LOW <= HIGH <= 1e6 and a size",
                to_string(rule));
  }
  return options.fixed_rate ? check_fixed(options) : check_daily(options);
}

JobTable generate(const GeneratorOptions& options) {
  SM_CHECK(check_options(options).has_value());
  Arrivals arrivals(options);
  // A stream for each thing, so that a change of one option leaves every other draw as it was.
  Random kinds(options.seed, "kinds", options.day);
  Random profiles(options.seed, "profiles", options.day);
  Random times(options.seed, "times", options.day);
  Random deadlines(options.seed, "deadlines", options.day);
  const PaperProfiles paper = paper_profiles();
  const double end_us = static_cast<double>(kDayUs) * options.days;

  JobTable table;
  for (bool more = true; more;) {
    const double arrival_us = arrivals.next();
    Job job;
    job.submit_us = std::llround(arrival_us);
    job.kind = kinds.uniform() < options.training_share ? JobKind::kTraining : JobKind::kInference;
    const auto kind = static_cast<std::size_t>(job.kind);
    if (!options.linear_speeds) {
      job.profile = profiles.uniform() < kBertShare ? paper.bert[kind] : paper.resnet50[kind];
    }
    const double time_1g_us = draw_time_1g_us(options.times, job.kind, times);
    const auto speed = speeds(job.profile);
    for (std::size_t i = 0; i < speed.size(); ++i) {
      job.time_us[i] = std::max<TimeUs>(1, std::llround(time_1g_us * speed[0] / speed[i]));
    }
    job.deadline_us = draw_deadline(options.deadlines, job, deadlines);
    table.jobs.push_back(job);
    // The first arrival past the end is kept.
    more = options.fixed_rate ? table.jobs.size() < static_cast<std::size_t>(options.count)
                              : arrival_us < end_us;
  }

  const TimeUs span_us = table.jobs.back().submit_us - table.jobs.front().submit_us;
  // One job has no span; a day keeps what is divided by it finite.
  const double span_days =
      span_us == 0 ? 1 : static_cast<double>(span_us) / static_cast<double>(kDayUs);
  table.nominal_days = options.fixed_rate ? span_days : options.days;
  return table;
}

}  // namespace smartmig
