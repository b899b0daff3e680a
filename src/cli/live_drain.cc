// `smartmig drain`: closes a GPU and moves its jobs away; with --wait it returns when none is left.
#include <chrono>
#include <thread>

#include "cli/live_verb.h"
#include "cli/live_words.h"
#include "cli/quantity_options.h"

namespace smartmig {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLookEvery(500);
constexpr std::chrono::seconds kSayEvery(10);

struct DrainOptions : LiveOptions {
  std::string gpu;
  bool wait = false;
  std::optional<double> timeout_s;
};

// "job 12 on 3g.20gb, job 15 on 1g.5gb"; "": none.
std::string jobs_on(const json& gpu) {
  std::string text;
  for (const json& slice : gpu.value("slices", json::array())) {
    const std::string job = text_of(slice, "job");
    if (!job.empty())
      text +=
          fmt::format("{}job {} on {}", text.empty() ? "" : ", ", job, text_of(slice, "profile"));
  }
  return text;
}

int wait_until_empty(const DrainOptions& options) {
  const ApiClient client(options.api);
  const Clock::time_point begin = Clock::now();
  Clock::time_point said = begin - kSayEvery;
  for (;;) {
    const auto gpu = client.ask_json("GET", kLiveApi + "/gpus/" + percent_encoded(options.gpu));
    if (!gpu) return failed(gpu.error());
    const std::string jobs = jobs_on(*gpu);
    const double passed_s = std::chrono::duration<double>(Clock::now() - begin).count();
    if (jobs.empty()) {
      if (!options.json) fmt::print("{} has no jobs left\n", text_of(*gpu, "uuid"));
      return 0;
    }
    if (const std::string state = text_of(*gpu, "state"); state == "up" || state == "cordoned")
      return failed(fmt::format("drain: {} is {} now, so it is no longer drained; left on it: {}",
                                text_of(*gpu, "uuid"), state, jobs));
    if (options.timeout_s && passed_s >= *options.timeout_s)
      return failed(fmt::format("drain: after {} these are left on {}: {}",
                                clock_in_words(passed_s), text_of(*gpu, "uuid"), jobs));
    if (Clock::now() - said >= kSayEvery) {
      said = Clock::now();
      fmt::print(stderr, "waiting for {}\n", jobs);
    }
    std::this_thread::sleep_for(kLookEvery);
  }
}

int run_drain(const DrainOptions& options) {
  const int status =
      run_command(options, "/gpus/" + percent_encoded(options.gpu) + "/drain", json::object());
  if (status != 0 || !options.wait || options.dry_run) return status;
  std::fflush(stdout);
  return wait_until_empty(options);
}

}  // namespace

void add_drain(CLI::App& app, Action& action) {
  const auto [command, options] =
      add_verb<DrainOptions>(app, action,
                             {"drain",
                              "Cordon a GPU and move away the jobs that can be stopped",
                              {{"Before work on a board", "smartmig drain 3 --wait --timeout 2h"}},
                              "Jobs that cannot be stopped continue until they end.",
                              true},
                             run_drain);
  command->add_option("GPU", options->gpu, "UUID or number of the GPU")->required();
  const auto* wait =
      command->add_flag("--wait", options->wait, "Return when no job is left on the GPU");
  add_duration(*command, "--timeout", options->timeout_s,
               "With --wait: fail after this time of the host's clock (default: never)")
      ->needs(const_cast<CLI::Option*>(wait));
}

}  // namespace smartmig
