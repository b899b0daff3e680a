// Faults: the way back of a change that failed, fences, and how a fenced GPU comes back into use.
//
// A step that fails is undone. Where the way back fails too its intent stays open and is taken up
// at the next try, so that no layout in between is ever used. Once it is back the GPU is fenced for
// a pause that doubles, after which the change itself is tried again: only that tells whether the
// fault is still there.
#include <algorithm>
#include <bit>
#include <cmath>

#include "control/controller_impl.h"

namespace smartmig {

using StepKind = StepOutcome::Kind;

// --- intents

void Controller::Impl::open_intent(GpuIndex index, SlotSet base, SlotSet target, TimeUs at_us) {
  GpuBook& gpu = gpus[index];
  gpu.intent.emplace();
  gpu.intent->number = next_intent++;
  gpu.intent->gpu = gpu.row.uuid;
  gpu.intent->base = base;
  gpu.intent->target = target;
  gpu.intent->opened_us = at_us;
}

void Controller::Impl::close_intent(GpuIndex index, const std::string& outcome) {
  GpuBook& gpu = gpus[index];
  if (!gpu.intent) return;
  gpu.intent->step.clear();
  gpu.intent->closed_us = clock_us();
  gpu.intent->outcome = outcome;
  rows.emplace_back(*gpu.intent);
  gpu.intent.reset();
  at("intent closed");
}

// --- the way back, and another try

void Controller::Impl::undo(GpuIndex index, const std::string& why) {
  GpuBook& gpu = gpus[index];
  gpu.undo_reason = why;
  apply_openness(index);  // Nothing is placed there while it goes back.
  if (!gpu.intent)
    open_intent(index, model->state().gpu(index).present, model->state().gpu(index).target,
                clock_us());
  if (gpu.intent->target != gpu.intent->base) gpu.wanted = gpu.intent->target;
  order_move(index, CallDone::Kind::kUndo);
}

// Lines up the call that takes the GPU to its intent's base, or for a retry to its target.
void Controller::Impl::order_move(GpuIndex index, CallDone::Kind kind) {
  GpuBook& gpu = gpus[index];
  SM_CHECK(gpu.intent.has_value());
  const bool retry = kind == CallDone::Kind::kRetry;
  gpu.moving = true;
  OurSlices ours{gpu.ours, gpu.intent->base | gpu.intent->target, slots_with_jobs(index)};
  // A slot that another program had filled before is not one that we fill.
  for (const auto& [slot, uuid] : gpu.slices) {
    if (!gpu.ours.contains(uuid)) ours.fills &= ~(SlotSet{1} << slot);
  }
  // With what it may fill: the next start is to know.
  gpu.intent->step = retry ? "retry" : "undo";
  for (SlotSet rest = ours.fills; rest; rest &= rest - 1)
    gpu.intent->step += fmt::format(" {}", std::countr_zero(rest));
  rows.emplace_back(*gpu.intent);
  calls.emplace_back(index, [driver = driver, index, kind, board = &boards->board(index),
                             goal = retry ? gpu.intent->target : gpu.intent->base,
                             ours = std::move(ours), at_us = clock_us()] {
    CallDone done;
    done.kind = kind;
    done.gpu = index;
    done.outcome = move_to(*driver, index, *board, goal, ours, at_us);
    return done;
  });
  at(retry ? "retry ordered" : "undo ordered");
}

// What the call has made is ours, however it ended.
void Controller::Impl::take_made(const CallDone& done) {
  GpuBook& gpu = gpus[done.gpu];
  gpu.moving = false;
  for (const auto& [slot, uuid] : done.outcome.made) {
    if (!gpu.ours.insert(uuid).second) continue;
    rows.emplace_back(SliceRow{uuid, gpu.row.uuid, slot, clock_us()});
  }
  if (done.outcome.reading) reconcile(done);
}

void Controller::Impl::on_undo(const CallDone& done) {
  GpuBook& gpu = gpus[done.gpu];
  take_made(done);
  at("undo done");
  if (done.outcome.kind != StepKind::kDone) {
    // What was made is known where there was a look: slices that come from here on are others'.
    if (done.outcome.reading) {
      gpu.intent->step = "undo";
      rows.emplace_back(*gpu.intent);
    }
    return fence(done.gpu, fmt::format("{}; the way back failed too: {}", gpu.undo_reason,
                                       said(done.outcome.error)));
  }
  {
    const std::lock_guard lock(seen_mutex);
    ++counted.rollbacks;
  }
  const std::string why =
      fmt::format("{}; it is back at {}", gpu.undo_reason,
                  layout_name(boards->board(done.gpu), slots_of(*done.outcome.reading)));
  gpu.undo_reason.clear();
  close_intent(done.gpu, "rolled back: " + why);
  fence(done.gpu, why);
}

void Controller::Impl::on_retry(const CallDone& done) {
  GpuBook& gpu = gpus[done.gpu];
  take_made(done);
  if (done.outcome.kind != StepKind::kDone)
    return undo(done.gpu, "another try failed: " + said(done.outcome.error));
  gpu.wanted.reset();
  gpu.row.failures = 0;
  const SlotSet target = gpu.intent->target;
  const bool whole = slots_of(*done.outcome.reading) == target;
  close_intent(done.gpu, whole ? "done at another try" : "done so far: jobs on it must end first");
  // What an operator wants is finished when they have. A policy decides again.
  const bool by_operator = gpu.last_change.by == LayoutChange::By::kOperator;
  if (!whole && by_operator && (model->foreign(done.gpu) & ~target) == 0) {
    Event event;
    event.kind = Event::Kind::kLayout;
    event.at_us = clock_us();
    event.gpu = done.gpu;
    event.slots = target;
    record(event);
  }
  if (is_clear(done.gpu)) return lift_fence(done.gpu);
  gpu.row.retry_us = clock_us();
  apply_openness(done.gpu);
}

// Whether nothing is owed to a job there: every start is known to have been one, and every run that
// was to be told to stop was told.
bool Controller::Impl::is_clear(GpuIndex index) const {
  if (!gpus[index].strays.empty() || unjudged.contains(index)) return false;
  const auto on_it = jobs_on(index);
  return std::none_of(on_it.begin(), on_it.end(), [this](JobNumber number) {
    const JobBook& book = jobs.at(number);
    return book.unclear || book.stop_failed;
  });
}

// Whether what kept the GPU from use is over.
void Controller::Impl::try_again(GpuIndex index) {
  GpuBook& gpu = gpus[index];
  if (gpu.moving || gpu.read_ordered || gpu.hung) return;
  for (const JobNumber number : jobs_on(index)) {
    JobBook& book = jobs.at(number);
    if (!book.stop_failed) continue;
    order_stop(book, !book.row.cancelled, clock_us());
  }
  order_strays_killed(index);
  order_read(index);
  if (unread.contains(index)) return;  // What others have there is to be known first.
  if (!gpu.undo_reason.empty()) return order_move(index, CallDone::Kind::kUndo);
  const GpuState& state = model->state().gpu(index);
  const bool cutting = state.operation_end_us != kNever;
  // Where an operator has closed it, or stopped decisions, a policy's change is not retried.
  const bool by_operator = gpu.last_change.by == LayoutChange::By::kOperator;
  const bool may_cut = !gpu.row.cordoned && !gpu.row.draining && (by_operator || !model->frozen());
  if (gpu.wanted && may_cut && !gpu.intent && !cutting && *gpu.wanted != state.present) {
    open_intent(index, state.present, *gpu.wanted, clock_us());
    order_move(index, CallDone::Kind::kRetry);
  }
}

// --- fences

void Controller::Impl::fence(GpuIndex index, const std::string& why) {
  GpuBook& gpu = gpus[index];
  ++gpu.row.failures;
  const double pause_s =
      std::min(options.retry_most_s,
               options.retry_first_s * std::pow(2, std::min(gpu.row.failures - 1, 30)));
  gpu.row.fence = why;
  gpu.row.retry_us = clock_us() + to_us(pause_s);
  fenced.insert(index);
  rows.emplace_back(gpu.row);
  {
    const std::lock_guard lock(seen_mutex);
    ++counted.fences;
  }
  apply_openness(index);
}

void Controller::Impl::lift_fence(GpuIndex index) {
  gpus[index].row.fence.clear();
  gpus[index].wanted.reset();
  gpus[index].row.retry_us = -1;
  fenced.erase(index);
  rows.emplace_back(gpus[index].row);
  apply_openness(index);
}

// The model's picture of whether anything may be placed or cut there.
void Controller::Impl::apply_openness(GpuIndex index) {
  const GpuBook& gpu = gpus[index];
  const bool open = gpu.row.fence.empty() && gpu.undo_reason.empty() && !gpu.moving &&
                    !gpu.row.cordoned && !gpu.row.draining;
  if (open != model->state().gpu(index).up) {
    Event event;
    event.kind = open ? Event::Kind::kOpen : Event::Kind::kClose;
    event.at_us = clock_us();
    event.gpu = index;
    record(event);
  }
  changed(index);
}

}  // namespace smartmig
