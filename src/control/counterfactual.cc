#include "control/counterfactual.h"

#include <algorithm>

#include "base/clock.h"

namespace smartmig {
namespace {

constexpr std::int64_t kPauseNs = 200'000'000;
// It stays so far behind the fleet's clock: a job is told of some time after its submission.
constexpr std::int64_t kLagNs = 250'000'000;
constexpr int kIdleShare = 9;  // Of each tenth of time.

}  // namespace

Counterfactual::Counterfactual(ModelledFleet fleet, std::string policy, const FleetClock& clock,
                               std::size_t most_waiting)
    : policy_(std::move(policy)),
      clock_(clock),
      most_waiting_(most_waiting),
      fleet_(std::move(fleet)) {
  const TimeUs now = clock_.at(monotonic_ns());
  totals_ = fleet_.totals(now);
  totals_at_us_ = now;
  thread_ = std::thread([this] { run(); });
}

Counterfactual::~Counterfactual() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Counterfactual::submitted(JobNumber job, const Job& work, TimeUs at_us) {
  put({job, work, at_us});
}

void Counterfactual::left(JobNumber job, TimeUs at_us) { put({job, std::nullopt, at_us}); }

void Counterfactual::put(Change change) {
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    if (given_up_) return;
    first = changes_.empty();
    changes_.push_back(std::move(change));
  }
  if (first) changed_.notify_one();
}

std::optional<ModelledFleet::Totals> Counterfactual::totals(TimeUs now) const {
  const std::lock_guard lock(mutex_);
  if (given_up_) return std::nullopt;
  ModelledFleet::Totals totals = totals_;
  totals.energy_j += totals.power_w * std::max(0.0, to_s(now - totals_at_us_));
  return totals;
}

void Counterfactual::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    std::vector<Change> changes;
    changes.swap(changes_);
    lock.unlock();
    const std::int64_t begin_ns = monotonic_ns();
    const std::int64_t rounds = fleet_.rounds();
    const TimeUs now = clock_.at(begin_ns - kLagNs);
    go_on(changes, now);
    const ModelledFleet::Totals totals = fleet_.totals(now);
    const std::int64_t took_ns = monotonic_ns() - begin_ns;
    // The dearer a round, the more is gathered for one.
    if (const std::int64_t more = fleet_.rounds() - rounds; more > 0)
      fleet_.set_gather(static_cast<TimeUs>((kIdleShare + 1) * clock_.speed *
                                            static_cast<double>(took_ns / more) / 1e3));
    const std::int64_t pause_ns = std::max(kPauseNs, kIdleShare * took_ns);
    lock.lock();
    totals_ = totals;
    totals_at_us_ = now;
    given_up_ = fleet_.waiting() > most_waiting_;
    if (given_up_) return changes_.clear();
    changed_.wait_for(lock, std::chrono::nanoseconds(pause_ns),
                      [this] { return stopping_.load(); });
    if (fleet_.idle()) changed_.wait(lock, [this] { return stopping_ || !changes_.empty(); });
  }
}

void Counterfactual::go_on(const std::vector<Change>& changes, TimeUs now) {
  for (const Change& change : changes) {
    if (stopping_) return;
    if (change.work)
      fleet_.submit(change.job, *change.work, change.at_us);
    else
      fleet_.withdraw(change.job, change.at_us);
  }
  fleet_.advance(now);
}

}  // namespace smartmig
