#include "workload/generator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "workload/catalogue.h"

namespace smartmig {
namespace {

// MODEL.md's rates, typed again here: the shipped file must agree with them.
constexpr double kRates[24] = {.111, .083, .085, .100, .137, .169, .171, .169,
                               .179, .191, .201, .188, .170, .177, .168, .171,
                               .163, .138, .120, .111, .129, .116, .106, .104};

JobTable day(std::uint64_t seed, std::uint64_t number) {
  GeneratorOptions options;
  options.seed = seed;
  options.day = number;
  return generate(options);
}

// Jobs of 400 days at the default multiplier 20, about 1.66 million.
const std::vector<JobTable>& many_days() {
  static const std::vector<JobTable> tables = [] {
    std::vector<JobTable> made;
    for (std::uint64_t i = 0; i < 400; ++i) made.push_back(day(1 + i % 20, i));
    return made;
  }();
  return tables;
}

std::vector<Job> jobs_of(JobKind kind) {
  std::vector<Job> jobs;
  for (const JobTable& table : many_days()) {
    for (const Job& job : table.jobs) {
      if (job.kind == kind) jobs.push_back(job);
    }
  }
  return jobs;
}

std::vector<double> minutes_on_1g(JobKind kind) {
  std::vector<double> minutes;
  for (const Job& job : jobs_of(kind)) minutes.push_back(to_min(job.time_us[0]));
  std::sort(minutes.begin(), minutes.end());
  return minutes;
}

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double quantile(const std::vector<double>& sorted, double p) {
  return sorted[static_cast<std::size_t>(p * static_cast<double>(sorted.size() - 1))];
}

std::uint64_t hash_of(const JobTable& table) {
  std::uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a, each number as eight bytes, lowest first
  const auto mix = [&](TimeUs value) {
    for (int i = 0; i < 8; ++i)
      hash = (hash ^ ((static_cast<std::uint64_t>(value) >> (8 * i)) & 255)) * 0x100000001b3u;
  };
  for (const Job& job : table.jobs) {
    mix(job.submit_us);
    mix(job.deadline_us);
    for (const TimeUs time : job.time_us) mix(time);
  }
  return hash;
}

// How a gap that crosses into hour h, drawn at the rate of the hour before, changes the number
// expected in it: the crossing gap lasts 1/r(h-1) where a Poisson process of the new rate would
// have 1/r(h).
double expected_in_hour(int hour) {
  const double plain = kRates[hour] * 20 * 60;
  return hour == 0 ? plain : plain - (kRates[hour] / kRates[hour - 1] - 1);
}

TEST(Generator, HasThePapersRatesAsDefault) {
  const GeneratorOptions options;
  for (int h = 0; h < 24; ++h)
    EXPECT_EQ(options.rate_per_minute[static_cast<std::size_t>(h)], kRates[h]);
  EXPECT_EQ(options.rate, 20);
}

TEST(Generator, GivesTheExpectedNumberOfJobsADay) {
  double expected = 1;  // The first arrival past midnight is kept.
  for (int h = 0; h < 24; ++h) expected += expected_in_hour(h);
  EXPECT_NEAR(expected, 4149.27, 0.01);
  std::vector<double> counts;
  for (const JobTable& table : many_days())
    counts.push_back(static_cast<double>(table.jobs.size()));
  const double standard_error = std::sqrt(expected / static_cast<double>(counts.size()));
  EXPECT_NEAR(mean_of(counts), expected, 3 * standard_error);
  double variance = 0;
  for (const double count : counts) variance += (count - expected) * (count - expected);
  variance /= static_cast<double>(counts.size());
  EXPECT_NEAR(variance / expected, 1,
              3 * std::sqrt(2.0 / static_cast<double>(counts.size())));  // Poisson
}

TEST(Generator, FollowsTheDailyCurve) {
  std::array<double, 24> counts{};
  for (const JobTable& table : many_days()) {
    for (const Job& job : table.jobs) {
      if (job.submit_us < kDayUs) ++counts[static_cast<std::size_t>(job.submit_us / kHourUs)];
    }
  }
  double chi_square = 0;
  for (int h = 0; h < 24; ++h) {
    const double expected = expected_in_hour(h) * static_cast<double>(many_days().size());
    const double off = counts[static_cast<std::size_t>(h)] - expected;
    chi_square += off * off / expected;
  }
  // 24 degrees of freedom: 0.1 % on either side.
  EXPECT_LT(chi_square, 51.2);
  EXPECT_GT(chi_square, 7.5);
}

TEST(Generator, KeepsOneArrivalPastTheEndOfTheDay) {
  for (const JobTable& table : many_days()) {
    ASSERT_GE(table.jobs.back().submit_us, kDayUs);
    ASSERT_LT(table.jobs[table.jobs.size() - 2].submit_us, kDayUs);
    ASSERT_EQ(table.nominal_days, 1);
  }
}

TEST(Generator, DrawsAGapAtTheRateOfThePresentHour) {
  GeneratorOptions options;
  options.rate = 1;
  options.rate_per_minute.fill(10);
  options.rate_per_minute[0] = 1.0 / 600;  // A mean gap of ten hours, drawn at midnight.
  std::vector<double> first;
  for (options.day = 0; options.day < 2000; ++options.day) {
    first.push_back(to_min(generate(options).jobs.front().submit_us));
  }
  // Redrawn at one o'clock it would be about 60 minutes.
  EXPECT_NEAR(mean_of(first), 600, 3 * 600 / std::sqrt(2000.0));
}

TEST(Generator, BeginsNoGapInAnHourWithoutArrivals) {
  GeneratorOptions options;
  options.days = 3;
  std::fill_n(options.rate_per_minute.begin(), 12, 0.0);
  std::map<TimeUs, int> morning;  // By day.
  TimeUs first = kNever;
  for (const Job& job : generate(options).jobs) {
    first = std::min(first, job.submit_us);
    if (job.submit_us % kDayUs < 12 * kHourUs) ++morning[job.submit_us / kDayUs];
  }
  EXPECT_GT(first, 12 * kHourUs);
  for (const auto& [number, count] : morning)
    EXPECT_EQ(count, 1) << number;  // The gap of the night before.
}

TEST(Generator, SharesKindsAndProfilesAsThePapersDo) {
  std::map<std::string, double> share;
  double total = 0;
  for (const JobTable& table : many_days()) {
    for (const Job& job : table.jobs) {
      const SpeedProfile& profile = Catalogue::shipped().profiles()[job.profile];
      ASSERT_EQ(profile.kind, job.kind);
      ++share[profile.name];
      ++total;
    }
  }
  const std::map<std::string, double> expected = {{"bert-inference", .8 * 2 / 3},
                                                  {"resnet50-inference", .8 / 3},
                                                  {"bert-training", .2 * 2 / 3},
                                                  {"resnet50-training", .2 / 3}};
  ASSERT_EQ(share.size(), expected.size());
  for (const auto& [name, p] : expected) {
    EXPECT_NEAR(share[name] / total, p, 3 * std::sqrt(p * (1 - p) / total)) << name;
  }
}

TEST(Generator, DrawsInferenceTimesFromAnExponential) {
  const std::vector<double> minutes = minutes_on_1g(JobKind::kInference);
  const double n = static_cast<double>(minutes.size());
  EXPECT_NEAR(mean_of(minutes), 3, 3 * 3 / std::sqrt(n));
  for (const double p : {.05, .25, .5, .75, .95, .99}) {
    // The standard error of a quantile is sqrt(p (1-p) / n) over the density there.
    const double density = (1 - p) / 3;
    EXPECT_NEAR(quantile(minutes, p), -3 * std::log(1 - p),
                4 * std::sqrt(p * (1 - p) / n) / density)
        << p;
  }
}

TEST(Generator, DrawsTrainingTimesFromALognormalBetween40And60Minutes) {
  const std::vector<double> minutes = minutes_on_1g(JobKind::kTraining);
  EXPECT_NEAR(quantile(minutes, .05), 40, .08);
  EXPECT_NEAR(quantile(minutes, .5), std::sqrt(40.0 * 60.0), .06);
  EXPECT_NEAR(quantile(minutes, .95), 60, .12);
  // exp(mu + sigma^2/2) with mu = 3.891612, sigma = .1232533, by hand.
  EXPECT_NEAR(mean_of(minutes), 49.3634, .05);
}

TEST(Generator, DividesTimesByThePublishedSpeeds) {
  const std::map<std::string, std::array<double, kSizeCount>> speed = {
      {"bert-training", {1, 4.1 / 2.2, 5.8 / 2.2, 7.1 / 2.2, 10.5 / 2.2}},
      {"resnet50-training", {1, 6 / 3.4, 7.85 / 3.4, 8.4 / 3.4, 9.75 / 3.4}},
      {"bert-inference", {1, 2, 3, 4, 7}},
      {"resnet50-inference", {1, 2, 3, 12.5 / 3.2, 18.4 / 3.2}}};
  for (const Job& job : day(1, 0).jobs) {
    const auto& expected = speed.at(Catalogue::shipped().profiles()[job.profile].name);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      // Both times are rounded to a microsecond.
      ASSERT_NEAR(static_cast<double>(job.time_us[i]),
                  static_cast<double>(job.time_us[0]) / expected[i], 1);
    }
    ASSERT_EQ(job.memory_mib, 0);
  }
}

TEST(Generator, GivesLinearJobsSpeedKOnSizeK) {
  GeneratorOptions options;
  options.linear_speeds = true;
  const JobTable linear = generate(options);
  const JobTable paper = day(1, 0);
  ASSERT_EQ(linear.jobs.size(), paper.jobs.size());
  for (std::size_t j = 0; j < linear.jobs.size(); ++j) {
    const Job& job = linear.jobs[j];
    ASSERT_EQ(job.profile, kNoProfile);
    ASSERT_EQ(job.kind, paper.jobs[j].kind);
    ASSERT_EQ(job.time_us[0], paper.jobs[j].time_us[0]);  // Only the speeds differ.
    for (std::size_t i = 0; i < kSizes.size(); ++i) {
      ASSERT_NEAR(static_cast<double>(job.time_us[i] * kSizes[i]),
                  static_cast<double>(job.time_us[0]), kSizes[i]);
    }
  }
}

TEST(Generator, DrawsDeadlinesUniformlyInTheRangeOfTheRule) {
  for (const auto& [text, size, low, high] : {std::tuple{"1:1.5", 4, 1.0, 1.5},
                                              {"2:4", 4, 2.0, 4.0},
                                              {"1:1.5@1g", 0, 1.0, 1.5},
                                              {"0:0@3g", 2, 0.0, 0.0}}) {
    GeneratorOptions options;
    options.deadlines = *parse_deadline_rule(text);
    std::vector<double> factors;
    for (const Job& job : generate(options).jobs) {
      const auto time = static_cast<double>(job.time_us[static_cast<std::size_t>(size)]);
      const auto slack = static_cast<double>(job.deadline_us - job.submit_us);
      ASSERT_GE(slack, low * time - .5);
      ASSERT_LE(slack, high * time + .5);
      factors.push_back(slack / time);
    }
    const double standard_error =
        (high - low) / std::sqrt(12.0 * static_cast<double>(factors.size()));
    EXPECT_NEAR(mean_of(factors), (low + high) / 2, 3 * standard_error + 1e-9) << text;
  }
}

TEST(Generator, TakesTheLargestSizeAJobRunsOnWhereTheRulesIsMissing) {
  Job job;
  job.submit_us = 1000;
  job.time_us = {0, 0, 500, 400, 0};
  Random random(1, "test");
  EXPECT_EQ(draw_deadline({2, 2, 7}, job, random), 1000 + 2 * 400);
  EXPECT_EQ(draw_deadline({2, 2, 3}, job, random), 1000 + 2 * 500);
  EXPECT_EQ(draw_deadline({2, 2, 1}, job, random), 1000 + 2 * 400);
}

// Frozen: a change of any draw, rate or speed fails here. The first jobs and the hash over the
// whole day come from a second implementation in another language.
TEST(Generator, ReproducesTheFrozenDay) {
  const JobTable table = day(1, 0);
  ASSERT_EQ(table.jobs.size(), 4047u);
  const Job& first = table.jobs[0];
  EXPECT_EQ(first.submit_us, 14'976'543);
  EXPECT_EQ(first.deadline_us, 18'628'387);
  EXPECT_EQ(first.time_us, (std::array<TimeUs, kSizeCount>{17'987'754, 8'993'877, 5'995'918,
                                                           4'496'938, 2'569'679}));
  const Job& second = table.jobs[1];
  EXPECT_EQ(second.kind, JobKind::kTraining);
  EXPECT_EQ(second.submit_us, 79'526'909);
  EXPECT_EQ(second.deadline_us, 971'342'808);
  EXPECT_EQ(second.time_us,
            (std::array<TimeUs, kSizeCount>{2'852'040'788, 1'530'363'350, 1'081'808'575,
                                            883'730'948, 597'570'451}));
  EXPECT_EQ(hash_of(table), 0x389700896444c5cu);
}

TEST(Generator, GivesEveryDayOfEverySeedItsOwnDraws) {
  std::set<TimeUs> seen;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    for (std::uint64_t number = 0; number < 20; ++number) {
      GeneratorOptions options;
      options.fixed_rate = true;
      options.count = 5;
      options.seed = seed;
      options.day = number;
      const JobTable table = generate(options);
      for (const Job& job : table.jobs) {
        EXPECT_TRUE(seen.insert(job.time_us[0]).second) << seed << " " << number;
      }
      EXPECT_EQ(hash_of(table), hash_of(generate(options)));
    }
  }
}

