// A backend for tests: a small fleet and a few jobs in memory, and a record of what was asked.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>

#include "server/backend.h"

namespace smartmig {

class FakeBackend : public Backend {
 public:
  FakeBackend() {
    for (int i = 0; i < 2; ++i) fleet_.gpus.push_back(example_gpu(i));
    fleet_.fleet = "2xA100-40GB";
    fleet_.policy = "smartmig";
    fleet_.driver = "simulated";
    fleet_.now_us = 12'500'000;
    fleet_.running = 1;
    fleet_.modelled = {"none/edf", 2500, 1750.5, 3, 2,
                       1,          0,    12.5,   0, DayVerdict{2.5, 1.5, 60, 61, true}};
    counters_.decide_ms_buckets.assign(13, 1);
    fleet_.gpus[1].state = "fenced";
    fleet_.gpus[1].trouble = "create: in use";
    fleet_.gpus[1].retry_us = 99'000'000;
    add_job("alice", JobPhase::kDone);
    add_job("alice", JobPhase::kRunning);
    add_job("bob", JobPhase::kQueued);
  }

  static GpuView example_gpu(int index) {
    GpuView gpu;
    gpu.index = static_cast<GpuIndex>(index);
    gpu.uuid = fmt::format("GPU-{:08x}-aaaa-bbbb-cccc-0123456789ab", index);
    gpu.board = "A100-40GB";
    gpu.memory_slices = 8;
    gpu.layout = gpu.target = "4-2-1";
    gpu.power_w = 131.25;
    // Slots of the shipped board: profiles in the order of data/boards.json, then starts.
    gpu.slices.push_back({fmt::format("MIG-{:08x}-4g", index), "4g.20gb", 23, 0, 4, 4, "ready", 2,
                          10'000'000, 70'000'000, "training", 61'000'000});
    gpu.slices.push_back({fmt::format("MIG-{:08x}-2g", index), "2g.10gb", 20, 4, 2, 2});
    gpu.slices.push_back({fmt::format("MIG-{:08x}-1g", index), "1g.5gb", 6, 6, 1, 1, "foreign"});
    return gpu;
  }

  JobNumber add_job(const std::string& owner, JobPhase phase) {
    JobRow row;
    row.number = static_cast<JobNumber>(jobs_.size()) + 1;
    row.owner = owner;
    row.phase = phase;
    row.body = R"({"profile":"bert-training","work_s":60.0,"deadline_s":90.0,"command":["a","b"]})";
    row.submit_us = 1'000'001;
    row.deadline_us = 61'000'000;
    if (phase >= JobPhase::kRunning) {
      row.start_us = 10'000'000;
      row.gpu = fleet_.gpus[0].uuid;
      row.slice = fleet_.gpus[0].slices[0].uuid;
      row.attempt = 1;
    }
    if (is_final(phase)) row.end_us = 66'500'000;
    jobs_[row.number] = row;
    return row.number;
  }

  Answer<Controller::Submitted> submit(std::string_view body, const std::string& owner,
                                       bool dry_run) override {
    const auto request = parse_job_request(body);
    if (!request) return tl::unexpected(request.error());
    const std::lock_guard lock(mutex_);
    if (full_disk_) return tl::unexpected(Refusal{503, "the disk is full", ""});
    for (const auto& [number, row] : jobs_) {
      if (request->key.empty() || row.key != request->key || row.owner != owner) continue;
      if (row.body != to_json_text(*request))
        return tl::unexpected(Refusal{409, "the key is known with another request", "key"});
      return Controller::Submitted{number, false};
    }
    if (dry_run) return Controller::Submitted{0, true};
    const JobNumber number = add_job(owner, JobPhase::kQueued);
    jobs_[number].key = request->key;
    jobs_[number].body = to_json_text(*request);
    notify_locked("job", fmt::format(R"({{"kind":"job","id":"{}"}})", number));
    return Controller::Submitted{number, true};
  }

  Answer<Cancelled> cancel(JobNumber job, const std::string& who,
                           const std::string& owner) override {
    const std::lock_guard lock(mutex_);
    const auto found = jobs_.find(job);
    if (found == jobs_.end()) return tl::unexpected(Refusal{404, "no such job", "id"});
    if (!owner.empty() && found->second.owner != owner)
      return tl::unexpected(Refusal{403, "the job is another's", "id"});
    if (is_final(found->second.phase)) return tl::unexpected(Refusal{409, "it is over", "id"});
    const bool waits = found->second.phase == JobPhase::kQueued;
    found->second.phase = JobPhase::kCancelled;
    asked_.push_back(fmt::format("{} cancel {}", who, job));
    return waits ? Cancelled::kDone : Cancelled::kOrdered;
  }

  Answer<Outcome> command(const Command& command, const std::string& who) override {
    const std::lock_guard lock(mutex_);
    if (!command.gpu.empty() && !find_gpu(command.gpu))
      return tl::unexpected(Refusal{404, "no such GPU", "gpu"});
    std::string line = fmt::format("{} {} gpu={} watts={}{}", who, static_cast<int>(command.kind),
                                   command.gpu, command.power_cap_w, command.dry_run ? " dry" : "");
    if (command.hold) line += " hold";
    for (const auto& [gpu, layout] : command.layouts) line += fmt::format(" {}={}", gpu, layout);
    asked_.push_back(line);
    return Outcome{{line}};
  }

