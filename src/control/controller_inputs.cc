// What comes in: how driver's calls went, what the fleet says, and what an operator cancels.
#include <algorithm>
#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "control/controller_impl.h"

namespace smartmig {
namespace {

using Kind = StepOutcome::Kind;

std::string said(const DriverError& error) {
  return fmt::format("{} ({})", error.message.empty() ? "no reason given" : error.message,
                     to_string(error.code));
}

// Faults of which a look at the GPU tells more.
bool is_about_the_slice(DriverCode code) { return code == DriverCode::kNotFound; }

}  // namespace

JobBook* Controller::Impl::book_of(const std::string& run) {
  const auto parts = split(run, '.');
  if (parts.size() != 2) return nullptr;
  const auto number = parse_integer(parts[0]);
  const auto attempt = parse_integer(parts[1]);
  if (!number || !attempt) return nullptr;
  const auto found = jobs.find(*number);
  if (found == jobs.end() || found->second.row.attempt != *attempt) return nullptr;
  return &found->second;
}

void Controller::Impl::on(const CallDone& done) {
  {
    const std::lock_guard lock(seen_mutex);
    ++counted.calls;
    counted.call_errors += done.outcome.kind == Kind::kFailed;
  }
  GpuBook& gpu = gpus[done.gpu];
  if (gpu.hung) {
    gpu.hung = false;  // It has come back after all.
    gpu.row.retry_us = clock_us();
  }
  switch (done.kind) {
    case CallDone::Kind::kStep:
      return on_step(done);
    case CallDone::Kind::kUndo:
      return on_undo(done);
    case CallDone::Kind::kStart:
      return on_start(done);
    case CallDone::Kind::kStop:
      if (done.outcome.kind == Kind::kFailed)
        fence(done.gpu,
              fmt::format("job {} cannot be stopped: {}", done.job, said(done.outcome.error)));
      return;
    case CallDone::Kind::kRead:
      gpu.read_ordered = false;
      if (done.outcome.kind == Kind::kFailed) {
        gpu.lost = done.outcome.error.code == DriverCode::kGpuLost;
        return fence(done.gpu, "it cannot be read: " + said(done.outcome.error));
      }
      gpu.lost = false;
      if (gpu.adopts) adopt_idle(done.gpu, *done.outcome.reading);
      reconcile(done.gpu, *done.outcome.reading, clock_us());
      if (!gpu.row.fence.empty() && gpu.row.retry_us >= 0 && clock_us() >= gpu.row.retry_us)
        lift_fence(done.gpu);
      return;
  }
}

void Controller::Impl::on_step(const CallDone& done) {
  GpuBook& gpu = gpus[done.gpu];
  Event event;
  event.gpu = done.gpu;
  event.at_us = clock_us();
  const std::string what =
      fmt::format("{} {}", done.create ? "making" : "destroying", slice_name(done.gpu, done.slot));
  if (done.outcome.kind == Kind::kDone) {
    // The fleet's clock when it was done, as near as is known: the order's time and how long it
    // takes.
    event.at_us = std::min(event.at_us, model->state().gpu(done.gpu).operation_end_us);
    if (done.create) {
      gpu.slices[done.slot] = done.outcome.uuid;
      gpu.ours.insert(done.outcome.uuid);
      rows.emplace_back(SliceRow{done.outcome.uuid, gpu.row.uuid, done.slot, event.at_us});
    } else if (const auto there = gpu.slices.find(done.slot); there != gpu.slices.end()) {
      forgotten_slices.push_back(there->second);
      gpu.ours.erase(there->second);
      gpu.slices.erase(there);
    }
    gpu.row.failures = 0;
    event.kind = Event::Kind::kStepDone;
    record(event);
    return changed(done.gpu);
  }
  event.kind = Event::Kind::kStepFailed;
  record(event);
  if (done.outcome.kind == Kind::kChanged) {
    close_intent(done.gpu, "dropped: somebody else changed the GPU");
    return reconcile(done.gpu, *done.outcome.reading, clock_us());
  }
  // Nothing is placed there while it goes back.
  event.kind = Event::Kind::kClose;
  record(event);
  gpu.undo_reason = fmt::format("{} failed: {}", what, said(done.outcome.error));
  SlotSet base = 0;
  for (const auto& [slot, uuid] : gpu.slices) base |= SlotSet{1} << slot;
  SlotSet keep = 0;
  for (const auto& [slot, uuid] : gpu.slices) {
    if (!gpu.ours.contains(uuid)) keep |= SlotSet{1} << slot;
  }
  if (gpu.intent) {
    base = gpu.intent->base;
    gpu.intent->step = "undo";
    rows.emplace_back(*gpu.intent);
  }
  const Board* board = &model->fleet().board(done.gpu);
  calls.emplace_back(done.gpu,
                     [driver = driver, index = done.gpu, board, base, keep, at = event.at_us] {
                       CallDone result;
                       result.kind = CallDone::Kind::kUndo;
                       result.gpu = index;
                       result.outcome = undo_change(*driver, index, *board, base, keep, at);
                       return result;
                     });
}

void Controller::Impl::on_undo(const CallDone& done) {
  GpuBook& gpu = gpus[done.gpu];
  std::string why = gpu.undo_reason;
  gpu.undo_reason.clear();
  const SlotSet base = gpu.intent ? gpu.intent->base : 0;
  if (done.outcome.reading) {
    // What stands in the old layout's places was made again by us.
    for (const SliceReading& slice : done.outcome.reading->slices) {
      const auto known = gpu.slices.find(slice.slot);
      const bool same = known != gpu.slices.end() && known->second == slice.uuid;
      if (same || !(base >> slice.slot & 1)) continue;
      gpu.ours.insert(slice.uuid);
      rows.emplace_back(SliceRow{slice.uuid, gpu.row.uuid, slice.slot, clock_us()});
    }
    reconcile(done.gpu, *done.outcome.reading, clock_us());
  }
  {
    const std::lock_guard lock(seen_mutex);
    ++counted.rollbacks;
  }
  if (done.outcome.kind == Kind::kDone) {
    why += fmt::format("; it is back at {}", layout_name(model->fleet().board(done.gpu),
                                                         slots_of(*done.outcome.reading)));
    close_intent(done.gpu, "rolled back: " + why);
  } else {
    why += "; the way back failed too: " + said(done.outcome.error);
    close_intent(done.gpu, "fenced: " + why);
  }
  fence(done.gpu, why);
}

void Controller::Impl::on_start(const CallDone& done) {
  const auto found = jobs.find(done.job);
  if (found == jobs.end() || found->second.row.attempt != done.attempt)
    return;  // It is over already.
  JobBook& book = found->second;
  if (book.row.phase != JobPhase::kStarting) return;
  if (done.outcome.kind == Kind::kDone) {
    book.row.phase = JobPhase::kRunning;
    rows.emplace_back(book.row);
    return changed(book);
  }
  const std::string why = said(done.outcome.error);
  Event event;
  event.kind = Event::Kind::kLost;
  event.at_us = clock_us();
  event.job = done.job;
  record(event);
  requeue(book, book.row.left, 0, "a start failed: " + why);
  if (done.outcome.reading) reconcile(done.gpu, *done.outcome.reading, clock_us());
  if (is_about_the_slice(done.outcome.error.code)) return order_read(done.gpu);
  fence(done.gpu, fmt::format("job {} could not be started: {}", done.job, why));
}

// --- what the fleet says

void Controller::Impl::on(const FleetEvent& event) {
  if (event.kind == FleetEvent::Kind::kChanged) {
    if (event.gpu < gpus.size()) order_read(event.gpu);
    return;
  }
  JobBook* book = book_of(event.run);
  if (book != nullptr && book->row.phase != JobPhase::kQueued) on_run_over(*book, event);
}

void Controller::Impl::on_run_over(JobBook& book, const FleetEvent& event) {
  Event input;
  input.at_us = event.at_us;
  input.job = book.row.number;
  const TimeUs ran_us =
      book.run_begin_us >= 0 ? std::max<TimeUs>(0, event.at_us - book.run_begin_us) : 0;
  switch (event.kind) {
    case FleetEvent::Kind::kEnded:
      input.kind = Event::Kind::kEnded;
      record(input);
      return finish(book, JobPhase::kDone, event.at_us, "");
    case FleetEvent::Kind::kFailed:
      input.kind = Event::Kind::kGone;
      record(input);
      return finish(book, JobPhase::kFailed, event.at_us, "it failed: " + event.message);
    case FleetEvent::Kind::kSaved:
      if (book.cancelled) break;
      input.kind = Event::Kind::kSaved;
      input.left = event.left;
      record(input);
      return requeue(book, event.left, 0, "");
    case FleetEvent::Kind::kKilled:
      if (book.cancelled || book.overran) break;
      input.kind = Event::Kind::kLost;
      record(input);
      return requeue(book, book.row.left, ran_us, "its run was killed");
    case FleetEvent::Kind::kChanged:
      return;
  }
  input.kind = Event::Kind::kGone;
  record(input);
  if (book.overran)
    return finish(book, JobPhase::kFailed, event.at_us, "it ran past its max_runtime_s");
  finish(book, JobPhase::kCancelled, event.at_us, book.row.note);
}

void Controller::Impl::finish(JobBook& book, JobPhase phase, TimeUs at_us,
                              const std::string& note) {
  book.row.phase = phase;
  book.row.end_us = at_us;
  book.row.note = note;
  if (phase == JobPhase::kDone) book.row.left = 0;
  rows.emplace_back(book.row);
  {
    const std::lock_guard lock(seen_mutex);
    counted.done += phase == JobPhase::kDone;
    counted.failed += phase == JobPhase::kFailed;
    counted.cancelled += phase == JobPhase::kCancelled;
    if (phase == JobPhase::kDone) {
      counted.late += at_us > book.row.deadline_us;
      counted.tardiness_s += to_s(std::max<TimeUs>(0, at_us - book.row.deadline_us));
    }
  }
  changed(book);
  if (!book.row.key.empty()) keys.erase(book.row.owner + '\0' + book.row.key);
  start_reasons.erase(book.row.number);
  jobs.erase(book.row.number);  // The book is gone.
}

void Controller::Impl::requeue(JobBook& book, double left, TimeUs lost_us,
                               const std::string& note) {
  book.row.phase = JobPhase::kQueued;
  book.row.left = left;
  book.row.lost_us += lost_us;
  book.row.note = note;
  book.run_begin_us = book.save_due_us = -1;
  book.will_not_stop = false;
  rows.emplace_back(book.row);
  if (lost_us > 0) {
    const std::lock_guard lock(seen_mutex);
    ++counted.lost_runs;
    counted.lost_s += to_s(lost_us);
  }
  changed(book);
}

// --- hardware decides what exists

void Controller::Impl::reconcile(GpuIndex index, const GpuReading& reading, TimeUs at_us) {
  GpuBook& gpu = gpus[index];
  if (model->state().gpu(index).operation_end_us != kNever) return;  // Its end will be looked at.
  Event event;
  event.kind = Event::Kind::kRead;
  event.at_us = at_us;
  event.gpu = index;
  KnownSlices there;
  for (const SliceReading& slice : reading.slices) {
    there[slice.slot] = slice.uuid;
    const auto known = gpu.slices.find(slice.slot);
    if (known == gpu.slices.end() || known->second != slice.uuid)
      event.slots |= SlotSet{1} << slice.slot;
    if (!gpu.ours.contains(slice.uuid)) event.foreign |= SlotSet{1} << slice.slot;
  }
  for (const auto& [slot, uuid] : gpu.slices) {
    const auto still = there.find(slot);
    if (still != there.end() && still->second == uuid) continue;
    event.gone |= SlotSet{1} << slot;
    if (gpu.ours.erase(uuid)) forgotten_slices.push_back(uuid);
  }
  if (event.slots == 0 && event.gone == 0 && event.foreign == model->foreign(index)) return;
  // Jobs on slices that are gone: the model takes them off by itself.
  for (SlotSet rest = event.gone; rest; rest &= rest - 1) {
    const std::uint8_t start = boards->board(index).slots[std::countr_zero(rest)].start;
    const JobIndex job = model->state().slice(boards->slice_at(index, start)).job;
    if (job == kNone || model->number_of(job) == 0) continue;
    JobBook& book = jobs.at(model->number_of(job));
    const TimeUs ran_us =
        book.run_begin_us >= 0 ? std::max<TimeUs>(0, at_us - book.run_begin_us) : 0;
    if (book.cancelled) {
      Event gone;
      gone.kind = Event::Kind::kGone;
      gone.at_us = at_us;
      gone.job = book.row.number;
      record(gone);
      finish(book, JobPhase::kCancelled, at_us, "its slice vanished");
    } else {
      requeue(book, book.row.left, ran_us,
              "its slice vanished: it goes on from its last checkpoint");
    }
  }
  gpu.slices = std::move(there);
  event.at_us = std::max(event.at_us, model->now());
  if (!model->apply(event))
    return fence(index, "it has slices that its board's table does not allow");
  EventRow row = to_row(event);
  row.number = next_event++;
  rows.emplace_back(std::move(row));
  latest_us = std::max(latest_us, at_us);
  round_due = true;
  changed(index);
}

void Controller::Impl::adopt_idle(GpuIndex index, const GpuReading& reading) {
  GpuBook& gpu = gpus[index];
  gpu.adopts = false;
  for (const SliceReading& slice : reading.slices) {
    if (slice.phase != RunPhase::kIdle || gpu.ours.contains(slice.uuid)) continue;
    gpu.ours.insert(slice.uuid);
    rows.emplace_back(SliceRow{slice.uuid, gpu.row.uuid, slice.slot, clock_us()});
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
  rows.emplace_back(gpu.row);
  {
    const std::lock_guard lock(seen_mutex);
    ++counted.fences;
  }
  apply_openness(index);
}

void Controller::Impl::lift_fence(GpuIndex index) {
  gpus[index].row.fence.clear();
  gpus[index].row.retry_us = -1;
  rows.emplace_back(gpus[index].row);
  apply_openness(index);
}

// The model's picture of whether anything may be placed or cut there.
void Controller::Impl::apply_openness(GpuIndex index) {
  const GpuRow& row = gpus[index].row;
  const bool open = row.fence.empty() && !row.cordoned && !row.draining;
  if (open != model->state().gpu(index).up) {
    Event event;
    event.kind = open ? Event::Kind::kOpen : Event::Kind::kClose;
    event.at_us = clock_us();
    event.gpu = index;
    record(event);
  }
  changed(index);
}

void Controller::Impl::order_read(GpuIndex index) {
  if (gpus[index].read_ordered) return;
  gpus[index].read_ordered = true;
  calls.emplace_back(index, [driver = driver, index] {
    CallDone done;
    done.kind = CallDone::Kind::kRead;
    done.gpu = index;
    auto reading = driver->read(index);
    if (reading && !reading->lost) {
      done.outcome.reading = std::move(*reading);
    } else {
      done.outcome.kind = Kind::kFailed;
      done.outcome.error =
          reading ? DriverError{DriverCode::kGpuLost, "the GPU is lost"} : reading.error();
    }
    return done;
  });
}

void Controller::Impl::close_intent(GpuIndex index, const std::string& outcome) {
  GpuBook& gpu = gpus[index];
  if (!gpu.intent) return;
  gpu.intent->step.clear();
  gpu.intent->closed_us = clock_us();
  gpu.intent->outcome = outcome;
  rows.emplace_back(*gpu.intent);
  gpu.intent.reset();
}

// --- cancelling

void Controller::Impl::order_kill(JobBook& book) {
  const GpuIndex gpu = gpu_by_uuid.at(book.row.gpu);
  calls.emplace_back(gpu, [driver = driver, gpu, run = run_name(book.row.number, book.row.attempt),
                           job = book.row.number, at = clock_us()] {
    CallDone done;
    done.kind = CallDone::Kind::kStop;
    done.gpu = gpu;
    done.job = job;
    done.outcome = stop_run(*driver, gpu, run, false, at);
    return done;
  });
}

Answer<void> Controller::Impl::cancel(JobNumber job, const std::string& who,
                                      const std::string& owner) {
  const auto found = jobs.find(job);
  if (found == jobs.end()) {
    if (job > 0 && job < next_job)
      return tl::unexpected(Refusal{409, fmt::format("job {} is over", job), ""});
    return tl::unexpected(Refusal{404, fmt::format("there is no job {}", job), ""});
  }
  JobBook& book = found->second;
  if (!owner.empty() && book.row.owner != owner)
    return tl::unexpected(Refusal{403, fmt::format("job {} is not yours", job), ""});
  rows.emplace_back(AuditRow{next_event++, clock_us(), std::time(nullptr), who,
                             fmt::format("cancels job {}", job)});
  book.row.note = "cancelled by " + (who.empty() ? std::string("a client") : who);
  if (book.row.phase == JobPhase::kQueued) {
    Event event;
    event.kind = Event::Kind::kGone;
    event.at_us = clock_us();
    event.job = job;
    record(event);
    finish(book, JobPhase::kCancelled, event.at_us, book.row.note);
  } else if (!book.cancelled) {
    book.cancelled = book.row.cancelled = true;
    rows.emplace_back(book.row);
    order_kill(book);
  }
  if (auto written = flush({}); !written)
    return tl::unexpected(Refusal{503, written.error().message, ""});
  return {};
}

// --- telling those who listen

void Controller::Impl::changed(const JobBook& book) {
  const JobRow& row = book.row;
  notice("job", nlohmann::json{{"id", std::to_string(row.number)},
                               {"state", to_string(row.phase)},
                               {"gpu", row.gpu},
                               {"at_s", to_s(clock_us())}}
                    .dump());
}

void Controller::Impl::changed(GpuIndex index) {
  const GpuState& gpu = model->state().gpu(index);
  const Board& board = model->fleet().board(index);
  notice("gpu", nlohmann::json{{"id", gpus[index].row.uuid},
                               {"index", index},
                               {"layout", layout_name(board, gpu.present)},
                               {"target", layout_name(board, gpu.target)},
                               {"state", gpu_state(index)},
                               {"trouble", gpus[index].row.fence},
                               {"at_s", to_s(clock_us())}}
                    .dump());
}

}  // namespace smartmig
