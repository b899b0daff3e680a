// `smartmig serve`: the live controller with its HTTP interface, and `smartmig fleet`: the process
// that is a simulated fleet.
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>

#include "base/file.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/help.h"
#include "cli/service_manager.h"
#include "control/controller.h"
#include "control/model.h"
#include "control/state_folder.h"
#include "drivers/simulated/fleet_keeper.h"
#include "drivers/simulated/fleet_process.h"
#include "drivers/simulated/simulated_driver.h"
#include "fleet/fleet.h"
#include "learn/toml_fields.h"
#include "server/controller_backend.h"
#include "server/server.h"

namespace smartmig {
namespace {

namespace fs = std::filesystem;

struct ServeOptions {
  std::string driver = "simulated";
  std::string fleet = "8xA100-40GB";
  std::string listen = "127.0.0.1:8080";
  std::string config;
  double speed = 1;
  bool stop_fleet = false;
  ControllerOptions control;
  ServerOptions server;
};

std::string default_state() {
  if (const char* state = std::getenv("XDG_STATE_HOME"); state != nullptr && *state == '/')
    return std::string(state) + "/smartmig";
  const char* home = std::getenv("HOME");
  return std::string(home != nullptr && *home != '\0' ? home : "/var/lib") +
         "/.local/state/smartmig";
}

// What the command line does not say. Names are those of the options.
Result<void> read_config(const std::string& path, const CLI::App& command, ServeOptions& options) {
  const auto text = read_file(path, kDocumentLimits);
  if (!text) return pass_on(text);
  TomlDocument document(path);
  ServeOptions given = options;
  if (document.parse(*text)) {
    document.section("serve", [&](TomlFields& fields) {
      fields.text("driver", given.driver);
      fields.text("fleet", given.fleet);
      fields.text("listen", given.listen);
      fields.text("state", given.control.state_dir);
      fields.number("speed", given.speed, 1e-3, 1e6);
      fields.text("policy", given.control.setup.policy);
      fields.text("costs", given.control.setup.costs);
      fields.text("preemption", given.control.setup.preemption);
      fields.number("energy_weight", given.control.setup.energy_weight, 0, 1);
      fields.number("power_cap_w", given.control.setup.limits.power_cap_w, 0, 1e9);
      fields.number("changes_per_gpu_hour", given.control.setup.limits.changes_per_gpu_hour, 0,
                    1e6);
      fields.number("call_timeout_s", given.control.call_timeout_s, 0.1, 3600);
      fields.number("stop_grace_s", given.control.stop_grace_s, 0, 86400);
      fields.number("retry_first_s", given.control.retry_first_s, 0.1, 86400);
      fields.number("retry_most_s", given.control.retry_most_s, 0.1, 864000);
      fields.integer("keep_days", given.control.keep_days, 1, 36500);
      fields.integer("most_jobs", given.control.most_jobs, 1, 100'000'000);
    });
    document.section("http", [&](TomlFields& fields) {
      fields.text("token_file", given.server.token_file);
      fields.text("tls_certificate", given.server.tls_certificate_file);
      fields.text("tls_key", given.server.tls_key_file);
      fields.texts("host_names", given.server.host_names);
      fields.number("requests_per_s", given.server.requests_per_s, 0, 1e6);
      fields.number("wrong_tokens_per_s", given.server.wrong_tokens_per_s, 0, 1e6);
      fields.integer("metrics_gpus", given.server.metrics_gpus, 0, 10'000'000);
    });
    document.finish();
  }
  if (document.error()) return tl::unexpected(*document.error());
  // The command line goes before the file.
  const auto said = [&](const char* option) { return command.get_option(option)->count() > 0; };
  const ServeOptions before = options;
  options = given;
  if (said("--driver")) options.driver = before.driver;
  if (said("--fleet")) options.fleet = before.fleet;
  if (said("--listen")) options.listen = before.listen;
  if (said("--state")) options.control.state_dir = before.control.state_dir;
  if (said("--speed")) options.speed = before.speed;
  if (said("--policy")) options.control.setup.policy = before.control.setup.policy;
  if (said("--costs")) options.control.setup.costs = before.control.setup.costs;
  if (said("--preemption")) options.control.setup.preemption = before.control.setup.preemption;
  if (said("--energy-weight"))
    options.control.setup.energy_weight = before.control.setup.energy_weight;
  if (said("--power-cap"))
    options.control.setup.limits.power_cap_w = before.control.setup.limits.power_cap_w;
  if (said("--token-file")) options.server.token_file = before.server.token_file;
  if (said("--tls-cert")) options.server.tls_certificate_file = before.server.tls_certificate_file;
  if (said("--tls-key")) options.server.tls_key_file = before.server.tls_key_file;
  if (said("--host-name")) options.server.host_names = before.server.host_names;
  return {};
}

Result<void> read_listen(const std::string& text, ServerOptions& server) {
  const std::size_t colon = text.rfind(':');
  const auto port =
      colon == std::string::npos ? std::nullopt : parse_integer(text.substr(colon + 1));
  if (!port || *port < 0 || *port > 65535 || colon == 0)
    return fail("--listen: found {}, expected ADDRESS:PORT, such as 127.0.0.1:8080",
                in_quotes(text));
  server.address = text.substr(0, colon);
  if (server.address.starts_with('[') && server.address.ends_with(']'))
    server.address = server.address.substr(1, server.address.size() - 2);
  server.port = static_cast<int>(*port);
  return {};
}

// A costs file is read now: the journal keeps its text, so that a replay needs no file.
Result<void> read_costs(std::string& costs) {
  if (costs == "real" || costs == "free" || costs == "paper") return {};
  auto text = read_file(costs, kDocumentLimits);
  if (!text) return pass_on(text);
  costs = std::move(*text);
  return {};
}

bool has_fleet(const ServeOptions& options) {
  return fs::exists(options.control.state_dir + "/fleet/fleet.state");
}

// A simulated fleet keeps its GPUs and its pace. An option, or a line of the configuration, that
// says something else is refused; what is left unsaid is the folder's.
Result<void> check_fleet(const ServeOptions& options, const CLI::App& command,
                         const FleetDescription& there) {
  const ServeOptions usual;
  const auto said = [&](const char* option, bool differs) {
    return differs || command.get_option(option)->count() > 0;
  };
  const auto wanted = Fleet::parse(options.fleet);
  if (!wanted) return pass_on(wanted);
  std::vector<std::string> boards;
  for (GpuIndex gpu = 0; gpu < wanted->gpu_count(); ++gpu)
    boards.push_back(wanted->board(gpu).name);
  if (said("--fleet", options.fleet != usual.fleet) && boards != there.boards)
    return fail(
        "--fleet: found '{}', expected {}, which {} has; leave the option out, or use another "
        "--state",
        options.fleet, fleet_spec(there.boards), options.control.state_dir);
  if (said("--speed", options.speed != usual.speed) && options.speed != there.clock.speed)
    return fail(
        "--speed: found {:g}, expected {:g}, which {} has; leave the option out, or use another "
        "--state",
        options.speed, there.clock.speed, options.control.state_dir);
  return {};
}

struct JoinedFleet {
  std::unique_ptr<Driver> driver;
  FleetDescription there;
  bool was_running = false;
};

// Joins the simulated fleet of this state, and starts it where none runs.
Result<JoinedFleet> join_fleet(const ServeOptions& options) {
  const std::string folder = options.control.state_dir + "/fleet";
  const bool is_new = !has_fleet(options);
  const bool was_running = simulated_fleet_process(folder).has_value();
  std::vector<std::string> arguments = {"fleet", "--state", folder};
  if (is_new)
    arguments.insert(arguments.end(),
                     {"--fleet", options.fleet, "--speed", fmt::format("{}", options.speed)});
  const auto started = start_simulated_fleet(folder, arguments);
  if (!started) return pass_on(started);
  auto driver = std::make_unique<SimulatedDriver>(folder);
  auto there = driver->describe();
  if (!there) return fail("the simulated fleet does not answer: {}", there.error().message);
  return JoinedFleet{std::move(driver), std::move(*there), was_running};
}

// Starts the fleet's process again where it ends while the controller runs, at the speed that it
// has, whatever this command said.
FleetKeeper::Options fleet_to_keep(const ServeOptions& options, double speed) {
  const std::string folder = options.control.state_dir + "/fleet";
  return {.state = folder,
          .arguments = {"fleet", "--state", folder, "--speed", fmt::format("{}", speed)},
          .log = options.server.log};
}

// A policy, costs or preemption that no controller could have, before a fleet is made for it.
Result<void> check_setup(const ServeOptions& options) {
  if (has_fleet(options)) return {};
  const auto fleet = Fleet::parse(options.fleet);
  if (!fleet) return pass_on(fleet);
  Snapshot empty;
  empty.setup = options.control.setup;
  empty.setup.fleet = options.fleet;
  empty.gpus.resize(fleet->gpu_count());
  const auto made = Model::make(empty, 0);
  return made ? Result<void>{} : pass_on(made);
}

// Connections, streams and journals together are more than the usual soft limit.
void raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  (void)setrlimit(RLIMIT_NOFILE, &limit);
}

std::string clock_text() {
  char text[32];
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

// For `systemctl status`.
std::string service_status(const FleetSummary& fleet) {
  return fmt::format("{} with {}: {} jobs pending, {} running{}{}", fleet.fleet, fleet.policy,
                     fleet.queued, fleet.running, fleet.frozen ? "; frozen" : "",
                     fleet.recovered ? "" : "; not recovered, see `smartmig recover`");
}

// Returns after SIGTERM or SIGINT. While it waits, the service manager hears that the controller's
// loop is alive; where the loop is stuck it hears nothing, and restarts the service.
void wait_for_the_end(const sigset_t& signals, Server& server, const Controller& controller,
                      ServiceManager& manager) {
  using std::chrono::microseconds;
  constexpr microseconds kStatusPause{5'000'000};
  const microseconds pause =
      std::min(kStatusPause, manager.watchdog_pause().value_or(kStatusPause));
  const timespec wait = {pause.count() / 1'000'000, pause.count() % 1'000'000 * 1000};
  for (;;) {
    const int caught =
        manager.present() ? sigtimedwait(&signals, nullptr, &wait) : sigwaitinfo(&signals, nullptr);
    if (caught == SIGTERM || caught == SIGINT) break;
    if (caught == SIGHUP) {
      server.reload_tokens();
      server.reload_certificate();
    }
    if (!manager.present()) continue;
    const bool alive = controller.alive();
    manager.report(alive, alive ? service_status(controller.summary())
                                : "the controller's loop does not answer");
  }
  manager.stopping("stopping; running jobs continue");
}

int run_serve(ServeOptions options, const CLI::App& command) {
  if (!options.config.empty()) {
    if (const auto read = read_config(options.config, command, options); !read)
      return bad_input(read.error().message);
  }
  static const std::vector<std::string> kDrivers = {"simulated"};
  if (options.driver != "simulated")
    return bad_input(fmt::format("--driver: found {}{}", in_quotes(options.driver),
                                 suggestion(options.driver, kDrivers)));
  if (options.control.state_dir.empty()) options.control.state_dir = default_state();
  if (const auto read = read_listen(options.listen, options.server); !read)
    return bad_input(read.error().message);
  if (const auto read = read_costs(options.control.setup.costs); !read)
    return bad_input(read.error().message);
  if (const auto fleet = Fleet::parse(options.fleet); !fleet)
    return bad_input(fleet.error().message);
  if (const auto good = check_setup(options); !good) return bad_input(good.error().message);
  if (const auto good = check_state_folder(options.control.state_dir); !good)
    return bad_input(good.error().message);
  auto parts = open_parts(options.server);
  if (!parts) return bad_input(parts.error().message);
  std::error_code trouble;
  if (fs::create_directories(options.control.state_dir, trouble))
    fs::permissions(options.control.state_dir, fs::perms::owner_all, trouble);
  if (trouble)
    return bad_input(fmt::format("{}: {}", options.control.state_dir, trouble.message()));

  // Signals are waited for by this thread alone; threads made from here on leave them to it.
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);

  ServiceManager manager = ServiceManager::from_environment();
  raise_descriptor_limit();
  options.control.driver = options.driver;
  auto joined = join_fleet(options);
  if (!joined) return failed(joined.error().message);
  if (const auto same = check_fleet(options, command, joined->there); !same) {
    joined->driver.reset();
    if (!joined->was_running) (void)stop_simulated_fleet(options.control.state_dir + "/fleet");
    return bad_input(same.error().message);
  }
  auto controller = Controller::start(options.control, std::move(joined->driver));
  if (!controller) return failed(controller.error().message);
  ControllerBackend backend(**controller, options.control.state_dir);
  // A log that cannot be written, such as on a full disk, is no reason to stop.
  options.server.log = [](const std::string& line) {
    const std::string text = fmt::format("{} {}\n", clock_text(), line);
    (void)std::fwrite(text.data(), 1, text.size(), stderr);
  };
  Server server(options.server, backend);
  server.start(std::move(*parts));
  const FleetSummary seen = (*controller)->summary();
  std::optional<FleetKeeper> keeper(fleet_to_keep(options, seen.speed));
  fmt::print("smartmig serves {} ({}, {:g} times real time) with {} on {}://{}:{}, state in {}\n",
             seen.fleet, options.driver, seen.speed, seen.policy,
             options.server.tls_certificate_file.empty() ? "http" : "https", options.server.address,
             server.port(), options.control.state_dir);
  if (!seen.recovered)
    fmt::print("Not recovered: {}. Nothing is touched until `smartmig recover`.\n", seen.trouble);
  std::fflush(stdout);
  manager.ready(service_status(seen));
  wait_for_the_end(signals, server, **controller, manager);
  keeper.reset();  // A fleet that ends from here on, perhaps by the same signal, stays so.
  server.stop();
  backend.close_readers();  // The last who closes the journal leaves no log beside it: the writer.
  controller->reset();
  if (options.stop_fleet) {
    if (const auto stopped = stop_simulated_fleet(options.control.state_dir + "/fleet"); !stopped)
      return failed(stopped.error().message);
  }
  const std::string folder = options.control.state_dir + "/fleet";
  fmt::print(
      "smartmig stopped; {}\n",
      options.stop_fleet
          ? "the simulated fleet ended too"
          : fmt::format("running jobs continue. The simulated fleet still runs (process {}); "
                        "`smartmig fleet --state {} --stop` stops it",
                        simulated_fleet_process(folder).value_or(0), folder));
  return 0;
}

}  // namespace

