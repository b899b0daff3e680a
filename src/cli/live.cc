// The verbs that ask a running controller: status, submit, cancel, plan, apply, rollback, explain,
// export, cordon, drain, uncordon, adopt, freeze, unfreeze, recover, power-cap.
#include <CLI/CLI.hpp>
#include <memory>

#include "base/printable.h"
#include "cli/api_client.h"
#include "cli/cli.h"
#include "report/table.h"

namespace smartmig {
namespace {

using nlohmann::json;

const std::string kApi = "/api/v1";

struct LiveOptions {
  ApiOptions api;
  std::string what;  // A job, a GPU, or what else the verb takes.
  std::string policy;
  std::string profile, key, name;
  double work_s = 0, deadline_s = 0;
  double watts = 0;
  std::optional<double> checkpoint_s, restore_s, max_runtime_s;
  std::optional<int> memory_mib;
  std::optional<bool> preemptible;
  std::vector<std::string> command;
  std::vector<std::string> layouts;  // GPU=LAYOUT
  bool dry_run = false;
  bool json = false;
};

// A field as text, fit for a terminal: what a server says may come from another user.
std::string text_of(const json& value, const char* field) {
  const auto found = value.find(field);
  if (found == value.end() || found->is_null()) return "";
  return printable(found->is_string() ? found->get<std::string>() : found->dump());
}

int print_lines(const json& answer) {
  for (const json& line : answer.value("lines", json::array()))
    fmt::print("{}\n", printable(line.get<std::string>()));
  return 0;
}

// Whatever changes something can be asked what it would do.
std::string rehearsed(const LiveOptions& options, const std::string& path) {
  return options.dry_run ? path + "?dry_run=true" : path;
}

// Asks, prints the answer as JSON where that is wanted, and else by `show`.
template <class Show>
int ask(const LiveOptions& options, const std::string& method, const std::string& path,
        const std::string& body, const Show& show) {
  const auto answer = ApiClient(options.api).ask_json(method, path, body);
  if (!answer) return failed(answer.error());
  if (options.json) {
    fmt::print("{}\n", printable_lines(answer->dump(2)));
    return 0;
  }
  return show(*answer);
}

int run_status(const LiveOptions& options) {
  if (!options.what.empty())
    return ask(options, "GET", kApi + "/jobs/" + percent_encoded(options.what), "",
               [](const json& job) {
                 for (const auto& [field, value] : job.items()) {
                   if (!value.is_null())
                     fmt::print("{:<18} {}\n", printable(field), text_of(job, field.c_str()));
                 }
                 return 0;
               });
  return ask(options, "GET", kApi + "/fleet", "", [](const json& fleet) {
    fmt::print("{} with {}: {} jobs wait, {} run, {:.0f} W{}{}\n", text_of(fleet, "fleet"),
               text_of(fleet, "policy"), text_of(fleet, "queued"), text_of(fleet, "running"),
               fleet.value("power_w", 0.0), fleet.value("frozen", false) ? ", frozen" : "",
               fleet.value("recovered", true) ? "" : ", not recovered");
    if (const std::string trouble = text_of(fleet, "trouble"); !trouble.empty())
      fmt::print("{}\n", trouble);
    for (const json& gpu : fleet.value("gpus", json::array())) {
      std::size_t busy = 0;
      for (const json& slice : gpu.value("slices", json::array()))
        busy += !text_of(slice, "job").empty();
      fmt::print("{:>5}  {:<10} {:<16} {} of {} slices busy{}{}\n", text_of(gpu, "index"),
                 text_of(gpu, "state"), text_of(gpu, "layout"), busy,
                 gpu.value("slices", json::array()).size(),
                 text_of(gpu, "trouble").empty() ? "" : ": ", text_of(gpu, "trouble"));
    }
    return 0;
  });
}

int run_submit(const LiveOptions& options) {
  json body = {
      {"profile", options.profile}, {"work_s", options.work_s}, {"deadline_s", options.deadline_s}};
  if (!options.key.empty()) body["key"] = options.key;
  if (!options.name.empty()) body["name"] = options.name;
  if (options.memory_mib) body["memory_mib"] = *options.memory_mib;
  if (options.preemptible) body["preemptible"] = *options.preemptible;
  if (options.checkpoint_s) body["checkpoint_s"] = *options.checkpoint_s;
  if (options.restore_s) body["restore_s"] = *options.restore_s;
  if (options.max_runtime_s) body["max_runtime_s"] = *options.max_runtime_s;
  if (!options.command.empty()) body["command"] = options.command;
  return ask(options, "POST", rehearsed(options, kApi + "/jobs"), body.dump(),
             [&](const json& answer) {
               fmt::print("{}\n", options.dry_run ? "it would be accepted" : text_of(answer, "id"));
               return 0;
             });
}

int run_cancel(const LiveOptions& options) {
  const std::string path = rehearsed(options, kApi + "/jobs/" + percent_encoded(options.what));
  return ask(options, "DELETE", path, "", print_lines);
}

int run_plan(const LiveOptions& options) {
  const std::string query =
      options.policy.empty() ? "" : "?policy=" + percent_encoded(options.policy);
  return ask(options, "GET", kApi + "/plan" + query, "", [](const json& plan) {
    bool any = false;
    for (const json& stop : plan.value("stops", json::array()))
      any = true, fmt::print("stop job {}: {}\n", text_of(stop, "job"), text_of(stop, "reason"));
    for (const json& change : plan.value("changes", json::array()))
      any = true,
      fmt::print("{} from {} to {}: {}\n", text_of(change, "gpu"), text_of(change, "from"),
                 text_of(change, "to"), text_of(change, "reason"));
    for (const json& start : plan.value("starts", json::array()))
      any = true,
      fmt::print("job {} on {} of {}: {}\n", text_of(start, "job"), text_of(start, "profile"),
                 text_of(start, "gpu"), text_of(start, "reason"));
    if (!any) fmt::print("nothing is to be done now\n");
    return 0;
  });
}

int run_explain(const LiveOptions& options) {
  // A job is a number; GPUs have UUIDs, or are written gpu:3.
  std::string path = kApi + "/explain/job/" + percent_encoded(options.what);
  if (options.what.starts_with("gpu:"))
    path = kApi + "/explain/gpu/" + percent_encoded(options.what.substr(4));
  if (options.what.starts_with("GPU-"))
    path = kApi + "/explain/gpu/" + percent_encoded(options.what);
  return ask(options, "GET", path, "", print_lines);
}

int run_export(const LiveOptions& options) {
  const auto answer = ApiClient(options.api).ask("GET", kApi + "/export");
  if (!answer) return failed(answer.error());
  fmt::print("{}", printable_lines(answer->body));
  return 0;
}

int run_apply(const LiveOptions& options) {
  json body = json::object();
  for (const std::string& term : options.layouts) {
    const std::size_t equals = term.rfind('=');
    if (equals == std::string::npos || equals == 0)
      return bad_input(
          fmt::format("apply: found '{}', expected GPU=LAYOUT, such as 0=4-2-1", term));
    const std::string gpu = term.substr(0, equals);
    if (body.contains("layouts") && body["layouts"].contains(gpu))
      return bad_input(fmt::format("apply: names GPU {} twice, expected each GPU once", gpu));
    body["layouts"][gpu] = term.substr(equals + 1);
  }
  return ask(options, "POST", rehearsed(options, kApi + "/apply"), body.dump(), print_lines);
}

int run_command(const LiveOptions& options, const std::string& path, const json& body) {
  return ask(options, "POST", rehearsed(options, kApi + path), body.dump(), print_lines);
}

class Verbs {
 public:
  Verbs(CLI::App& app, Action& action) : app_(app), action_(action) {}

