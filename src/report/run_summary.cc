#include "report/run_summary.h"

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "report/job_balance.h"
#include "report/trace_length.h"

namespace smartmig {
namespace {

std::string human_energy(double joules) {
  if (joules < 1e4) return fmt::format("{:.4g} J", joules);
  if (joules < 1e7) return fmt::format("{:.4g} kJ", joules / 1e3);
  if (joules < 1e10) return fmt::format("{:.4g} MJ", joules / 1e6);
  return fmt::format("{:.4g} GJ", joules / 1e9);
}

}  // namespace

std::string human_time(double seconds) {
  if (seconds == 0) return "0";
  if (seconds < 60) return fmt::format("{:.3g} s", seconds);
  if (seconds < 3600) return fmt::format("{:.3g} min", seconds / 60);
  if (seconds < 100 * 3600) return fmt::format("{:.3g} h", seconds / 3600);
  return fmt::format("{:.4g} d", seconds / 86400);
}

std::string as_it_was_text(const AsItWas& was) {
  return fmt::format(
      "{} jobs really waited {} (median {}, 95 % {}); against these deadlines {:.2f} % were late, "
      "mean tardiness {}",
      was.jobs, human_time(was.avg_wait_s), human_time(was.median_wait_s),
      human_time(was.p95_wait_s), was.late_pct, human_time(was.avg_tardiness_s));
}

nlohmann::ordered_json to_json(const AsItWas& was) {
  return {{"jobs", was.jobs},
          {"avg_wait_s", was.avg_wait_s},
          {"median_wait_s", was.median_wait_s},
          {"p95_wait_s", was.p95_wait_s},
          {"avg_tardiness_s", was.avg_tardiness_s},
          {"late_pct", was.late_pct}};
}

nlohmann::ordered_json to_json(const std::vector<Assumption>& assumptions) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const Assumption& assumption : assumptions) json[assumption.what] = assumption.text;
  return json;
}

std::vector<std::string> board_assumptions(const Fleet& fleet) {
  std::vector<std::string> lines;
  for (const Board* board : fleet.boards()) {
    std::vector<std::string> what;
    if (board->power.assumed) what.emplace_back("power curve");
    if (board->times.assumed) what.emplace_back("slice times");
    if (!what.empty()) lines.push_back(fmt::format("{}: {}", board->name, join(what, ", ")));
  }
  return lines;
}

std::string to_text(const RunSummary& summary) {
  const Metrics& m = summary.metrics;
  std::string text;
  const auto line = [&](std::string_view name, std::string_view value) {
    text += fmt::format("{:<15}{}\n", name, value);
  };
  line("policy", summary.policy);
  line("workload", fmt::format("{}: {} jobs, seed {}", summary.workload, m.jobs, summary.seed));
  line(
      "fleet",
      fmt::format("{}, costs {}, preemption {}{}", summary.fleet, summary.costs, summary.preemption,
                  summary.gpu_events ? fmt::format(", {} GPU events", summary.gpu_events) : ""));
  line("energy",
       fmt::format("{} = {:.4g} kWh = {:.4g} M W*min; {} a job", human_energy(m.energy_j),
                   m.energy_j / 3.6e6, m.energy_wmin / 1e6, human_energy(m.energy_per_job_j)));
  if (summary.priced) {
    line("cost",
         fmt::format("{:.4g}{} by the tariff{}", m.cost,
                     summary.currency.empty() ? "" : " " + summary.currency,
                     summary.carbon ? fmt::format("; {:.4g} kg CO2", m.co2_kg) : std::string()));
  }
  line("tardiness",
       fmt::format("mean {}, median {}, 95 % {}, 99 % {}; {:.2f} % of jobs late",
                   human_time(m.avg_tardiness_s), human_time(m.median_tardiness_s),
                   human_time(m.p95_tardiness_s), human_time(m.p99_tardiness_s), m.late_pct));
  line("ET",
       fmt::format("{:.4g} (a = {:g}; W*min for 8 GPUs and one day, minutes; lower is better)",
                   m.et, summary.energy_weight));
  line("run", fmt::format("{} from first submit to last completion; {} events, {} repartitions, "
                          "{} preemptions",
                          human_time(m.makespan_s), m.events, m.repartitions, m.preemptions));
  if (m.span_s) line("span", charged_text(*m.span_s, 1));
  if (summary.means) {
    line("over time",
         fmt::format("utilisation {:.1f} %, fragmentation {:.1f} %, {:.4g} jobs "
                     "waiting, {:.4g} W",
                     100 * summary.means->utilisation, 100 * summary.means->fragmentation,
                     summary.means->waiting, summary.means->power_w));
  }
  if (summary.balance) {
    for (const BalanceLine& part : balance_lines(*summary.balance)) line(part.what, part.text);
  }
  if (summary.as_it_was) line("as it was", as_it_was_text(*summary.as_it_was));
  if (summary.trace) {
    const TraceReport& trace = *summary.trace;
    line("trace", trace.format);
    line("  real", join(trace.real, ", "));
    line("  synthesised", join(trace.synthesised, ", "));
    for (const std::string& note : trace.notes) line("  note", note);
  }
  for (const std::string& speed : summary.speeds) line("speeds", speed);
  for (const std::string& assumed : summary.assumed) line("assumed", assumed);
  return text;
}

nlohmann::ordered_json to_json(const RunSummary& summary) {
  const Metrics& m = summary.metrics;
  nlohmann::ordered_json json = {
      {"policy", summary.policy},
      {"workload", summary.workload},
      {"fleet", summary.fleet},
      {"costs", summary.costs},
      {"preemption", summary.preemption},
      {"seed", summary.seed},
      {"energy_weight", summary.energy_weight},
      {"jobs", m.jobs},
      {"energy_j", m.energy_j},
      {"energy_wmin", m.energy_wmin},
      {"energy_per_job_j", m.energy_per_job_j},
      {"avg_tardiness_s", m.avg_tardiness_s},
      {"median_tardiness_s", m.median_tardiness_s},
      {"p95_tardiness_s", m.p95_tardiness_s},
      {"p99_tardiness_s", m.p99_tardiness_s},
      {"late_pct", m.late_pct},
      {"et", m.et},
      {"makespan_s", m.makespan_s},
      {"events", m.events},
      {"repartitions", m.repartitions},
      {"preemptions", m.preemptions},
  };
  if (m.span_s) {
    json["span_s"] = *m.span_s;
    json["length_s"] = m.makespan_s;
  }
  if (summary.priced) json["cost"] = m.cost;
  if (!summary.currency.empty()) json["currency"] = summary.currency;
  if (summary.carbon) json["co2_kg"] = m.co2_kg;
  if (summary.means) {
    json["utilisation"] = summary.means->utilisation;
    json["fragmentation"] = summary.means->fragmentation;
    json["mean_waiting"] = summary.means->waiting;
    json["mean_power_w"] = summary.means->power_w;
  }
  if (summary.trace) {
    json["real"] = summary.trace->real;
    json["synthesised"] = summary.trace->synthesised;
  }
  if (!summary.speeds.empty()) json["speeds"] = summary.speeds;
  if (!summary.assumed.empty()) json["assumed"] = summary.assumed;
  if (!summary.assumptions.empty()) json["assumptions"] = to_json(summary.assumptions);
  if (summary.balance) add_balance(json, *summary.balance);
  if (summary.as_it_was) json["as_it_was"] = to_json(*summary.as_it_was);
  json["wall_s"] = summary.wall_s;
  return json;
}

}  // namespace smartmig
