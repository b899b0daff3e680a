#include "control/modelled_fleet.h"

namespace smartmig {
namespace {

constexpr double kNoLimit = 1e9;  // Changes of a GPU in an hour.

// The one slice that is the whole board.
SlotSet whole(const Board& board) {
  const auto largest =
      std::max_element(board.slots.begin(), board.slots.end(), [&](const Slot& a, const Slot& b) {
        return board.profiles[a.profile].compute_slices < board.profiles[b.profile].compute_slices;
      });
  return SlotSet{1} << (largest - board.slots.begin());
}

}  // namespace

Result<ModelledFleet> ModelledFleet::make(Setup setup, std::vector<Snapshot::QueuedJob> jobs,
                                          TimeUs now, std::int64_t remembered_jobs) {
  const auto fleet = Fleet::parse(setup.fleet);
  if (!fleet) return pass_on(fleet);
  Snapshot snapshot;
  snapshot.setup = std::move(setup);
  snapshot.setup.limits = {kNoLimit, 0};
  snapshot.jobs = std::move(jobs);
  for (GpuIndex gpu = 0; gpu < fleet->gpu_count(); ++gpu) {
    Snapshot::GpuStand stand;
    stand.present = stand.target = whole(fleet->board(gpu));
    snapshot.gpus.push_back(stand);
  }
  auto model = Model::make(snapshot, now);
  if (!model) return pass_on(model);
  return ModelledFleet(std::move(*model), remembered_jobs);
}

void ModelledFleet::submit(JobNumber number, const Job& job, TimeUs at_us) {
  advance(at_us - 1);
  Event event;
  event.job = number;
  event.work = job;
  apply(Event::Kind::kSubmit, at_us, std::move(event));
  ++jobs_since_rebase_;
}

void ModelledFleet::withdraw(JobNumber number, TimeUs at_us) {
  advance(at_us - 1);
  Event event;
  event.job = number;
  apply(Event::Kind::kGone, at_us, std::move(event));
}

void ModelledFleet::apply(Event::Kind kind, TimeUs at_us, Event event) {
  event.kind = kind;
  event.at_us = at_us;
  if (!model_.apply(event)) return;
  next_round_us_ = std::max(next_round_us_, model_.now());
  round_due_ = true;
}

// At an instant everything that ends does so before the round.
void ModelledFleet::advance(TimeUs now) {
  while (next_us() <= now) {
    if (!endings_.empty() && endings_.top().at_us <= next_round_us()) {
      const Ending ending = endings_.top();
      endings_.pop();
      end(ending);
    } else {
      const TimeUs at_us = next_round_us();
      round(at_us);
      next_round_us_ = at_us + gather_us_;
    }
  }
}

// Where the model has changed its mind since, there is another ending for what it wants now.
void ModelledFleet::end(const Ending& ending) {
  Event event;
  event.gpu = ending.order.gpu;
  event.job = ending.job;
  if (ending.order.kind == Order::Kind::kCreate || ending.order.kind == Order::Kind::kDestroy)
    return apply(Event::Kind::kStepDone, ending.at_us, std::move(event));
  const auto job = model_.index_of(ending.job);
  if (!job) return;
  const State& state = model_.state();
  const JobState& run = state.job_state(*job);
  const bool saves = ending.order.kind == Order::Kind::kStop;
  if (run.status != (saves ? JobStatus::kSaving : JobStatus::kRunning) ||
      state.slice(run.slice).end_us != ending.at_us)
    return;
  event.left = ending.left;
  if (saves) return apply(Event::Kind::kSaved, ending.at_us, std::move(event));
  const TimeUs late_us = std::max<TimeUs>(0, ending.at_us - state.job(*job).deadline_us);
  ++totals_.done;
  totals_.late += late_us > 0;
  totals_.tardiness_s += to_s(late_us);
  apply(Event::Kind::kEnded, ending.at_us, std::move(event));
}

void ModelledFleet::round(TimeUs at_us) {
  const Round& decided = model_.round(at_us);
  ++rounds_;
  round_due_ = false;
  for (const Order& order : decided.orders) {
    Ending ending{order.expected_us, order};
    if (order.job != kNone) {
      ending.job = model_.number_of(order.job);
      ending.left = model_.state().job_state(order.job).saved_left;
    }
    endings_.push(ending);
  }
  if (jobs_since_rebase_ >= remembered_jobs_) rebase();
}

void ModelledFleet::rebase() {
  const Snapshot snapshot = model_.snapshot();
  auto made = Model::make(snapshot, model_.now());
  SM_CHECK(made.has_value());  // It has what the model has.
  totals_.energy_j += model_.state().power().energy_j(model_.now());
  model_ = std::move(*made);
  jobs_since_rebase_ = 0;
}

ModelledFleet::Totals ModelledFleet::totals(TimeUs now) const {
  Totals totals = totals_;
  totals.energy_j += model_.state().power().energy_j(std::max(now, model_.now()));
  totals.power_w = model_.power_w();
  return totals;
}

}  // namespace smartmig
