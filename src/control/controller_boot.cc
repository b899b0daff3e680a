// The start: what the journal owes against what the hardware has.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "base/text.h"
#include "control/controller_impl.h"

namespace smartmig {
namespace {

std::string fleet_spec(const std::vector<std::string>& boards) {
  std::string text;
  for (std::size_t i = 0; i < boards.size();) {
    std::size_t end = i;
    while (end < boards.size() && boards[end] == boards[i]) ++end;
    text += fmt::format("{}{}x{}", text.empty() ? "" : "+", end - i, boards[i]);
    i = end;
  }
  return text;
}

// The slot of "create 5"; -1 for any other step.
int slot_being_made(const std::string& step) {
  if (!step.starts_with("create ")) return -1;
  return static_cast<int>(parse_integer(step.substr(7)).value_or(-1));
}

}  // namespace

Result<void> Controller::Impl::lock_state() {
  const std::string& dir = options.state_dir;
  if (mkdir(dir.c_str(), 0700) != 0 && errno != EEXIST)
    return fail("{}: cannot be made: {}", dir, strerror(errno));
  const std::string path = dir + "/lock";
  lock_file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock_file < 0) return fail("{}: {}", path, strerror(errno));
  if (flock(lock_file, LOCK_EX | LOCK_NB) != 0) {
    char holder[32] = {};
    const auto size = pread(lock_file, holder, sizeof holder - 1, 0);
    return fail(
        "{}: another controller (process {}) has this state", dir,
        size > 0 ? trim(std::string_view(holder, static_cast<std::size_t>(size))) : "unknown");
  }
  const std::string pid = fmt::format("{}\n", getpid());
  if (ftruncate(lock_file, 0) != 0 || pwrite(lock_file, pid.data(), pid.size(), 0) < 0)
    return fail("{}: cannot be written: {}", path, strerror(errno));
  return {};
}

Result<void> Controller::Impl::open_journal() {
  auto opened = Journal::open(options.state_dir);
  if (!opened && opened.error().trouble == Journal::Trouble::kDamaged) {
    const auto aside = Journal::set_aside(options.state_dir);
    if (!aside) return pass_on(aside);
    notice("fleet",
           fmt::format(R"({{"trouble":"the journal was damaged; it is kept in {}"}})", *aside));
    damage = opened.error().message;
    opened = Journal::open(options.state_dir);
    if (opened) {
      // Nothing is known of what is owed: an operator looks before anything is touched.
      rows.emplace_back(std::pair<std::string, std::string>("recovered", "no"));
      rows.emplace_back(std::pair<std::string, std::string>("frozen", "yes"));
      rows.emplace_back(
          AuditRow{0, 0, std::time(nullptr), "smartmig",
                   fmt::format("the journal was damaged ({}) and is kept in {}", damage, *aside)});
    }
  }
  if (!opened) return fail("{}", opened.error().message);
  journal.emplace(std::move(*opened));
  recovered = damage.empty() && journal->setting("recovered") != "no";
  return {};
}

