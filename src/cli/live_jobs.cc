// `smartmig jobs`: the queue and what runs, in the columns that people know from squeue.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

#include "base/printable.h"
#include "base/text.h"
#include "cli/live_verb.h"
#include "cli/live_words.h"
#include "cli/quantity_options.h"
#include "report/table.h"

namespace smartmig {
namespace {

using nlohmann::json;

constexpr int kJobsOfOneRequest = 1000;
constexpr std::size_t kLongestCell = 40;  // In bytes.
constexpr double kLeastWatchS = 0.1;      // A list asks the controller several times.

struct StateWord {
  const char* state;
  const char* code;  // Slurm's.
  bool active;       // Shown where no state is asked for.
};
constexpr std::array<StateWord, 7> kStateWords = {{{"running", "R", true},
                                                   {"saving", "CG", true},
                                                   {"starting", "CF", true},
                                                   {"queued", "PD", true},
                                                   {"done", "CD", false},
                                                   {"failed", "F", false},
                                                   {"cancelled", "CA", false}}};

struct JobsOptions : LiveOptions {
  std::vector<std::string> states;
  std::string owner, name, profile, gpu;
  bool all = false, late = false;
  std::size_t limit = 1000;
  std::optional<double> watch_s;
};

std::string code_of(const std::string& state) {
  for (const StateWord& word : kStateWords)
    if (state == word.state) return word.code;
  return state;
}

// The states that are asked for, by word or by Slurm's code.
Result<std::vector<std::string>> wanted_states(const JobsOptions& options) {
  std::vector<std::string> wanted;
  std::vector<std::string> known;
  for (const StateWord& word : kStateWords) known.emplace_back(word.state);
  for (const std::string& list : options.states) {
    for (const std::string_view text : split(list, ',')) {
      const auto found = std::find_if(
          kStateWords.begin(), kStateWords.end(),
          [&](const StateWord& word) { return text == word.state || text == word.code; });
      if (found == kStateWords.end())
        return fail("--state: found {}{}", in_quotes(text), suggestion(text, known));
      wanted.emplace_back(found->state);
    }
  }
  if (!wanted.empty()) return wanted;
  for (const StateWord& word : kStateWords)
    if (options.all || word.active) wanted.emplace_back(word.state);
  return wanted;
}

bool takes(const JobsOptions& options, const json& job) {
  const auto contains = [](const std::string& text, const std::string& part) {
    return part.empty() || text.find(part) != std::string::npos;
  };
  if (!options.owner.empty() && text_of(job, "owner") != options.owner) return false;
  if (!options.profile.empty() && text_of(job, "profile") != options.profile) return false;
  if (!options.gpu.empty() && text_of(job, "gpu") != options.gpu &&
      text_of(job, "gpu_index") != options.gpu)
    return false;
  if (options.late && !(job.value("late_s", json()).is_number() && job["late_s"] > 0)) return false;
  return contains(text_of(job, "name"), options.name);
}

// Jobs of one state, oldest first, until there are `most` in all.
ApiResult<void> fetch(const JobsOptions& options, const std::string& state, json& jobs) {
  const ApiClient client(options.api);
  for (std::string after = "0"; !after.empty() && jobs.size() < options.limit;) {
    const auto page =
        client.ask_json("GET", fmt::format("{}/jobs?state={}&after={}&limit={}", kLiveApi, state,
                                           after, kJobsOfOneRequest));
    if (!page) return tl::unexpected(page.error());
    for (const json& job : page->value("jobs", json::array())) {
      if (jobs.size() < options.limit && takes(options, job)) jobs.push_back(job);
    }
    after = text_of(*page, "next");
  }
  return {};
}

// Cut between two characters, never within one.
std::string shortened(const std::string& text) {
  constexpr std::string_view kCut = "...";
  if (text.size() <= kLongestCell) return text;
  const std::string_view all = text;
  std::size_t end = 0;
  while (true) {
    const std::size_t next = end + first_character(all.substr(end)).size;
    if (next + kCut.size() > kLongestCell) break;
    end = next;
  }
  return fmt::format("{}{}", all.substr(0, end), kCut);
}

double number(const json& job, const char* field, double fallback) {
  const auto found = job.find(field);
  return found != job.end() && found->is_number() ? found->get<double>() : fallback;
}

// How long it has run, or ran.
std::string time_of(const json& job, double now_s) {
  const double start_s = number(job, "start_s", -1);
  if (start_s < 0) return "0:00";
  return clock_in_words(std::max(0.0, number(job, "end_s", now_s) - start_s));
}

// Where it runs, or in brackets why it does not.
std::string place_of(const json& job, double now_s, bool frozen) {
  const std::string state = text_of(job, "state");
  if (state == "queued") {
    if (frozen) return "(frozen)";
    const double start_s = number(job, "expected_start_s", -1);
    if (start_s < 0) return "(waits)";
    return start_s <= now_s ? "(next)"
                            : fmt::format("(in about {})", clock_in_words(start_s - now_s));
  }
  if (const std::string slice = text_of(job, "slice_profile"); !slice.empty())
    return fmt::format("GPU {} {}", text_of(job, "gpu_index"), slice);
  const std::string note = text_of(job, "note");
  return note.empty() ? "" : fmt::format("({})", shortened(note));
}

// To its deadline, or how late it ended or will.
std::string deadline_of(const json& job, double now_s) {
  const double deadline_s = number(job, "deadline_s", 0);
  return clock_in_words(deadline_s - number(job, "end_s", now_s));
}

ApiResult<std::string> list_text(const JobsOptions& options,
                                 const std::vector<std::string>& states) {
  const auto fleet = ApiClient(options.api).ask_json("GET", kLiveApi + "/fleet?gpus=false");
  if (!fleet) return tl::unexpected(fleet.error());
  json jobs = json::array();
  for (const std::string& state : states)
    if (auto done = fetch(options, state, jobs); !done) return tl::unexpected(done.error());
  if (options.json) return printable_lines(json{{"jobs", std::move(jobs)}}.dump(2)) + "\n";
  const double now_s = fleet->value("now_s", 0.0);
  const bool frozen = fleet->value("frozen", false);
  using Align = Table::Align;
  Table table({{"JOBID", Align::kRight},
               {"PROFILE", Align::kLeft},
               {"NAME", Align::kLeft},
               {"USER", Align::kLeft},
               {"ST", Align::kLeft},
               {"TIME", Align::kRight},
               {"TO_DEADLINE", Align::kRight},
               {"SLICE(REASON)", Align::kLeft}});
  for (const json& job : jobs)
    table.add_row({text_of(job, "id"), shortened(text_of(job, "profile")),
                   shortened(text_of(job, "name")), shortened(text_of(job, "owner")),
                   code_of(text_of(job, "state")), time_of(job, now_s), deadline_of(job, now_s),
                   place_of(job, now_s, frozen)});
  std::string text = table.text();
  if (jobs.size() >= options.limit)
    text += fmt::format("the first {} jobs; --limit shows more\n", options.limit);
  return text;
}

int run_jobs(const JobsOptions& options) {
  const auto states = wanted_states(options);
  if (!states) return bad_input(states.error().message);
  if (options.watch_s && *options.watch_s < kLeastWatchS)
    return bad_input(fmt::format("--watch: found {:g} s, expected {:g} s or more", *options.watch_s,
                                 kLeastWatchS));
  const bool redraws = options.watch_s && !options.json && isatty(STDOUT_FILENO);
  for (;;) {
    const auto text = list_text(options, *states);
    if (!text) return failed(text.error());
    // Clear the screen, cursor to the top.
    fmt::print("{}{}", redraws ? "\x1b[2J\x1b[H" : "", *text);
    std::fflush(stdout);
    if (!options.watch_s) return 0;
    std::this_thread::sleep_for(std::chrono::duration<double>(*options.watch_s));
  }
}

}  // namespace

void add_jobs(CLI::App& app, Action& action) {
  const auto [command, options] = add_verb<JobsOptions>(
      app, action,
      {"jobs",
       "List the jobs of the live controller, as squeue does",
       {{"What waits and what runs", "smartmig jobs"},
        {"What one user waits for", "smartmig jobs --state queued --owner alice"},
        {"By Slurm's codes, again every 5 seconds", "smartmig jobs --state PD,R --watch 5s"},
        {"Late jobs, finished ones too, for a program", "smartmig jobs --all --late --json"}},
       "ST is PD (queued), CF (starting), R (running), CG (saving), CD (done), F (failed) or CA\n"
       "(cancelled). TIME is how long the job has run, TO_DEADLINE the time until its deadline,\n"
       "with a minus sign where the deadline has passed."},
      run_jobs);
  command->add_option("--state", options->states,
                      "Jobs in these states, by word or code, separated by commas (default: all "
                      "that wait or run)");
  command->add_flag("--all", options->all, "Finished jobs too");
  command->add_option("--owner", options->owner, "Jobs of this owner");
  command->add_option("--name", options->name, "Jobs with this text in their name");
  command->add_option("--profile", options->profile, "Jobs of this speed profile");
  command->add_option("--gpu", options->gpu, "Jobs on this GPU, by number or UUID");
  command->add_flag("--late", options->late, "Jobs that ended late or are expected to");
  command->add_option("--limit", options->limit, "At most this many jobs (default: 1000)")
      ->check(CLI::Range(1, 1'000'000));
  add_duration(*command, "--watch", options->watch_s,
               "Repeat after this time until interrupted, such as 2s");
}

}  // namespace smartmig
