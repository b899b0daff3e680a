#include "study/reproduce.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "study/reproduce_values.h"
#include "workload/generator.h"

namespace smartmig {
namespace {

constexpr std::uint64_t kSeed = 1;  // Of every run; the words of the commands say so too.

// The words as a user types them: what the shell would take for itself is quoted.
std::string command_of(const std::string& words) {
  std::string command = "smartmig compare";
  for (const std::string_view word : split(words, ' ')) {
    command += word.find('*') == std::string_view::npos ? fmt::format(" {}", word)
                                                        : fmt::format(" '{}'", word);
  }
  return command;
}

// What a run found, and the command that prints it.
struct Ran {
  std::optional<Comparison> comparison;  // Of kCompare.
  std::vector<WorkloadStats> jobs;       // Of kJobs, by day.
  std::string command;
};

std::vector<WorkloadStats> measure_days(int days) {
  std::vector<WorkloadStats> measured;
  GeneratorOptions options;
  options.seed = kSeed;
  for (int day = 0; day < days; ++day) {
    options.day = static_cast<std::uint64_t>(day);
    measured.push_back(measure(generate(options)));
  }
  return measured;
}

Result<Ran> run_one(const PublishedRun& run, bool quick, const CompareWords& compare) {
  Ran ran;
  const int days = quick ? run.quick_days : run.days;
  switch (run.kind) {
    case PublishedKind::kCompare: {
      const std::string words = fmt::format("{} --days {}", run.args, days);
      auto comparison = compare(words);
      if (!comparison) return pass_on(comparison);
      ran.comparison = std::move(*comparison);
      ran.command = command_of(words);
      break;
    }
    case PublishedKind::kGeometry:
      ran.command = "smartmig gpus A100-40GB --layouts";
      break;
    case PublishedKind::kJobs:
      ran.jobs = measure_days(days);
      ran.command = "smartmig workload generate --seed 1 --json --out-file jobs.csv";
      break;
    case PublishedKind::kSpeeds:
      break;
  }
  return ran;
}

Result<FoundValue> find_value(const PublishedRun& run, const Ran& ran, const PublishedRow& row) {
  switch (run.kind) {
    case PublishedKind::kCompare:
      return value_of(*ran.comparison, row, kSeed);
    case PublishedKind::kGeometry:
      return geometry_value(row);
    case PublishedKind::kSpeeds:
      return speed_value(row);
    case PublishedKind::kJobs:
      return jobs_value(row, ran.jobs, kSeed);
  }
  return fail("unknown kind");
}

Result<ReproducedRow> make_row(const PublishedItem& item, const PublishedRun& run, const Ran& ran,
                               const PublishedRow& row) {
  const auto found = find_value(run, ran, row);
  if (!found) return fail("{}: {}: {}", item.name, row.what, found.error().message);
  ReproducedRow made;
  made.item = item.name;
  made.what = run.about.empty() ? row.what : fmt::format("{}: {}", run.about, row.what);
  made.unit = row.unit;
  made.theirs = row.theirs;
  made.error = row.error;
  made.ours = found->value;
  made.low95 = found->low95;
  made.high95 = found->high95;
  made.command = ran.command;
  made.verdict = judge(made);
  if (made.verdict == Verdict::kDiffers) made.note = row.why.empty() ? run.why : row.why;
  return made;
}

ReproducedCurve make_curve(const PublishedKnee& knee, const std::vector<Ran>& ran) {
  ReproducedCurve curve{knee.what, knee.unit, knee.values, knee.theirs, {}, {}, {}};
  for (const std::size_t run : knee.runs) {
    const PolicyResult& result = ran[run].comparison->policies.front();
    curve.ours.push_back(
        {result[&Metrics::energy_per_job_j].mean / 1000, result[&Metrics::avg_tardiness_s].mean});
  }
  curve.their_knee = find_knee(curve.theirs);
  curve.our_knee = find_knee(curve.ours);
  return curve;
}

ReproducedRow make_knee(const PublishedItem& item, const PublishedKnee& knee,
                        const ReproducedCurve& curve) {
  ReproducedRow row;
  row.item = item.name;
  row.what = knee.what;
  row.unit = knee.unit;
  // A curve without a bend has its knee at its end: up to there something is bought.
  row.theirs = knee.values[curve.their_knee.value_or(knee.values.size() - 1)];
  row.ours = knee.values[curve.our_knee.value_or(knee.values.size() - 1)];
  row.verdict = judge(row);
  if (row.verdict == Verdict::kDiffers) row.note = knee.why;
  return row;
}

std::vector<double> ets(const PolicyResult& result) {
  std::vector<double> values;
  for (const Metrics& day : result.days) values.push_back(day.et);
  return values;
}

// How many pairs of policies are in another order of mean ET than in the base, and which.
ReproducedRow make_ranking(const PublishedItem& item, const PublishedRun& run, const Ran& ran,
                           const Comparison& base) {
  ReproducedRow row;
  row.item = item.name;
  row.what =
      fmt::format("{}: pairs of policies in another order than in the first setting", run.about);
  row.unit = "pairs";
  row.command = ran.command;
  const std::vector<PolicyResult>& policies = ran.comparison->policies;
  std::vector<std::string> changed;
  for (std::size_t a = 0; a < policies.size(); ++a) {
    for (std::size_t b = 0; b < policies.size(); ++b) {
      const bool before = base.policies[a][&Metrics::et].mean < base.policies[b][&Metrics::et].mean;
      if (!before || policies[a][&Metrics::et].mean <= policies[b][&Metrics::et].mean) continue;
      const Change change = estimate_change(ets(policies[b]), ets(policies[a]), kSeed);
      const bool sure = change.high95 && *change.high95 < 0;
      changed.push_back(fmt::format("{} is now before {}{}", policies[b].policy, policies[a].policy,
                                    sure ? "" : " (perhaps by chance)"));
    }
  }
  row.ours = static_cast<double>(changed.size());
  row.note = join(changed, "; ");
  return row;
}

}  // namespace

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::kAgrees:
      return "agrees";
    case Verdict::kDiffers:
      return "differs";
    case Verdict::kNotStated:
      return "not-stated";
  }
  return "";
}

Verdict judge(const ReproducedRow& row) {
  if (!row.theirs) return Verdict::kNotStated;
  // A bound of decimal numbers is not to fail by what binary ones make of them.
  const double slack = row.error + 1e-9 * std::abs(*row.theirs);
  const bool inside = *row.theirs >= row.low95.value_or(row.ours) - slack &&
                      *row.theirs <= row.high95.value_or(row.ours) + slack;
  return inside ? Verdict::kAgrees : Verdict::kDiffers;
}

Result<ReproducedItem> reproduce(const PublishedItem& item, bool quick,
                                 const CompareWords& compare) {
  ReproducedItem made;
  std::vector<Ran> ran;
  for (const PublishedRun& run : item.runs) {
    auto one = run_one(run, quick, compare);
    if (!one) return fail("{}: {}", item.name, one.error().message);
    ran.push_back(std::move(*one));
    for (const PublishedRow& published : run.rows) {
      auto row = make_row(item, run, ran.back(), published);
      if (!row) return pass_on(row);
      made.rows.push_back(std::move(*row));
    }
    if (item.ranking && ran.size() > 1)
      made.rows.push_back(make_ranking(item, run, ran.back(), *ran.front().comparison));
  }
  for (const PublishedKnee& knee : item.knees) {
    made.curves.push_back(make_curve(knee, ran));
    made.rows.push_back(make_knee(item, knee, made.curves.back()));
  }
  return made;
}

}  // namespace smartmig
