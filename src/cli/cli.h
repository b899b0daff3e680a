// The command line: parse, call, print. Each subcommand has a file of its own and an add_ function
// that puts it into the parser; nothing here decides anything.
#pragma once

#include <functional>

#include "cli/cli11.h"
#include "cli/invocation.h"

namespace smartmig {

// Exit status: 0 done, 1 failed, 2 bad input (one line on standard error, nothing written).
int run_cli(int argc, char** argv);

// A subcommand sets `action` when it was chosen; it runs after parsing and returns the exit status.
using Action = std::function<int()>;

void add_gpus(CLI::App& app, Action& action);
void add_profiles(CLI::App& app, Action& action);
void add_workload(CLI::App& app, Action& action);
// Those that write reports say in them how they were called; `invocation` must live as long as the
// action.
void add_simulate(CLI::App& app, Action& action, const Invocation& invocation);
void add_compare(CLI::App& app, Action& action, const Invocation& invocation);
void add_suite(CLI::App& app, Action& action, const Invocation& invocation);
void add_search_static(CLI::App& app, Action& action);
void add_bound(CLI::App& app, Action& action);
void add_train(CLI::App& app, Action& action);
void add_evaluate(CLI::App& app, Action& action);
void add_reproduce(CLI::App& app, Action& action, const Invocation& invocation);
// The live controller: itself, its simulated fleet, and the verbs that ask it.
void add_serve(CLI::App& app, Action& action, const Invocation& invocation);
void add_fleet(CLI::App& app, Action& action);
void add_live(CLI::App& app, Action& action);  // With the three below.
void add_status(CLI::App& app, Action& action);
void add_jobs(CLI::App& app, Action& action);
void add_drain(CLI::App& app, Action& action);
void add_replay(CLI::App& app, Action& action);
void add_backup(CLI::App& app, Action& action);
void add_doctor(CLI::App& app, Action& action);

// Prints "smartmig: MESSAGE" on standard error and returns 2, or 1 where the input was good and the
// run failed.
int bad_input(std::string_view message);
int failed(std::string_view message);

}  // namespace smartmig
