// `smartmig profiles`: the speed profiles that jobs can name, listed or searched.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cli/cli.h"
#include "cli/help.h"
#include "report/table.h"
#include "workload/catalogue.h"

namespace smartmig {
namespace {

using nlohmann::ordered_json;

struct ProfilesOptions {
  std::vector<std::string> words;
  std::string set, kind;
  bool json = false;
};

std::string lowered(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

const char* kind_word(JobKind kind) {
  return kind == JobKind::kTraining ? "training" : "inference";
}

// Every word is somewhere in its name, set or board.
bool fits(const ProfilesOptions& options, const SpeedProfile& profile) {
  if (!options.set.empty() && profile.set != options.set) return false;
  if (!options.kind.empty() && options.kind != kind_word(profile.kind)) return false;
  const std::string text = lowered(fmt::format("{} {} {} {}", profile.name, profile.set,
                                               profile.board, kind_word(profile.kind)));
  return std::all_of(options.words.begin(), options.words.end(), [&](const std::string& word) {
    return text.find(lowered(word)) != std::string::npos;
  });
}

ordered_json to_json(const SpeedProfile& profile) {
  ordered_json speeds = ordered_json::object(), watts = ordered_json::object();
  for (std::size_t size = 0; size < kSizeCount; ++size) {
    const std::string name = fmt::format("{}g", kSizes[size]);
    if (profile.speed[size] > 0) speeds[name] = profile.speed[size];
    if (profile.watts[size] > 0) watts[name] = profile.watts[size];
  }
  return {
      {"name", profile.name},
      {"set", profile.set},
      {"kind", kind_word(profile.kind)},
      {"speeds", std::move(speeds)},
      {"memory_mib", profile.memory_mib > 0 ? ordered_json(profile.memory_mib) : ordered_json()},
      {"watts", std::move(watts)},
      {"board", profile.board},
      {"source", profile.source},
      {"caveat", profile.caveat.empty() ? ordered_json() : ordered_json(profile.caveat)}};
}

std::string table_text(const std::vector<const SpeedProfile*>& found) {
  using Align = Table::Align;
  std::vector<Table::Column> columns = {{"profile", Align::kLeft}, {"kind", Align::kLeft}};
  for (const int size : kSizes) columns.push_back({fmt::format("{}g", size), Align::kRight});
  columns.push_back({"MiB", Align::kRight});
  columns.push_back({"set", Align::kLeft});
  columns.push_back({"measured on", Align::kLeft});
  Table table(std::move(columns));
  for (const SpeedProfile* profile : found) {
    std::vector<std::string> row = {profile->name, kind_word(profile->kind)};
    for (const double speed : profile->speed)
      row.push_back(speed > 0 ? fmt::format("{:.2f}", speed) : "-");
    row.push_back(profile->memory_mib > 0 ? std::to_string(profile->memory_mib) : "-");
    row.push_back(profile->set);
    row.push_back(profile->board);
    table.add_row(std::move(row));
  }
  return table.text();
}

int run_profiles(const ProfilesOptions& options) {
  const auto sets = Catalogue::shipped().sets();
  if (!options.set.empty() && std::find(sets.begin(), sets.end(), options.set) == sets.end())
    return bad_input(
        fmt::format("--set: found {}{}", in_quotes(options.set), suggestion(options.set, sets)));
  std::vector<const SpeedProfile*> found;
  std::vector<std::string> names;
  for (const SpeedProfile& profile : Catalogue::shipped().profiles()) {
    names.push_back(profile.name);
    if (fits(options, profile)) found.push_back(&profile);
  }
  if (found.empty() && !options.words.empty()) {
    const std::string near = nearest(options.words.front(), names);
    return bad_input(fmt::format("profiles: no profile has {}{}",
                                 in_quotes(join(options.words, " ")),
                                 near.empty() ? "; `smartmig profiles` lists all"
                                              : fmt::format("; did you mean '{}'?", near)));
  }
  if (options.json) {
    ordered_json list = ordered_json::array();
    for (const SpeedProfile* profile : found) list.push_back(to_json(*profile));
    fmt::print("{}\n", list.dump(2));
    return 0;
  }
  fmt::print(
      "{}{} profile{}; speeds are relative to a whole GPU of the board they were measured "
      "on, - means that the job does not run there\n",
      table_text(found), found.size(), found.size() == 1 ? "" : "s");
  return 0;
}

}  // namespace

void add_profiles(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("profiles", "List or search the speed profiles that jobs can name");
  const auto options = std::make_shared<ProfilesOptions>();
  command->add_option("WORD", options->words,
                      "Profiles that have every word in their name, set, kind or board");
  command->add_option("--set", options->set, "Profiles of one set, such as paper or h200");
  command->add_option("--kind", options->kind, "training or inference")
      ->check(CLI::IsMember({"training", "inference"}));
  command->add_flag("--json", options->json, "Print JSON (memory in MiB, watts above idle)");
  add_examples(*command, {{"All profiles", "smartmig profiles"},
                          {"Those for training ResNet-50", "smartmig profiles resnet50 train"},
                          {"One set, for a program", "smartmig profiles --set h200 --json"}});
  command->callback([options, &action] { action = [options] { return run_profiles(*options); }; });
}

}  // namespace smartmig
