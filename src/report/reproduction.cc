#include "report/reproduction.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/table.h"

namespace smartmig {
namespace {

using Json = nlohmann::ordered_json;
using Item = Reproduction::Item;

std::string number(double value) { return fmt::format("{:.4g}", value); }

std::string item_text(const Item& item) {
  std::string text = fmt::format("{}: {}\n{}\n{}\n\n", item.item->name, item.item->title,
                                 item.item->source, item.item->text);
  const std::vector<std::string> notes = notes_of(item);
  Table table({{"what", Table::Align::kLeft},
               {"unit", Table::Align::kLeft},
               {"paper"},
               {"ours"},
               {"verdict", Table::Align::kLeft}});
  for (const ReproducedRow& row : item.rows) {
    table.add_row({row.what, row.unit, theirs_text(row), ours_text(row), verdict_text(row, notes)});
  }
  text += table.text();
  for (std::size_t i = 0; i < notes.size(); ++i) text += fmt::format("({}) {}\n", i + 1, notes[i]);
  for (const std::string& command : commands_of(item)) text += fmt::format("$ {}\n", command);
  return text;
}

std::string item_markdown(const Item& item) {
  std::string text = fmt::format("\n## {}: {}\n{}. {}\n\n", item.item->name, item.item->title,
                                 item.item->source, item.item->text);
  text += "| | unit | paper | ours | verdict |\n|---|---|---|---|---|\n";
  const std::vector<std::string> notes = notes_of(item);
  for (const ReproducedRow& row : item.rows) {
    text += fmt::format("| {} | {} | {} | {} | {} |\n", row.what, row.unit, theirs_text(row),
                        ours_text(row), verdict_text(row, notes));
  }
  if (!notes.empty()) text += '\n';
  for (std::size_t i = 0; i < notes.size(); ++i) text += fmt::format("{}. {}\n", i + 1, notes[i]);
  const std::vector<std::string> commands = commands_of(item);
  if (!commands.empty()) text += '\n';
  for (const std::string& command : commands) text += fmt::format("    {}\n", command);
  return text;
}

std::string counts_markdown(const Reproduction& reproduction) {
  std::string text = "| item | | agrees | differs | not stated |\n|---|---|---|---|---|\n";
  for (const Item& item : reproduction.items) {
    text +=
        fmt::format("| {} | {} | {} | {} | {} |\n", item.item->name, item.item->title,
                    count_verdicts(item, Verdict::kAgrees), count_verdicts(item, Verdict::kDiffers),
                    count_verdicts(item, Verdict::kNotStated));
  }
  return text;
}

}  // namespace

std::string ours_text(const ReproducedRow& row) {
  if (!row.low95) return number(row.ours);
  return fmt::format("{} [{}, {}]", number(row.ours), number(*row.low95), number(*row.high95));
}

std::string theirs_text(const ReproducedRow& row) {
  if (!row.theirs) return "-";
  return row.error > 0 ? fmt::format("{} ± {:g}", number(*row.theirs), row.error)
                       : number(*row.theirs);
}

std::vector<std::string> notes_of(const Item& item) {
  std::vector<std::string> notes;
  for (const ReproducedRow& row : item.rows) {
    if (!row.note.empty() && std::ranges::find(notes, row.note) == notes.end())
      notes.push_back(row.note);
  }
  return notes;
}

std::string verdict_text(const ReproducedRow& row, const std::vector<std::string>& notes) {
  const std::string verdict(to_string(row.verdict));
  if (!row.note.empty()) {
    const auto at = std::ranges::find(notes, row.note) - notes.begin();
    return fmt::format("{} ({})", verdict, at + 1);
  }
  return row.verdict == Verdict::kDiffers ? verdict + " (unexplained)" : verdict;
}

std::vector<std::string> commands_of(const Item& item) {
  std::vector<std::string> commands;
  for (const ReproducedRow& row : item.rows) {
    if (!row.command.empty() && std::ranges::find(commands, row.command) == commands.end())
      commands.push_back(row.command);
  }
  return commands;
}

long count_verdicts(const Item& item, Verdict verdict) {
  return std::ranges::count(item.rows, verdict, &ReproducedRow::verdict);
}

std::string list_text(const std::vector<PublishedItem>& items) {
  Table table({{"item", Table::Align::kLeft}, {"what", Table::Align::kLeft}});
  for (const PublishedItem& item : items) table.add_row({item.name, item.title});
  return table.text();
}

std::string to_text(const Reproduction& reproduction) {
  std::string text;
  for (const Item& item : reproduction.items) text += item_text(item) + "\n";
  return text + counts_text(reproduction) + "\n";
}

std::string counts_text(const Reproduction& reproduction) {
  long agree = 0;
  long differ = 0;
  long unstated = 0;
  for (const Item& item : reproduction.items) {
    agree += count_verdicts(item, Verdict::kAgrees);
    differ += count_verdicts(item, Verdict::kDiffers);
    unstated += count_verdicts(item, Verdict::kNotStated);
  }
  return fmt::format("{} numbers agree, {} differ, {} are not stated in the papers.", agree, differ,
                     unstated);
}

std::string to_markdown(const Reproduction& reproduction) {
  std::string text = fmt::format(
      "# Published results, and ours\n\nMade by `{}`. A is SMART-MIG (IPDPS 2026), B its "
      "predecessor on one GPU (CCGrid 2025), C a course project that learns the placement (2025). "
      "[low, high] is the 95 % interval of ours, bootstrapped over days; ± is the error of reading "
      "a plot, or of a last digit. A number *agrees* where the paper's lies in that interval "
      "widened by that error; else it *differs*, for the reason named below the table, or "
      "unexplained. Each command prints the numbers of its rows.\n\n",
      reproduction.command);
  text += counts_markdown(reproduction);
  for (const Item& item : reproduction.items) text += item_markdown(item);
  return text;
}

nlohmann::ordered_json to_json(const Reproduction& reproduction) {
  const auto or_null = [](const std::optional<double>& value) {
    return value ? Json(*value) : Json(nullptr);
  };
  Json list = Json::array();
  for (const Item& item : reproduction.items) {
    for (const ReproducedRow& row : item.rows) {
      list.push_back({{"item", row.item},
                      {"what", row.what},
                      {"unit", row.unit},
                      {"theirs", or_null(row.theirs)},
                      {"ours", row.ours},
                      {"low95", or_null(row.low95)},
                      {"high95", or_null(row.high95)},
                      {"verdict", to_string(row.verdict)},
                      {"command", row.command.empty() ? Json(nullptr) : Json(row.command)},
                      {"reading_error", row.error},
                      {"note", row.note}});
    }
  }
  return list;
}

std::vector<OutputFile> reproduction_files(const Reproduction& reproduction) {
  return {{"reproduction.md", to_markdown(reproduction)},
          {"reproduction.json", to_json(reproduction).dump(2) + "\n"}};
}

}  // namespace smartmig