Result<void> Controller::Impl::boot(std::unique_ptr<Driver> given) {
  driver = std::move(given);
  if (auto locked = lock_state(); !locked) return locked;
  if (auto opened = open_journal(); !opened) return opened;
  auto described =
      driver->claim(fmt::format("process {} with state {}", getpid(), options.state_dir));
  if (!described) return fail("the fleet cannot be had: {}", described.error().message);
  fleet = std::move(*described);
  const std::string known_fleet = journal->setting("fleet");
  if (!known_fleet.empty() && known_fleet != fleet.fleet_id)
    return fail("{}: this state belongs to fleet {}, the driver has fleet {}", options.state_dir,
                known_fleet, fleet.fleet_id);
  rows.emplace_back(std::pair<std::string, std::string>("fleet", fleet.fleet_id));
  options.setup.fleet = fleet_spec(fleet.boards);
  boot_us = fleet.clock.at(monotonic_ns());

  auto readings = driver->read_all(static_cast<GpuIndex>(fleet.gpus.size()));
  if (!readings) return fail("the fleet cannot be read: {}", readings.error().message);
  // After the look: a run that it did not show has said so in an event by now.
  taken_event =
      static_cast<std::uint64_t>(parse_integer(journal->setting("fleet event")).value_or(0));
  std::vector<FleetEvent> events;
  for (std::uint64_t after = taken_event;;) {
    auto more = driver->events_after(after, 0);
    if (!more) return fail("the fleet's events cannot be had: {}", more.error().message);
    std::erase_if(*more, [&](const FleetEvent& event) { return event.number <= after; });
    if (more->empty()) break;
    events.insert(events.end(), more->begin(), more->end());
    after = more->back().number;
    if (after > taken_event) break;  // Asking on would let the fleet forget what is not journalled.
  }
  auto snapshot = stand(std::move(*readings), events);
  if (!snapshot) return pass_on(snapshot);
  auto made = Model::make(*snapshot, boot_us);
  if (!made) return pass_on(made);
  model.emplace(std::move(*made));
  Event event;
  event.kind = Event::Kind::kBegin;
  event.at_us = boot_us;
  event.snapshot = std::move(*snapshot);
  EventRow row = to_row(event);
  row.number = next_event++;
  rows.emplace_back(std::pair<std::string, std::string>("begin event", std::to_string(row.number)));
  rows.emplace_back(std::move(row));
  rows.emplace_back(
      std::pair<std::string, std::string>("fleet event", std::to_string(taken_event)));
  for (Row& any : rows) {
    if (auto* audit = std::get_if<AuditRow>(&any); audit != nullptr && audit->number == 0) {
      audit->number = next_event++;
      audit->at_us = boot_us;
    }
  }
  if (auto written = flush({}); !written) return written;
  journalled_event = taken_event;
  latest_us = boot_us;
  round_due = true;
  for (GpuIndex gpu = 0; gpu < gpus.size(); ++gpu) {
    if (gpus[gpu].row.draining) stop_all_on(gpu);
  }
  for (const auto& [gpu, run] : strays) {
    calls.emplace_back(gpu, [driver = driver, gpu = gpu, run = run, at = boot_us] {
      CallDone done;
      done.kind = CallDone::Kind::kRead;  // It frees its slice: look again.
      done.gpu = gpu;
      done.outcome = stop_run(*driver, gpu, run, false, at);
      auto reading = driver->read(gpu);
      if (reading) done.outcome.reading = std::move(*reading);
      if (!reading)
        done.outcome.kind = StepOutcome::Kind::kFailed, done.outcome.error = reading.error();
      return done;
    });
    gpus[gpu].adopts = true;
  }
  return {};
}