  struct Verb {
    CLI::App* command;
    std::shared_ptr<LiveOptions> options;
  };
  Verb add(const std::string& name, const std::string& what,
           const std::function<int(const LiveOptions&)>& run, bool changes) {
    Verb verb{app_.add_subcommand(name, what), std::make_shared<LiveOptions>()};
    add_api_options(*verb.command, verb.options->api);
    if (name != "export")
      verb.command->add_flag("--json", verb.options->json, "Print the answer as JSON");
    if (changes)
      verb.command->add_flag("--dry-run", verb.options->dry_run,
                             "Say what it would do, and do nothing");
    verb.command->callback([options = verb.options, run, &action = action_] {
      action = [options, run] { return run(*options); };
    });
    return verb;
  }
  void add_for_gpu(const std::string& name, const std::string& what) {
    const Verb verb = add(
        name, what,
        [name](const LiveOptions& options) {
          return run_command(options, "/gpus/" + percent_encoded(options.what) + "/" + name,
                             json::object());
        },
        true);
    verb.command->add_option("GPU", verb.options->what, "Its UUID or number")->required();
  }
  void add_plain(const std::string& name, const std::string& what) {
    add(
        name, what,
        [name](const LiveOptions& options) {
          return run_command(options, "/" + name, json::object());
        },
        true);
  }