  std::shared_ptr<const FleetView> look() const override {
    const std::lock_guard lock(mutex_);
    return std::make_shared<const FleetView>(fleet_);
  }
  FleetSummary summary() const override { return *look(); }
  std::optional<GpuView> gpu(const std::string& id) const override {
    const std::lock_guard lock(mutex_);
    return find_gpu(id);
  }
  Counters counters() const override { return counters_; }
  std::string why_not_ready() const override { return ready_ ? "" : "it was told so"; }
  Answer<Plan> plan(const std::string& policy) override {
    if (policy == "nonsense") return tl::unexpected(Refusal{400, "no such policy", "policy"});
    Plan plan;
    plan.at_us = 5;
    plan.policy = policy.empty() ? "smartmig" : policy;
    plan.stops = {{1, "GPU-0", "to make room"}};
    plan.changes = {{"GPU-0", "7", "4-3", "smaller jobs wait"}};
    plan.starts = {{2, "GPU-0", "4g.20gb", 1, "least energy"}};
    return plan;
  }
  std::vector<Controller::Expectation> expectations(std::size_t) const override {
    return {{3, 20'000'000, 80'000'000, 19'000'000}};
  }
  Answer<std::vector<std::string>> explain_job(JobNumber job) override {
    if (!jobs_.contains(job)) return tl::unexpected(Refusal{404, "no such job", "id"});
    return std::vector<std::string>{"it waits for a \"4g\" slice"};
  }
  Answer<std::vector<std::string>> explain_gpu(const std::string& id) override {
    if (!find_gpu(id)) return tl::unexpected(Refusal{404, "no such GPU", "id"});
    return std::vector<std::string>{"as it was made"};
  }

  std::vector<Notice> notices_after(std::uint64_t after, int wait_ms, bool& missed) override {
    std::unique_lock lock(mutex_);
    const auto newer = [&] { return last_ > after; };
    changed_.wait_for(lock, std::chrono::milliseconds(wait_ms), newer);
    std::vector<Notice> out;
    for (const Notice& notice : notices_)
      if (notice.number > after) out.push_back(notice);
    missed = !notices_.empty() && after + 1 < notices_.front().number;
    return out;
  }
  std::uint64_t last_notice() const override {
    const std::lock_guard lock(mutex_);
    return last_;
  }

  Result<std::optional<JobRow>> job(JobNumber number) override {
    const std::lock_guard lock(mutex_);
    if (broken_journal_) return fail("journal.db: cannot be read");
    const auto found = jobs_.find(number);
    return found == jobs_.end() ? std::nullopt : std::optional<JobRow>(found->second);
  }
  Result<std::vector<JobRow>> jobs(std::optional<JobPhase> phase, JobNumber after,
                                   int limit) override {
    const std::lock_guard lock(mutex_);
    if (broken_journal_) return fail("journal.db: cannot be read");
    std::vector<JobRow> out;
    for (const auto& [number, row] : jobs_)
      if (number > after && (!phase || row.phase == *phase) &&
          out.size() < static_cast<std::size_t>(limit))
        out.push_back(row);
    return out;
  }
  Result<std::vector<DecisionRow>> decisions(std::int64_t before, int limit) override {
    std::vector<DecisionRow> out;
    for (std::int64_t n = before == 0 ? 5 : before - 1; n > 0 && limit-- > 0; --n)
      out.push_back({n, n * 1'000'000, R"({"starts":[]})", "one\ntwo"});
    return out;
  }
  Result<std::optional<DecisionRow>> decision(std::int64_t number) override {
    if (number > 5) return std::optional<DecisionRow>();
    return std::optional<DecisionRow>({number, 1, "{}", "why"});
  }
  Result<std::vector<IntentRow>> intents(const std::string& gpu, std::int64_t, int) override {
    return std::vector<IntentRow>{{4, gpu, 1, 2, "create 5", 1'000'000, -1, ""}};
  }
  Result<std::vector<AuditRow>> audit(std::int64_t, int) override {
    return std::vector<AuditRow>{{1, 1'000'000, 1'700'000'000, "carol", "freeze"}};
  }

  void notify(const std::string& kind, const std::string& json) {
    const std::lock_guard lock(mutex_);
    notify_locked(kind, json);
  }
  // As if the oldest had been dropped.
  void forget_notices_before(std::uint64_t number) {
    const std::lock_guard lock(mutex_);
    std::erase_if(notices_, [&](const Notice& notice) { return notice.number < number; });
  }
  std::vector<std::string> asked() const {
    const std::lock_guard lock(mutex_);
    return asked_;
  }
  std::size_t job_count() const {
    const std::lock_guard lock(mutex_);
    return jobs_.size();
  }

  FleetView fleet_;
  Counters counters_;
  std::atomic<bool> ready_ = true;
  std::atomic<bool> full_disk_ = false;
  std::atomic<bool> broken_journal_ = false;

 private:
  std::optional<GpuView> find_gpu(const std::string& id) const {
    for (const GpuView& gpu : fleet_.gpus)
      if (gpu.uuid == id || std::to_string(gpu.index) == id) return gpu;
    return std::nullopt;
  }
  void notify_locked(const std::string& kind, const std::string& json) {
    notices_.push_back({++last_, kind, json});
    if (notices_.size() > 10'000) notices_.erase(notices_.begin(), notices_.begin() + 5'000);
    changed_.notify_all();
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<JobNumber, JobRow> jobs_;
  std::vector<Notice> notices_;
  std::uint64_t last_ = 0;
  std::vector<std::string> asked_;
};

}  // namespace smartmig
