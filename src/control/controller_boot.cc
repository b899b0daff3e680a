// The start: what the journal owes against what the hardware has.
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <ctime>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "control/bounded_call.h"
#include "control/controller_impl.h"
#include "fleet/fleet.h"

namespace smartmig {
namespace {

constexpr const char* kComparedPolicy = "none/edf";
// Settings that are used at the start alone.
constexpr const char* kFleet = "fleet";         // Whose journal it is.
constexpr const char* kFirstJob = "least job";  // Those before it are of a journal that was lost.
constexpr const char* kNextJob = "next job";    // The least that the next one may have.

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

Result<void> Controller::Impl::open_journal() {
  auto opened = Journal::open(options.state_dir);
  if (!opened && opened.error().trouble == Journal::Trouble::kDamaged) {
    const auto aside = Journal::set_aside(options.state_dir);
    if (!aside) return pass_on(aside);
    damaged_journal = *aside;
    damage = opened.error().message;
    opened = Journal::open(options.state_dir);
  }
  if (!opened) return fail("{}", opened.error().message);
  journal.emplace(std::move(*opened));
  if (damage.empty() && journal->setting(kFleet).empty()) {
    // Nothing was written yet: a start that put a damaged journal aside may have gone no further.
    damaged_journal = Journal::last_set_aside(options.state_dir);
    if (!damaged_journal.empty())
      damage = "the journal was damaged, as a start that went no further had found";
  }
  return {};
}

// Where it is not known what is owed an operator looks before anything is touched: nothing is
// started, stopped, killed or cut until `recover`. The first reason counts.
void Controller::Impl::doubt_journal(JournalDoubt kind, const std::string& why) {
  if (doubt != JournalDoubt::kNothing) return;
  doubt = kind;
  damage = why;
  recovered = false;
  // Written together with whatever is written next.
  put_setting(kRecoveredSetting, "no");
  put_setting(kFrozenSetting, "yes");
  put_setting(kDoubtSetting, damage);
}

// What can be told before the journal is read.
void Controller::Impl::doubt_what_was_opened(const std::vector<GpuReading>& readings) {
  using Kind = Journal::Standing::Kind;
  const Journal::Standing& standing = journal->standing();
  const auto has_runs = [](const GpuReading& gpu) {
    return std::any_of(gpu.slices.begin(), gpu.slices.end(),
                       [](const SliceReading& slice) { return !slice.run.empty(); });
  };
  recovered = journal->setting(kRecoveredSetting) != "no";
  if (!damage.empty()) {
    doubt_journal(JournalDoubt::kLost, damaged_journal.empty()
                                           ? damage
                                           : fmt::format("the journal was damaged ({}) and is kept "
                                                         "in {}",
                                                         damage, damaged_journal));
  } else if (standing.kind != Kind::kTrusted) {
    doubt_journal(standing.kind == Kind::kGone ? JournalDoubt::kLost : JournalDoubt::kWentBack,
                  standing.why);
  } else if (journal->setting(kFleet).empty() &&
             std::any_of(readings.begin(), readings.end(), has_runs)) {
    doubt_journal(JournalDoubt::kLost, "the journal is gone: the fleet has runs of an earlier one");
  } else if (!recovered) {
    damage = journal->setting(kDoubtSetting);
  }
}

// Job numbers from `known_below` on, as far as the mark or the fleet knows them, were given to jobs
// that the journal does not have.
void Controller::Impl::name_what_was_lost(const std::vector<GpuReading>& readings,
                                          JobNumber known_below) {
  for (const GpuReading& gpu : readings) {
    for (const SliceReading& slice : gpu.slices)
      heard_job = std::max(heard_job, number_of_run(slice.run));
  }
  const JobNumber last = std::max(journal->standing().next_job - 1, heard_job);
  if (last > known_below)
    damage += fmt::format("; jobs {} to {} were accepted and are not in it", known_below, last);
  if (last == known_below)
    damage += fmt::format("; job {} was accepted and is not in it", known_below);
  next_job = std::max(next_job, last + 1);
  begin_numbers_anew(readings);
  put_setting(kDoubtSetting, damage);
  audit("smartmig", damage);
  notice("fleet", nlohmann::json{{"trouble", damage}}.dump());
}

// Whether no transaction of this journal speaks of the run: it was ordered after the last of them.
bool Controller::Impl::is_ahead(const std::string& run) const {
  const JobNumber number = number_of_run(run);
  if (number >= next_job) return true;
  const auto found = jobs.find(number);
  return found != jobs.end() && attempt_of_run(run) > found->second.row.attempt;
}

// Such a run on a GPU that could not be read at the start.
void Controller::Impl::doubt_while_running(const std::string& run) {
  doubt_journal(
      JournalDoubt::kWentBack,
      fmt::format("the journal went back: the fleet has run {}, of which the journal does "
                  "not know",
                  run));
  next_job = std::max(next_job, number_of_run(run) + 1);
  begin_numbers_anew({});
  audit("smartmig", damage);
  notice("fleet", nlohmann::json{{"trouble", damage}}.dump());
  Event event;
  event.kind = Event::Kind::kFreeze;
  event.at_us = clock_us();
  record(event);
}

// At the start: of a run that is there, or of an event about one.
void Controller::Impl::note_unknown_run(const std::string& run) {
  const JobNumber number = number_of_run(run);
  heard_job = std::max(heard_job, number);
  if (number >= next_job)
    doubt_journal(JournalDoubt::kWentBack,
                  fmt::format("the journal went back: the fleet has had run {}, and the journal "
                              "knows no such job",
                              run));
}

// A later attempt of a job than the journal knows of, which has thus gone back: the hardware
// decides what exists, and the job is taken to be where the fleet has it.
JobBook* Controller::Impl::follow_later_attempt(const std::string& run) {
  const auto found = jobs.find(number_of_run(run));
  if (found == jobs.end() || attempt_of_run(run) <= found->second.row.attempt) return nullptr;
  doubt_journal(JournalDoubt::kWentBack,
                fmt::format("the journal went back: the fleet has had run {}, and the journal ends "
                            "at attempt {} of the job",
                            run, found->second.row.attempt));
  found->second.row.attempt = attempt_of_run(run);
  found->second.row.phase = JobPhase::kRunning;
  return &found->second;
}

// Runs that are there. Their slices were made for them: they are ours.
void Controller::Impl::follow_later_runs(const std::vector<GpuReading>& readings) {
  for (GpuIndex index = 0; index < gpus.size(); ++index) {
    for (const SliceReading& slice : readings[index].slices) {
      JobBook* book = follow_later_attempt(slice.run);
      if (book == nullptr) continue;
      book->row.gpu = gpus[index].row.uuid;
      book->row.slice = slice.uuid;
      rows.emplace_back(book->row);
      if (gpus[index].ours.insert(slice.uuid).second)
        rows.emplace_back(SliceRow{slice.uuid, gpus[index].row.uuid, slice.slot, boot_us});
    }
  }
}

Result<void> Controller::Impl::boot(std::unique_ptr<Driver> given) {
  driver = std::move(given);
  if (auto opened = open_journal(); !opened) return opened;
  auto described =
      bounded_call(driver, options.call_timeout_s,
                   [owner = fmt::format("process {} with state {}", getpid(), options.state_dir)](
                       Driver& fleet_driver) { return fleet_driver.claim(owner); });
  if (!described) return fail("the fleet cannot be had: {}", described.error().message);
  at("claimed");
  fleet = std::move(*described);
  const std::string known_fleet = journal->setting(kFleet);
  if (!known_fleet.empty() && known_fleet != fleet.fleet_id)
    return fail("{}: this state belongs to fleet {}, the driver has fleet {}", options.state_dir,
                known_fleet, fleet.fleet_id);
  put_setting(kFleet, fleet.fleet_id);
  options.setup.fleet = fleet_spec(fleet.boards);
  boot_us = fleet.clock.at(monotonic_ns());

  auto readings = read_settled();
  if (!readings) return fail("the fleet cannot be read: {}", readings.error().message);
  // A journal that begins here has nothing to go by.
  if (!unread.empty() && known_fleet.empty())
    return fail("the fleet cannot be read: {}: {}", fleet.gpus[unread.begin()->first],
                unread.begin()->second);
  doubt_what_was_opened(*readings);
  auto snapshot = stand(*readings);
  if (!snapshot) return pass_on(snapshot);
  auto made = Model::make(*snapshot, boot_us);
  if (!made) return pass_on(made);
  model.emplace(std::move(*made));
  begin_counterfactual(*snapshot);
  read_beginnings();
  write_beginning(std::move(*snapshot), boot_us);
  put_setting(kFleetEventSetting, std::to_string(taken_event));
  if (auto written = flush({}); !written) return written;
  journalled_event = taken_event;
  latest_us = boot_us;
  round_due = true;
  at("begun");
  take_up();
  at("taken up");
  return {};
}

// With the jobs that are there, as far as they have come.
void Controller::Impl::begin_counterfactual(const Snapshot& snapshot) {
  Setup other = options.setup;
  other.policy = kComparedPolicy;
  auto made = ModelledFleet::make(std::move(other), snapshot.jobs, boot_us);
  if (!made) return;
  counterfactual = std::make_unique<Counterfactual>(std::move(*made), kComparedPolicy, fleet.clock);
  days.emplace(options.setup.energy_weight, static_cast<double>(gpus.size()));
}

// What was asked for and perhaps not done, and runs that nobody waits for. Where the journal is
// doubted `recover` does it.
void Controller::Impl::take_up() {
  if (!recovered) return;
  for (GpuIndex gpu = 0; gpu < gpus.size(); ++gpu) {
    resume_held_change(gpu);
    if (gpus[gpu].row.draining) stop_all_on(gpu);
    for (const JobNumber number : jobs_on(gpu)) {
      JobBook& book = jobs.at(number);
      if (book.row.cancelled) order_stop(book, false, clock_us());
      if (book.max_runtime_us || book.stop_due_us >= 0) watched.insert(number);
      const SliceId slice = model->state().job_state(*model->index_of(number)).slice;
      expect_end(book, model->state().slice(slice).end_us);
    }
  }
  for (const GpuIndex gpu : half_done) order_move(gpu, CallDone::Kind::kRetry);
  half_done.clear();
  // Something happened there, before the look or after it.
  for (const auto& [gpu, at_us] : changed_us) {
    if (gpu < gpus.size()) order_read(gpu);
  }
  for (GpuIndex gpu = 0; gpu < gpus.size(); ++gpu) {
    if (gpus[gpu].strays.empty()) continue;
    order_strays_killed(gpu);
    order_read(gpu);  // Their slices are free then.
  }
}

// All GPUs at once, or else one by one: some that cannot be read do not keep the others waiting.
DriverResult<std::vector<GpuReading>> Controller::Impl::read_what_can_be() {
  constexpr int kInVain = 8;  // Calls that do not answer, or the first ones: it is not the GPU.
  const auto count = static_cast<GpuIndex>(fleet.gpus.size());
  unread.clear();
  auto all = bounded_call(driver, options.call_timeout_s,
                          [count](Driver& fleet_driver) { return fleet_driver.read_all(count); });
  if (all) return all;
  std::vector<GpuReading> readings(count);
  int timeouts = 0;
  for (GpuIndex gpu = 0; gpu < count; ++gpu) {
    auto reading = bounded_call(driver, options.call_timeout_s,
                                [gpu](Driver& fleet_driver) { return fleet_driver.read(gpu); });
    if (reading) {
      readings[gpu] = std::move(*reading);
      continue;
    }
    unread.emplace(gpu, said(reading.error()));
    timeouts += reading.error().code == DriverCode::kTimeout;
    const bool none_so_far = unread.size() == gpu + 1;
    if (timeouts == kInVain || (none_so_far && (gpu + 1 == kInVain || gpu + 1 == count)))
      return tl::unexpected(reading.error());
  }
  return readings;
}

// A look at everything once nothing is under way any more that an earlier controller had ordered.
DriverResult<std::vector<GpuReading>> Controller::Impl::read_settled() {
  constexpr auto kPatience = std::chrono::seconds(10);
  const auto begin = std::chrono::steady_clock::now();
  while (true) {
    auto readings = read_what_can_be();
    const auto changing = [](const GpuReading& gpu) { return gpu.changing; };
    if (!readings || std::none_of(readings->begin(), readings->end(), changing) ||
        std::chrono::steady_clock::now() - begin > kPatience)
      return readings;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

// Handles what the fleet said while nobody listened. After the look: a run that it did not show has
// said so by now. Each part is journalled before more is asked for, which lets the fleet forget it.
Result<void> Controller::Impl::catch_up() {
  taken_event =
      static_cast<std::uint64_t>(parse_integer(journal->setting(kFleetEventSetting)).value_or(0));
  // A fleet whose state was put back numbers its events from there again.
  taken_event = std::min(taken_event, fleet.last_event);
  while (true) {
    auto events =
        bounded_call(driver, options.call_timeout_s, [after = taken_event](Driver& fleet_driver) {
          return fleet_driver.events_after(after, 0);
        });
    if (!events) return fail("the fleet's events cannot be received: {}", events.error().message);
    std::erase_if(*events, [&](const FleetEvent& event) { return event.number <= taken_event; });
    // The fleet has been told that what is missing here is journalled: the journal went back.
    const std::uint64_t missing_to =
        events->empty() ? fleet.last_event : events->front().number - 1;
    if (missing_to > taken_event) {
      missed_events = true;
      doubt_journal(
          journal->setting(kFleet).empty() ? JournalDoubt::kLost : JournalDoubt::kWentBack,
          fmt::format("the journal went back: it ends at event {} of the fleet, which has "
                      "been told that event {} is journalled",
                      taken_event, missing_to));
      taken_event = missing_to;
    }
    if (events->empty()) return {};
    settle_ended_runs(*events);
    put_setting(kFleetEventSetting, std::to_string(taken_event));
    if (auto written = flush({}); !written) return written;
  }
}

// Numbers of jobs that no journal has given out before, as far as can be known: higher than that of
// any run that is there, and than the clock, which grows faster than the numbers of most.
void Controller::Impl::begin_numbers_anew(const std::vector<GpuReading>& readings) {
  next_job = std::max(next_job, std::int64_t{std::time(nullptr)});
  for (const GpuReading& gpu : readings) {
    for (const SliceReading& slice : gpu.slices)
      next_job = std::max(next_job, number_of_run(slice.run) + 1);
  }
  numbers_from = next_job;
  put_setting(kNextJob, std::to_string(next_job));
}

Result<Snapshot> Controller::Impl::stand(std::vector<GpuReading>& readings) {
  auto loaded = journal->load();
  if (!loaded) return pass_on(loaded);
  next_job = loaded->next_job;
  // Runs of a journal that was lost may still be known to the fleet: none of their numbers again.
  first_job = parse_integer(journal->setting(kFirstJob)).value_or(1);
  numbers_from = parse_integer(journal->setting(kNextJob)).value_or(1);
  next_job = std::max({next_job, first_job, numbers_from});
  const JobNumber known_below = next_job;
  next_intent = loaded->next_intent;
  next_event = loaded->next_event;
  next_audit = loaded->next_audit;
  Snapshot snapshot;
  // An operator's cap outlives the controller.
  if (const auto cap = parse_number(journal->setting(kPowerCapSetting)))
    options.setup.limits.power_cap_w = *cap;
  snapshot.setup = options.setup;
  snapshot.version = options.version;
  auto parsed = Fleet::parse(options.setup.fleet);
  if (!parsed) return pass_on(parsed);
  boards = std::make_shared<const Fleet>(std::move(*parsed));
  gpus.resize(fleet.gpus.size());
  snapshot.gpus.resize(gpus.size());
  for (GpuIndex gpu = 0; gpu < gpus.size(); ++gpu) {
    gpus[gpu].row.uuid = fleet.gpus[gpu];
    gpu_by_uuid[fleet.gpus[gpu]] = gpu;
    snapshot.gpus[gpu].fresh = true;
  }
  for (const GpuRow& row : loaded->gpus) {
    const auto found = gpu_by_uuid.find(row.uuid);
    if (found == gpu_by_uuid.end()) continue;
    gpus[found->second].row = row;
    snapshot.gpus[found->second].fresh = false;
  }
  for (GpuIndex gpu = 0; gpu < gpus.size(); ++gpu) {
    read_layout_notes(gpu);
    snapshot.gpus[gpu].held = gpus[gpu].hold.has_value();
  }
  for (JobRow& row : loaded->jobs) {
    auto request = parse_job_request(row.body);
    if (!request) return fail("job {}: {}", row.number, request.error().error);
    JobBook book;
    if (request->max_runtime_s) book.max_runtime_us = to_us(*request->max_runtime_s);
    book.row = std::move(row);
    if (book.row.attempt == 1) book.last_loss_us = book.row.lost_us;
    if (!book.row.key.empty()) keys[book.row.owner + '\0' + book.row.key] = book.row.number;
    jobs.emplace(book.row.number, std::move(book));
  }
  if (auto changes = count_changes(snapshot); !changes) return pass_on(changes);
  for (const GpuReading& gpu : readings) {
    for (const SliceReading& slice : gpu.slices) note_unknown_run(slice.run);
  }
  if (auto caught_up = catch_up(); !caught_up) return pass_on(caught_up);
  follow_later_runs(readings);
  if (doubt != JournalDoubt::kNothing) name_what_was_lost(readings, known_below);
  if (doubt == JournalDoubt::kLost) {
    first_job = next_job;
    put_setting(kFirstJob, std::to_string(first_job));
  }
  snapshot.frozen = journal->setting(kFrozenSetting) == "yes" || !recovered;
  for (Snapshot::GpuStand& gpu : snapshot.gpus) gpu.fresh = gpu.fresh && recovered;
  for (const SliceRow& row : loaded->slices) {
    const auto found = gpu_by_uuid.find(row.gpu);
    if (found != gpu_by_uuid.end()) gpus[found->second].ours.insert(row.uuid);
  }
  for (IntentRow& row : loaded->intents) {
    const auto found = gpu_by_uuid.find(row.gpu);
    if (found != gpu_by_uuid.end()) gpus[found->second].intent = std::move(row);
  }
  believe_the_journal(loaded->slices, readings);
  settle_slices(readings, snapshot);
  settle_runs(readings, snapshot);
  return snapshot;
}

// Those that count towards the limit. After a restart an operator's do as well: the journal does
// not tell them apart.
Result<void> Controller::Impl::count_changes(Snapshot& snapshot) {
  const Limits& limits = options.setup.limits;
  const auto recent = journal->intents_between(boot_us - Model::window_us(limits), boot_us);
  if (!recent) return pass_on(recent);
  const std::size_t most = Model::most_changes(limits);
  for (const IntentRow& row : *recent) {
    const auto found = gpu_by_uuid.find(row.gpu);
    if (found == gpu_by_uuid.end()) continue;
    auto& changes = snapshot.gpus[found->second].changes_us;
    changes.push_back(row.opened_us);
    if (changes.size() > most) changes.erase(changes.begin());
  }
  return {};
}

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

// Runs that were over while nobody listened.
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
// first: a job of ours runs on even beside something that nobody can place.
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
    std::set<std::string> gone = gpu.ours;
    const SlotSet present = slots_we_know(index, readings[index]);
    if (doubt == JournalDoubt::kNothing) own_what_was_made(index, readings[index], present);
    for (const SliceReading& slice : readings[index].slices) {
      gone.erase(slice.uuid);
      if (!(present >> slice.slot & 1)) continue;
      gpu.slices[slice.slot] = slice.uuid;
      if (!gpu.ours.contains(slice.uuid)) stand.foreign |= SlotSet{1} << slice.slot;
    }
    for (const std::string& uuid : gone) {
      gpu.ours.erase(uuid);
      forgotten_slices.push_back(uuid);
    }
    gpu.lost = readings[index].lost;
    if (gpu.lost && gpu.row.fence.empty()) gpu.row.fence = "the GPU is lost";
    if (const auto why = unread.find(index); why != unread.end())
      gpu.row.fence = "it cannot be read: " + why->second;
    if (readings[index].changing) gpu.row.fence = "a change of an earlier controller does not end";
    if (present != slots_of(readings[index]))
      gpu.row.fence = "it has slices that its board's table does not allow";
    if (!gpu.row.fence.empty()) {
      gpu.row.retry_us = boot_us;
      fenced.insert(index);
    }
    stand.present = stand.target = present;
    stand.fresh = stand.fresh && present == 0 && !gpu.intent;
    if (gpu.intent && doubt != JournalDoubt::kNothing) {
      drop_intent(index);
    } else if (gpu.intent && unread.contains(index)) {
      // Nobody knows how far it has come: it goes back once it can be read.
      gpu.undo_reason = gpu.row.fence;
      if (gpu.intent->target != gpu.intent->base) gpu.wanted = gpu.intent->target;
    } else if (gpu.intent) {
      const SlotSet wanted = was_moving(*gpu.intent) ? gpu.intent->base : gpu.intent->target;
      if ((stand.foreign & ~wanted) == 0) stand.target = wanted;
      gpu.intent->step.clear();
      if (stand.target == present) {
        gpu.intent->closed_us = boot_us;
        gpu.intent->outcome = "found done after a restart";
        rows.emplace_back(*gpu.intent);
        gpu.intent.reset();
      } else {
        // It stays open until that is so: the next start is to know of it, too.
        gpu.intent->target = wanted;
        rows.emplace_back(*gpu.intent);
        taken_up.insert(index);
        // A closed GPU is not the model's to cut.
        if (gpu.row.fence.empty() && (gpu.row.cordoned || gpu.row.draining)) {
          stand.target = present;
          half_done.push_back(index);
        }
      }
    } else if (recovered && gpu.hold && gpu.hold->slots != 0 &&
               (stand.foreign & ~gpu.hold->slots) == 0) {
      stand.target = gpu.hold->slots;  // The change may have waited for a job to end.
    }
    stand.closed = !gpu.row.fence.empty() || gpu.row.cordoned || gpu.row.draining;
    rows.emplace_back(gpu.row);
  }
}

// How far a change has come that a journal speaks of which went back is not known: the GPU stays as
// the hardware has it.
void Controller::Impl::drop_intent(GpuIndex index) {
  IntentRow& intent = *gpus[index].intent;
  intent.step.clear();
  intent.closed_us = boot_us;
  intent.outcome = "dropped: the journal went back";
  rows.emplace_back(intent);
  gpus[index].intent.reset();
}

// Whether the journal has spoken of that attempt of a job, or of the job where `attempt` is 0. Of
// runs of a journal that was lost, or of the part of this one that was, it has not.
bool Controller::Impl::has_heard_of(JobNumber number, int attempt) {
  if (number < first_job || number >= next_job) return false;
  if (const auto found = jobs.find(number); found != jobs.end())
    return attempt <= found->second.row.attempt;
  // Finished, and perhaps forgotten for its age.
  if (number >= numbers_from) return true;
  if (!open_reader()) return false;
  const auto row = reader->job(number);
  return row && *row && attempt <= (*row)->attempt;
}

// A run of ours that nobody waits for: it ended in our books, or was never begun there. It is to be
// killed; one that the journal has not heard of goes on: nobody knows what it is worth.
bool Controller::Impl::note_if_stray(GpuIndex index, const SliceReading& slice) {
  const JobBook* book = book_of(slice.run);
  if (book != nullptr && book->row.phase != JobPhase::kQueued &&
      gpus[index].ours.contains(slice.uuid))
    return false;
  if (has_heard_of(number_of_run(slice.run), attempt_of_run(slice.run)))
    gpus[index].strays.insert(slice.run);
  return true;
}

void Controller::Impl::settle_runs(const std::vector<GpuReading>& readings, Snapshot& snapshot) {
  std::set<JobNumber> found;
  for (GpuIndex index = 0; index < gpus.size(); ++index) {
    for (const SliceReading& slice : readings[index].slices) {
      if (!(snapshot.gpus[index].present >> slice.slot & 1)) continue;
      if (slice.run.empty()) {
        // Somebody else's process has it, though the slice is ours.
        if (slice.phase != RunPhase::kIdle)
          snapshot.gpus[index].foreign |= SlotSet{1} << slice.slot;
        continue;
      }
      JobBook* book = book_of(slice.run);
      if (note_if_stray(index, slice)) {
        snapshot.gpus[index].foreign |= SlotSet{1} << slice.slot;
        continue;
      }
      found.insert(book->row.number);
      const Job job = to_job(*parse_job_request(book->row.body), book->row.submit_us);
      const double full = boards->full_us(job, boards->kind_of_slot(index, slice.slot));
      const bool saving = slice.phase == RunPhase::kSaving;
      // What is only believed to be there is as it was.
      book->begun = !book->unclear || book->row.phase == JobPhase::kRunning;
      if (!book->unclear) book->row.phase = saving ? JobPhase::kSaving : JobPhase::kRunning;
      book->row.begin_us = slice.begin_us;
      if (saving) book->stop_due_us = boot_us;
      rows.emplace_back(book->row);
      const TimeUs end_us = slice.begin_us + State::whole_us(book->row.left * full);
      // One that was told to save while it was being restored has not begun to progress.
      snapshot.runs.push_back({book->row.number, index, slice.slot,
                               saving ? std::min(slice.begin_us, boot_us) : slice.begin_us,
                               saving ? Snapshot::kUnknownEnd : end_us, saving});
    }
  }
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
    // It was lost when something happened to its GPU, or else at some time up to now.
    const auto gpu = gpu_by_uuid.find(book.row.gpu);
    const auto when = gpu == gpu_by_uuid.end() ? changed_us.end() : changed_us.find(gpu->second);
    if (missed_events) {
      // It may have done its work: it is not run a second time.
      finish(book, JobPhase::kFailed, boot_us, std::string(kEndNotKnown));
      continue;
    }
    const bool began = book.row.phase != JobPhase::kStarting;
    requeue(book, book.row.left,
            began ? book.ran_us(when == changed_us.end() ? boot_us : when->second) : 0,
            "its run was gone after a restart: it goes on from its last checkpoint");
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
