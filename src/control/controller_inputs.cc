// What comes in: how driver's calls went, what the fleet says, and what an operator cancels.
#include <algorithm>
#include <bit>
#include <ctime>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/text.h"
#include "control/controller_impl.h"

namespace smartmig {
namespace {

using StepKind = StepOutcome::Kind;

constexpr int kNamesUsedAtMost = 3;  // In a row on one GPU.

CallDone failed_read(CallDone done, DriverError error) {
  done.outcome.kind = StepKind::kFailed;
  done.outcome.error = std::move(error);
  return done;
}

}  // namespace

std::string kept_for_later(const std::string& trouble) {
  return trouble + "; it is done as soon as that can be written";
}

std::string said(const DriverError& error) {
  return fmt::format("{} ({})", error.message.empty() ? "no reason given" : error.message,
                     to_string(error.code));
}

JobNumber number_of_run(const std::string& run) {
  const auto parts = split(run, '.');
  return parts.size() == 2 ? parse_integer(parts[0]).value_or(0) : 0;
}

int attempt_of_run(const std::string& run) {
  const auto parts = split(run, '.');
  const auto attempt = parts.size() == 2 ? parse_integer(parts[1]).value_or(0) : 0;
  return attempt > 0 && attempt <= INT32_MAX ? static_cast<int>(attempt) : 0;
}

JobBook* Controller::Impl::book_of(const std::string& run) {
  const auto found = jobs.find(number_of_run(run));
  if (found == jobs.end()) return nullptr;
  JobBook& book = found->second;
  return run == run_name(book.row.number, book.row.attempt) ? &book : nullptr;
}

// The job to which it matters what the event says. That is its last run, or an earlier one: while
// the job waits its later attempts were lost or never began, so that what the earlier one came to
// still counts; and work that is done is done, whatever was started since.
JobBook* Controller::Impl::book_told_of(const FleetEvent& event) {
  if (JobBook* last = book_of(event.run)) return last;
  const auto found = jobs.find(number_of_run(event.run));
  if (found == jobs.end() || attempt_of_run(event.run) > found->second.row.attempt) return nullptr;
  const bool waits = found->second.row.phase == JobPhase::kQueued;
  return waits || event.kind == FleetEvent::Kind::kEnded ? &found->second : nullptr;
}

// Jobs of ours on its slices.
std::vector<JobNumber> Controller::Impl::jobs_on(GpuIndex index) const {
  std::vector<JobNumber> found;
  for (SlotSet rest = model->state().gpu(index).present; rest; rest &= rest - 1) {
    const JobNumber number = job_at(index, std::countr_zero(rest));
    if (number != 0) found.push_back(number);
  }
  return found;
}

SlotSet Controller::Impl::slots_with_jobs(GpuIndex index) const {
  SlotSet slots = 0;
  for (SlotSet rest = model->state().gpu(index).present; rest; rest &= rest - 1) {
    if (job_at(index, std::countr_zero(rest)) != 0) slots |= rest & -rest;
  }
  return slots;
}

// The job of ours on that slice; 0: none.
JobNumber Controller::Impl::job_at(GpuIndex index, int slot) const {
  const std::uint8_t start = boards->board(index).slots[static_cast<std::size_t>(slot)].start;
  const SliceState& slice = model->state().slice(boards->slice_at(index, start));
  return slice.job == kNone || slice.slot != slot ? 0 : model->number_of(slice.job);
}

void Controller::Impl::on(const CallDone& done) {
  {
    const std::lock_guard lock(seen_mutex);
    ++counted.calls;
    counted.call_errors += done.outcome.kind == StepKind::kFailed;
  }
  // Before the look is judged.
  if (done.heard_all()) take(**done.events);
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
    case CallDone::Kind::kRetry:
      return on_retry(done);
    case CallDone::Kind::kStart:
      return on_start(done);
    case CallDone::Kind::kStop:
      return on_stop(done);
    case CallDone::Kind::kRead:
      return on_read(done);
  }
}

