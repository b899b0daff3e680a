// What the HTTP interface asks of the controller and its journal. One implementation forwards
// (controller_backend.h); tests have another. All calls may come from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "control/controller.h"
#include "control/journal.h"

namespace smartmig {

class Backend {
 public:
  virtual ~Backend() = default;

  // `body` is the JSON of POST jobs. With `dry_run` it is checked and nothing else; the id is 0.
  virtual Answer<Controller::Submitted> submit(std::string_view body, const std::string& owner,
                                               bool dry_run) = 0;
  // `owner` empty: anybody's.
  virtual Answer<Cancelled> cancel(JobNumber job, const std::string& who,
                                   const std::string& owner) = 0;
  virtual Answer<Outcome> command(const Command& command, const std::string& who) = 0;

  virtual std::shared_ptr<const FleetView> look() const = 0;
  virtual FleetSummary summary() const = 0;
  virtual std::optional<GpuView> gpu(const std::string& id) const = 0;
  virtual Counters counters() const = 0;
  virtual std::string why_not_ready() const = 0;  // Empty: it is.
  virtual Answer<Plan> plan(const std::string& policy) = 0;
  virtual std::vector<Controller::Expectation> expectations(std::size_t most) const = 0;
  virtual Answer<std::vector<std::string>> explain_job(JobNumber job) = 0;
  virtual Answer<std::vector<std::string>> explain_gpu(const std::string& id) = 0;

  // As the controller's, but 0 stands for the beginning and not for now.
  virtual std::vector<Notice> notices_after(std::uint64_t after, int wait_ms, bool& missed) = 0;
  virtual std::uint64_t last_notice() const = 0;

  // From the journal: as JournalReader has them.
  virtual Result<std::optional<JobRow>> job(JobNumber number) = 0;
  virtual Result<std::vector<JobRow>> jobs(std::optional<JobPhase> phase, JobNumber after,
                                           int limit) = 0;
  virtual Result<std::vector<DecisionRow>> decisions(std::int64_t before, int limit) = 0;
  virtual Result<std::optional<DecisionRow>> decision(std::int64_t number) = 0;
  virtual Result<std::vector<IntentRow>> intents(const std::string& gpu, std::int64_t before,
                                                 int limit) = 0;
  virtual Result<std::vector<AuditRow>> audit(std::int64_t before, int limit) = 0;
};

}  // namespace smartmig
