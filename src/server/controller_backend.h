// The Backend of a running controller: calls are forwarded, and what the journal holds is read
// through readers of its own, so that lists of jobs never wait for decisions.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "server/backend.h"

namespace smartmig {

class ControllerBackend : public Backend {
 public:
  // Both must outlive it.
  ControllerBackend(Controller& controller, std::string state_dir)
      : controller_(controller), state_dir_(std::move(state_dir)) {}

  Answer<Controller::Submitted> submit(std::string_view body, const std::string& owner,
                                       bool dry_run) override;
  Answer<Cancelled> cancel(JobNumber job, const std::string& who,
                           const std::string& owner) override;
  Answer<Outcome> command(const Command& command, const std::string& who) override;
  std::shared_ptr<const FleetView> look() const override { return controller_.look(); }
  FleetSummary summary() const override { return controller_.summary(); }
  std::optional<GpuView> gpu(const std::string& id) const override { return controller_.gpu(id); }
  Counters counters() const override { return controller_.counters(); }
  std::string why_not_ready() const override { return controller_.why_not_ready(); }
  Answer<Plan> plan(const std::string& policy) override { return controller_.plan(policy); }
  std::vector<Controller::Expectation> expectations(std::size_t most) const override {
    return controller_.expectations(most);
  }
  Answer<std::vector<std::string>> explain_job(JobNumber job) override;
  Answer<std::vector<std::string>> explain_gpu(const std::string& id) override;
  std::vector<Notice> notices_after(std::uint64_t after, int wait_ms, bool& missed) override;
  std::uint64_t last_notice() const override { return controller_.last_notice(); }

  Result<std::optional<JobRow>> job(JobNumber number) override;
  Result<std::vector<JobRow>> jobs(std::optional<JobPhase> phase, JobNumber after,
                                   int limit) override;
  Result<std::vector<DecisionRow>> decisions(std::int64_t before, int limit) override;
  Result<std::optional<DecisionRow>> decision(std::int64_t number) override;
  Result<std::vector<IntentRow>> intents(const std::string& gpu, std::int64_t before,
                                         int limit) override;
  Result<std::vector<AuditRow>> audit(std::int64_t before, int limit) override;

  void close_readers();  // Once nobody asks any more.

 private:
  // Lends a reader to `body`, a free one or a new one; it is kept for the next call unless the
  // call failed.
  template <class Body>
  auto read(const Body& body) -> decltype(body(std::declval<JournalReader&>()));

  Controller& controller_;
  std::string state_dir_;
  std::mutex mutex_;
  std::vector<JournalReader> free_readers_;  // Guarded by mutex_.
};

}  // namespace smartmig