void Controller::Impl::on_step(const CallDone& done) {
  GpuBook& gpu = gpus[done.gpu];
  Event event;
  event.gpu = done.gpu;
  event.at_us = clock_us();
  if (done.outcome.kind == StepKind::kDone) {
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
    at("step done");
    if (std::exchange(gpu.look_again, false) && done.outcome.reading) reconcile(done);
    return changed(done.gpu);
  }
  event.kind = Event::Kind::kStepFailed;
  record(event);
  at("step failed");
  if (done.outcome.kind == StepKind::kChanged) {
    close_intent(done.gpu, "dropped: another program changed the GPU");
    reconcile(done);
    return;
  }
  undo(done.gpu, fmt::format("{} {} failed: {}", done.create ? "making" : "destroying",
                             slice_name(done.gpu, done.slot), said(done.outcome.error)));
}

void Controller::Impl::on_start(const CallDone& done) {
  const auto found = jobs.find(done.job);
  if (found == jobs.end() || found->second.row.attempt != done.attempt)
    return;  // It is over already.
  JobBook& book = found->second;
  if (book.row.phase == JobPhase::kQueued) return;
  if (done.outcome.kind == StepKind::kDone) {
    // The order may have waited long for the journal, or for another call.
    book.row.begin_us = std::max(book.row.begin_us, clock_us());
    book.begun = true;
    if (book.row.phase != JobPhase::kStarting) return;  // It was told to stop meanwhile.
    book.row.phase = JobPhase::kRunning;
    rows.emplace_back(book.row);
    gpus[done.gpu].row.failures = 0;
    gpus[done.gpu].names_used = 0;
    at("started");
    changed(book);
    // It was on its way when the operator drained the GPU.
    if (gpus[done.gpu].row.draining) stop_all_on(done.gpu);
    return;
  }
  const std::string why =
      fmt::format("job {} could not be started: {}", done.job, said(done.outcome.error));
  if (done.outcome.kind == StepKind::kUnclear) {
    book.unclear = true;  // It keeps its slice until a look tells.
    return fence(done.gpu, why);
  }
  Event event;
  event.kind = Event::Kind::kLost;
  event.at_us = clock_us();
  // The journal went back after the job was accepted, and has forgotten that run. The job may have
  // done its work: it is not run a second time.
  if (done.outcome.error.code == DriverCode::kAlreadyRan && book.row.number < numbers_from) {
    event.kind = Event::Kind::kGone;
    event.job = done.job;
    record(event);
    return finish(book, JobPhase::kFailed, event.at_us, std::string(kEndNotKnown));
  }
  off_its_slice(book, event, book.row.left, 0, "a start failed: " + said(done.outcome.error));
  if (done.outcome.reading) reconcile(done);
  // A slice that is not there: the look has told, and nothing is wrong with the GPU. Nor is there
  // where the name was used before, by a controller whose journal is lost: the next is another,
  // unless that is said of every name.
  if (done.outcome.error.code == DriverCode::kNotFound && !gpus[done.gpu].ours.contains(done.slice))
    return;
  if (done.outcome.error.code == DriverCode::kAlreadyRan &&
      ++gpus[done.gpu].names_used <= kNamesUsedAtMost)
    return;
  fence(done.gpu, why);
}

void Controller::Impl::on_stop(const CallDone& done) {
  if (done.outcome.kind != StepKind::kFailed) {
    gpus[done.gpu].strays.erase(done.stray);
    return;
  }
  if (!done.stray.empty())
    return fence(done.gpu,
                 fmt::format("run {}, which belongs to no job any more, cannot be stopped: {}",
                             done.stray, said(done.outcome.error)));
  const auto found = jobs.find(done.job);
  if (found == jobs.end() || found->second.row.attempt != done.attempt) return;
  found->second.stop_failed = true;
  fence(done.gpu, fmt::format("job {} cannot be stopped: {}", done.job, said(done.outcome.error)));
}

