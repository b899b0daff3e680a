// Moves of a live fleet, where hardware and operators do what no schedule foresaw.
#include <bit>

#include "fleet/state.h"

namespace smartmig {

void State::extend(std::span<const Job> jobs) {
  SM_CHECK(jobs.size() >= job_states_.size() && estimate_sigma_ == 0);
  const std::size_t before = job_states_.size();
  jobs_ = jobs;
  job_states_.resize(jobs.size());
  for (std::size_t j = before; j < jobs.size(); ++j) {
    job_states_[j].deadline_us = jobs[j].deadline_us;
    job_states_[j].estimate = belief(jobs[j]);
  }
  if (correction_) corrected_by_.resize(jobs.size(), 1);
  if (aggregates_) aggregates_->extend(jobs.size());
}

void State::close(GpuIndex index) {
  GpuState& gpu = gpus_[index];
  SM_CHECK(!everything_ready());
  if (!gpu.up) return;
  drop_awaiting(index, 0);
  gpu.up = false;
  --gpus_up_;
  ++health_changes_;
  if (aggregates_) aggregates_->set_layout(index, gpu.target, false);
  update_doom(index);
}

void State::open(GpuIndex index) {
  GpuState& gpu = gpus_[index];
  if (gpu.up) return;
  gpu.up = true;
  ++gpus_up_;
  ++health_changes_;
  if (aggregates_) aggregates_->set_layout(index, gpu.target, true);
  update_doom(index);
}

void State::appear(GpuIndex gpu, int slot) {
  SM_CHECK(can_add(fleet_->board(gpu), gpus_[gpu].present, slot));
  make_slice(gpu, slot);
}

void State::vanish(GpuIndex index, int slot) {
  GpuState& gpu = gpus_[index];
  SM_CHECK(gpu.present >> slot & 1);
  const SliceId id = slice_of_slot(index, slot);
  SliceState& slice = slices_[id];
  if (slice.phase == SlicePhase::kReady) {
    if (slice.job != kNone) abort(id);
    if (!slice.doomed) free_.remove(id, slice.kind);
  } else {
    gpu.operation_end_us = kNever;  // It was this slice's.
  }
  remove_slice(index, slot);
  update_doom(index);
}

void State::abort(SliceId id) {
  const JobIndex job = slices_[id].job;
  SM_CHECK(job != kNone);
  vacate(id, true);
  make_ready_again(job);
}

void State::withdraw(JobIndex job) {
  JobState& state = job_states_[job];
  SM_CHECK(state.status != JobStatus::kFuture && state.status != JobStatus::kDone);
  if (state.status == JobStatus::kRunning || state.status == JobStatus::kSaving) abort(state.slice);
  if (state.status == JobStatus::kPending) {
    for (const Awaiting& wait : awaiting_) {
      if (wait.job != job) continue;
      drop_awaiting(wait.gpu, gpus_[wait.gpu].awaited & ~(SlotSet{1} << wait.slot));
      break;
    }
  }
  dequeue(job);
  state.status = JobStatus::kDone;
  --ready_count_;
  --in_system_;
}

void State::finish(SliceId id) {
  job_states_[slices_[id].job].status = JobStatus::kRunning;  // It may have been saving.
  slices_[id].end_us = now_;
  complete(id);
}

void State::finish_save(SliceId id, double left) {
  JobState& state = job_states_[slices_[id].job];
  state.saved_left = state.saved_believed_left = left;  // As the job itself says.
  state.saved_overdue = false;
  end_save(id);
}

void State::revise_run(SliceId id, TimeUs begin_us, TimeUs end_us) {
  SM_CHECK(slices_[id].job != kNone && begin_us < end_us);
  slices_[id].begin_us = begin_us;
  slices_[id].end_us = end_us;
}

void State::set_left(JobIndex job, double left) {
  JobState& state = job_states_[job];
  const bool queued = state.status == JobStatus::kReady;
  SM_CHECK(queued || (state.status == JobStatus::kPending && !everything_ready()));
  if (queued) dequeue(job);
  state.left = state.believed_left = left;
  state.overdue = false;
  if (queued) enqueue(job);
}

void State::finish_operation(GpuIndex gpu) {
  SM_CHECK(gpus_[gpu].operation_end_us != kNever);
  gpus_[gpu].operation_end_us = now_;
  end_operation(gpu);
}

void State::resume_operation(GpuIndex index, int slot, bool create, TimeUs end_us) {
  SM_CHECK(gpus_[index].operation_end_us == kNever && end_us != kNever);
  SliceState& slice = slices_[slice_of_slot(index, slot)];
  if (create) {
    SM_CHECK(can_add(fleet_->board(index), gpus_[index].present, slot));
  } else {
    SM_CHECK(slice.phase == SlicePhase::kReady && slice.slot == slot && slice.job == kNone);
    // It goes, even where it is wanted again by now.
    if (!slice.doomed) free_.remove(slice_of_slot(index, slot), slice.kind);
    slice.doomed = true;
  }
  operate(index, slot, create, end_us);
  update_doom(index);
}

void State::cancel_operation(GpuIndex index) {
  GpuState& gpu = gpus_[index];
  SM_CHECK(gpu.operation_end_us != kNever);
  gpu.operation_end_us = kNever;
  const int slot = gpu.operation_slot;
  SliceState& slice = slices_[slice_of_slot(index, slot)];
  if (slice.phase == SlicePhase::kCreating) {
    remove_slice(index, slot);
  } else {
    slice.phase = SlicePhase::kReady;
    update_doom(index);
  }
}

}  // namespace smartmig