TEST(Generator, PutsDaysOnEnd) {
  GeneratorOptions options;
  options.days = 3;
  const JobTable three = generate(options);
  const JobTable one = day(1, 0);
  // The same stream: the first day of three is the day alone.
  for (std::size_t j = 0; j < one.jobs.size(); ++j)
    ASSERT_EQ(three.jobs[j].submit_us, one.jobs[j].submit_us);
  EXPECT_EQ(three.nominal_days, 3);
  EXPECT_GE(three.jobs.back().submit_us, 3 * kDayUs);
  EXPECT_LT(three.jobs[three.jobs.size() - 2].submit_us, 3 * kDayUs);
  EXPECT_NEAR(static_cast<double>(three.jobs.size()), 3 * 4148.4, 3 * std::sqrt(3 * 4148.4));
  EXPECT_TRUE(std::is_sorted(three.jobs.begin(), three.jobs.end(),
                             [](const Job& a, const Job& b) { return a.submit_us < b.submit_us; }));
}

TEST(Generator, MakesAsManyJobsAsAskedAtAFixedRate) {
  GeneratorOptions options;
  options.fixed_rate = true;
  options.rate = 8;
  options.count = 100'000;
  const JobTable table = generate(options);
  ASSERT_EQ(table.jobs.size(), 100'000u);
  const TimeUs span = table.jobs.back().submit_us - table.jobs.front().submit_us;
  EXPECT_NEAR(to_min(span) / 99'999, 1.0 / 8, 3.0 / 8 / std::sqrt(99'999.0));
  EXPECT_EQ(table.nominal_days, static_cast<double>(span) / static_cast<double>(kDayUs));
  options.count = 1;
  EXPECT_EQ(generate(options).nominal_days, 1);
}

