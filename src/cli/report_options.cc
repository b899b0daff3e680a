#include "cli/report_options.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "base/sha256.h"
#include "base/shipped.h"
#include "base/text.h"
#include "cli/assumptions.h"

namespace smartmig {
namespace {

namespace fs = std::filesystem;

std::string digest_of_shipped_data() {
  Sha256 sum;
  for (const ShippedFile& file : shipped_files()) {
    if (!file.name.ends_with(".json") && !file.name.ends_with(".safetensors")) continue;
    sum.add(file.name);
    sum.add(file.bytes);
  }
  return sum.hex();
}

bool is_file(const std::string& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

// The files that a policy names, "mean-field:FILE/cedf": behind each ':' the longest text up to a
// '/' or the end that is one.
std::vector<std::string> files_of_policy(const std::string& policy) {
  std::vector<std::string> files;
  for (std::size_t colon = 0; (colon = policy.find(':', colon)) != std::string::npos;) {
    ++colon;
    for (std::size_t end = policy.size(); end != std::string::npos && end > colon;
         end = policy.rfind('/', end - 1)) {
      const std::string text = policy.substr(colon, end - colon);
      if (!is_file(text)) continue;
      files.push_back(text);
      break;
    }
  }
  return files;
}

std::vector<std::string> input_files(const ReportOptions& options, const RunOptions& run,
                                     std::span<const std::string> policies) {
  std::vector<std::string> files;
  const auto add = [&](const std::string& path) {
    const bool there = std::find(files.begin(), files.end(), path) != files.end();
    if (!path.empty() && !there) files.push_back(path);
  };
  add(run.workload.jobs);
  if (run.workload.is_described()) add(*run.workload.workload);
  // These may be a word in place of a file.
  if (is_file(run.fleet)) add(run.fleet);
  if (run.costs && is_file(*run.costs)) add(*run.costs);
  add(run.events);
  add(run.tariff);
  for (const std::string& policy : policies) {
    for (const std::string& file : files_of_policy(policy)) add(file);
  }
  add(options.learning_curve);
  return files;
}

}  // namespace

Result<std::string> digest_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  Sha256 sum;
  std::string piece(1 << 16, '\0');
  while (file.read(piece.data(), static_cast<std::streamsize>(piece.size())) || file.gcount() > 0)
    sum.add(std::string_view(piece).substr(0, static_cast<std::size_t>(file.gcount())));
  if (!file.eof()) return fail("{}: cannot be read", path);
  return sum.hex();
}

std::string digest_of_policy_files(const std::string& policy) {
  std::string digests;
  for (const std::string& file : files_of_policy(policy))
    digests += ' ' + digest_of_file(file).value_or("");
  return digests;
}

void add_report_options(CLI::App& app, ReportOptions& options) {
  app.add_option("--learning-curve", options.learning_curve,
                 "A CSV file of `train --curve`, to show in the report; needs --out");
}

PageOrigin origin_of(const Invocation& invocation) {
  return {shown_command(invocation),
          invocation.version,
          {{"sha256 of the data in the program", digest_of_shipped_data()}}};
}

Result<ReportContext> read_report_context(const ReportOptions& options, const RunOptions& run,
                                          const RunSetup& setup, const std::optional<JobFile>& file,
                                          std::span<const std::string> policies,
                                          const Invocation& invocation) {
  ReportContext context;
  if (!options.learning_curve.empty()) {
    const auto text = read_file(options.learning_curve, kDocumentLimits);
    if (!text) return pass_on(text);
    auto chart = learning_curve_chart(*text, options.learning_curve);
    if (!chart) return pass_on(chart);
    context.learning_curve = std::move(*chart);
  }
  context.workload = describe_workload(run.workload);
  context.fleet = describe_fleet(run, setup.fleet);
  context.notes.push_back(describe_run(run, setup));
  if (file) {
    context.balance = file->balance;
    if (file->trace)
      context.notes.push_back(fmt::format("Real in the trace: {}.", join(file->trace->real, ", ")));
  }
  context.assumptions = list_assumptions(run, setup, file);
  context.origin = origin_of(invocation);
  std::vector<PageOrigin::Fact> facts = {{"seed", fmt::format("{}", run.workload.seed)}};
  for (const std::string& path : input_files(options, run, policies)) {
    auto digest = digest_of_file(path);
    if (!digest) return pass_on(digest);
    facts.push_back({fmt::format("sha256 of {}", path), std::move(*digest)});
  }
  context.origin.facts.insert(context.origin.facts.begin(), facts.begin(), facts.end());
  return context;
}

}  // namespace smartmig
