// The verbs that ask a running controller: submit, cancel, plan, apply, unhold, rollback, explain,
// export, cordon, drain, uncordon, adopt, freeze, unfreeze, recover, power-cap. `status` and `jobs`
// have files of their own.
#include "base/printable.h"
#include "cli/live_verb.h"
#include "cli/quantity_options.h"

namespace smartmig {
namespace {

using nlohmann::json;

struct SubmitOptions : LiveOptions {
  std::string profile, key, name;
  double work_s = 0, deadline_s = 0;
  std::optional<double> checkpoint_s, restore_s, max_runtime_s;
  std::optional<std::int64_t> memory_mib;
  std::optional<bool> preemptible;
  std::vector<std::string> command;
};

int run_submit(const SubmitOptions& options) {
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
  return ask(options, "POST", rehearsed(options, kLiveApi + "/jobs"), body.dump(),
             [&](const json& answer) {
               fmt::print("{}\n", options.dry_run ? "it would be accepted" : text_of(answer, "id"));
               return 0;
             });
}

// A verb about one thing: a job, or a GPU.
struct NamedOptions : LiveOptions {
  std::string what;
};

int run_cancel(const NamedOptions& options) {
  const std::string path = rehearsed(options, kLiveApi + "/jobs/" + percent_encoded(options.what));
  return ask(options, "DELETE", path, "", print_lines);
}

struct PlanOptions : LiveOptions {
  std::string policy;
};

int run_plan(const PlanOptions& options) {
  const std::string query =
      options.policy.empty() ? "" : "?policy=" + percent_encoded(options.policy);
  return ask(options, "GET", kLiveApi + "/plan" + query, "", [](const json& plan) {
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

int run_explain(const NamedOptions& options) {
  // A job is a number; GPUs have UUIDs, or are written gpu:3.
  std::string path = kLiveApi + "/explain/job/" + percent_encoded(options.what);
  if (options.what.starts_with("gpu:"))
    path = kLiveApi + "/explain/gpu/" + percent_encoded(options.what.substr(4));
  if (options.what.starts_with("GPU-"))
    path = kLiveApi + "/explain/gpu/" + percent_encoded(options.what);
  return ask(options, "GET", path, "", print_lines);
}

int run_export(const LiveOptions& options) {
  const auto answer = ApiClient(options.api).ask("GET", kLiveApi + "/export");
  if (!answer) return failed(answer.error());
  fmt::print("{}", printable_lines(answer->body));
  return 0;
}

struct ApplyOptions : LiveOptions {
  std::vector<std::string> layouts;  // GPU=LAYOUT
  bool hold = false;
};

int run_apply(const ApplyOptions& options) {
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
  if (options.hold && options.layouts.empty())
    return bad_input("apply: --hold needs layouts: GPU=LAYOUT, such as 0=4-2-1");
  if (options.hold) body["hold"] = true;
  return run_command(options, "/apply", body);
}

struct PowerCapOptions : LiveOptions {
  double watts = 0;
};

void add_submit(CLI::App& app, Action& action) {
  const auto [command, job] = add_verb<SubmitOptions>(
      app, action,
      {"submit",
       "Submit a job to the live controller",
       {{"A training job, with its command for people",
         "smartmig submit --profile bert-training --work 2h --deadline 6h -- train.py --epochs 3"},
        {"A job that needs 8 GiB",
         "smartmig submit --profile resnet50-inference --work 90s --deadline 10m --memory 8G"}},
       "`smartmig profiles` lists the profiles. Lengths of time are written as 90s, 10m, 2h,\n"
       "1-02:00:00 or seconds, sizes as 8G, 512M or MiB.",
       true},
      run_submit);
  command->add_option("--profile", job->profile, "Speed profile of the job, such as bert-training")
      ->required();
  add_duration(*command, "--work", job->work_s, "Estimated run time on a whole GPU, such as 2h")
      ->required();
  add_duration(*command, "--deadline", job->deadline_s,
               "Time from now by which the job should end, such as 6h")
      ->required();
  command->add_option("--key", job->key,
                      "A key of your own: the same key and job again give the same id");
  command->add_option("--name", job->name, "A name for people");
  add_size(*command, "--memory", job->memory_mib,
           "GPU memory that the job needs, such as 8G (default: any slice)");
  command->add_option(
      "--preemptible", job->preemptible,
      "Whether the job can be stopped and resumed: true or false (default: true for "
      "training, false for inference)");
  add_duration(*command, "--checkpoint", job->checkpoint_s,
               "Time that the job takes to save (default: by --costs of the controller)");
  add_duration(*command, "--restore", job->restore_s,
               "Time that the job takes to load (default: by --costs of the controller)");
  add_duration(*command, "--max-runtime", job->max_runtime_s,
               "Time after which a run is killed (default: never)");
  command->add_option("COMMAND", job->command, "Stored and shown, not run; after --");
}

void add_layout_verbs(CLI::App& app, Action& action) {
  const auto [apply, layouts] = add_verb<ApplyOptions>(
      app, action,
      {"apply",
       "Set layouts by hand. Without arguments, execute the current plan once, even while frozen",
       {{"Set two layouts", "smartmig apply 0=4-2-1 1=7"},
        {"Set a layout and keep it", "smartmig apply --hold 0=1-1-1-1-1-1-1"},
        {"What the plan would do", "smartmig apply --dry-run"}},
       "Without --hold the policy may change these layouts again at its next decision.",
       true},
      run_apply);
  apply->add_option("LAYOUT", layouts->layouts,
                    "GPU=LAYOUT, such as 0=4-2-1 (default: the current plan)");
  apply->add_flag("--hold", layouts->hold,
                  "Keep these layouts until `unhold`; jobs are still placed on them");
  const auto [rollback, gpu] = add_verb<NamedOptions>(
      app, action,
      {"rollback",
       "Undo the latest change of a layout, whoever made it",
       {{"What would be undone, and whose it was", "smartmig rollback --dry-run"},
        {"Undo the latest change of one GPU", "smartmig rollback 3"}},
       "A rollback is a change too: a second one undoes the first.",
       true},
      [](const NamedOptions& options) {
        json body = json::object();
        if (!options.what.empty()) body["gpu"] = options.what;
        return run_command(options, "/rollback", body);
      });
  rollback->add_option("GPU", gpu->what,
                       "One GPU (default: all GPUs of the latest decision or command)");
}

void add_gpu_verb(CLI::App& app, Action& action, const std::string& name, const std::string& what) {
  const auto [command, options] = add_verb<NamedOptions>(
      app, action,
      {name, what, {{"The GPU with number 3", fmt::format("smartmig {} 3", name)}}, "", true},
      [name](const NamedOptions& named) {
        return run_command(named, "/gpus/" + percent_encoded(named.what) + "/" + name,
                           json::object());
      });
  command->add_option("GPU", options->what, "UUID or number of the GPU")->required();
}

void add_plain_verb(CLI::App& app, Action& action, const std::string& name,
                    const std::string& what) {
  add_verb<LiveOptions>(app, action, {name, what, {}, "", true},
                        [name](const LiveOptions& options) {
                          return run_command(options, "/" + name, json::object());
                        });
}

}  // namespace

void add_live(CLI::App& app, Action& action) {
  add_status(app, action);
  add_jobs(app, action);
  add_submit(app, action);
  const auto [cancel, cancelled] =
      add_verb<NamedOptions>(app, action, {"cancel", "Cancel a job", {}, "", true}, run_cancel);
  cancel->add_option("JOB", cancelled->what, "The id of the job")->required();
  const auto [plan, planned] =
      add_verb<PlanOptions>(app, action,
                            {"plan",
                             "Show what the controller would do now, and why; changes nothing",
                             {{"Ask another policy", "smartmig plan --policy greedy"}}},
                            run_plan);
  plan->add_option("--policy", planned->policy,
                   "Ask another policy: a rehearsal (default: the controller's own)");
  add_layout_verbs(app, action);
  add_gpu_verb(app, action, "unhold",
               "End the hold of a GPU's layout: the policy may change it again");
  const auto [explain, explained] = add_verb<NamedOptions>(
      app, action,
      {"explain",
       "Say why a job waits, where it runs and why, or why a GPU has its layout",
       {{"A job", "smartmig explain 42"}, {"A GPU", "smartmig explain gpu:3"}}},
      run_explain);
  explain->add_option("WHAT", explained->what, "The id of a job, the UUID of a GPU, or gpu:NUMBER")
      ->required();
  add_verb<LiveOptions>(app, action,
                        {"export",
                         "Print the layouts as a configuration of mig-parted",
                         {{"For mig-parted", "smartmig export > layouts.yaml"}},
                         "",
                         false,
                         false},
                        run_export);
  add_gpu_verb(app, action, "cordon",
               "Stop placing jobs on a GPU and changing its layout; running jobs continue");
  add_drain(app, action);
  add_gpu_verb(app, action, "uncordon", "Use a GPU again, and retry a fenced one at once");
  add_gpu_verb(app, action, "adopt", "Take over idle slices that smartmig did not make");
  add_plain_verb(app, action, "freeze", "Stop deciding until unfreeze; running jobs continue");
  add_plain_verb(app, action, "unfreeze", "Decide again");
  const auto [cap, power] = add_verb<PowerCapOptions>(
      app, action,
      {"power-cap",
       "Start no job that would take the fleet over a power draw; stops nothing",
       {{"At most 2 kW", "smartmig power-cap 2000"}},
       "",
       true},
      [](const PowerCapOptions& options) {
        return run_command(options, "/power-cap", {{"watts", options.watts}});
      });
  cap->add_option("WATTS", power->watts, "Watts of the whole fleet; 0: no cap")->required();
  add_plain_verb(app, action, "recover",
                 "Decide again after the journal was damaged or lost, and retry fenced GPUs");
}

}  // namespace smartmig