void Controller::Impl::on_read(const CallDone& done) {
  GpuBook& gpu = gpus[done.gpu];
  gpu.read_ordered = false;
  if (std::exchange(gpu.read_again, false)) order_read(done.gpu);
  gpu.lost = done.outcome.reading && done.outcome.reading->lost;
  if (done.outcome.kind == StepKind::kFailed) {
    // A board that is lost has no slices any more: their jobs go on elsewhere.
    if (gpu.lost && !reconcile(done)) return;
    return fence(done.gpu, "it cannot be read: " + said(done.outcome.error));
  }
  const bool first_look = unread.contains(done.gpu);
  if (first_look) own_what_was_made(done.gpu, *done.outcome.reading, ~SlotSet{0});
  for (const SliceReading& slice : done.outcome.reading->slices) {
    JobBook* book = book_of(slice.run);
    if (book == nullptr || !book->unclear) continue;
    book->unclear = false;
    book->begun = true;
    book->row.begin_us = std::max(book->row.begin_us, slice.begin_us);
    if (book->row.phase == JobPhase::kStarting) book->row.phase = JobPhase::kRunning;
    rows.emplace_back(book->row);
    changed(*book);
    if (gpu.row.draining) stop_all_on(done.gpu);
  }
  for (const std::string& run : done.never_began) {
    JobBook* book = book_of(run);
    if (book == nullptr || !book->unclear) continue;
    Event event;
    event.kind = Event::Kind::kLost;
    event.at_us = clock_us();
    off_its_slice(*book, event, book->row.left, book->begun ? book->ran_us(event.at_us) : 0,
                  book->begun ? "its run was gone" : "a start failed");
  }
  if (gpu.adopts) adopt_idle(done.gpu, *done.outcome.reading);
  if (!reconcile(done)) return;
  take_off_missing(done);
  if (first_look) {
    unread.erase(done.gpu);
    for (const SliceReading& slice : done.outcome.reading->slices) {
      if (slice.run.empty()) continue;
      if (is_ahead(slice.run)) doubt_while_running(slice.run);
      note_if_stray(done.gpu, slice);
    }
    order_strays_killed(done.gpu);
  }
  const bool cutting = model->state().gpu(done.gpu).operation_end_us != kNever;
  if (!gpu.row.fence.empty() && gpu.undo_reason.empty() && !gpu.moving && !cutting &&
      is_clear(done.gpu) && gpu.row.retry_us >= 0 && clock_us() >= gpu.row.retry_us)
    lift_fence(done.gpu);
}

// --- what the fleet says

void Controller::Impl::on(const FleetEvent& event) {
  if (event.gpu >= gpus.size()) return;
  // A look under way may be from before it.
  gpus[event.gpu].read_again = gpus[event.gpu].read_ordered;
  JobBook* book = book_told_of(event);
  if (event.kind == FleetEvent::Kind::kChanged || book == nullptr) return order_read(event.gpu);
  on_run_over(*book, event);
}

void Controller::Impl::on_run_over(JobBook& book, const FleetEvent& event) {
  Event input;
  input.at_us = event.at_us;
  input.job = book.row.number;
  // A look may have found its slice gone before its end was heard of; to the model it waits then.
  const bool waits = book.row.phase == JobPhase::kQueued;
  switch (event.kind) {
    case FleetEvent::Kind::kEnded:
      input.kind = waits ? Event::Kind::kGone : Event::Kind::kEnded;
      record(input);
      if (!waits) end_later_run(book, event);
      return finish(book, JobPhase::kDone, event.at_us, "");
    case FleetEvent::Kind::kFailed:
      input.kind = Event::Kind::kGone;
      record(input);
      return finish(book, JobPhase::kFailed, event.at_us, "it failed: " + event.message);
    case FleetEvent::Kind::kSaved:
      input.kind = Event::Kind::kSaved;
      input.left = event.left;
      if (waits) {
        record(input);
        return saved_before_it_vanished(book, event.left);
      }
      return off_its_slice(book, input, event.left, 0, "");
    case FleetEvent::Kind::kKilled:
      if (waits) return;
      input.kind = Event::Kind::kLost;
      return off_its_slice(book, input, book.row.left, book.ran_us(event.at_us),
                           "its run was killed");
    case FleetEvent::Kind::kChanged:
      return;
  }
}

// The job was started again before the end of its earlier run was heard of: no job waits for what
// runs now. The kill comes after the start and before anything else on that GPU.
void Controller::Impl::end_later_run(const JobBook& book, const FleetEvent& event) {
  const std::string last = run_name(book.row.number, book.row.attempt);
  if (event.run == last) return;
  const GpuIndex gpu = gpu_by_uuid.at(book.row.gpu);
  gpus[gpu].strays.insert(last);
  order_strays_killed(gpu);
  order_read(gpu);
}

