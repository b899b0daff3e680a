#include "fleet/state.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/random.h"

namespace smartmig {

int job_class(const Fleet& fleet, const Job& job, KindSet kinds) {
  const std::array<double, kSizeCount> times = fleet.best_times(job, kinds);
  const auto speed = [&](int size) { return times[size] > 0 ? 1 / times[size] : 0.0; };
  const double limit = 0.8 * speed(fleet.largest_size());
  if (speed(size_index(4)) < limit) return 1;
  if (speed(size_index(2)) < limit) return 2;
  if (speed(size_index(1)) < limit) return 3;
  return 4;
}

State::State(const Fleet& fleet, std::span<const Job> jobs, const Options& options)
    : fleet_(&fleet),
      jobs_(jobs),
      costs_(options.costs),
      preemption_(options.preemption),
      job_order_(options.job_order),
      estimate_sigma_(options.estimate_sigma),
      attribute_energy_(options.attribute_energy),
      job_states_(jobs.size()),
      slices_(fleet.slice_count()),
      gpus_(fleet.gpu_count()),
      free_(fleet, options.gpu_order),
      power_(fleet, options.costs, options.attribute_energy ? jobs.size() : 0),
      gpus_up_(fleet.gpu_count()) {
  running_.reserve(fleet.slice_count());
  if (options.aggregates) aggregates_.emplace(fleet, jobs.size());
  if (options.tardiness) tardiness_.emplace();
  if (options.correct_beliefs) correction_.emplace();
  prepare_jobs(options.seed);
}

void State::prepare_jobs(std::uint64_t seed) {
  Random random(seed, "estimate error");
  for (JobIndex j = 0; j < jobs_.size(); ++j) {
    job_states_[j].deadline_us = jobs_[j].deadline_us;
    job_states_[j].estimate = belief(jobs_[j]);
    if (estimate_sigma_ > 0) job_states_[j].estimate *= random.lognormal(0, estimate_sigma_);
  }
  if (correction_) corrected_by_.assign(jobs_.size(), 1);
}

void State::restart(std::span<const Job> jobs, std::uint64_t seed) {
  jobs_ = jobs;
  now_ = 0;
  job_states_.assign(jobs.size(), {});
  slices_.assign(slices_.size(), {});
  gpus_.assign(gpus_.size(), {});
  for (Group& group : groups_) group.queue.clear();
  free_.clear();
  running_.clear();
  awaiting_.clear();
  power_.restart(attribute_energy_ ? jobs.size() : 0);
  belief_errors_.clear();
  if (correction_) correction_->clear();
  if (aggregates_) aggregates_->restart(jobs.size());
  if (tardiness_) tardiness_->restart();
  in_system_ = ready_count_ = 0;
  gpus_up_ = fleet_->gpu_count();
  events_ = preemptions_ = 0;
  arrived_ = 0;
  health_changes_ = 0;
  prepare_jobs(seed);
}

SlotSet State::slots_in_use(GpuIndex gpu) const {
  SlotSet used = 0;
  for (SlotSet rest = gpus_[gpu].present; rest; rest &= rest - 1) {
    const int slot = std::countr_zero(rest);
    if (slices_[slice_of_slot(gpu, slot)].job != kNone) used |= SlotSet{1} << slot;
  }
  return used | gpus_[gpu].awaited;
}

std::int64_t State::key_of(JobIndex job) const {
  const JobState& state = job_states_[job];
  switch (job_order_) {
    case JobOrder::kDeadline:
      return state.deadline_us;
    case JobOrder::kClassDeadline:
      // Times are below 2^54 us (kMaxSeconds), so the class stands above them; a cut deadline may
      // be below 0.
      return (std::int64_t{job_class(*fleet_, jobs_[job], groups_[state.group].kinds)} << 56) +
             state.deadline_us;
    case JobOrder::kRemaining: {
      const std::array<double, kSizeCount> times =
          fleet_->best_times(jobs_[job], groups_[state.group].kinds);
      double time = 0;
      for (const double t : times) time = t > 0 ? t : time;
      return whole_us(state.estimate * believed_left_now(state) * time);
    }
  }
  return 0;
}

void State::insert_by_key(JobIndex job) {
  JobState& state = job_states_[job];
  state.key = key_of(job);
  groups_[state.group].queue.insert({state.key, job});
}

void State::erase_by_key(JobIndex job) {
  const JobState& state = job_states_[job];
  groups_[state.group].queue.erase({state.key, job});
}

void State::enqueue(JobIndex job) {
  insert_by_key(job);
  if (aggregates_) {
    const JobState& state = job_states_[job];
    aggregates_->add(job, state.deadline_us, state.estimate * state.believed_left, now_);
  }
}

void State::dequeue(JobIndex job) {
  erase_by_key(job);
  if (aggregates_) aggregates_->remove(job);
}

void State::arrive(JobIndex job) {
  arrived_ = std::max(arrived_, job + 1);
  const KindSet kinds = fleet_->kinds_for(jobs_[job]);
  JobState& state = job_states_[job];
  std::size_t group = 0;
  while (group < groups_.size() && groups_[group].kinds != kinds) ++group;
  if (group == groups_.size()) groups_.push_back({kinds, {}});
  state.group = static_cast<std::uint16_t>(group);
  if (correction_) correct_belief(job, true);
  state.status = JobStatus::kReady;
  state.faster_by_index = fleet_->faster_by_index(jobs_[job], kinds);
  ++in_system_;
  ++events_;
  ++ready_count_;
  if (aggregates_) aggregates_->learn_times(job, fleet_->best_times(jobs_[job], kinds));
  if (tardiness_) tardiness_->arrive(job, state.deadline_us);
  enqueue(job);
}

void State::make_ready_again(JobIndex job) {
  JobState& state = job_states_[job];
  state.status = JobStatus::kReady;
  state.slice = kNone;
  ++ready_count_;
  // It is still queued where everything is, but by what was left of it then.
  if (everything_ready()) dequeue(job);
  enqueue(job);
}

// The job leaves the slice; `slice_stays` is false where the board is gone and the slice with it.
void State::vacate(SliceId id, bool slice_stays) {
  SliceState& slice = slices_[id];
  slice.job = kNone;
  slices_[running_.back()].running_at = slice.running_at;
  running_[slice.running_at] = running_.back();
  running_.pop_back();
  slice.running_at = kNone;
  power_.job_off(now_, id, slice.kind);
  if (everything_ready()) return;  // There free() takes no notice of jobs.
  if (slice_stays && !slice.doomed) {
    free_.give_back(id, slice.kind);
  } else {
    free_.forget(id, slice.kind);
  }
}

// The job, which was ready, runs on the slice from now on: the part that is the same whether the
// slice was empty or had another job.
inline void State::run(SliceId id, JobIndex index) {
  SliceState& slice = slices_[id];
  JobState& state = job_states_[index];
  const Job& job = jobs_[index];
  const double full = fleet_->full_us(job, slice.kind);
  SM_CHECK(full > 0);
  const bool restores = preemption_ == Preemption::kCheckpoint && state.left < 1;
  slice.begin_us = now_ + costs_.start_us + (restores ? costs_.restore_us(job) : 0);
  slice.end_us = slice.begin_us + whole_us(state.left * full);
  slice.job = index;
  state.status = JobStatus::kRunning;
  state.slice = id;
  --ready_count_;
}

void State::begin(SliceId id, JobIndex index) {
  run(id, index);
  SliceState& slice = slices_[id];
  slice.running_at = static_cast<std::uint32_t>(running_.size());
  running_.push_back(id);
  power_.job_on(now_, id, slice.kind, index, jobs_[index]);
}

// What elapsed time alone tells of a run that makes progress, by an estimate that is not exact.
State::Belief State::belief_in_run(const JobState& state, const SliceState& slice) const {
  const double full = fleet_->full_us(jobs_[slice.job], slice.kind);
  const double left = state.believed_left;
  const TimeUs believed_us = whole_us(state.estimate * left * full);
  const TimeUs ran_us = now_ - slice.begin_us;
  const auto share = [&](TimeUs us) {
    return left * static_cast<double>(us) / static_cast<double>(believed_us);
  };
  if (state.overdue) return {left + kOverdueShare * share(ran_us), true};
  if (ran_us < believed_us) return {share(believed_us - ran_us), false};
  return {kOverdueShare * (1 + share(ran_us - believed_us)), true};
}

// The run of a job has ended: what it did in all, in units of what it was believed to need.
void State::note_belief_error(const JobState& state, const SliceState& slice) {
  const double full = state.estimate * fleet_->full_us(jobs_[slice.job], slice.kind);
  const double before =
      state.overdue ? state.believed_left / kOverdueShare : 1 - state.believed_left;
  const TimeUs ran_us = std::max<TimeUs>(0, now_ - slice.begin_us);
  const double ratio = before + static_cast<double>(ran_us) / full;
  if (!correction_) {
    belief_errors_.add({ratio, {}});
    return;
  }
  const double by = corrected_by_[slice.job];
  const double largest_us = static_cast<double>(time_on_largest(jobs_[slice.job]));
  const auto features =
      BeliefCorrection::features(jobs_[slice.job], largest_us * state.estimate / by);
  belief_errors_.add({ratio * by, features});
  correction_->add(features, ratio * by);
  // Those that came before there was much to learn from.
  const long ends = correction_->ends();
  if (ends <= 512 && (ends & (ends - 1)) == 0) correct_waiting();
}

void State::correct_waiting() {
  to_correct_.clear();
  for (const Group& group : groups_) {
    for (auto at = group.queue.begin(); !group.queue.at_end(at); group.queue.advance(at)) {
      const JobIndex job = group.queue.at(at).job;
      const JobState& state = job_states_[job];
      if (state.status == JobStatus::kReady && state.believed_left == 1) to_correct_.push_back(job);
    }
  }
  for (const JobIndex job : to_correct_) {
    dequeue(job);
    correct_belief(job, false);
    enqueue(job);
  }
}

void State::correct_belief(JobIndex job, bool arrives) {
  JobState& state = job_states_[job];
  const double largest_us = static_cast<double>(time_on_largest(jobs_[job]));
  const double estimate = state.estimate / corrected_by_[job];
  const auto features = BeliefCorrection::features(jobs_[job], largest_us * estimate);
  if (arrives) correction_->arrive(features);
  corrected_by_[job] = correction_->factor(features);
  state.estimate = estimate * corrected_by_[job];
}

// What a stop now leaves of a running job.
inline void State::note_progress(JobState& state) {
  const double left = left_now(state);
  if (state.estimate == 1) {
    state.believed_left = left;
  } else if (progress_began(state)) {
    const Belief belief = belief_in_run(state, slices_[state.slice]);
    state.believed_left = belief.left;
    state.overdue = belief.overdue;
  }
  state.left = left;
}

// The running job is ready again at once, with what is left of it; its slice is the caller's
// business.
inline void State::preempt(JobIndex job) {
  JobState& state = job_states_[job];
  note_progress(state);
  if (aggregates_) aggregates_->set_left(job, state.estimate * state.believed_left);
  state.status = JobStatus::kReady;
  state.slice = kNone;
  ++ready_count_;
  ++preemptions_;
}

void State::wait_for(const Start& start) {
  const GpuIndex gpu = fleet_->gpu_of(start.slice);
  SM_CHECK(!is_awaited(gpu, start.slot));
  if (!everything_ready()) dequeue(start.job);
  job_states_[start.job].status = JobStatus::kPending;
  --ready_count_;
  awaiting_.push_back({gpu, start.slot, start.job});
  gpus_[gpu].awaited |= SlotSet{1} << start.slot;
}

TimeUs State::start(const Start& start) {
  SliceState& slice = slices_[start.slice];
  const GpuState& gpu = gpus_[fleet_->gpu_of(start.slice)];
  SM_CHECK(job_states_[start.job].status == JobStatus::kReady);
  SM_CHECK(gpu.up && gpu.target >> start.slot & 1);
  if (slice.phase != SlicePhase::kReady || slice.slot != start.slot || slice.job != kNone) {
    wait_for(start);
    return kNever;
  }
  if (!everything_ready()) {
    dequeue(start.job);
    SM_CHECK(groups_[job_states_[start.job].group].kinds >> slice.kind & 1);
    // A placer marks what it takes as it goes; what it did not mark is taken here.
    if (free_.is_free(start.slice, slice.kind)) free_.take(start.slice, slice.kind);
  }
  begin(start.slice, start.job);
  return slice.end_us;
}

void State::assign_whole(std::span<const Start> starts, std::vector<JobIndex>& started) {
  SM_CHECK(everything_ready());
  moves_.clear();
  for (const Start& start : starts) {
    SliceState& slice = slices_[start.slice];
    SM_CHECK(slice.fate == SliceFate::kEmpties);
    if (slice.job == start.job && slice.slot == start.slot) {
      slice.fate = SliceFate::kKeepsJob;
      continue;
    }
    JobState& state = job_states_[start.job];
    if (state.status == JobStatus::kRunning) preempt(start.job);
    SM_CHECK(state.status == JobStatus::kReady);
    if (slice.phase == SlicePhase::kReady && slice.slot == start.slot) {
      SM_CHECK(!slice.doomed);
      slice.fate = SliceFate::kChangesJob;
    }
    moves_.push_back(start);
  }
  std::uint32_t busy = 0;
  for (const SliceId id : running_) {
    SliceState& slice = slices_[id];
    // Kept or changed is as good as random, so no branch depends on it.
    const bool keeps = slice.fate == SliceFate::kKeepsJob;
    const bool its_job_stays = job_states_[slice.job].slice == id;
    if (its_job_stays != keeps) preempt(slice.job);  // It has no other slice now.
    if (slice.fate == SliceFate::kEmpties) {
      slice.job = kNone;
      slice.running_at = kNone;
      power_.job_off(now_, id, slice.kind);
      continue;
    }
    slice.fate = keeps ? SliceFate::kEmpties : SliceFate::kChangesJob;
    if (slice.running_at != busy) {
      slice.running_at = busy;
      running_[busy] = id;
    }
    ++busy;
  }
  running_.resize(busy);
  for (const Start& start : moves_) {
    SliceState& slice = slices_[start.slice];
    if (slice.fate != SliceFate::kChangesJob) {
      wait_for(start);
      continue;
    }
    slice.fate = SliceFate::kEmpties;
    if (slice.running_at == kNone) {
      begin(start.slice, start.job);
    } else {
      run(start.slice, start.job);
      if (power_.tells_jobs_apart())
        power_.job_change(now_, start.slice, slice.kind, start.job, jobs_[start.job]);
    }
    started.push_back(start.job);
  }
}

TimeUs State::stop(JobIndex job) {
  JobState& state = job_states_[job];
  SM_CHECK(state.status == JobStatus::kRunning);
  ++preemptions_;
  const SliceId id = state.slice;
  const TimeUs save = preemption_ == Preemption::kCheckpoint ? costs_.checkpoint_us(jobs_[job]) : 0;
  if (save == 0) {
    note_progress(state);
    vacate(id, true);
    make_ready_again(job);
    return kNever;
  }
  // While it saves, progress stands at this moment: end_save() takes it over, a failure does not.
  JobState saved = state;
  note_progress(saved);
  state.saved_left = saved.left;
  state.saved_believed_left = saved.believed_left;
  state.saved_overdue = saved.overdue;
  SliceState& slice = slices_[id];
  state.status = JobStatus::kSaving;
  slice.begin_us = std::max(now_, slice.begin_us);
  slice.end_us = now_ + save;
  return slice.end_us;
}

void State::end_save(SliceId id) {
  const JobIndex job = slices_[id].job;
  SM_CHECK(job != kNone && job_states_[job].status == JobStatus::kSaving);
  JobState& state = job_states_[job];
  state.left = state.saved_left;
  state.believed_left = state.saved_believed_left;
  state.overdue = state.saved_overdue;
  vacate(id, true);
  make_ready_again(job);
}

void State::complete(SliceId id) {
  const JobIndex job = slices_[id].job;
  JobState& state = job_states_[job];
  SM_CHECK(state.status == JobStatus::kRunning && slices_[id].end_us == now_);
  note_belief_error(state, slices_[id]);
  state.status = JobStatus::kDone;
  state.left = 0;
  state.slice = kNone;
  if (everything_ready()) dequeue(job);
  if (tardiness_) tardiness_->complete(job, state.deadline_us, now_);
  vacate(id, true);
  --in_system_;
  ++events_;
}

std::optional<Start> State::next_awaiting(GpuIndex gpu) {
  if (gpus_[gpu].awaited == 0) return std::nullopt;
  for (std::size_t i = 0; i < awaiting_.size(); ++i) {
    const Awaiting wait = awaiting_[i];
    if (wait.gpu != gpu) continue;
    const SliceState& slice = slices_[slice_of_slot(gpu, wait.slot)];
    if (slice.phase != SlicePhase::kReady || slice.slot != wait.slot || slice.job != kNone)
      continue;
    awaiting_.erase(awaiting_.begin() + static_cast<std::ptrdiff_t>(i));
    gpus_[gpu].awaited &= ~(SlotSet{1} << wait.slot);
    make_ready_again(wait.job);
    return Start{wait.job, slice_of_slot(gpu, wait.slot), wait.slot};
  }
  return std::nullopt;
}

void State::drop_awaiting(GpuIndex gpu, SlotSet keep) {
  if ((gpus_[gpu].awaited & ~keep) == 0) return;
  gpus_[gpu].awaited &= keep;
  for (std::size_t i = awaiting_.size(); i-- > 0;) {
    const Awaiting wait = awaiting_[i];
    if (wait.gpu != gpu || keep >> wait.slot & 1) continue;
    awaiting_.erase(awaiting_.begin() + static_cast<std::ptrdiff_t>(i));
    make_ready_again(wait.job);
  }
}

void State::drop_all_awaiting() {
  while (!awaiting_.empty()) drop_awaiting(awaiting_.back().gpu, 0);
}

void State::set_target(GpuIndex gpu, SlotSet target) {
  SM_CHECK(is_legal(fleet_->board(gpu), target));
  gpus_[gpu].target = target;
  if (aggregates_) aggregates_->set_layout(gpu, target, gpus_[gpu].up);
  drop_awaiting(gpu, target);
  if (gpus_[gpu].up) update_doom(gpu);
}

// Makes `doomed` and free() agree with the target; on a closed GPU nothing is free.
void State::update_doom(GpuIndex gpu) {
  int sum = 0;
  int count = 0;
  for (SlotSet rest = gpus_[gpu].present; rest; rest &= rest - 1) {
    const int slot = std::countr_zero(rest);
    const SliceId id = slice_of_slot(gpu, slot);
    SliceState& slice = slices_[id];
    if (slice.phase != SlicePhase::kReady) continue;
    const bool doomed = !gpus_[gpu].up || !(gpus_[gpu].target >> slot & 1);
    if (doomed && everything_ready() && slice.job != kNone) stop(slice.job);
    if (doomed != slice.doomed) {
      slice.doomed = doomed;
      if (everything_ready() || slice.job == kNone) {
        doomed ? free_.remove(id, slice.kind) : free_.add(id, slice.kind);
      }
    }
    if (!doomed) sum += fleet_->kinds()[slice.kind].compute, ++count;
  }
  free_.set_mean_size(gpu, sum, count);
}

void State::make_slice(GpuIndex gpu, int slot) {
  const SliceId id = slice_of_slot(gpu, slot);
  SliceState& slice = slices_[id];
  slice.phase = SlicePhase::kReady;
  slice.slot = static_cast<std::uint8_t>(slot);
  slice.kind = fleet_->kind_of_slot(gpu, slot);
  SM_CHECK(slice.kind != kNoKind);
  slice.doomed = true;  // Until update_doom() sees that it is wanted.
  gpus_[gpu].present |= SlotSet{1} << slot;
  update_doom(gpu);
}

void State::remove_slice(GpuIndex gpu, int slot) {
  SliceState& slice = slices_[slice_of_slot(gpu, slot)];
  slice.phase = SlicePhase::kAbsent;
  slice.kind = kNoKind;
  slice.doomed = false;
  gpus_[gpu].present &= ~(SlotSet{1} << slot);
}

TimeUs State::operation_time(GpuIndex gpu, int slot, bool create) const {
  if (costs_.operation_scale == 0) return 0;
  const Board& board = fleet_->board(gpu);
  const int size = size_index(board.profiles[board.slots[slot].profile].compute_slices);
  const TimeUs time = create ? board.times.create_us[size] : board.times.destroy_us[size];
  return std::llround(costs_.operation_scale * static_cast<double>(time));
}

TimeUs State::advance(GpuIndex index, bool even_closed) {
  GpuState& gpu = gpus_[index];
  const Board& board = fleet_->board(index);
  const bool cuts = gpu.up || even_closed;
  while (cuts && gpu.operation_end_us == kNever && gpu.present != gpu.target) {
    int slot = -1;
    bool create = true;
    for (SlotSet rest = gpu.target & ~gpu.present; rest && slot < 0; rest &= rest - 1) {
      const int candidate = std::countr_zero(rest);
      if (can_add(board, gpu.present, candidate)) slot = candidate;
    }
    if (slot < 0) {
      create = false;
      for (SlotSet rest = gpu.present & ~gpu.target; rest && slot < 0; rest &= rest - 1) {
        const int candidate = std::countr_zero(rest);
        if (slices_[slice_of_slot(index, candidate)].job == kNone) slot = candidate;
      }
    }
    if (slot < 0) return kNever;
    const TimeUs time = operation_time(index, slot, create);
    if (time == 0) {
      create ? make_slice(index, slot) : remove_slice(index, slot);
      continue;
    }
    operate(index, slot, create, now_ + time);
    return gpu.operation_end_us;
  }
  return kNever;
}

void State::operate(GpuIndex index, int slot, bool create, TimeUs end_us) {
  GpuState& gpu = gpus_[index];
  slices_[slice_of_slot(index, slot)].phase =
      create ? SlicePhase::kCreating : SlicePhase::kDestroying;
  gpu.present |= SlotSet{1} << slot;
  gpu.operation_slot = static_cast<std::uint8_t>(slot);
  gpu.operation_end_us = end_us;
}

void State::end_operation(GpuIndex index) {
  GpuState& gpu = gpus_[index];
  SM_CHECK(gpu.operation_end_us == now_);
  gpu.operation_end_us = kNever;
  const int slot = gpu.operation_slot;
  if (slices_[slice_of_slot(index, slot)].phase == SlicePhase::kCreating) {
    make_slice(index, slot);
  } else {
    remove_slice(index, slot);
  }
}

void State::fail(GpuIndex index) {
  GpuState& gpu = gpus_[index];
  if (!gpu.up) return;
  drop_awaiting(index, 0);
  for (SlotSet rest = gpu.present; rest; rest &= rest - 1) {
    const int slot = std::countr_zero(rest);
    const SliceId id = slice_of_slot(index, slot);
    SliceState& slice = slices_[id];
    const bool listed = slice.phase == SlicePhase::kReady && !slice.doomed;
    if (slice.job != kNone) {
      const JobIndex job = slice.job;  // Its `left` is still that of its last start.
      vacate(id, false);
      make_ready_again(job);
      if (everything_ready() && listed) free_.remove(id, slice.kind);
    } else if (listed) {
      free_.remove(id, slice.kind);
    }
    remove_slice(index, slot);
  }
  gpu.up = false;
  gpu.operation_end_us = kNever;
  --gpus_up_;
  ++health_changes_;
  if (aggregates_) aggregates_->set_layout(index, gpu.target, false);
  power_.board_down(now_, index);
}

void State::bring_back(GpuIndex index) {
  if (gpus_[index].up) return;
  gpus_[index].up = true;
  ++gpus_up_;
  ++health_changes_;
  if (aggregates_) aggregates_->set_layout(index, gpus_[index].target, true);
  power_.board_up(now_, index);
}

void State::cut_deadline(JobIndex job, TimeUs by_us) {
  const bool queued = everything_ready() || job_states_[job].status == JobStatus::kReady;
  if (queued) dequeue(job);
  TimeUs& deadline_us = job_states_[job].deadline_us;
  if (tardiness_) tardiness_->move_deadline(job, deadline_us, deadline_us - by_us, now_);
  deadline_us -= by_us;
  if (queued) enqueue(job);
}

void State::place_initial(GpuIndex gpu, SlotSet set) {
  SM_CHECK(gpus_[gpu].present == 0 && is_legal(fleet_->board(gpu), set));
  gpus_[gpu].target = set;
  if (aggregates_) aggregates_->set_layout(gpu, set, true);
  for (SlotSet rest = set; rest; rest &= rest - 1) make_slice(gpu, std::countr_zero(rest));
}

void State::set_orders(JobOrder job_order, GpuOrder gpu_order) {
  if (job_order != job_order_) {
    job_order_ = job_order;
    for (Group& group : groups_) {
      reordered_.clear();
      for (auto at = group.queue.begin(); !group.queue.at_end(at); group.queue.advance(at))
        reordered_.push_back(group.queue.at(at).job);
      group.queue.clear();
      for (const JobIndex job : reordered_) insert_by_key(job);
    }
  }
  if (gpu_order == free_.order()) return;
  const auto other = std::ranges::find(other_orders_, gpu_order, &FreeSlices::order);
  if (other == other_orders_.end()) {
    other_orders_.push_back(std::exchange(free_, FreeSlices(*fleet_, gpu_order)));
  } else {
    std::swap(free_, *other);
    free_.clear();
  }
  for (GpuIndex gpu = 0; gpu < gpus_.size(); ++gpu) {
    for (SlotSet rest = gpus_[gpu].present; rest; rest &= rest - 1) {
      const SliceId id = slice_of_slot(gpu, std::countr_zero(rest));
      const SliceState& slice = slices_[id];
      if (slice.phase != SlicePhase::kReady) continue;
      const bool busy = slice.job != kNone && !everything_ready();
      if (!busy && slice.doomed) continue;
      free_.add(id, slice.kind);
      if (busy) free_.take(id, slice.kind);
    }
    update_doom(gpu);  // Tells the mean sizes.
  }
}

void State::refresh_keys() {
  if (job_order_ != JobOrder::kRemaining || !everything_ready()) return;
  for (const SliceId slice : running_) {
    erase_by_key(slices_[slice].job);
    insert_by_key(slices_[slice].job);
  }
}

}  // namespace smartmig
