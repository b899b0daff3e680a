// At the start: the journal's slices, changes and runs against those that the hardware has.
#include <algorithm>

#include "base/text.h"
#include "control/controller_impl.h"

namespace smartmig {
namespace {

// On its way between two layouts, by controller_repair.cc.
bool was_moving(const IntentRow& intent) {
  return intent.step.starts_with("undo") || intent.step.starts_with("retry");
}

// Slots that the step under way may have filled: those named in "create 5", "undo 0 4", "retry 2".
SlotSet slots_being_made(const IntentRow& intent) {
  SlotSet slots = 0;
  if (intent.step.starts_with("destroy")) return slots;
  for (const std::string_view word : split(intent.step, ' ')) {
    if (const auto slot = parse_integer(word); slot && *slot >= 0 && *slot < 64)
      slots |= SlotSet{1} << *slot;
  }
  return slots;
}

}  // namespace

// What a GPU that cannot be read has, as far as is known: what it had. It is fenced until a look
// tells; a job that runs there is not started elsewhere.
void Controller::Impl::believe_the_journal(const std::vector<SliceRow>& slices,
                                           std::vector<GpuReading>& readings) {
  if (unread.empty()) return;
  std::map<std::string, const JobRow*> on_slice;
  for (const auto& [number, book] : jobs) {
    if (book.row.phase != JobPhase::kQueued) on_slice[book.row.slice] = &book.row;
  }
  for (const SliceRow& row : slices) {
    const auto found = gpu_by_uuid.find(row.gpu);
    if (found == gpu_by_uuid.end() || !unread.contains(found->second)) continue;
    SliceReading slice;
    slice.uuid = row.uuid;
    slice.slot = row.slot;
    if (const auto job = on_slice.find(row.uuid); job != on_slice.end()) {
      const JobRow& there = *job->second;
      slice.run = run_name(there.number, there.attempt);
      slice.phase = there.phase == JobPhase::kSaving ? RunPhase::kSaving : RunPhase::kRunning;
      slice.begin_us = there.begin_us;
      jobs.at(there.number).unclear = true;
    }
    readings[found->second].slices.push_back(std::move(slice));
  }
}

// Runs that were over while no controller listened.
void Controller::Impl::settle_ended_runs(const std::vector<FleetEvent>& events) {
  for (const FleetEvent& event : events) {
    taken_event = std::max(taken_event, event.number);
    if (event.kind == FleetEvent::Kind::kChanged) changed_us[event.gpu] = event.at_us;
    note_unknown_run(event.run);
    JobBook* book = book_told_of(event);
    if (book == nullptr) book = follow_later_attempt(event.run);
    if (book == nullptr) continue;
    // A look had found its slice gone before its end was heard of.
    const bool waits = book->row.phase == JobPhase::kQueued;
    switch (event.kind) {
      case FleetEvent::Kind::kEnded:
        finish(*book, JobPhase::kDone, event.at_us, "");
        break;
      case FleetEvent::Kind::kFailed:
        finish(*book, JobPhase::kFailed, event.at_us, "it failed: " + event.message);
        break;
      case FleetEvent::Kind::kSaved:
      case FleetEvent::Kind::kKilled:
        if (waits) {
          if (event.kind == FleetEvent::Kind::kSaved) saved_before_it_vanished(*book, event.left);
        } else if (book->row.cancelled) {
          finish_unfinished(*book, event.at_us);
        } else if (event.kind == FleetEvent::Kind::kSaved) {
          requeue(*book, event.left, 0, "");
        } else {
          requeue(*book, book->row.left, book->ran_us(event.at_us), "its run was killed");
        }
        break;
      case FleetEvent::Kind::kChanged:
        break;
    }
  }
}

// Those of its slices that jobs may be on and that can be there together. What we have made comes
// first: a job of ours continues even beside a slice that the board's table
// does not have.
SlotSet Controller::Impl::slots_we_know(GpuIndex index, const GpuReading& reading) const {
  SlotSet known = 0;
  for (const bool ours : {true, false}) {
    for (const SliceReading& slice : reading.slices) {
      if (gpus[index].ours.contains(slice.uuid) == ours &&
          boards->kind_of_slot(index, slice.slot) != kNoKind &&
          can_add(boards->board(index), known, slice.slot))
        known |= SlotSet{1} << slice.slot;
    }
  }
  return known;
}

// Slices that the step under way had made, and had no time to tell of.
void Controller::Impl::own_what_was_made(GpuIndex index, const GpuReading& reading, SlotSet among) {
  GpuBook& gpu = gpus[index];
  if (!gpu.intent) return;
  const SlotSet made = slots_being_made(*gpu.intent) & among;
  for (const SliceReading& slice : reading.slices) {
    if (!(made >> slice.slot & 1) || !gpu.ours.insert(slice.uuid).second) continue;
    rows.emplace_back(SliceRow{slice.uuid, gpu.row.uuid, slice.slot, boot_us});
  }
}

// Which slices are ours, and where each GPU is to go: on with a change that was under way, or back.
void Controller::Impl::settle_slices(const std::vector<GpuReading>& readings, Snapshot& snapshot) {
  for (GpuIndex index = 0; index < gpus.size(); ++index) {
    GpuBook& gpu = gpus[index];
    Snapshot::GpuStand& stand = snapshot.gpus[index];
    const SlotSet present = slots_we_know(index, readings[index]);
    note_slices(index, readings[index], present, stand);
    fence_at_start(index, readings[index], present);
    stand.present = stand.target = present;
    stand.fresh = stand.fresh && present == 0 && !gpu.intent;
    if (gpu.intent) {
      settle_intent(index, stand);
    } else if (recovered && gpu.hold && gpu.hold->slots != 0 &&
               (stand.foreign & ~gpu.hold->slots) == 0) {
      stand.target = gpu.hold->slots;  // The change may have waited for a job to end.
    }
    stand.closed = !gpu.row.fence.empty() || gpu.row.cordoned || gpu.row.draining;
    rows.emplace_back(gpu.row);
  }
}

void Controller::Impl::note_slices(GpuIndex index, const GpuReading& reading, SlotSet present,
                                   Snapshot::GpuStand& stand) {
  GpuBook& gpu = gpus[index];
  std::set<std::string> gone = gpu.ours;
  if (doubt == JournalDoubt::kNothing) own_what_was_made(index, reading, present);
  for (const SliceReading& slice : reading.slices) {
    gone.erase(slice.uuid);
    if (!(present >> slice.slot & 1)) continue;
    gpu.slices[slice.slot] = slice.uuid;
    if (!gpu.ours.contains(slice.uuid)) stand.foreign |= SlotSet{1} << slice.slot;
  }
  for (const std::string& uuid : gone) {
    gpu.ours.erase(uuid);
    forgotten_slices.push_back(uuid);
  }
}

// A GPU that was fenced before, or that cannot be used as it is.
void Controller::Impl::fence_at_start(GpuIndex index, const GpuReading& reading, SlotSet present) {
  GpuBook& gpu = gpus[index];
  gpu.lost = reading.lost;
  if (gpu.lost && gpu.row.fence.empty()) gpu.row.fence = "the GPU is lost";
  if (const auto why = unread.find(index); why != unread.end())
    gpu.row.fence = "it cannot be read: " + why->second;
  if (reading.changing) gpu.row.fence = "a change of an earlier controller does not end";
  if (present != slots_of(reading))
    gpu.row.fence = "it has slices that its board's table does not allow";
  if (gpu.row.fence.empty()) return;
  gpu.row.retry_us = boot_us;
  fenced.insert(index);
}

// A change that was under way when the controller before this one ended.
void Controller::Impl::settle_intent(GpuIndex index, Snapshot::GpuStand& stand) {
  GpuBook& gpu = gpus[index];
  if (doubt != JournalDoubt::kNothing) return drop_intent(index);
  if (unread.contains(index)) {
    // How far the change has come is not known: it is undone once the GPU can be read.
    gpu.undo_reason = gpu.row.fence;
    if (gpu.intent->target != gpu.intent->base) gpu.wanted = gpu.intent->target;
    return;
  }
  const SlotSet wanted = was_moving(*gpu.intent) ? gpu.intent->base : gpu.intent->target;
  if ((stand.foreign & ~wanted) == 0) stand.target = wanted;
  gpu.intent->step.clear();
  if (stand.target == stand.present) {
    gpu.intent->closed_us = boot_us;
    gpu.intent->outcome = "found done after a restart";
    rows.emplace_back(*gpu.intent);
    gpu.intent.reset();
    return;
  }
  // It stays open until that is so: the next start must know of it, too.
  gpu.intent->target = wanted;
  rows.emplace_back(*gpu.intent);
  resumed_intents.insert(index);
  // A closed GPU is not the model's to cut.
  if (gpu.row.fence.empty() && (gpu.row.cordoned || gpu.row.draining)) {
    stand.target = stand.present;
    half_done.push_back(index);
  }
}

void Controller::Impl::settle_runs(const std::vector<GpuReading>& readings, Snapshot& snapshot) {
  std::set<JobNumber> found;
  for (GpuIndex index = 0; index < gpus.size(); ++index) {
    for (const SliceReading& slice : readings[index].slices) {
      if (!(snapshot.gpus[index].present >> slice.slot & 1)) continue;
      // Of a process that is not ours, or of a run that no job waits for.
      const bool is_foreign =
          slice.run.empty() ? slice.phase != RunPhase::kIdle : note_if_stray(index, slice);
      if (is_foreign) snapshot.gpus[index].foreign |= SlotSet{1} << slice.slot;
      if (slice.run.empty() || is_foreign) continue;
      JobBook& book = *book_of(slice.run);
      found.insert(book.row.number);
      snapshot.runs.push_back(settle_run(book, index, slice));
    }
  }
  settle_lost_runs(found);
  std::vector<JobNumber> numbers;
  for (const auto& [number, book] : jobs) numbers.push_back(number);
  std::sort(numbers.begin(), numbers.end());
  for (const JobNumber number : numbers) {
    const JobRow& row = jobs.at(number).row;
    snapshot.jobs.push_back(
        {number, to_job(*parse_job_request(row.body), row.submit_us), row.left});
  }
}

// A run of ours that is there.
Snapshot::Run Controller::Impl::settle_run(JobBook& book, GpuIndex index,
                                           const SliceReading& slice) {
  const Job job = to_job(*parse_job_request(book.row.body), book.row.submit_us);
  const double full = boards->full_us(job, boards->kind_of_slot(index, slice.slot));
  const bool saving = slice.phase == RunPhase::kSaving;
  // What is only believed to be there is as it was.
  book.begun = !book.unclear || book.row.phase == JobPhase::kRunning;
  if (!book.unclear) book.row.phase = saving ? JobPhase::kSaving : JobPhase::kRunning;
  book.row.begin_us = slice.begin_us;
  if (saving) book.stop_due_us = boot_us;
  rows.emplace_back(book.row);
  const TimeUs end_us = slice.begin_us + State::whole_us(book.row.left * full);
  // One that was told to save while it was being restored has not begun to progress.
  return {book.row.number,
          index,
          slice.slot,
          saving ? std::min(slice.begin_us, boot_us) : slice.begin_us,
          saving ? Snapshot::kUnknownEnd : end_us,
          saving};
}

// Jobs that had a run, of which the fleet shows none now.
void Controller::Impl::settle_lost_runs(const std::set<JobNumber>& found) {
  std::vector<JobNumber> lost;
  for (const auto& [number, book] : jobs) {
    if (book.row.phase != JobPhase::kQueued && !found.contains(number)) lost.push_back(number);
  }
  for (const JobNumber number : lost) {
    JobBook& book = jobs.at(number);
    if (book.row.cancelled) {
      finish_unfinished(book, boot_us);
      continue;
    }
    if (missed_events) {
      // It may have done its work: it is not run a second time.
      finish(book, JobPhase::kFailed, boot_us, std::string(kEndNotKnown));
      continue;
    }
    // It was lost when something happened to its GPU, or else at some time up to now.
    const auto gpu = gpu_by_uuid.find(book.row.gpu);
    const auto when = gpu == gpu_by_uuid.end() ? changed_us.end() : changed_us.find(gpu->second);
    const bool began = book.row.phase != JobPhase::kStarting;
    requeue(book, book.row.left,
            began ? book.ran_us(when == changed_us.end() ? boot_us : when->second) : 0,
            "its run was gone after a restart: it resumes from its last checkpoint");
  }
}

// A run of ours that belongs to no job: it ended in our books, or was never begun there. Such a run
// is killed, unless the journal has not heard of it: its work may be needed, so it continues.
bool Controller::Impl::note_if_stray(GpuIndex index, const SliceReading& slice) {
  const JobBook* book = book_of(slice.run);
  if (book != nullptr && book->row.phase != JobPhase::kQueued &&
      gpus[index].ours.contains(slice.uuid))
    return false;
  if (has_heard_of(number_of_run(slice.run), attempt_of_run(slice.run)))
    gpus[index].strays.insert(slice.run);
  return true;
}

}  // namespace smartmig