// The loss that was noted when its slice was found gone has not been.
void Controller::Impl::saved_before_it_vanished(JobBook& book, double left) {
  if (left >= book.row.left) return;
  book.row.left = std::max(left, 0.0);
  book.row.lost_us -= book.last_loss_us;
  book.row.note = "its slice vanished after it had saved";
  rows.emplace_back(book.row);
  {
    const std::lock_guard lock(seen_mutex);
    // An earlier controller may have counted it.
    counted.lost_runs -= book.last_loss_us > 0 && counted.lost_runs > 0;
    counted.lost_s = std::max(0.0, counted.lost_s - to_s(book.last_loss_us));
  }
  book.last_loss_us = 0;
  changed(book);
}

// A run is over and the job is not: it waits again, or was only waited for to be rid of it.
void Controller::Impl::off_its_slice(JobBook& book, Event event, double left, TimeUs lost_us,
                                     const std::string& note) {
  event.job = book.row.number;
  event.left = left;
  if (book.row.cancelled) event.kind = Event::Kind::kGone;
  record(event);
  if (book.row.cancelled) return finish_unfinished(book, event.at_us);
  requeue(book, left, lost_us, note);
}

// The job was cancelled, or has overrun: its note says which.
void Controller::Impl::finish_unfinished(JobBook& book, TimeUs at_us) {
  const bool overran = book.row.note == kOverran;
  finish(book, overran ? JobPhase::kFailed : JobPhase::kCancelled, at_us, book.row.note);
}

void Controller::Impl::finish(JobBook& book, JobPhase phase, TimeUs at_us,
                              const std::string& note) {
  book.row.phase = phase;
  book.row.end_us = at_us;
  book.row.begin_us = -1;
  book.row.note = note;
  if (phase == JobPhase::kDone) book.row.left = 0;
  if (phase != JobPhase::kDone && counterfactual) counterfactual->left(book.row.number, at_us);
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
  watched.erase(book.row.number);
  forget_expected_end(book);
  jobs.erase(book.row.number);  // The book is gone.
}

void Controller::Impl::requeue(JobBook& book, double left, TimeUs lost_us,
                               const std::string& note) {
  book.row.phase = JobPhase::kQueued;
  book.row.left = left;
  book.row.lost_us += lost_us;
  // A start that failed is no run.
  if (book.begun || lost_us > 0) book.last_loss_us = lost_us;
  book.row.note = note;
  book.row.begin_us = book.stop_due_us = -1;
  book.will_not_stop = book.unclear = book.stop_failed = false;
  watched.erase(book.row.number);
  forget_expected_end(book);
  start_reasons.erase(book.row.number);
  rows.emplace_back(book.row);
  if (lost_us > 0) {
    const std::lock_guard lock(seen_mutex);
    ++counted.lost_runs;
    counted.lost_s += to_s(lost_us);
  }
  changed(book);
}

// --- hardware decides what exists

