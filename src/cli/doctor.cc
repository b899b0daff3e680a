// `smartmig doctor`: is this machine, its state folder and its controller as they should be?
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <CLI/CLI.hpp>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/printable.h"
#include "cli/api_client.h"
#include "cli/cli.h"
#include "cli/live_words.h"
#include "control/journal.h"
#include "control/state_folder.h"
#include "drivers/simulated/simulated_driver.h"

namespace smartmig {
namespace {

namespace fs = std::filesystem;

struct DoctorOptions {
  ApiOptions api;
  std::string state;
  bool json = false;
};

struct Finding {
  std::string what;
  bool good = true;
  std::string says;  // What is so, or what to do.
};

constexpr double kFreeGib = 1;

void look_at_state(const std::string& state, std::vector<Finding>& findings) {
  struct stat folder {};
  if (stat(state.c_str(), &folder) != 0) {
    findings.push_back(
        {"state folder", false, fmt::format("{} is not there: `smartmig serve` makes it", state)});
    return;
  }
  const auto owned = check_state_folder(state);
  const auto writable = check_state_folder_writable(state);
  if (!owned) {
    findings.push_back({"state folder", false, owned.error().message});
  } else if (!writable) {
    findings.push_back({"state folder", false, writable.error().message});
  } else {
    const bool closed = (folder.st_mode & 077) == 0;
    findings.push_back(
        {"state folder", closed,
         closed ? state : fmt::format("{} can be entered by others: chmod 700 it", state)});
  }
  struct statvfs disk {};
  if (statvfs(state.c_str(), &disk) == 0) {
    const double gib =
        static_cast<double>(disk.f_bavail) * static_cast<double>(disk.f_frsize) / (1 << 30);
    findings.push_back({"disk", gib >= kFreeGib,
                        fmt::format("{:.1f} GiB free{}", gib,
                                    gib >= kFreeGib ? "" : ": make room, the journal needs it")});
  }
  auto journal = JournalReader::open(state);
  if (!journal) {
    findings.push_back({"journal", false, journal.error().message});
  } else {
    const auto whole = journal->verify();
    findings.push_back({"journal", whole.has_value(),
                        whole ? "every row has its checksum" : whole.error().message});
  }
  SimulatedDriver driver(state + "/fleet");
  const auto fleet = driver.describe();
  findings.push_back(
      {"simulated fleet", fleet.has_value(),
       fleet ? fmt::format("{} GPUs, {:g} times real time", fleet->gpus.size(), fleet->clock.speed)
             : "does not answer: `smartmig serve` starts it"});
}

void look_at_server(const ApiOptions& api, std::vector<Finding>& findings) {
  const ApiClient client(api);
  const auto ready = client.ask("GET", "/readyz");
  findings.push_back({"controller", ready.has_value(),
                      ready ? api.server + " is deciding" : ready.error().message});
  const auto fleet = client.ask_json("GET", "/api/v1/fleet");
  if (!fleet) {
    // One that is not there has been told of.
    if (ready) findings.push_back({"fleet", false, fleet.error().message});
    return;
  }
  if (const std::string trouble = fleet->value("trouble", ""); !trouble.empty())
    findings.push_back({"fleet", false, trouble});
  if (!fleet->value("recovered", true)) {
    findings.push_back({"decisions", false,
                        "the journal was damaged, lost or went back in time: look at the fleet, "
                        "then `smartmig recover`"});
  } else if (fleet->value("frozen", false)) {
    findings.push_back({"decisions", false, "frozen: `smartmig unfreeze` when the work is done"});
  }
  if (const std::string alarm = modelled_alarm(*fleet); !alarm.empty())
    findings.push_back({"policy", false, alarm});
  for (const auto& gpu : fleet->value("gpus", nlohmann::json::array())) {
    const std::string trouble = gpu.value("trouble", "");
    if (!trouble.empty()) findings.push_back({"GPU " + gpu.value("uuid", ""), false, trouble});
  }
}

int run_doctor(const DoctorOptions& options) {
  std::vector<Finding> findings;
  if (!options.state.empty()) look_at_state(options.state, findings);
  look_at_server(options.api, findings);
  bool good = true;
  nlohmann::json out = nlohmann::json::array();
  for (const Finding& finding : findings) {
    good = good && finding.good;
    if (options.json) {
      out.push_back({{"what", finding.what}, {"good", finding.good}, {"says", finding.says}});
    } else {
      fmt::print("{} {:<16} {}\n", finding.good ? "good" : "BAD ", printable(finding.what),
                 printable(finding.says));
    }
  }
  if (options.json) fmt::print("{}\n", printable_lines(out.dump(2)));
  return good ? 0 : 1;
}

}  // namespace

void add_doctor(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("doctor", "Check a live controller and its state folder; changes nothing");
  const auto options = std::make_shared<DoctorOptions>();
  add_api_options(*command, options->api);
  command->add_option("--state", options->state, "A state folder to look into as well");
  command->add_flag("--json", options->json, "Print what was found as JSON");
  command->callback([options, &action] { action = [options] { return run_doctor(*options); }; });
}

}  // namespace smartmig
