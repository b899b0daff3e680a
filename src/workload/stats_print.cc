#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "workload/stats.h"

namespace smartmig {
namespace {

using Json = nlohmann::ordered_json;

// 3412 -> "3,412".
std::string grouped(std::size_t n) {
  std::string text = std::to_string(n);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, 1, ',');
  return text;
}

// A time to read, not to compute with.
std::string readable(double seconds) {
  const double size = std::abs(seconds);
  if (size < 120) return fmt::format("{:.3g} s", seconds);
  if (size < 7200) return fmt::format("{:.3g} min", seconds / 60);
  if (size < 172800) return fmt::format("{:.3g} h", seconds / 3600);
  return fmt::format("{:.4g} d", seconds / 86400);
}

std::string line(std::string_view what, const Percentiles& p) {
  if (p.count == 0) return fmt::format("  {:<22} -\n", what);
  std::string out = fmt::format("  {:<22}", what);
  for (const double value : {p.min, p.p5, p.p25, p.p50, p.p75, p.p95, p.p99, p.max, p.mean}) {
    out += fmt::format(" {:>9}", readable(value));
  }
  return out + "\n";
}

std::string sizes_text(const BySize& counts, std::string_view none) {
  std::string out;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    const std::string what = i < kSizeCount ? fmt::format("{}g", kSizes[i]) : std::string(none);
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", what, grouped(counts[i]));
  }
  return out;
}

std::string trace_text(const TraceReport& trace) {
  std::string out =
      fmt::format("rows: {} read, {} kept", grouped(trace.rows_read), grouped(trace.kept.rows));
  for (const Losses::Entry& dropped : trace.dropped.by_reason) {
    out +=
        fmt::format("\n  dropped {}: {}", grouped(dropped.amount.rows), to_string(dropped.reason));
  }
  out += fmt::format("\nreal: {}\n", fmt::join(trace.real, ", "));
  if (!trace.synthesised.empty()) {
    out += fmt::format("synthesised:\n  {}\n", fmt::join(trace.synthesised, "\n  "));
  }
  for (const std::string& note : trace.notes) out += fmt::format("note: {}\n", note);
  return out;
}

std::string requests_text(const RequestStats& requests) {
  const std::size_t fractional = requests.jobs - requests.whole - requests.several;
  std::string out = fmt::format(
      "asked for, by the trace: load {:.3g} GPUs; less than a GPU {}; one GPU {}; several {}\n",
      requests.load_gpus, grouped(fractional), grouped(requests.whole), grouped(requests.several));
  if (fractional > 0) {
    out += fmt::format("  smallest slice that holds a fractional request: {}\n",
                       sizes_text(requests.fractional, "none (over 4/7 of a GPU)"));
  }
  return out;
}

std::string hours_text(const std::array<double, 24>& by_hour) {
  std::string out = "submits by hour of day (mean 1)\n";
  const double most = *std::ranges::max_element(by_hour);
  for (std::size_t hour = 0; hour < by_hour.size(); ++hour) {
    const auto bar =
        static_cast<std::size_t>(std::lround(40 * by_hour[hour] / std::max(most, 1.0)));
    out += fmt::format("  {:02} {:6.3f}{}{}\n", hour, by_hour[hour], bar ? " " : "",
                       std::string(bar, '#'));
  }
  return out;
}

Json to_json(const Percentiles& p) {
  if (p.count == 0) return nullptr;
  return {{"mean", p.mean}, {"min", p.min}, {"p5", p.p5},   {"p25", p.p25}, {"p50", p.p50},
          {"p75", p.p75},   {"p95", p.p95}, {"p99", p.p99}, {"max", p.max}};
}

Json to_json(const BySize& counts) {
  Json json = Json::object();
  for (std::size_t i = 0; i < kSizeCount; ++i) json[fmt::format("{}g", kSizes[i])] = counts[i];
  json["none"] = counts[kSizeCount];
  return json;
}

Json to_json(const TraceReport& trace) {
  Json dropped = Json::object();
  for (const Losses::Entry& entry : trace.dropped.by_reason)
    dropped[std::string(to_string(entry.reason))] = entry.amount.rows;
  return {{"format", trace.format},       {"rows_read", trace.rows_read},
          {"rows_kept", trace.kept.rows}, {"dropped", dropped},
          {"real", trace.real},           {"synthesised", trace.synthesised},
          {"notes", trace.notes},         {"hour_known", trace.hour_known}};
}

}  // namespace

std::string to_text(const SanityReport& report) {
  const WorkloadStats& stats = report.stats;
  std::string out = report.source;
  if (report.trace) out += fmt::format(" ({})", report.trace->format);
  out += '\n';
  if (report.trace) out += trace_text(*report.trace);
  if (report.requests) out += requests_text(*report.requests);
  out += fmt::format("jobs: {}, {} training; {} from the first submit to the last",
                     grouped(stats.jobs), grouped(stats.training), readable(stats.span_s));
  if (stats.span_s > 0) out += fmt::format("; load {:.3g} GPUs at 7g speed", stats.load_gpus);
  out += fmt::format("\n  {:<22}", "");
  for (const char* name : {"min", "5 %", "25 %", "50 %", "75 %", "95 %", "99 %", "max", "mean"}) {
    out += fmt::format(" {:>9}", name);
  }
  out += '\n';
  if (report.requests) out += line("run time in the trace", report.requests->duration_s);
  out += line("time on 7g", stats.time_7g_s);
  out += line("between submits", stats.interarrival_s);
  out += line("slack", stats.slack_s);
  out += fmt::format("smallest slice a job runs on: {}\n",
                     sizes_text(stats.smallest_that_runs, "none (memory)"));
  out += fmt::format("smallest slice that is on time if started at once: {}\n",
                     sizes_text(stats.smallest_on_time, "none"));
  if (stats.sublinearity) {
    out += fmt::format("sublinearity score: mean {:.3g} (1: twice as fast on twice the slice)\n",
                       *stats.sublinearity);
  }
  return out + hours_text(stats.by_hour);
}

Json to_json(const SanityReport& report) {
  const WorkloadStats& stats = report.stats;
  Json json;
  json["source"] = report.source;
  if (report.trace) json["trace"] = to_json(*report.trace);
  if (report.requests) {
    const RequestStats& requests = *report.requests;
    Json fractional = to_json(requests.fractional);
    fractional.erase("7g");  // A 7g is no fraction.
    json["requests"] = {
        {"jobs", requests.jobs},       {"load_gpus", requests.load_gpus},
        {"fractional", fractional},    {"whole", requests.whole},
        {"several", requests.several}, {"duration_s", to_json(requests.duration_s)}};
  }
  json["jobs"] = stats.jobs;
  json["training"] = stats.training;
  json["first_submit_s"] = stats.first_submit_s;
  json["span_s"] = stats.span_s;
  json["load_gpus"] = stats.span_s > 0 ? Json(stats.load_gpus) : Json(nullptr);
  json["time_7g_s"] = to_json(stats.time_7g_s);
  json["interarrival_s"] = to_json(stats.interarrival_s);
  json["slack_s"] = to_json(stats.slack_s);
  json["sublinearity"] = stats.sublinearity ? Json(*stats.sublinearity) : Json(nullptr);
  json["by_hour"] = stats.by_hour;
  json["smallest_that_runs"] = to_json(stats.smallest_that_runs);
  json["smallest_on_time"] = to_json(stats.smallest_on_time);
  return json;
}

}  // namespace smartmig
