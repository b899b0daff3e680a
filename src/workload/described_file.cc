// Workload files (docs/formats/workload-file.md) and the texts about described workloads.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/file.h"
#include "base/json_fields.h"
#include "workload/catalogue.h"
#include "workload/described.h"
#include "workload/profile_pool.h"

namespace smartmig {
namespace {

// Limits that keep a day in memory and all times far inside an int64 of microseconds.
constexpr double kMostJobsPerHour = 1e9;
constexpr int kMostJobsOfDay = 10'000'000;
constexpr double kMostHours = 24 * 366;

// Brought to mean 1; what has it already stays as it is, to the last digit.
void set_shape(const JsonFields& fields, ArrivalLaw& law) {
  const std::vector<double> hours = fields.numbers("by_hour", 0, 1e9);
  const double mean = std::accumulate(hours.begin(), hours.end(), 0.0) / 24;
  if (hours.size() != law.by_hour.size() || mean < 1e-9) {
    fields.report("by_hour", fmt::format("found {} numbers, expected 24, one for each hour of the "
                                         "day, and some above 0",
                                         hours.size()));
    return;
  }
  const double scale = std::abs(mean - 1) < 1e-9 ? 1 : mean;
  std::ranges::transform(hours, law.by_hour.begin(), [&](double hour) { return hour / scale; });
}

ArrivalLaw read_arrivals(const JsonFields& fields) {
  fields.only({"curve", "by_hour", "batch_mean"});
  ArrivalLaw law;
  const std::string name = fields.text("curve", fields.has("by_hour") ? "own" : "flat");
  if (fields.has("by_hour")) {
    law.curve = name;
    set_shape(fields, law);
  } else if (auto found = arrivals_by_curve(name)) {
    law = std::move(*found);
  } else {
    fields.report("curve", found.error().message);
  }
  law.batch_mean = fields.number("batch_mean", 1, 1e6, 1);
  return law;
}

JobSizes read_sizes_of_jobs(const JsonFields& fields) {
  fields.only({"law", "mean_s", "sigma", "shape", "training_factor"});
  JobSizes sizes;
  const auto law = parse_size_law(fields.text("law"));
  if (!law) {
    fields.report("law", law.error().message);
    return sizes;
  }
  sizes.law = *law;
  sizes.mean_s = fields.number("mean_s", 1e-3, 1e7);
  if (sizes.law == SizeLaw::kLognormal) sizes.sigma = fields.number("sigma", 0, 5);
  if (sizes.law == SizeLaw::kPareto) sizes.shape = fields.number("shape", 0.1, 100);
  if (fields.has("sigma") && sizes.law != SizeLaw::kLognormal)
    fields.report("sigma", fmt::format("is for lognormal sizes, found law {}", to_string(*law)));
  if (fields.has("shape") && sizes.law != SizeLaw::kPareto)
    fields.report("shape", fmt::format("is for pareto sizes, found law {}", to_string(*law)));
  sizes.training_factor = fields.number("training_factor", 1e-3, 1e3, 1);
  return sizes;
}

void read_rate(const JsonFields& fields, DescribedWorkload& workload) {
  const bool load = fields.has("load");
  if (load == fields.has("jobs_per_hour")) {
    fields.report("load", load ? "stands beside jobs_per_hour, expected one of them"
                               : "is missing, expected load or jobs_per_hour");
    return;
  }
  workload.rate_unit = load ? RateUnit::kLoad : RateUnit::kJobsPerHour;
  workload.rate = load ? fields.number("load", 1e-6, 100)
                       : fields.number("jobs_per_hour", 1e-6, kMostJobsPerHour);
}

}  // namespace

Result<ArrivalLaw> arrivals_by_curve(std::string_view name) {
  ArrivalLaw law;
  law.curve = name;
  if (name == "flat") return law;
  const auto curve = find_curve(name);
  if (!curve) return pass_on(curve);
  law.by_hour = (*curve)->by_hour;
  return law;
}

DescribedWorkload read_workload(const JsonFields& fields) {
  fields.only({"about", "arrivals", "load", "jobs_per_hour", "sizes", "speeds", "training_share",
               "stoppable_share", "deadlines", "hours", "max_jobs"});
  DescribedWorkload workload;
  if (fields.has("arrivals")) workload.arrivals = read_arrivals(fields.object("arrivals"));
  read_rate(fields, workload);
  workload.sizes = read_sizes_of_jobs(fields.object("sizes"));
  workload.speeds = fields.text("speeds", workload.speeds);
  if (const auto pool = ProfilePool::parse(workload.speeds); !pool)
    fields.report("speeds", pool.error().message);
  workload.training_share = fields.number("training_share", 0, 1, workload.training_share);
  workload.stoppable_share = fields.number("stoppable_share", 0, 1, workload.stoppable_share);
  const std::string deadlines = fields.text("deadlines", to_string(workload.deadlines));
  if (const auto rule = parse_deadline_rule(deadlines)) {
    workload.deadlines = *rule;
  } else {
    // The message starts with "deadlines: ".
    fields.report("deadlines", rule.error().message.substr(sizeof("deadlines: ") - 1));
  }
  workload.hours = fields.number("hours", 1e-3, kMostHours, workload.hours);
  if (fields.has("max_jobs")) workload.max_jobs = fields.integer("max_jobs", 1, kMostJobsOfDay);
  return workload;
}

Result<DescribedWorkload> parse_workload(std::string_view json, const std::string& name) {
  JsonDocument document(name);
  if (!document.parse(json)) return tl::unexpected(*document.error());
  DescribedWorkload workload = read_workload(document.root());
  if (document.error()) return tl::unexpected(*document.error());
  return workload;
}

Result<DescribedWorkload> read_workload_file(const std::string& path) {
  const auto text = read_file(path, kDocumentLimits);
  if (!text) return pass_on(text);
  return parse_workload(*text, path);
}

nlohmann::ordered_json to_json(const DescribedWorkload& workload) {
  const JobSizes& sizes = workload.sizes;
  nlohmann::ordered_json size_law = {{"law", to_string(sizes.law)}, {"mean_s", sizes.mean_s}};
  if (sizes.law == SizeLaw::kLognormal) size_law["sigma"] = sizes.sigma;
  if (sizes.law == SizeLaw::kPareto) size_law["shape"] = sizes.shape;
  size_law["training_factor"] = sizes.training_factor;
  const bool load = workload.rate_unit == RateUnit::kLoad;
  return {{"arrivals",
           {{"curve", workload.arrivals.curve},
            {"by_hour", workload.arrivals.by_hour},
            {"batch_mean", workload.arrivals.batch_mean}}},
          {load ? "load" : "jobs_per_hour", workload.rate},
          {"sizes", std::move(size_law)},
          {"speeds", workload.speeds},
          {"training_share", workload.training_share},
          {"stoppable_share", workload.stoppable_share},
          {"deadlines", to_string(workload.deadlines)},
          {"hours", workload.hours},
          {"max_jobs", workload.max_jobs}};
}

std::string describe(const DescribedWorkload& workload) {
  const JobSizes& sizes = workload.sizes;
  const bool load = workload.rate_unit == RateUnit::kLoad;
  std::string text = fmt::format("{} arrivals", workload.arrivals.curve);
  if (workload.arrivals.batch_mean > 1)
    text += fmt::format(" in batches of {:.3g}", workload.arrivals.batch_mean);
  text += load ? fmt::format(", load {:.3g}", workload.rate)
               : fmt::format(", {:.3g} jobs per hour", workload.rate);
  text += fmt::format(", {} sizes with mean {:.3g} s", to_string(sizes.law), sizes.mean_s);
  if (sizes.law == SizeLaw::kLognormal) text += fmt::format(" and sigma {:.2g}", sizes.sigma);
  if (sizes.law == SizeLaw::kPareto) text += fmt::format(" and shape {:.2g}", sizes.shape);
  if (sizes.training_factor != 1)
    text += fmt::format(" (training {:.2g} times as long)", sizes.training_factor);
  return text + fmt::format(
                    ", {} speeds, {:.2g} training of which {:.2g} can be stopped, "
                    "deadlines {:.3g}:{:.3g}",
                    workload.speeds, workload.training_share, workload.stoppable_share,
                    workload.deadlines.low, workload.deadlines.high);
}

}  // namespace smartmig