 private:
  CLI::App& app_;
  Action& action_;
};

}  // namespace

void add_live(CLI::App& app, Action& action) {
  Verbs verbs(app, action);
  const auto status = verbs.add("status", "The live fleet, or one job", run_status, false);
  status.command->add_option("JOB", status.options->what, "A job's id; none: the fleet");

  const auto submit = verbs.add("submit", "Submit a job to the live controller", run_submit, true);
  LiveOptions& job = *submit.options;
  submit.command->add_option("--profile", job.profile, "Its speed profile, such as bert-training")
      ->required();
  submit.command->add_option("--work", job.work_s, "Seconds on a whole GPU, as estimated")
      ->required();
  submit.command
      ->add_option("--deadline", job.deadline_s, "Seconds from now by which it should end")
      ->required();
  submit.command->add_option("--key", job.key, "The same key and job again: the same id");
  submit.command->add_option("--name", job.name, "For people");
  submit.command->add_option("--memory", job.memory_mib, "MiB it needs");
  submit.command->add_option("--preemptible", job.preemptible,
                             "true or false (training yes, inference no)");
  submit.command->add_option("--checkpoint", job.checkpoint_s,
                             "Seconds it takes to save (by the costs)");
  submit.command->add_option("--restore", job.restore_s, "Seconds it takes to load (by the costs)");
  submit.command->add_option("--max-runtime", job.max_runtime_s,
                             "Seconds after which a run is killed");
  submit.command->add_option("COMMAND", job.command, "Stored and shown, not run; after --");

  const auto cancel = verbs.add("cancel", "Cancel a job", run_cancel, true);
  cancel.command->add_option("JOB", cancel.options->what, "Its id")->required();
  const auto plan = verbs.add("plan", "What the controller would do now, and why; changes nothing",
                              run_plan, false);
  plan.command->add_option("--policy", plan.options->policy, "By another policy: a rehearsal");
  const auto apply = verbs.add("apply", "Change layouts, or do what the plan says although frozen",
                               run_apply, true);
  apply.command->add_option("LAYOUT", apply.options->layouts,
                            "GPU=LAYOUT, such as 0=4-2-1; none: the plan");
  const auto rollback = verbs.add(
      "rollback", "Return to the layouts before the last change",
      [](const LiveOptions& options) {
        json body = json::object();
        if (!options.what.empty()) body["gpu"] = options.what;
        return run_command(options, "/rollback", body);
      },
      true);
  rollback.command->add_option("GPU", rollback.options->what,
                               "One GPU; none: all of the last decision");
  const auto explain = verbs.add(
      "explain", "Why a job waits or runs where it does or how it ended, or why a GPU is cut so",
      run_explain, false);
  explain.command
      ->add_option("WHAT", explain.options->what, "A job's id, a GPU's UUID, or gpu:NUMBER")
      ->required();
  verbs.add("export", "The layouts as a configuration of mig-parted", run_export, false);
  verbs.add_for_gpu("cordon", "Place and cut nothing on a GPU; what runs goes on");
  verbs.add_for_gpu("drain", "The same, and move away the jobs that can be stopped");
  verbs.add_for_gpu("uncordon", "Use a GPU again; tries a fenced one anew");
  verbs.add_for_gpu("adopt", "Take slices that somebody else made as ours");
  verbs.add_plain("freeze", "Decide nothing until unfreeze; what runs goes on");
  verbs.add_plain("unfreeze", "Decide again");
  const auto cap = verbs.add(
      "power-cap", "Start nothing that would draw more than this; stops nothing",
      [](const LiveOptions& options) {
        return run_command(options, "/power-cap", {{"watts", options.watts}});
      },
      true);
  cap.command->add_option("WATTS", cap.options->watts, "Of the whole fleet; 0: no cap")->required();
  verbs.add_plain("recover",
                  "Go on after the journal was damaged or lost, and try fenced GPUs anew");
}

}  // namespace smartmig