// Brings the books in line with the call's look at the GPU. False: it shows what cannot be, or what
// cannot be judged yet.
bool Controller::Impl::reconcile(const CallDone& done) {
  const GpuIndex index = done.gpu;
  const GpuReading& reading = *done.outcome.reading;
  GpuBook& gpu = gpus[index];
  // A look while a step is under way may be of either side of it: the one at its end counts.
  if (model->state().gpu(index).operation_end_us != kNever) {
    gpu.look_again = true;
    return true;
  }
  Event event;
  event.kind = Event::Kind::kRead;
  event.at_us = std::max(clock_us(), model->now());
  event.gpu = index;
  KnownSlices there;
  bool known_kinds = true;
  for (const SliceReading& slice : reading.slices) {
    there[slice.slot] = slice.uuid;
    known_kinds = known_kinds && boards->kind_of_slot(index, slice.slot) != kNoKind;
    const auto known = gpu.slices.find(slice.slot);
    if (known == gpu.slices.end() || known->second != slice.uuid)
      event.slots |= SlotSet{1} << slice.slot;
    if (!is_taken_by_others(index, slice)) continue;
    event.foreign |= SlotSet{1} << slice.slot;
    // One of ours: the look may be from before something that has been heard of since.
    if (!(model->foreign(index) >> slice.slot & 1) && gpu.ours.contains(slice.uuid))
      order_read(index);
  }
  if (!known_kinds || !is_legal(boards->board(index), slots_of(reading))) {
    fence(index, "it has slices that its board's table does not allow");
    return false;
  }
  for (const auto& [slot, uuid] : gpu.slices) {
    const auto still = there.find(slot);
    if (still != there.end() && still->second == uuid) continue;
    event.gone |= SlotSet{1} << slot;
  }
  if ((event.gone & slots_with_jobs(index)) != 0 && !done.heard_all()) return judge_later(done);
  unjudged.erase(index);
  for (SlotSet rest = event.gone; rest; rest &= rest - 1) {
    const std::string& uuid = gpu.slices.at(static_cast<std::uint8_t>(std::countr_zero(rest)));
    if (gpu.ours.erase(uuid)) forgotten_slices.push_back(uuid);
  }
  if (event.slots == 0 && event.gone == 0 && event.foreign == model->foreign(index)) return true;
  take_off_vanished(index, event.gone, event.at_us);
  gpu.slices = std::move(there);
  record(event);
  changed(index);
  return true;
}

// Slices with jobs are gone in the look, and it is not known yet how their runs ended: such a job
// may be done. Another look asks for the events too; where they could not be fetched the GPU is
// fenced, its jobs keep their slices in the books, and it is tried again when events are received.
bool Controller::Impl::judge_later(const CallDone& done) {
  if (!done.events) {
    order_read(done.gpu);
    return false;
  }
  unjudged.insert(done.gpu);
  fence(done.gpu,
        "slices with jobs are gone, and the events that tell how their runs ended cannot "
        "be received: " +
            said(done.events->error()));
  return false;
}

// Runs that have begun by our books, that the look does not show and of which no event tells: a
// start that was answered and not made, or a run that ended without a word.
void Controller::Impl::take_off_missing(const CallDone& done) {
  if (!done.heard_all()) return;
  for (const SliceReading& slice : done.outcome.reading->slices) {
    const JobNumber number = job_at(done.gpu, slice.slot);
    if (number == 0 || slice.phase != RunPhase::kIdle) continue;
    JobBook& book = jobs.at(number);
    if (!book.begun || book.unclear || book.row.slice != slice.uuid) continue;
    Event event;
    event.kind = Event::Kind::kLost;
    event.at_us = clock_us();
    off_its_slice(book, event, book.row.left, book.ran_us(event.at_us),
                  "its run was gone: it resumes from its last checkpoint");
  }
}

// A slice that is not ours, or that a process of another program has: nothing is placed there.
bool Controller::Impl::is_taken_by_others(GpuIndex index, const SliceReading& slice) {
  if (!gpus[index].ours.contains(slice.uuid)) return true;
  if (slice.phase == RunPhase::kIdle || book_of(slice.run) != nullptr) return false;
  return job_at(index, slice.slot) == 0;  // Else it has gone to a job of ours since.
}

