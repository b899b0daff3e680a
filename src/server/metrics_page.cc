#include "server/metrics_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <span>
#include <string_view>

#include "server/fragmentation.h"

namespace smartmig {
namespace {

// A label's value: backslash, quote and newline are escaped.
std::string label(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == '"') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

class MetricsText {
 public:
  explicit MetricsText(std::string& out) : out_(out) {}

  void head(std::string_view name, std::string_view type, std::string_view help) {
    add("# HELP smartmig_{} {}\n# TYPE smartmig_{} {}\n", name, help, name, type);
  }
  template <class T>
  void counter(std::string_view name, const T& value, std::string_view help) {
    head(name, "counter", help);
    add("smartmig_{} {}\n", name, value);
  }
  template <class T>
  void gauge(std::string_view name, const T& value, std::string_view help) {
    head(name, "gauge", help);
    add("smartmig_{} {}\n", name, value);
  }
  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

 private:
  std::string& out_;
};

void write_counters(MetricsText& text, const Counters& counters) {
  text.counter("jobs_submitted_total", counters.submitted, "Jobs accepted.");
  text.counter("jobs_done_total", counters.done, "Jobs that did their work.");
  text.counter("jobs_failed_total", counters.failed, "Jobs that failed.");
  text.counter("jobs_cancelled_total", counters.cancelled, "Jobs that were cancelled.");
  text.counter("jobs_late_total", counters.late, "Jobs done after their deadline.");
  text.counter("tardiness_seconds_total", counters.tardiness_s, "Lateness, summed over jobs done.");
  text.counter("rounds_total", counters.rounds, "Rounds in which the policy was asked.");
  text.counter("decisions_total", counters.decisions, "Rounds that decided something.");
  text.counter("starts_total", counters.starts, "Runs started.");
  text.counter("stops_total", counters.stops, "Runs stopped to make room.");
  text.counter("layout_changes_total", counters.layout_changes, "Layout changes completed.");
  text.head("withheld_total", "counter", "What the policy wanted and limits did not allow.");
  text.add("smartmig_withheld_total{{why=\"budget\"}} {}\n", counters.withheld_budget);
  text.add("smartmig_withheld_total{{why=\"no-gain\"}} {}\n", counters.withheld_no_gain);
  text.add("smartmig_withheld_total{{why=\"power\"}} {}\n", counters.withheld_power);
  text.counter("rollbacks_total", counters.rollbacks, "Layout changes that were undone.");
  text.counter("fences_total", counters.fences, "GPUs fenced after a fault that stayed.");
  text.counter("driver_calls_total", counters.calls, "Calls to the driver.");
  text.counter("driver_call_errors_total", counters.call_errors, "Of them, those that failed.");
  text.counter("driver_calls_given_up_total", counters.calls_given_up,
               "Of them, those that never came back.");
  text.counter("journal_commits_total", counters.commits, "Transactions made durable.");
  text.counter("lost_runs_total", counters.lost_runs, "Runs whose slice vanished.");
  text.counter("lost_seconds_total", counters.lost_s, "Work that was done and not kept.");
}

void write_decision_time(MetricsText& text, const Counters& counters) {
  text.head("decision_seconds", "histogram", "From View to journalled decision.");
  std::int64_t count = 0;
  const std::span<const double> bounds(kDecideBucketsMs);
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    if (i < counters.decide_ms_buckets.size()) count += counters.decide_ms_buckets[i];
    text.add("smartmig_decision_seconds_bucket{{le=\"{}\"}} {}\n", bounds[i] / 1e3, count);
  }
  for (std::size_t i = bounds.size(); i < counters.decide_ms_buckets.size(); ++i)
    count += counters.decide_ms_buckets[i];
  text.add("smartmig_decision_seconds_bucket{{le=\"+Inf\"}} {}\n", count);
  text.add("smartmig_decision_seconds_sum {}\nsmartmig_decision_seconds_count {}\n",
           counters.decide_s_sum, count);
}

void write_fleet(MetricsText& text, const FleetView& fleet, bool ready) {
  text.gauge("ready", ready ? 1 : 0, "1: recovered, deciding and receiving the fleet's events.");
  text.gauge("frozen", fleet.frozen ? 1 : 0, "1: nothing is decided until unfreeze.");
  text.gauge("recovered", fleet.recovered ? 1 : 0,
             "0: the journal was damaged, lost or went back in time; say recover.");
  text.gauge("in_trouble", fleet.trouble.empty() ? 0 : 1,
             "1: something keeps it from deciding, or events are not received.");
  text.gauge("events_received", fleet.events_received ? 1 : 0,
             "0: the fleet's events are not received, so that ends of runs are not noticed.");
  text.gauge("clock_seconds", static_cast<double>(fleet.now_us) / 1e6, "The fleet's clock.");
  text.gauge("queued_jobs", fleet.queued, "Jobs that wait.");
  text.gauge("queued_late_jobs", fleet.late_queued, "Of them, those past their deadline.");
  text.gauge("running_jobs", fleet.running, "Jobs that run.");
  text.gauge("power_watts", fleet.power_w, "Modelled draw of the fleet.");
  text.gauge("power_cap_watts", fleet.power_cap_w, "The cap on it; 0: none.");
  const auto day = fleet.modelled ? fleet.modelled->last_day : std::nullopt;
  text.gauge("modelled_policy_better", day && day->other_is_better ? 1 : 0,
             "1: over the last day the modelled policy had the lower ET.");
  if (day) {
    text.gauge("last_day_et", day->own_et, "ET of the last day.");
    text.gauge("modelled_last_day_et", day->other_et, "ET of the last day, modelled policy.");
  }
  text.counter("energy_joules_total", fleet.energy_j, "Modelled, since the controller started.");
  std::map<std::string_view, int> by_state;
  for (const std::string_view state : kGpuStates) by_state[state] = 0;
  for (const GpuView& gpu : fleet.gpus) ++by_state[gpu.state];
  text.head("gpus", "gauge", "GPUs by state.");
  for (const auto& [state, count] : by_state)
    text.add("smartmig_gpus{{state=\"{}\"}} {}\n", label(state), count);
}

void write_fragmentation(MetricsText& text, const FleetView& fleet) {
  text.head("fragmentation_ratio", "gauge",
            "Share of the free compute slices that cannot host a slice of this profile.");
  for (const Fragmentation& item : fragmentation(fleet))
    text.add("smartmig_fragmentation_ratio{{board=\"{}\",profile=\"{}\"}} {}\n", label(item.board),
             label(item.profile), item.share);
}

int busy_count(const GpuView& gpu) {
  return static_cast<int>(std::count_if(gpu.slices.begin(), gpu.slices.end(),
                                        [](const SliceView& slice) { return slice.job != 0; }));
}

// One family after the other, as the format asks for.
void write_gpus(MetricsText& text, const FleetView& fleet, int most_gpus) {
  const std::size_t shown =
      std::min(fleet.gpus.size(), static_cast<std::size_t>(std::max(0, most_gpus)));
  const std::span<const GpuView> gpus(fleet.gpus.data(), shown);
  text.gauge("gpus_left_out", fleet.gpus.size() - shown, "GPUs without series of their own.");
  const auto family = [&](std::string_view name, std::string_view type, std::string_view help,
                          const auto& value) {
    text.head(name, type, help);
    for (const GpuView& gpu : gpus)
      text.add("smartmig_{}{{gpu=\"{}\"}} {}\n", name, label(gpu.uuid), value(gpu));
  };
  family("gpu_power_watts", "gauge", "Modelled draw.",
         [](const GpuView& gpu) { return gpu.power_w; });
  family("gpu_slices", "gauge", "Slices.", [](const GpuView& gpu) { return gpu.slices.size(); });
  family("gpu_busy_slices", "gauge", "Slices with a job.", busy_count);
  family("gpu_layout_changes_total", "counter", "Layout changes completed.",
         [](const GpuView& gpu) { return gpu.changes; });
  text.head("gpu_state", "gauge", "1 for the state that the GPU is in.");
  for (const GpuView& gpu : gpus)
    text.add("smartmig_gpu_state{{gpu=\"{}\",state=\"{}\"}} 1\n", label(gpu.uuid),
             label(gpu.state));
}

}  // namespace

std::string metrics_page(const FleetView& fleet, const Counters& counters, bool ready,
                         int most_gpus) {
  std::string out;
  MetricsText text(out);
  write_fleet(text, fleet, ready);
  write_counters(text, counters);
  write_decision_time(text, counters);
  write_fragmentation(text, fleet);
  write_gpus(text, fleet, most_gpus);
  return out;
}

}  // namespace smartmig
