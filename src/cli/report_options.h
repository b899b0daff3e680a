// What simulate and compare need for report.html: the learning curve to show in it, and what its
// end says of the command and its inputs.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "cli/cli11.h"
#include "cli/invocation.h"
#include "cli/run_options.h"
#include "report/report_page.h"

namespace smartmig {

struct ReportOptions {
  std::string learning_curve;  // A file of `train --curve`; "": none.
};
void add_report_options(CLI::App& app, ReportOptions& options);

// The command, the version, and the digest of all data in the program: what boards, speeds, curves,
// costs, policies and published numbers it knows.
PageOrigin origin_of(const Invocation& invocation);

// SHA-256 of the file's own bytes, as `sha256sum` has it; gzip stays packed.
Result<std::string> digest_of_file(const std::string& path);
// Those of the files that a policy names, each after a blank; "" where it names none.
std::string digest_of_policy_files(const std::string& policy);

// The learning curve, and the digests of all files that the run reads. Reading them before the run
// finds what cannot be read. `file` is what is known of the jobs' file.
Result<ReportContext> read_report_context(const ReportOptions& options, const RunOptions& run,
                                          const RunSetup& setup, const std::optional<JobFile>& file,
                                          std::span<const std::string> policies,
                                          const Invocation& invocation);

}  // namespace smartmig
