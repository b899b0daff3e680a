#include "cli/cli.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>
#include <new>

#include "base/printable.h"
#include "cli/help.h"
#include "cli/parse_error.h"

namespace smartmig {
namespace {

// One line on standard error; what a message quotes from a user may hold a line break.
int complain(std::string_view message, int status) {
  std::string line(message);
  for (char& c : line)
    if (c == '\n' || c == '\r' || c == '\t') c = ' ';
  line = fmt::format("smartmig: {}\n", printable(line));
  std::fwrite(line.data(), 1, line.size(), stderr);
  return status;
}

int parse_and_run(int argc, char** argv) {
  CLI::App app(
      "Decide how a fleet of MIG GPUs is partitioned over time and which job runs on which slice,\n"
      "to save energy and finish jobs on time.",
      "smartmig");
  use_our_help(app);
  app.footer(
      "Environment:\n"
      "  SMARTMIG_PROGRESS=off       Show no progress of long work on standard error; a number of\n"
      "                              seconds instead of `off` sets how often it is shown\n"
      "  SMARTMIG_SERVER=URL         Address of the controller (default: http://127.0.0.1:8080)\n"
      "  SMARTMIG_TOKEN_FILE=FILE    A file of mode 0600 with the token for the controller\n"
      "\n"
      "Exit status: 0 done, 1 failed, 2 bad input.");
  app.set_version_flag("--version", "smartmig " SMARTMIG_VERSION);
  app.require_subcommand(1);
  const Invocation invocation{{argv + 1, argv + argc}, SMARTMIG_VERSION};
  Action action;
  add_gpus(app, action);
  add_profiles(app, action);
  add_workload(app, action);
  add_simulate(app, action, invocation);
  add_compare(app, action, invocation);
  add_suite(app, action, invocation);
  add_search_static(app, action);
  add_bound(app, action);
  add_train(app, action);
  add_evaluate(app, action);
  add_reproduce(app, action, invocation);
  add_serve(app, action, invocation);
  add_fleet(app, action);
  add_live(app, action);
  add_replay(app, action);
  add_backup(app, action);
  add_doctor(app, action);
  add_help(app, action, invocation);
  group_commands(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // --help and --version come this way too, with status 0.
    if (error.get_exit_code() == 0) return app.exit(error);
    return bad_input(explain(app, error));
  }
  if (const std::string misread = misread_number(app); !misread.empty()) return bad_input(misread);
  return action();
}

}  // namespace

int bad_input(std::string_view message) { return complain(message, 2); }
int failed(std::string_view message) { return complain(message, 1); }

int run_cli(int argc, char** argv) {
  int status = 1;
  try {
    status = parse_and_run(argc, argv);
  } catch (const std::bad_alloc&) {
    return failed("out of memory");
  } catch (const std::exception& error) {
    return failed(error.what());
  }
  // A full disk behind standard output shows only here.
  if (std::fflush(stdout) != 0 || std::ferror(stdout)) {
    return failed("standard output cannot be written");
  }
  return status;
}

}  // namespace smartmig