Result<Snapshot> Controller::Impl::stand(std::vector<GpuReading> readings,
                                         const std::vector<FleetEvent>& events) {
  auto loaded = journal->load();
  if (!loaded) return pass_on(loaded);
  next_job = loaded->next_job;
  next_intent = loaded->next_intent;
  next_event = loaded->next_event;
  Snapshot snapshot;
  snapshot.setup = options.setup;
  snapshot.version = options.version;
  snapshot.frozen = journal->setting("frozen") == "yes" || !damage.empty();
  auto parsed = Fleet::parse(options.setup.fleet);
  if (!parsed) return pass_on(parsed);
  boards = std::make_shared<const Fleet>(std::move(*parsed));
  gpus.resize(fleet.gpus.size());
  snapshot.gpus.resize(gpus.size());
  for (GpuIndex gpu = 0; gpu < gpus.size(); ++gpu) {
    gpus[gpu].row.uuid = fleet.gpus[gpu];
    gpu_by_uuid[fleet.gpus[gpu]] = gpu;
    snapshot.gpus[gpu].fresh = recovered;
  }
  for (const GpuRow& row : loaded->gpus) {
    const auto found = gpu_by_uuid.find(row.uuid);
    if (found == gpu_by_uuid.end()) continue;
    gpus[found->second].row = row;
    snapshot.gpus[found->second].fresh = false;
  }
  for (JobRow& row : loaded->jobs) {
    auto request = parse_job_request(row.body);
    if (!request) return fail("job {}: {}", row.number, request.error().error);
    JobBook book;
    if (request->max_runtime_s) book.max_runtime_us = to_us(*request->max_runtime_s);
    book.cancelled = row.cancelled;
    book.row = std::move(row);
    if (!book.row.key.empty()) keys[book.row.owner + '\0' + book.row.key] = book.row.number;
    jobs.emplace(book.row.number, std::move(book));
  }
  settle_ended_runs(events);
  for (const SliceRow& row : loaded->slices) {
    const auto found = gpu_by_uuid.find(row.gpu);
    if (found != gpu_by_uuid.end()) gpus[found->second].ours.insert(row.uuid);
  }
  for (IntentRow& row : loaded->intents) {
    const auto found = gpu_by_uuid.find(row.gpu);
    if (found != gpu_by_uuid.end()) gpus[found->second].intent = std::move(row);
  }
  settle_slices(readings, snapshot);
  settle_runs(readings, snapshot);
  return snapshot;
}

// Runs that were over while nobody listened.
void Controller::Impl::settle_ended_runs(const std::vector<FleetEvent>& events) {
  for (const FleetEvent& event : events) {
    taken_event = std::max(taken_event, event.number);
    JobBook* book = book_of(event.run);
    if (book == nullptr || book->row.phase == JobPhase::kQueued) continue;
    switch (event.kind) {
      case FleetEvent::Kind::kEnded:
        finish(*book, JobPhase::kDone, event.at_us, "");
        break;
      case FleetEvent::Kind::kFailed:
        finish(*book, JobPhase::kFailed, event.at_us, "it failed: " + event.message);
        break;
      case FleetEvent::Kind::kSaved:
      case FleetEvent::Kind::kKilled:
        if (book->cancelled) {
          finish(*book, JobPhase::kCancelled, event.at_us, book->row.note);
        } else if (event.kind == FleetEvent::Kind::kSaved) {
          requeue(*book, event.left, 0, "");
        } else {
          requeue(*book, book->row.left, 0, "its run was killed");
        }
        break;
      case FleetEvent::Kind::kChanged:
        break;
    }
  }
}

// Which slices are ours, and where each GPU is to go: on with a change that was under way, or back.
void Controller::Impl::settle_slices(const std::vector<GpuReading>& readings, Snapshot& snapshot) {
  for (GpuIndex index = 0; index < gpus.size(); ++index) {
    GpuBook& gpu = gpus[index];
    Snapshot::GpuStand& stand = snapshot.gpus[index];
    const Board& board = boards->board(index);
    const SlotSet undone = gpu.intent && gpu.intent->step == "undo" ? gpu.intent->base : 0;
    const int made = gpu.intent ? slot_being_made(gpu.intent->step) : -1;
    std::set<std::string> gone = gpu.ours;
    SlotSet present = 0;
    bool known = true;
    for (const SliceReading& slice : readings[index].slices) {
      gone.erase(slice.uuid);
      gpu.slices[slice.slot] = slice.uuid;
      present |= SlotSet{1} << slice.slot;
      known = known && boards->kind_of_slot(index, slice.slot) != kNoKind;
      // The step under way had made it, and had no time to say so.
      if (!gpu.ours.contains(slice.uuid) && (slice.slot == made || (undone >> slice.slot & 1))) {
        gpu.ours.insert(slice.uuid);
        rows.emplace_back(SliceRow{slice.uuid, gpu.row.uuid, slice.slot, boot_us});
      }
      if (!gpu.ours.contains(slice.uuid)) stand.foreign |= SlotSet{1} << slice.slot;
    }
    for (const std::string& uuid : gone) {
      gpu.ours.erase(uuid);
      forgotten_slices.push_back(uuid);
    }
    gpu.lost = readings[index].lost;
    if (gpu.lost && gpu.row.fence.empty()) gpu.row.fence = "the GPU is lost";
    if (!known || !is_legal(board, present)) {
      gpu.row.fence = "it has slices that its board's table does not allow";
      gpu.slices.clear();
      present = stand.foreign = 0;
    }
    if (!gpu.row.fence.empty()) gpu.row.retry_us = boot_us;
    stand.present = stand.target = present;
    stand.fresh = stand.fresh && present == 0 && !gpu.intent;
    if (gpu.intent) {
      const SlotSet wanted = gpu.intent->step == "undo" ? gpu.intent->base : gpu.intent->target;
      if ((stand.foreign & ~wanted) == 0) stand.target = wanted;
      gpu.intent->closed_us = boot_us;
      gpu.intent->outcome =
          stand.target == present ? "found done after a restart" : "taken up again after a restart";
      gpu.intent->step.clear();
      rows.emplace_back(*gpu.intent);
      gpu.intent.reset();
    }
    stand.closed = !gpu.row.fence.empty() || gpu.row.cordoned || gpu.row.draining;
    rows.emplace_back(gpu.row);
  }
}