TEST(Generator, ChangesOnlyWhatAnOptionNames) {
  const JobTable plain = day(1, 0);
  GeneratorOptions options;
  options.deadlines = {2, 4, 7};
  const JobTable relaxed = generate(options);
  ASSERT_EQ(relaxed.jobs.size(), plain.jobs.size());
  for (std::size_t j = 0; j < plain.jobs.size(); ++j) {
    ASSERT_EQ(relaxed.jobs[j].submit_us, plain.jobs[j].submit_us);
    ASSERT_EQ(relaxed.jobs[j].time_us, plain.jobs[j].time_us);
  }
  options.training_share = 1;
  for (const Job& job : generate(options).jobs) ASSERT_EQ(job.kind, JobKind::kTraining);
}

TEST(Generator, RefusesOptionsOutOfRange) {
  const auto message = [](auto change) {
    GeneratorOptions options;
    change(options);
    const auto checked = check_options(options);
    return checked ? std::string() : checked.error().message;
  };
  EXPECT_EQ(message([](auto&) {}), "");
  EXPECT_EQ(message([](auto& o) { o.rate = 0; }),
            "rate: found 0, expected a number from 1e-06 to 1000000000");
  EXPECT_NE(message([](auto& o) { o.rate = std::nan(""); }), "");
  EXPECT_NE(message([](auto& o) { o.rate = 1e6; }), "");  // 2e8 jobs.
  EXPECT_EQ(message([](auto& o) { o.days = 0; }),
            "days: found 0, expected a whole number from 1 to 36500");
  EXPECT_NE(message([](auto& o) { o.training_share = 1.1; }), "");
  EXPECT_NE(message([](auto& o) { o.rate_per_minute.fill(0); }), "");
  EXPECT_NE(message([](auto& o) { o.rate_per_minute[3] = -1; }), "");
  EXPECT_NE(message([](auto& o) { o.deadlines.size = 5; }), "");
  EXPECT_NE(message([](auto& o) { o.fixed_rate = true; }), "");  // No count.
  EXPECT_NE(message([](auto& o) {
              o.fixed_rate = true;
              o.rate = 1e-6;
              o.count = 100;
            }),
            "");  // 190 years.
}