// Jobs on slices that are gone; the model takes them off by itself.
void Controller::Impl::take_off_vanished(GpuIndex index, SlotSet gone, TimeUs at_us) {
  for (SlotSet rest = gone; rest; rest &= rest - 1) {
    const JobNumber number = job_at(index, std::countr_zero(rest));
    if (number == 0) continue;
    JobBook& book = jobs.at(number);
    if (!book.row.cancelled) {
      // A run whose start was never answered has done nothing that is known of.
      requeue(book, book.row.left, book.begun ? book.ran_us(at_us) : 0,
              "its slice vanished: it resumes from its last checkpoint");
      continue;
    }
    Event event;
    event.kind = Event::Kind::kGone;
    event.at_us = at_us;
    event.job = number;
    record(event);
    finish_unfinished(book, at_us);
  }
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

void Controller::Impl::order_read(GpuIndex index) {
  if (gpus[index].read_ordered) return;
  gpus[index].read_ordered = true;
  std::vector<std::string> unclear;
  for (const JobNumber number : jobs_on(index)) {
    const JobBook& book = jobs.at(number);
    if (book.unclear) unclear.push_back(run_name(number, book.row.attempt));
  }
  calls.emplace_back(
      index, [driver = driver, index, unclear = std::move(unclear), seen = taken_event] {
        CallDone done;
        done.kind = CallDone::Kind::kRead;
        done.gpu = index;
        auto reading = driver->read(index);
        if (reading && reading->changing) reading = look_settled(*driver, index);
        if (!reading) return failed_read(std::move(done), reading.error());
        const bool lost = reading->lost;
        done.outcome.reading = std::move(*reading);
        if (lost) return failed_read(std::move(done), {DriverCode::kGpuLost, "the GPU is lost"});
        for (const std::string& run : unclear) {
          const auto& slices = done.outcome.reading->slices;
          if (std::any_of(slices.begin(), slices.end(),
                          [&](const SliceReading& slice) { return slice.run == run; }))
            continue;
          const auto never = never_began(*driver, run, seen);
          if (!never) return failed_read(std::move(done), never.error());
          if (*never) done.never_began.push_back(run);
        }
        return done;
      });
}

// --- cancelling

// With a checkpoint where it is to be saved, else without.
void Controller::Impl::order_stop(JobBook& book, bool save, TimeUs at_us) {
  const GpuIndex gpu = gpu_by_uuid.at(book.row.gpu);
  book.stop_failed = false;
  if (!save) {
    book.stop_due_us = at_us;
    watched.insert(book.row.number);
  }
  calls.emplace_back(gpu, [driver = driver, gpu, run = run_name(book.row.number, book.row.attempt),
                           job = book.row.number, attempt = book.row.attempt, save, at_us] {
    CallDone done;
    done.kind = CallDone::Kind::kStop;
    done.attempt = attempt;
    done.gpu = gpu;
    done.job = job;
    done.outcome = stop_run(*driver, gpu, run, save, at_us);
    return done;
  });
}

void Controller::Impl::order_strays_killed(GpuIndex index) {
  if (!recovered) return;
  for (const std::string& run : gpus[index].strays) {
    calls.emplace_back(index, [driver = driver, index, run, at_us = clock_us()] {
      CallDone done;
      done.kind = CallDone::Kind::kStop;
      done.gpu = index;
      done.stray = run;
      done.outcome = stop_run(*driver, index, run, false, at_us);
      return done;
    });
  }
}

void Controller::Impl::audit(const std::string& who, std::string what) {
  rows.emplace_back(AuditRow{next_audit++, clock_us(), std::time(nullptr), who, std::move(what)});
}

Answer<Cancelled> Controller::Impl::cancel(JobNumber job, const std::string& who,
                                           const std::string& owner) {
  const auto found = jobs.find(job);
  if (found == jobs.end()) {
    if (has_heard_of(job, 0))
      return tl::unexpected(Refusal{409, fmt::format("job {} is over", job), ""});
    return tl::unexpected(Refusal{404, fmt::format("there is no job {}", job), ""});
  }
  JobBook& book = found->second;
  if (!owner.empty() && book.row.owner != owner)
    return tl::unexpected(Refusal{403, fmt::format("job {} is not yours", job), ""});
  if (!trouble.empty()) return tl::unexpected(Refusal{503, trouble, ""});
  audit(who, fmt::format("cancels job {}", job));
  book.row.note = "cancelled by " + (who.empty() ? std::string("a client") : who);
  const bool waits = book.row.phase == JobPhase::kQueued;
  if (waits) {
    Event event;
    event.kind = Event::Kind::kGone;
    event.at_us = clock_us();
    event.job = job;
    record(event);
    finish(book, JobPhase::kCancelled, event.at_us, book.row.note);
  } else {
    // Cancelling again tries again: a kill may have been in vain.
    book.row.cancelled = true;
    rows.emplace_back(book.row);
    order_stop(book, false, clock_us());
  }
  if (auto written = flush({}); !written)
    return tl::unexpected(Refusal{503, kept_for_later(written.error().message), ""});
  return waits ? Cancelled::kDone : Cancelled::kOrdered;
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
