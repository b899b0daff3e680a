#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "report/report_page.h"
#include "report/report_sections.h"
#include "report/trace_length.h"

namespace smartmig {
namespace {

PageTable run_table(const RunSummary& summary) {
  const Metrics& m = summary.metrics;
  PageTable table;
  table.name = "run";
  table.caption = "The run in numbers.";
  table.columns = {{"quantity", false}, {"value"}};
  const auto row = [&](std::string what, double value) {
    table.rows.push_back({std::move(what), {readable(value), value}});
  };
  row("ET", m.et);
  row("energy, kWh", m.energy_j / 3.6e6);
  row("energy, M W·min", m.energy_wmin / 1e6);
  row("energy a job, kJ", m.energy_per_job_j / 1e3);
  if (summary.priced)
    row(summary.currency.empty() ? "cost, by the tariff" : "cost, " + summary.currency, m.cost);
  if (summary.carbon) row("CO2, kg", m.co2_kg);
  row("mean tardiness, min", m.avg_tardiness_s / 60);
  row("median tardiness, min", m.median_tardiness_s / 60);
  row("tardiness that 5 % exceed, min", m.p95_tardiness_s / 60);
  row("tardiness that 1 % exceed, min", m.p99_tardiness_s / 60);
  row("late jobs, %", m.late_pct);
  row("jobs", static_cast<double>(m.jobs));
  row("first submit to last completion, h", m.makespan_s / 3600);
  if (m.span_s) row("first to last submit of the trace, h", *m.span_s / 3600);
  row("repartitions", static_cast<double>(m.repartitions));
  row("preemptions", static_cast<double>(m.preemptions));
  if (summary.means) {
    row("utilisation of compute slices, %", 100 * summary.means->utilisation);
    row("fragmentation, %", 100 * summary.means->fragmentation);
    row("jobs waiting, mean", summary.means->waiting);
    row("power, mean W", summary.means->power_w);
  }
  return table;
}

}  // namespace

std::string run_page(const RunSummary& summary, const PolicyPictures& pictures,
                     const ReportContext& context) {
  const Metrics& m = summary.metrics;
  Page page(summary.policy,
            fmt::format("smartmig simulate · {} · {}", context.workload, context.fleet));
  page.summary(
      fmt::format("{} jobs took {} kWh; {:.1f} % of them were late, and the mean tardiness over "
                  "all jobs is {}. "
                  "ET, which weighs energy and tardiness, is {}.",
                  readable(static_cast<double>(m.jobs)), readable(m.energy_j / 3.6e6), m.late_pct,
                  human_time(m.avg_tardiness_s), readable(m.et)));
  page.section("Numbers");
  add_notes(page, context);
  page.add(run_table(summary));
  page.paragraph(fmt::format(
      "ET = (a E + T) / (a + 1) with a = {:g}: E the energy in W·min scaled to 8 GPUs and one day, "
      "T "
      "the mean tardiness in minutes; lower is better. How far it is above what any schedule could "
      "reach is not known here: `smartmig bound` with the same options, or `smartmig compare "
      "--bound`, says it.",
      summary.energy_weight));
  if (m.span_s) page.paragraph(charged_text(*m.span_s, 1));
  add_assumptions(page, context);
  add_picture_sections(page, std::span(&pictures, 1), context);
  // The time that the run took is no result.
  nlohmann::ordered_json json = to_json(summary);
  json.erase("wall_s");
  page.data("result", json);
  page.origin(context.origin);
  return std::move(page).html();
}

}  // namespace smartmig