TEST(DeadlineRule, IsReadAndWrittenTheSame) {
  for (const char* text :
       {"1:1.5", "2:4", "0:0", "1:1.5@1g", "0.25:1000000@2g", "1:1@3g", "1:2@4g"}) {
    const auto rule = parse_deadline_rule(text);
    ASSERT_TRUE(rule) << text;
    EXPECT_EQ(to_string(*rule), text);
  }
  EXPECT_EQ(to_string(*parse_deadline_rule("1:1.5@7g")), "1:1.5");
  EXPECT_EQ(parse_deadline_rule("1:1.5")->size, 7);
}

TEST(DeadlineRule, RefusesWhatIsNotARange) {
  for (const char* text : {"", "1", "1:", ":2", "1:2:3", "a:b", "2:1", "-1:1", "1:inf", "1:nan",
                           "1:1e7", "1:2@", "1:2@5g", "1:2@1", "1:2@7gg", "1:2@1g@1g", " 1:2"}) {
    const auto rule = parse_deadline_rule(text);
    ASSERT_FALSE(rule) << text;
    EXPECT_EQ(rule.error().message.find('\n'), std::string::npos);
    EXPECT_EQ(
        rule.error().message.rfind("deadlines: found '" + std::string(text) + "', expected ", 0),
        0u)
        << rule.error().message;
  }
}