void add_serve(CLI::App& app, Action& action, const Invocation& invocation) {
  CLI::App* command =
      app.add_subcommand("serve", "Run the live controller with its HTTP interface");
  const auto options = std::make_shared<ServeOptions>();
  options->control.setup.policy = "smartmig";
  options->control.version = invocation.version;
  command->add_option("--driver", options->driver,
                      "What controls the GPUs: simulated (default: simulated)");
  command->add_option("--policy", options->control.setup.policy,
                      "The policy, as in simulate (default: smartmig)");
  command->add_option("--fleet", options->fleet,
                      "GPUs of the simulated driver (default: what the state folder has, else "
                      "8xA100-40GB)");
  command->add_option("--listen", options->listen,
                      "ADDRESS:PORT; port 0: any free port (default: 127.0.0.1:8080)");
  command->add_option(
      "--state", options->control.state_dir,
      "Folder of the journal and of the simulated fleet (default: $XDG_STATE_HOME/smartmig)");
  command->add_option("--config", options->config,
                      "A TOML file; options on the command line override it");
  command
      ->add_option(
          "--speed", options->speed,
          "Simulated seconds for each real second (default: what the state folder has, else 1)")
      ->check(CLI::Range(1e-3, 1e6));
  command->add_option(
      "--costs", options->control.setup.costs,
      "What layout changes, checkpoints and restores cost: real, or a file (default: real)");
  command->add_option("--preemption", options->control.setup.preemption,
                      "How running jobs may be stopped: checkpoint or none (default: checkpoint)");
  command->add_option("--energy-weight", options->control.setup.energy_weight,
                      "Weight of energy in ET (default: 2e-7)");
  command->add_option(
      "--power-cap", options->control.setup.limits.power_cap_w,
      "Start no job that would take the fleet over this many watts; 0: no limit (default: 0)");
  command->add_option("--token-file", options->server.token_file,
                      "Lines NAME ROLE TOKEN, mode 0600; needed off loopback");
  command->add_option("--tls-cert", options->server.tls_certificate_file,
                      "PEM file; needed off loopback");
  command->add_option("--tls-key", options->server.tls_key_file, "PEM file of its key");
  command->add_option("--host-name", options->server.host_names,
                      "A name by which clients may ask for this server; may be repeated");
  command->add_flag(
      "--stop-fleet", options->stop_fleet,
      "Stop the simulated fleet when the controller stops (default: the fleet continues)");
  add_examples(
      *command,
      {{"Try it for an hour in a minute, and leave nothing running",
        "smartmig serve --state /tmp/try --fleet 8xA100-40GB --speed 60 --stop-fleet"},
       {"Run it as the service does", "smartmig serve --config /etc/smartmig/smartmig.toml"}});
  command->callback([options, command, &action] {
    action = [options, command] { return run_serve(*options, *command); };
  });
}

void add_fleet(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("fleet", "Run a simulated fleet for `serve`, until SIGTERM");
  const auto options = std::make_shared<FleetProcessOptions>();
  command->add_option("--state", options->state, "Folder of its state")->required();
  command->add_option("--fleet", options->fleet,
                      "Such as 8xA100-40GB; not needed where the folder has one");
  command
      ->add_option("--speed", options->speed,
                   "Simulated seconds for each real second (default: what the folder has, else 1)")
      ->check(CLI::Range(1e-3, 1e6));
  const auto stop = std::make_shared<bool>(false);
  command->add_flag("--stop", *stop,
                    "Stop the simulated fleet of this folder, and wait for its end");
  command->callback([options, stop, &action] {
    action = [options, stop] {
      if (*stop) {
        const auto stopped = stop_simulated_fleet(options->state);
        return stopped ? 0 : failed(stopped.error().message);
      }
      const auto served = run_simulated_fleet(*options);
      return served ? 0 : failed(served.error().message);
    };
  });
}

}  // namespace smartmig
