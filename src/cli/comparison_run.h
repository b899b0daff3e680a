// A comparison as the command line asks for it: `compare` prints one, a sweep runs one at each
// point, and `reproduce` runs those behind published numbers, from the same words a user would
// type.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/cli11.h"
#include "cli/run_options.h"
#include "study/compare.h"

namespace smartmig {

struct CompareOptions {
  RunOptions run;
  std::vector<std::string> policies;  // Empty: default_policies().
  bool split_days = false;
  bool bound = false;
  bool energy_bound = false;
  bool layouts = false;
};

void add_compare_options(CLI::App& app, CompareOptions& options);

// Everything is read and checked; nothing has run.
struct PreparedComparison {
  std::unique_ptr<RunSetup> setup;
  std::vector<std::string> specs;
  std::vector<Policy> policies;  // One for each of them.
  StudyDays days;
  std::vector<Assumption> assumptions;  // What the results will rest on.
  int threads = 0;
  bool bound = false;
  bool energy_bound = false;
};
// Errors are bad input.
Result<PreparedComparison> prepare(const CompareOptions& options);

// The same from the words behind `smartmig compare`, with blanks between them.
Result<PreparedComparison> prepare_words(const std::string& words, int threads);

// `what` names the progress line; `watch`, if any, sees every run.
Result<Comparison> run(const PreparedComparison& prepared, const std::string& what,
                       const CompareWatch& watch = {});

}  // namespace smartmig
