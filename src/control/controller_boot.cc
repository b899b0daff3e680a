// The start: what the journal owes against what the hardware has. controller_doubt.cc has what
// follows where the journal cannot be trusted, controller_settle.cc how slices and runs are
// settled.
#include <unistd.h>

#include <algorithm>

#include "base/text.h"
#include "control/bounded_call.h"
#include "control/controller_impl.h"
#include "fleet/fleet.h"

namespace smartmig {
namespace {

constexpr const char* kComparedPolicy = "none/edf";

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
  if (damage.empty() && journal->setting(kFleetSetting).empty()) {
    // Nothing was written yet: a start that put a damaged journal aside may have gone no further.
    damaged_journal = Journal::last_set_aside(options.state_dir);
    if (!damaged_journal.empty())
      damage = "the journal was damaged, as a start that went no further had found";
  }
  return {};
}

Result<void> Controller::Impl::boot(std::unique_ptr<Driver> given) {
  driver = std::move(given);
  if (auto opened = open_journal(); !opened) return opened;
  auto described =
      bounded_call(driver, options.call_timeout_s,
                   [owner = fmt::format("process {} with state {}", getpid(), options.state_dir)](
                       Driver& fleet_driver) { return fleet_driver.claim(owner); });
  if (!described) return fail("cannot claim the fleet: {}", described.error().message);
  at("claimed");
  fleet = std::move(*described);
  const std::string known_fleet = journal->setting(kFleetSetting);
  if (!known_fleet.empty() && known_fleet != fleet.fleet_id)
    return fail("{}: this state belongs to fleet {}, the driver has fleet {}", options.state_dir,
                known_fleet, fleet.fleet_id);
  put_setting(kFleetSetting, fleet.fleet_id);
  options.setup.fleet = fleet_spec(fleet.boards);
  boot_us = fleet.clock.at(monotonic_ns());

  auto readings = read_settled();
  if (!readings) return fail("the fleet cannot be read: {}", readings.error().message);
  // A journal that begins here has nothing to go by.
  if (!unread.empty() && known_fleet.empty())
    return fail("the fleet cannot be read: {}: {}", fleet.gpus[unread.begin()->first],
                unread.begin()->second);
  doubt_what_was_opened(*readings);
  auto snapshot = make_snapshot(*readings);
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
  resume_unfinished();
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

// What was asked for and perhaps not done, and runs that belong to no job. Where the journal is
// doubted `recover` does it.
void Controller::Impl::resume_unfinished() {
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

// Handles what the fleet said while no controller listened. After the look: a run that it did not
// show has said so by now. Each part is journalled before more is asked for, which lets the fleet
// forget it.
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
          journal->setting(kFleetSetting).empty() ? JournalDoubt::kLost : JournalDoubt::kWentBack,
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

// What the model begins with: the journal's books, brought in line with what the hardware has.
Result<Snapshot> Controller::Impl::make_snapshot(std::vector<GpuReading>& readings) {
  auto loaded = journal->load();
  if (!loaded) return pass_on(loaded);
  const JobNumber known_below = read_numbers(*loaded);
  Snapshot snapshot;
  // An operator's cap outlives the controller.
  if (const auto cap = parse_number(journal->setting(kPowerCapSetting)))
    options.setup.limits.power_cap_w = *cap;
  snapshot.setup = options.setup;
  snapshot.version = options.version;
  if (auto read = read_gpus(loaded->gpus, snapshot); !read) return pass_on(read);
  if (auto read = read_jobs(loaded->jobs); !read) return pass_on(read);
  if (auto changes = count_changes(snapshot); !changes) return pass_on(changes);
  for (const GpuReading& gpu : readings) {
    for (const SliceReading& slice : gpu.slices) note_unknown_run(slice.run);
  }
  if (auto caught_up = catch_up(); !caught_up) return pass_on(caught_up);
  follow_later_runs(readings);
  if (doubt != JournalDoubt::kNothing) name_what_was_lost(readings, known_below);
  if (doubt == JournalDoubt::kLost) {
    first_job = next_job;
    put_setting(kFirstJobSetting, std::to_string(first_job));
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

// Answers the number below which the journal knows every job that was accepted.
JobNumber Controller::Impl::read_numbers(const JournalState& loaded) {
  // Runs of a journal that was lost may still be known to the fleet: their numbers are not given
  // out a second time.
  first_job = parse_integer(journal->setting(kFirstJobSetting)).value_or(1);
  numbers_from = parse_integer(journal->setting(kNextJobSetting)).value_or(1);
  next_job = std::max({loaded.next_job, first_job, numbers_from});
  next_intent = loaded.next_intent;
  next_event = loaded.next_event;
  next_audit = loaded.next_audit;
  return next_job;
}

Result<void> Controller::Impl::read_gpus(const std::vector<GpuRow>& loaded, Snapshot& snapshot) {
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
  for (const GpuRow& row : loaded) {
    const auto found = gpu_by_uuid.find(row.uuid);
    if (found == gpu_by_uuid.end()) continue;
    gpus[found->second].row = row;
    snapshot.gpus[found->second].fresh = false;
  }
  for (GpuIndex gpu = 0; gpu < gpus.size(); ++gpu) {
    read_layout_notes(gpu);
    snapshot.gpus[gpu].held = gpus[gpu].hold.has_value();
  }
  return {};
}

Result<void> Controller::Impl::read_jobs(std::vector<JobRow>& loaded) {
  for (JobRow& row : loaded) {
    auto request = parse_job_request(row.body);
    if (!request) return fail("job {}: {}", row.number, request.error().error);
    JobBook book;
    if (request->max_runtime_s) book.max_runtime_us = to_us(*request->max_runtime_s);
    book.row = std::move(row);
    if (book.row.attempt == 1) book.last_loss_us = book.row.lost_us;
    if (!book.row.key.empty()) keys[book.row.owner + '\0' + book.row.key] = book.row.number;
    jobs.emplace(book.row.number, std::move(book));
  }
  return {};
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

}  // namespace smartmig
