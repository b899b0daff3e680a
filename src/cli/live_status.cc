// `smartmig status`: the live fleet in a few lines, its GPUs where they are few or asked for, or
// one job.
#include "base/text.h"
#include "cli/live_verb.h"
#include "cli/live_words.h"

namespace smartmig {
namespace {

using nlohmann::json;

constexpr std::size_t kFewGpus = 16;       // At most this many are listed by default.
constexpr std::size_t kMostLayouts = 6;    // Named in the summary.
constexpr std::size_t kMostTroubles = 10;  // GPUs named in the summary.
constexpr int kGpusOfOneRequest = 1000;

struct StatusOptions : LiveOptions {
  std::string job;
  bool gpus = false, held = false;
  std::string state, layout, find;

  bool filters() const { return held || !state.empty() || !layout.empty() || !find.empty(); }
};

std::string filter_query(const StatusOptions& options) {
  std::string query;
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) query += fmt::format("&{}={}", name, percent_encoded(value));
  };
  add("state", options.state);
  add("layout", options.layout);
  add("find", options.find);
  if (options.held) query += "&held=true";
  return query;
}

std::int64_t whole(const json& value, const char* field) {
  return value.value(field, std::int64_t{0});
}

// "990 up, 6 cordoned; 3 held, 5 changing"
std::string states_text(const json& groups) {
  static constexpr const char* kStates[] = {"up", "cordoned", "draining", "fenced", "lost"};
  std::int64_t sums[std::size(kStates)] = {};
  std::int64_t held = 0, changing = 0;
  for (const json& group : groups.value("groups", json::array())) {
    for (std::size_t i = 0; i < std::size(kStates); ++i) sums[i] += whole(group, kStates[i]);
    held += whole(group, "held");
    changing += whole(group, "changing");
  }
  std::string text;
  for (std::size_t i = 0; i < std::size(kStates); ++i)
    if (sums[i] > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", sums[i], kStates[i]);
  if (held > 0) text += fmt::format("; the layouts of {} are held", held);
  if (changing > 0) text += fmt::format("; {} change their layout", changing);
  return text;
}

// "4-3 on 400, 7 on 300, 12 other layouts on 100"
std::string layouts_text(const json& groups) {
  const json layouts = groups.value("layouts", json::array());
  std::string text;
  std::int64_t others = 0;
  for (std::size_t i = 0; i < layouts.size(); ++i) {
    if (i >= kMostLayouts)
      others += whole(layouts[i], "gpus");
    else
      text += fmt::format("{}{} on {}", i == 0 ? "" : ", ", text_of(layouts[i], "layout"),
                          whole(layouts[i], "gpus"));
  }
  if (others > 0)
    text += fmt::format(", {} other layouts on {}", layouts.size() - kMostLayouts, others);
  return text;
}

std::string slices_text(const json& groups) {
  std::int64_t slices = 0, busy = 0;
  for (const json& group : groups.value("groups", json::array())) {
    slices += whole(group, "slices");
    busy += whole(group, "busy_slices");
  }
  return fmt::format("{} of {} busy", busy, slices);
}

std::string power_text(const json& fleet) {
  const double cap = fleet.value("power_cap_w", 0.0);
  return fmt::format("{}{}; {} since the controller started (all modelled)",
                     watts_in_words(fleet.value("power_w", 0.0)),
                     cap > 0 ? fmt::format(" of a cap of {}", watts_in_words(cap)) : "",
                     energy_in_words(fleet.value("energy_j", 0.0)));
}

void print_row(const char* name, const std::string& text) {
  if (!text.empty()) fmt::print("{:<9} {}\n", name, text);
}

void print_summary(const json& fleet, const json& groups) {
  fmt::print("{} with {}: {} jobs wait, {} run, {:.0f} W{}{}\n", text_of(fleet, "fleet"),
             text_of(fleet, "policy"), text_of(fleet, "queued"), text_of(fleet, "running"),
             fleet.value("power_w", 0.0), fleet.value("frozen", false) ? ", frozen" : "",
             fleet.value("recovered", true) ? "" : ", not recovered");
  if (const std::string trouble = text_of(fleet, "trouble"); !trouble.empty())
    fmt::print("{}\n", trouble);
  print_row("alarm", modelled_alarm(fleet));
  print_row("GPUs", states_text(groups));
  print_row("layouts", layouts_text(groups));
  print_row("slices", slices_text(groups));
  print_row("queue", fmt::format("{} jobs wait, {} of them past their deadline; {} run",
                                 whole(fleet, "queued"), whole(fleet, "late_queued"),
                                 whole(fleet, "running")));
  print_row("power", power_text(fleet));
}

void print_gpu(const json& gpu) {
  std::size_t busy = 0;
  for (const json& slice : gpu.value("slices", json::array()))
    busy += !text_of(slice, "job").empty();
  const std::string target = text_of(gpu, "target"), trouble = text_of(gpu, "trouble");
  fmt::print("{:>5}  {:<10} {:<16} {} of {} slices busy{}{}{}\n", text_of(gpu, "index"),
             text_of(gpu, "state"), text_of(gpu, "layout"), busy,
             gpu.value("slices", json::array()).size(),
             target == text_of(gpu, "layout") ? "" : ", changes to " + target,
             gpu.value("held", false) ? ", held by " + text_of(gpu, "held_by") : "",
             trouble.empty() ? "" : ": " + trouble);
}

// Page by page; `most` 0: all. The number shown, or an error.
ApiResult<std::size_t> print_gpus(const ApiClient& client, const std::string& query,
                                  std::size_t most) {
  std::size_t shown = 0;
  for (std::string from = "0"; !from.empty();) {
    const std::size_t limit = most > 0 ? most - shown : kGpusOfOneRequest;
    const auto page = client.ask_json(
        "GET", fmt::format("{}/fleet?from={}&limit={}{}", kLiveApi, from, limit, query));
    if (!page) return tl::unexpected(page.error());
    for (const json& gpu : page->value("gpus", json::array())) {
      print_gpu(gpu);
      ++shown;
    }
    from = most > 0 && shown >= most ? "" : text_of(*page, "next");
  }
  return shown;
}

int show_fleet_status(const StatusOptions& options) {
  const ApiClient client(options.api);
  if (options.json) {
    const std::string query = filter_query(options);
    return ask(options, "GET", kLiveApi + "/fleet" + (query.empty() ? "" : "?" + query.substr(1)),
               "", [](const json&) { return 0; });
  }
  const auto fleet = client.ask_json("GET", kLiveApi + "/fleet?gpus=false");
  if (!fleet) return failed(fleet.error());
  const auto groups = client.ask_json("GET", kLiveApi + "/fleet/groups?size=10000");
  if (!groups) return failed(groups.error());
  print_summary(*fleet, *groups);
  const auto gpus = static_cast<std::size_t>(whole(*groups, "gpus"));
  if (options.gpus || options.filters() || gpus <= kFewGpus) {
    const auto shown = print_gpus(client, filter_query(options), 0);
    if (!shown) return failed(shown.error());
    if (*shown == 0) fmt::print("no GPU matches\n");
    return 0;
  }
  for (const char* state : {"&state=fenced", "&state=lost"}) {
    const auto shown = print_gpus(client, state, kMostTroubles);
    if (!shown) return failed(shown.error());
  }
  fmt::print("--gpus lists the {} GPUs; --state, --layout, --held and --find list some\n", gpus);
  return 0;
}

int run_status(const StatusOptions& options) {
  if (options.job.empty()) return show_fleet_status(options);
  return ask(options, "GET", kLiveApi + "/jobs/" + percent_encoded(options.job), "",
             [](const json& job) {
               for (const auto& [field, value] : job.items()) {
                 if (!value.is_null())
                   fmt::print("{:<18} {}\n", printable(field), text_of(job, field.c_str()));
               }
               return 0;
             });
}

}  // namespace

void add_status(CLI::App& app, Action& action) {
  const auto [command, options] =
      add_verb<StatusOptions>(app, action,
                              {"status",
                               "Show the live fleet, or one job",
                               {{"The fleet in a few lines", "smartmig status"},
                                {"The GPUs that are fenced", "smartmig status --state fenced"},
                                {"One job", "smartmig status 42"}}},
                              run_status);
  command->add_option("JOB", options->job, "The id of a job (default: the fleet)");
  command->add_flag("--gpus", options->gpus,
                    "List every GPU (default: list them where there are at most 16)");
  command->add_option("--state", options->state,
                      "List GPUs in this state: up, cordoned, draining, fenced or lost");
  command->add_option("--layout", options->layout, "List GPUs with this layout, such as 4-2-1");
  command->add_flag("--held", options->held, "List GPUs with a held layout");
  command->add_option("--find", options->find,
                      "List the GPU of this number, or those with this text in a UUID");
}

}  // namespace smartmig