TEST(JobTimes, KeepTheMeanOfEachKindAndEveryOtherDraw) {
  GeneratorOptions options;
  options.rate = 400;  // Many jobs, as a heavy tail needs.
  const JobTable paper = generate(options);
  for (const char* word : {"constant", "exponential", "heavy"}) {
    options.times = *parse_job_times(word);
    const JobTable other = generate(options);
    ASSERT_EQ(other.jobs.size(), paper.jobs.size());
    double minutes[2] = {};
    double count[2] = {};
    for (std::size_t i = 0; i < other.jobs.size(); ++i) {
      const auto kind = static_cast<std::size_t>(other.jobs[i].kind);
      EXPECT_EQ(other.jobs[i].submit_us, paper.jobs[i].submit_us);
      EXPECT_EQ(other.jobs[i].profile, paper.jobs[i].profile);
      minutes[kind] += to_s(other.jobs[i].time_us[0]) / 60;
      ++count[kind];
    }
    EXPECT_NEAR(minutes[0] / count[0], 3, .1) << word;
    EXPECT_NEAR(minutes[1] / count[1], 49.36, 2) << word;
  }
}

TEST(JobTimes, AreSpreadAsTheirNameSays) {
  GeneratorOptions options;
  options.training_share = 1;
  const auto relative_deviation = [&](const char* word) {
    options.times = *parse_job_times(word);
    std::vector<double> times;
    for (const Job& job : generate(options).jobs) times.push_back(to_s(job.time_us[0]));
    double squares = 0;
    for (const double time : times) squares += (time - mean_of(times)) * (time - mean_of(times));
    return std::sqrt(squares / static_cast<double>(times.size())) / mean_of(times);
  };
  EXPECT_NEAR(relative_deviation("paper"), .1237, .01);
  EXPECT_NEAR(relative_deviation("constant"), 0, 1e-9);
  EXPECT_NEAR(relative_deviation("exponential"), 1, .1);
  EXPECT_GT(relative_deviation("heavy"), 1.8);
  EXPECT_EQ(parse_job_times("hevy").error().message, "found 'hevy'; did you mean 'heavy'?");
}

}  // namespace
}  // namespace smartmig
