#include "control/model.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "foresight/named_policies.h"
#include "policy/place_on.h"

namespace smartmig {
namespace {

// A process that is not ours: nobody knows how long it takes, so it is thought to go on this long,
// and on whenever that has passed.
constexpr TimeUs kForeignUs = kHourUs;
// A run that is not over when it should be goes on for this part of its expected time.
constexpr double kStretch = 0.1;
// What has to wait for longer than this until the limits allow it is not waited for.
constexpr TimeUs kLongestWaitUs = 1000 * kDayUs;

State::Options state_options(const Policy& policy, const Costs& costs, Preemption preemption,
                             std::uint64_t seed) {
  State::Options options;
  options.costs = costs;
  options.preemption = preemption;
  options.seed = seed;
  if (policy.placer) {
    options.job_order = policy.placer->job_order();
    options.gpu_order = policy.placer->gpu_order();
  }
  // Kept whatever the policy, so that another one can be rehearsed.
  options.aggregates = true;
  options.correct_beliefs = policy.partitioner->corrects_beliefs();
  return options;
}

Result<Costs> live_costs(const Setup& setup, const Fleet& fleet) {
  const bool is_json = setup.costs.find('{') != std::string::npos;
  auto costs = is_json ? Costs::parse_json(setup.costs, "costs") : Costs::parse(setup.costs);
  if (!costs) return pass_on(costs);
  Job job;
  job.checkpoint_ms = 1;
  bool takes_time = costs->operation_scale > 0 && costs->checkpoint_us(job) > 0;
  for (const Board* board : fleet.boards()) {
    for (const Profile& profile : board->profiles) {
      const int size = size_index(profile.compute_slices);
      takes_time =
          takes_time &&
          (size < 0 || (board->times.create_us[size] > 0 && board->times.destroy_us[size] > 0));
    }
  }
  if (!takes_time)
    return fail(
        "costs: found '{}', expected real or a file in which slices and checkpoints take time",
        is_json ? costs->name : setup.costs);
  return costs;
}

}  // namespace

void Round::clear() {
  stops.clear();
  targets.clear();
  starts.clear();
  orders.clear();
  closed.clear();
  withheld_budget = withheld_no_gain = withheld_power = 0;
}

Result<Model> Model::make(const Snapshot& snapshot, TimeUs now) {
  const Setup& setup = snapshot.setup;
  auto fleet = Fleet::parse(setup.fleet);
  if (!fleet) return pass_on(fleet);
  auto costs = live_costs(setup, *fleet);
  if (!costs) return pass_on(costs);
  const auto preemption = parse_preemption(setup.preemption);
  if (!preemption) return pass_on(preemption);
  if (*preemption == Preemption::kFree)
    return fail(
        "preemption: found 'free', expected checkpoint or none: a live job does not stop for free");
  auto policy = make_named_policy(setup.policy, *fleet, {setup.energy_weight, setup.seed});
  if (!policy) return pass_on(policy);
  if (snapshot.gpus.size() != fleet->gpu_count())
    return fail("fleet: {} GPUs stand in the journal, {} in '{}'", snapshot.gpus.size(),
                fleet->gpu_count(), setup.fleet);
  Model model(std::make_shared<const Fleet>(std::move(*fleet)), setup, std::move(*policy), *costs,
              *preemption);
  model.begin(snapshot, now);
  return model;
}

Model::Model(std::shared_ptr<const Fleet> fleet, Setup setup, Policy policy, Costs costs,
             Preemption preemption)
    : fleet_(std::move(fleet)),
      setup_(std::move(setup)),
      policy_(std::move(policy)),
      state_(*fleet_, jobs_, state_options(policy_, costs, preemption, setup_.seed)),
      gpus_(fleet_->gpu_count()) {}

Model::Model(const Model& other)
    : fleet_(other.fleet_),
      setup_(other.setup_),
      policy_(other.policy_),
      jobs_(other.jobs_),
      numbers_(other.numbers_),
      indices_(other.indices_),
      state_(other.state_),
      gpus_(other.gpus_),
      held_(other.held_),
      dirty_(other.dirty_),
      round_(other.round_),
      foreign_jobs_(other.foreign_jobs_),
      frozen_(other.frozen_),
      ask_partitioner_(other.ask_partitioner_),
      start_was_early_(other.start_was_early_),
      next_timer_us_(other.next_timer_us_),
      budget_due_us_(other.budget_due_us_) {
  state_.extend(jobs_);  // This object's, no longer the other's.
}

// --- beginning

void Model::begin(const Snapshot& snapshot, TimeUs now) {
  state_.set_now(now);
  state_.power().begin(now);
  View seen = view();
  std::vector<SlotSet> first;
  policy_.partitioner->first_layouts(seen, first);
  for (GpuIndex gpu = 0; gpu < fleet_->gpu_count(); ++gpu) {
    const Snapshot::GpuStand& stand = snapshot.gpus[gpu];
    gpus_[gpu].changes_us = stand.changes_us;
    state_.place_initial(gpu, stand.present);
    gpus_[gpu].foreign = stand.foreign;
    for (SlotSet rest = stand.foreign; rest; rest &= rest - 1)
      take_over(gpu, std::countr_zero(rest));
    touch(gpu);
  }
  for (const auto& queued : snapshot.jobs) {
    const JobIndex job = add_job(queued.number, queued.job);
    if (queued.left < 1) state_.set_left(job, queued.left);
  }
  for (const auto& run : snapshot.runs) {
    const JobIndex job = *index_of(run.number);
    const SliceId slice = slice_of(run.gpu, run.slot);
    state_.start({job, slice, run.slot});
    const TimeUs end_us = std::max(run.end_us, now + 1);
    state_.revise_run(slice, run.begin_us, end_us);
    // Under another rule than it was stopped by, it runs until it has saved.
    if (!run.saving || state_.preemption() != Preemption::kCheckpoint) continue;
    state_.stop(job);
    if (run.end_us != Snapshot::kUnknownEnd) state_.revise_run(slice, run.begin_us, end_us);
  }
  // Only now: jobs run on slices that are to go.
  for (GpuIndex gpu = 0; gpu < fleet_->gpu_count(); ++gpu) {
    const Snapshot::GpuStand& stand = snapshot.gpus[gpu];
    if (stand.fresh) {
      state_.set_target(gpu, first[gpu]);
    } else {
      if (stand.target != stand.present) {
        state_.set_target(gpu, stand.target);
        gpus_[gpu].ordered = stand.ordered;
      }
      policy_.partitioner->reconsider(gpu);
    }
    if (const auto& step = stand.step) {
      state_.resume_operation(gpu, step->slot, step->create, step->end_us);
      gpus_[gpu].change_open = true;
      gpus_[gpu].base = step->base;
      gpus_[gpu].fresh = step->made;
    }
    if (stand.closed) state_.close(gpu);
    hold(gpu, stand.held);
  }
  for (const auto& wait : snapshot.waits)
    state_.wait_for({*index_of(wait.number), slice_of(wait.gpu, wait.slot), wait.slot});
  frozen_ = snapshot.frozen;
  ask_partitioner_ = true;
  next_timer_us_ = policy_.partitioner->next_timer(now);
}

JobIndex Model::add_job(JobNumber number, const Job& job) {
  const auto index = static_cast<JobIndex>(jobs_.size());
  jobs_.push_back(job);
  // A stop that took no time would be over before the fleet has heard of it.
  if (state_.costs().checkpoint_us(job) == 0) jobs_.back().checkpoint_ms = 1;
  numbers_.push_back(number);
  if (number != 0) indices_.emplace(number, index);
  state_.extend(jobs_);
  state_.arrive(index);
  return index;
}

// A job of somebody else, on the slice it has taken: it cannot be stopped and is never late.
void Model::take_over(GpuIndex gpu, int slot) {
  Job job;
  const Board& board = fleet_->board(gpu);
  const Profile& profile = board.profiles[board.slots[static_cast<std::size_t>(slot)].profile];
  job.submit_us = state_.now();
  job.deadline_us = state_.now() + 1000 * kDayUs;
  job.time_us[static_cast<std::size_t>(size_index(profile.compute_slices))] = kForeignUs;
  job.preemptible = Preemptible::kNo;
  const JobIndex index = add_job(0, job);
  ++foreign_jobs_;
  state_.start({index, slice_of(gpu, slot), static_cast<std::uint8_t>(slot)});
}

std::optional<JobIndex> Model::index_of(JobNumber number) const {
  const auto found = indices_.find(number);
  if (found == indices_.end()) return std::nullopt;
  return found->second;
}

Snapshot Model::snapshot() const {
  SM_CHECK(at_rest());
  Snapshot now;
  now.setup = setup_;
  now.frozen = frozen_;
  for (GpuIndex gpu = 0; gpu < fleet_->gpu_count(); ++gpu) {
    const GpuState& there = state_.gpu(gpu);
    const GpuNotes& notes = gpus_[gpu];
    Snapshot::GpuStand stand{there.present, notes.foreign, there.target, !there.up, false};
    stand.changes_us = notes.changes_us;
    stand.ordered = notes.ordered;
    stand.held = notes.held;
    if (there.operation_end_us != kNever) {
      const int slot = there.operation_slot;
      const bool create = state_.slice(slice_of(gpu, slot)).phase == SlicePhase::kCreating;
      if (create) stand.present &= ~(SlotSet{1} << slot);
      stand.step = {there.operation_slot, create, there.operation_end_us, notes.base, notes.fresh};
    }
    now.gpus.push_back(stand);
  }
  for (JobIndex job = 0; job < jobs_.size(); ++job) {
    const JobState& state = state_.job_state(job);
    if (numbers_[job] == 0 || state.status == JobStatus::kDone) continue;
    now.jobs.push_back({numbers_[job], jobs_[job], state.left});
    if (state.status != JobStatus::kRunning && state.status != JobStatus::kSaving) continue;
    const SliceState& slice = state_.slice(state.slice);
    const bool saving = state.status == JobStatus::kSaving;
    // A save may end before the progress of its run would have begun.
    const TimeUs begin_us = saving ? std::min(slice.begin_us, state_.now()) : slice.begin_us;
    now.runs.push_back(
        {numbers_[job], fleet_->gpu_of(state.slice), slice.slot, begin_us, slice.end_us, saving});
  }
  for (const State::Awaiting& wait : state_.awaiting())
    now.waits.push_back({numbers_[wait.job], wait.gpu, wait.slot});
  return now;
}

// The order of queues is the placer's, so it takes a new picture.
Result<void> Model::switch_policy(const std::string& spec) {
  Snapshot now = snapshot();
  now.setup.policy = spec;
  now.waits.clear();  // Those are the other policy's plans.
  auto model = make(now, state_.now());
  if (!model) return pass_on(model);
  *this = std::move(*model);
  return {};
}

// --- what happened

bool Model::apply(const Event& event) {
  if (event.at_us > state_.now()) state_.set_now(event.at_us);
  switch (event.kind) {
    case Event::Kind::kSubmit:
      if (index_of(event.job)) return false;
      add_job(event.job, event.work);
      ask_partitioner_ = true;
      return true;
    case Event::Kind::kEnded:
    case Event::Kind::kGone:
    case Event::Kind::kSaved:
    case Event::Kind::kLost:
    case Event::Kind::kSaving:
      return apply_to_job(event);
    case Event::Kind::kFreeze:
    case Event::Kind::kUnfreeze:
      frozen_ = event.kind == Event::Kind::kFreeze;
      ask_partitioner_ = true;
      if (!frozen_) {
        for (GpuIndex gpu = 0; gpu < fleet_->gpu_count(); ++gpu) touch(gpu);
      }
      return true;
    case Event::Kind::kLimits:
      setup_.limits = event.limits;
      ask_partitioner_ = true;
      return true;
    case Event::Kind::kBegin:
    case Event::Kind::kRound:
      return false;
    default:
      return event.gpu < fleet_->gpu_count() && apply_to_gpu(event);
  }
}

bool Model::apply_to_job(const Event& event) {
  const auto job = index_of(event.job);
  if (!job) return false;
  const JobState& state = state_.job_state(*job);
  const SliceId slice = state.slice;
  const bool on_slice = state.status == JobStatus::kRunning || state.status == JobStatus::kSaving;
  if (on_slice) touch(fleet_->gpu_of(slice));
  switch (event.kind) {
    case Event::Kind::kEnded:
      if (!on_slice) return false;
      state_.finish(slice);
      ask_partitioner_ = true;
      return true;
    case Event::Kind::kGone:
      if (state.status == JobStatus::kDone) return false;
      state_.withdraw(*job);
      ask_partitioner_ = true;
      return true;
    case Event::Kind::kSaved:
      // Its slice may be gone; what it saved is not.
      if ((state.status == JobStatus::kReady || state.status == JobStatus::kPending) &&
          event.left < state.left) {
        state_.set_left(*job, std::max(event.left, 0.0));
        return true;
      }
      if (!on_slice) return false;
      if (state.status == JobStatus::kRunning) state_.stop(*job);  // Not by us.
      if (state.status == JobStatus::kSaving)
        state_.finish_save(slice, std::clamp(event.left, 0.0, 1.0));
      else
        state_.set_left(*job, std::clamp(event.left, 0.0, 1.0));
      if (policy_.partitioner->stops_jobs()) ask_partitioner_ = true;
      return true;
    case Event::Kind::kLost:
      if (!on_slice) return false;
      state_.abort(slice);
      ask_partitioner_ = true;
      return true;
    case Event::Kind::kSaving:
      if (state.status != JobStatus::kRunning || state_.preemption() != Preemption::kCheckpoint)
        return false;
      pending_.push_back({Order::Kind::kStop, fleet_->gpu_of(slice), state_.slice(slice).slot, *job,
                          state_.stop(*job)});
      return true;
    default:
      return false;
  }
}

bool Model::apply_to_gpu(const Event& event) {
  const bool operating = state_.gpu(event.gpu).operation_end_us != kNever;
  touch(event.gpu);
  if (event.kind != Event::Kind::kStepDone) policy_.partitioner->reconsider(event.gpu);
  switch (event.kind) {
    case Event::Kind::kStepDone:
      if (!operating) return false;
      state_.finish_operation(event.gpu);
      if (policy_.partitioner->follows_operations()) ask_partitioner_ = true;
      return true;
    case Event::Kind::kStepFailed:
      if (!operating) return false;
      state_.cancel_operation(event.gpu);
      state_.set_target(event.gpu, state_.gpu(event.gpu).present);
      return true;
    case Event::Kind::kRead:
      return read(event);
    case Event::Kind::kClose:
      state_.close(event.gpu);
      ask_partitioner_ = true;
      return true;
    case Event::Kind::kOpen:
      state_.open(event.gpu);
      ask_partitioner_ = true;
      return true;
    case Event::Kind::kLayout:
      if (!is_for_jobs(event.gpu, event.slots)) return false;
      state_.set_target(event.gpu, event.slots);
      gpus_[event.gpu].ordered = true;
      return true;
    case Event::Kind::kHold:
    case Event::Kind::kUnhold:
      hold(event.gpu, event.kind == Event::Kind::kHold);
      ask_partitioner_ = true;
      return true;
    default:
      return false;
  }
}

void Model::hold(GpuIndex gpu, bool held) {
  if (gpus_[gpu].held == held) return;
  gpus_[gpu].held = held;
  const auto place = std::lower_bound(held_.begin(), held_.end(), gpu);
  if (held)
    held_.insert(place, gpu);
  else
    held_.erase(place);
}

bool Model::is_for_jobs(GpuIndex gpu, SlotSet layout) const {
  for (SlotSet rest = layout; rest; rest &= rest - 1) {
    if (fleet_->kind_of_slot(gpu, std::countr_zero(rest)) == kNoKind) return false;
  }
  return is_legal(fleet_->board(gpu), layout);
}

// The hardware decides what exists: slices that went take their jobs' runs with them, slices that
// came are there.
bool Model::read(const Event& event) {
  const Board& board = fleet_->board(event.gpu);
  const SlotSet stays = state_.gpu(event.gpu).present & ~event.gone;
  if ((event.slots & stays) != 0 || !is_legal(board, stays | event.slots) ||
      (event.foreign & ~(stays | event.slots)) != 0)
    return false;
  for (SlotSet rest = event.slots; rest; rest &= rest - 1) {
    if (fleet_->kind_of_slot(event.gpu, std::countr_zero(rest)) == kNoKind) return false;
  }
  const GpuNotes& notes = gpus_[event.gpu];
  // What was foreign and is ours now, or is gone, has no process of somebody else's any more.
  for (SlotSet rest = notes.foreign & ~(event.foreign & stays); rest; rest &= rest - 1) {
    const JobIndex job = state_.slice(slice_of(event.gpu, std::countr_zero(rest))).job;
    if (job == kNone || numbers_[job] != 0) continue;
    state_.withdraw(job);
    --foreign_jobs_;
  }
  const SlotSet gone = event.gone & state_.gpu(event.gpu).present;
  for (SlotSet rest = gone; rest; rest &= rest - 1)
    state_.vanish(event.gpu, std::countr_zero(rest));
  const SlotSet there = stays | event.slots;
  state_.set_target(event.gpu, there);
  for (SlotSet rest = event.slots; rest; rest &= rest - 1)
    state_.appear(event.gpu, std::countr_zero(rest));
  const bool closed = !state_.gpu(event.gpu).up;
  if (closed) state_.open(event.gpu);  // For the moment: jobs start only on open ones.
  for (SlotSet rest = event.foreign & ~(notes.foreign & stays); rest; rest &= rest - 1) {
    const int slot = std::countr_zero(rest);
    const JobIndex job = state_.slice(slice_of(event.gpu, slot)).job;
    if (job == kNone) take_over(event.gpu, slot);
  }
  if (closed) state_.close(event.gpu);
  gpus_[event.gpu].foreign = event.foreign;
  ask_partitioner_ = true;
  return true;
}

// --- deciding

TimeUs Model::next_due_us() const {
  return frozen_ ? kNever : std::min(next_timer_us_, budget_due_us_);
}

double Model::power_w() const {
  double watts = 0;
  for (GpuIndex gpu = 0; gpu < fleet_->gpu_count(); ++gpu)
    watts += state_.power().watts_at(gpu, state_.now());
  return watts;
}

double Model::power_w_when_started() const {
  double watts = 0;
  for (GpuIndex gpu = 0; gpu < fleet_->gpu_count(); ++gpu)
    watts += state_.power().watts_when_started(gpu, state_.now());
  return watts;
}

const Round& Model::round(TimeUs now) {
  state_.set_now(std::max(now, state_.now()));
  round_.clear();
  round_.at_us = state_.now();
  for (const Order& stop : pending_) {
    // It may be over by now.
    if (state_.job_state(stop.job).status == JobStatus::kSaving) round_.orders.push_back(stop);
  }
  pending_.clear();
  stretch_overdue();
  if (setup_.limits.power_cap_w > 0) power_w_ = power_w_when_started();
  if (frozen_) {
    settle();
    return round_;
  }
  if (next_due_us() <= state_.now()) ask_partitioner_ = true;
  decide();
  return round_;
}

void Model::decide() {
  const bool asked = std::exchange(ask_partitioner_, false);
  Instant<Model>(*this, policy_, state_, room_).decide(asked);
  if (policy_.placer) return;
  if (state_.ready_count() > 0 && (start_was_early_ || (!asked && state_.running().empty()))) {
    // A job whose slice was part of a change waits for its end; what an operator stopped waits, and
    // nothing may ever happen that a policy is asked at.
    ask_partitioner();
    settle();
  }
  if (!held_.empty()) place_on_held();
}

// A policy is asked about layouts as if GPUs with a held layout were closed, so every policy leaves
// them alone. A placer sees their slices like all others; a joint policy has none, so the jobs that
// it leaves waiting are placed there by the rule of place_on().
void Model::place_on_held() {
  if (state_.ready_count() == 0) return;
  std::vector<SliceId> slices;
  for (const GpuIndex gpu : held_) {
    const GpuState& there = state_.gpu(gpu);
    if (!there.up) continue;
    const GpuNotes& notes = gpus_[gpu];
    const SlotSet unfinished = notes.change_open ? notes.fresh : 0;
    for (SlotSet rest = there.present & there.target & ~unfinished & ~there.awaited; rest;
         rest &= rest - 1) {
      const SliceId id = slice_of(gpu, std::countr_zero(rest));
      const SliceState& slice = state_.slice(id);
      if (slice.phase == SlicePhase::kReady && state_.free().is_free(id, slice.kind))
        slices.push_back(id);
    }
  }
  View seen = view();
  room_.decision.clear();
  place_on(seen, slices, room_.decision.starts);
  carry_out(room_.decision);
}

// Closing a GPU makes the jobs that wait for its slices ready again; they are remembered.
void Model::close_held() {
  closed_held_.clear();
  promised_.clear();
  for (const GpuIndex gpu : held_) {
    if (!state_.gpu(gpu).up) continue;
    closed_held_.push_back(gpu);
    if (state_.gpu(gpu).awaited == 0) continue;
    for (const State::Awaiting& wait : state_.awaiting())
      if (wait.gpu == gpu) promised_.push_back(wait);
  }
  for (const GpuIndex gpu : closed_held_) state_.close(gpu);
}

// A job that waited for a held slice waits for it again, unless the policy has started it
// elsewhere.
void Model::renew_promises() {
  for (const State::Awaiting& wait : promised_) {
    const GpuState& gpu = state_.gpu(wait.gpu);
    if (state_.job_state(wait.job).status != JobStatus::kReady || !gpu.up ||
        !(gpu.target >> wait.slot & 1) || state_.is_awaited(wait.gpu, wait.slot))
      continue;
    state_.wait_for({wait.job, slice_of(wait.gpu, wait.slot), wait.slot});
    touch(wait.gpu);
  }
}

// Before changes that are done are closed, as in the simulator.
void Model::ask_partitioner() {
  start_was_early_ = false;
  budget_due_us_ = kNever;
  close_held();
  View seen = view();
  decide_layouts(policy_, seen, room_.decision);
  for (const GpuIndex gpu : closed_held_) state_.open(gpu);
  carry_out(room_.decision);
  renew_promises();
  next_timer_us_ = policy_.partitioner->next_timer(state_.now());
}

void Model::stretch_overdue() {
  for (const SliceId id : state_.running()) {
    const SliceState& slice = state_.slice(id);
    if (slice.end_us > state_.now() || state_.job_state(slice.job).status != JobStatus::kRunning)
      continue;
    const auto more =
        static_cast<TimeUs>(kStretch * static_cast<double>(slice.end_us - slice.begin_us));
    state_.revise_run(id, slice.begin_us, state_.now() + std::max<TimeUs>(more, kSecondUs));
  }
}

void Model::carry_out(Decision& decision) {
  filter(decision);
  for (const JobIndex job : decision.stops) {
    const SliceId slice = state_.job_state(job).slice;
    const TimeUs end = state_.stop(job);
    round_.stops.push_back(job);
    round_.orders.push_back(
        {Order::Kind::kStop, fleet_->gpu_of(slice), state_.slice(slice).slot, job, end});
  }
  for (const Repartition& change : decision.repartitions) {
    round_.targets.push_back({change.gpu, state_.gpu(change.gpu).target, change.target});
    state_.set_target(change.gpu, change.target);
    touch(change.gpu);
  }
  if (!decision.repartitions.empty()) settle();
  for (const Start& start : decision.starts) {
    if (!within_power(start)) {
      ++round_.withheld_power;
      release(start);
      continue;
    }
    round_.starts.push_back({start.job, fleet_->gpu_of(start.slice), start.slot});
    order_start(start, state_.start(start));
  }
}

// Takes out what limits, operators and other people's slices do not allow, and what hung on it.
void Model::filter(Decision& decision) {
  using Verdict = GpuNotes::Verdict;
  judged_.clear();
  std::erase_if(decision.repartitions, [&](const Repartition& change) {
    const bool allowed = state_.gpu(change.gpu).up && may_change(change);
    gpus_[change.gpu].verdict = allowed ? Verdict::kMayChange : Verdict::kWithheld;
    gpus_[change.gpu].asked = change.target;
    judged_.push_back(change.gpu);
    if (!allowed) policy_.partitioner->reconsider(change.gpu);
    return !allowed;
  });
  // Over the cap nothing could be started in the place of what is stopped.
  const double cap = setup_.limits.power_cap_w;
  if (cap > 0 && power_w_ > cap) decision.stops.clear();
  std::erase_if(decision.stops, [&](JobIndex job) {
    const JobState& state = state_.job_state(job);
    if (state.status != JobStatus::kRunning || numbers_[job] == 0) return true;
    const GpuIndex gpu = fleet_->gpu_of(state.slice);
    return !state_.gpu(gpu).up || gpus_[gpu].verdict == Verdict::kWithheld;
  });
  std::erase_if(decision.starts, [&](const Start& start) {
    const GpuIndex gpu = fleet_->gpu_of(start.slice);
    const GpuNotes& notes = gpus_[gpu];
    const SliceState& slice = state_.slice(start.slice);
    const bool there = slice.phase == SlicePhase::kReady && slice.slot == start.slot;
    const SlotSet target =
        notes.verdict == Verdict::kMayChange ? notes.asked : state_.gpu(gpu).target;
    bool allowed = state_.gpu(gpu).up && (target >> start.slot & 1);
    if (notes.verdict == Verdict::kWithheld) allowed = allowed && there && slice.job == kNone;
    if (allowed && there && notes.change_open && (notes.fresh >> start.slot & 1)) {
      allowed = false;
      start_was_early_ = true;
    }
    if (!allowed) release(start);
    return !allowed;
  });
  for (const GpuIndex gpu : judged_) gpus_[gpu].verdict = Verdict::kNotAsked;
}

bool Model::may_change(const Repartition& change) {
  GpuNotes& notes = gpus_[change.gpu];
  if (notes.held || (notes.foreign & ~change.target) != 0) return false;
  // While no job waits or runs, nobody gains by it.
  if (state_.jobs_in_system() == foreign_jobs_) {
    ++round_.withheld_no_gain;
    return false;
  }
  const TimeUs window = window_us(setup_.limits);
  std::erase_if(notes.changes_us, [&](TimeUs at_us) { return at_us <= state_.now() - window; });
  if (notes.changes_us.size() >= most_changes(setup_.limits)) {
    ++round_.withheld_budget;
    if (!notes.changes_us.empty() && window < kLongestWaitUs)
      budget_due_us_ = std::min(budget_due_us_, notes.changes_us.front() + window);
    return false;
  }
  notes.changes_us.push_back(state_.now());
  return true;
}

std::size_t Model::most_changes(const Limits& limits) {
  if (limits.changes_per_gpu_hour <= 0) return 0;
  return static_cast<std::size_t>(std::clamp(limits.changes_per_gpu_hour, 1.0, 1e9));
}

TimeUs Model::window_us(const Limits& limits) {
  const double hours = 1 / std::min(1.0, limits.changes_per_gpu_hour);  // Of none: for ever.
  return hours * kHourUs < kLongestWaitUs ? static_cast<TimeUs>(hours * kHourUs) : kLongestWaitUs;
}

// A placer marks the slices it gives away; one that is not given after all is free again.
void Model::release(const Start& start) {
  const SliceState& slice = state_.slice(start.slice);
  if (slice.phase != SlicePhase::kReady || slice.slot != start.slot || slice.job != kNone ||
      slice.doomed)
    return;
  if (!state_.free().is_free(start.slice, slice.kind))
    state_.free().give_back(start.slice, slice.kind);
}

bool Model::within_power(const Start& start) {
  const double cap = setup_.limits.power_cap_w;
  if (cap <= 0) return true;
  const GpuIndex gpu = fleet_->gpu_of(start.slice);
  const double now_w = state_.power().watts_when_started(gpu, state_.now());
  const double then_w =
      state_.power().watts_with(gpu, fleet_->kind_of_slot(gpu, start.slot), state_.job(start.job));
  const double more = std::max(0.0, then_w - now_w);
  if (power_w_ + more > cap) return false;
  power_w_ += more;
  return true;
}

// Orders the next step of the GPUs that changed, and the jobs that waited for what is there now.
void Model::settle() {
  for (std::size_t i = 0; i < dirty_.size(); ++i) {
    const GpuIndex gpu = dirty_[i];
    GpuNotes& notes = gpus_[gpu];
    const SlotSet before = state_.gpu(gpu).present;
    const bool was_operating = state_.gpu(gpu).operation_end_us != kNever;
    const bool may_go_on = !frozen_ || notes.change_open || notes.ordered;
    const TimeUs end =
        was_operating || !may_go_on ? kNever : state_.advance(gpu, notes.change_open);
    if (end != kNever) {
      const std::uint8_t slot = state_.gpu(gpu).operation_slot;
      const bool create = !(before >> slot & 1);
      if (!notes.change_open) {
        notes.change_open = true;
        notes.base = before;
        notes.fresh = 0;
      }
      if (create) notes.fresh |= SlotSet{1} << slot;
      round_.orders.push_back(
          {create ? Order::Kind::kCreate : Order::Kind::kDestroy, gpu, slot, kNone, end});
    }
    if (state_.gpu(gpu).operation_end_us != kNever) continue;  // The rest comes after it.
    if (notes.change_open) {
      notes.change_open = false;
      round_.closed.push_back({gpu, state_.gpu(gpu).present == state_.gpu(gpu).target});
    }
    if (state_.gpu(gpu).present == state_.gpu(gpu).target) notes.ordered = false;
    while (const auto start = state_.next_awaiting(gpu)) start_awaiting(*start);
  }
  dirty_.clear();
}

// A job that waited for its slice. What was decided before a freeze, or before the cap was lowered,
// counts no more: the job is ready again.
void Model::start_awaiting(const Start& start) {
  if (frozen_) return release(start);
  if (!within_power(start)) {
    ++round_.withheld_power;
    return release(start);
  }
  order_start(start, state_.start(start));
}

void Model::order_start(const Start& start, TimeUs end_us) {
  if (end_us == kNever) return;  // It waits for its slice.
  round_.orders.push_back(
      {Order::Kind::kStart, fleet_->gpu_of(start.slice), start.slot, start.job, end_us});
}

}  // namespace smartmig