void Controller::Impl::settle_runs(const std::vector<GpuReading>& readings, Snapshot& snapshot) {
  std::set<JobNumber> found;
  for (GpuIndex index = 0; index < gpus.size(); ++index) {
    for (const SliceReading& slice : readings[index].slices) {
      if (slice.run.empty()) {
        // Somebody else's process has it, though the slice is ours.
        if (slice.phase != RunPhase::kIdle)
          snapshot.gpus[index].foreign |= SlotSet{1} << slice.slot;
        continue;
      }
      JobBook* book = book_of(slice.run);
      const bool owed = book != nullptr && book->row.phase != JobPhase::kQueued &&
                        gpus[index].ours.contains(slice.uuid);
      if (!owed) {
        // A run of ours that nobody waits for: it ended in our books, or was never begun there.
        snapshot.gpus[index].foreign |= SlotSet{1} << slice.slot;
        strays.emplace_back(index, slice.run);
        continue;
      }
      found.insert(book->row.number);
      const Job job = to_job(*parse_job_request(book->row.body), book->row.submit_us);
      const double full = boards->full_us(job, boards->kind_of_slot(index, slice.slot));
      const bool saving = slice.phase == RunPhase::kSaving;
      book->row.phase = saving ? JobPhase::kSaving : JobPhase::kRunning;
      book->run_begin_us = slice.begin_us;
      if (saving) book->save_due_us = boot_us;
      rows.emplace_back(book->row);
      snapshot.runs.push_back({book->row.number, index, slice.slot, slice.begin_us,
                               slice.begin_us + State::whole_us(book->row.left * full), saving});
    }
  }
  std::vector<JobNumber> lost;
  for (const auto& [number, book] : jobs) {
    if (book.row.phase != JobPhase::kQueued && !found.contains(number)) lost.push_back(number);
  }
  for (const JobNumber number : lost) {
    JobBook& book = jobs.at(number);
    if (book.cancelled) {
      finish(book, JobPhase::kCancelled, boot_us, book.row.note);
    } else {
      requeue(book, book.row.left, 0,
              "its run was gone after a restart: it goes on from its last checkpoint");
    }
  }
  std::vector<JobNumber> numbers;
  for (const auto& [number, book] : jobs) numbers.push_back(number);
  std::sort(numbers.begin(), numbers.end());
  for (const JobNumber number : numbers) {
    const JobRow& row = jobs.at(number).row;
    snapshot.jobs.push_back(
        {number, to_job(*parse_job_request(row.body), row.submit_us), row.left});
  }
}

}  // namespace smartmig
