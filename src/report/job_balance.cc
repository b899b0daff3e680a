#include "report/job_balance.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "report/axis.h"
#include "report/estimate_text.h"

namespace smartmig {
namespace {

using Json = nlohmann::ordered_json;

Amount all_of(const JobBalance& balance) {
  Amount all = balance.kept;
  all += balance.dropped.total();
  all += balance.unfit.total();
  return all;
}

std::string count_text(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string hours_text(double gpu_hours) { return number_text(gpu_hours) + " GPU-hours"; }

double percent_of(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

// What is dropped are rows of the file; what is unfit are jobs made of them.
struct Unit {
  std::string_view word;
  std::size_t Amount::*count;
};
constexpr Unit kRows = {"row", &Amount::rows};
constexpr Unit kJobs = {"job", &Amount::jobs};

// "asks for several GPUs 3700 (18900 GPU-hours; --multi-gpu split changes this)"
std::string reason_text(const Losses::Entry& entry, const Unit& unit) {
  std::vector<std::string> beside;
  if (has_gpu_hours(entry.reason)) beside.push_back(hours_text(entry.amount.gpu_hours));
  if (const std::string_view option = option_against(entry.reason); !option.empty())
    beside.push_back(fmt::format("{} changes this", option));
  const std::size_t count = entry.amount.*unit.count;
  return fmt::format("{}{}{}", to_string(entry.reason),
                     count > 0 ? fmt::format(" {}", count) : std::string(),
                     beside.empty() ? "" : fmt::format(" ({})", join(beside, "; ")));
}

std::string losses_text(const Losses& losses, const Amount& all, const Unit& unit) {
  const Amount total = losses.total();
  std::vector<std::string> reasons;
  for (const Losses::Entry& entry : losses.by_reason) reasons.push_back(reason_text(entry, unit));
  return fmt::format("{}, {} ({:.1f} %): {}", count_text(total.*unit.count, unit.word),
                     hours_text(total.gpu_hours), percent_of(total.gpu_hours, all.gpu_hours),
                     join(reasons, ", "));
}

Json amount_json(const Amount& amount) {
  return {{"rows", amount.rows}, {"jobs", amount.jobs}, {"gpu_hours", amount.gpu_hours}};
}

Json losses_json(const Losses& losses) {
  Json json = amount_json(losses.total());
  json["by_reason"] = Json::object();
  for (const Losses::Entry& entry : losses.by_reason) {
    Json& reason = json["by_reason"][std::string(to_string(entry.reason))];
    reason = amount_json(entry.amount);
    if (const std::string_view option = option_against(entry.reason); !option.empty())
      reason["option"] = option;
  }
  return json;
}

}  // namespace

std::vector<BalanceLine> balance_lines(const JobBalance& balance) {
  const Amount all = all_of(balance);
  std::vector<BalanceLine> lines;
  lines.push_back(
      {"kept",
       fmt::format("{} of {}: {}, {} ({:.1f} %)", balance.kept.rows, count_text(all.rows, "row"),
                   count_text(balance.kept.jobs, "job"), hours_text(balance.kept.gpu_hours),
                   percent_of(balance.kept.gpu_hours, all.gpu_hours))});
  if (!balance.dropped.empty())
    lines.push_back({"dropped", losses_text(balance.dropped, all, kRows)});
  if (!balance.unfit.empty()) {
    lines.push_back({"unfit", losses_text(balance.unfit, all, kJobs) +
                                  "; these jobs do not run and are in no other number"});
  }
  return lines;
}

std::string balance_text(const JobBalance& balance) {
  std::string text;
  for (BalanceLine& line : balance_lines(balance)) {
    line.what[0] = static_cast<char>(line.what[0] - 'a' + 'A');
    text += fmt::format("{}: {}.\n", line.what, line.text);
  }
  return text;
}

void add_balance(nlohmann::ordered_json& object, const JobBalance& balance) {
  object["kept"] = amount_json(balance.kept);
  object["kept"]["by_reason"] = Json::object();
  object["dropped"] = losses_json(balance.dropped);
  object["unfit"] = losses_json(balance.unfit);
}

PageTable balance_table(const JobBalance& balance) {
  PageTable table;
  table.name = "jobs-of-the-file";
  table.caption =
      "What of the file is simulated, and what is left out and why. GPU-hours are the file's own: "
      "observed time times GPUs, or the time on a whole GPU for a job table.";
  table.columns = {{"part of the file", false},
                   {"rows"},
                   {"jobs"},
                   {"GPU-hours", true, "gpu_hours"},
                   {"% of GPU-hours", true, "gpu_hours_pct"},
                   {"what changes it", false}};
  const double all = all_of(balance).gpu_hours;
  const auto row = [&](std::string what, const Amount& amount, std::string_view option) {
    const auto number = [](double value) { return PageTable::Cell(readable(value), value); };
    const double share = percent_of(amount.gpu_hours, all);
    table.rows.push_back({std::move(what), number(static_cast<double>(amount.rows)),
                          number(static_cast<double>(amount.jobs)), number(amount.gpu_hours),
                          PageTable::Cell(fmt::format("{:.1f}", share), share),
                          std::string(option)});
  };
  row("kept", balance.kept, "");
  for (const Losses::Entry& entry : balance.dropped.by_reason)
    row(fmt::format("dropped: {}", to_string(entry.reason)), entry.amount,
        option_against(entry.reason));
  for (const Losses::Entry& entry : balance.unfit.by_reason)
    row(fmt::format("unfit: {}", to_string(entry.reason)), entry.amount,
        option_against(entry.reason));
  return table;
}

}  // namespace smartmig
