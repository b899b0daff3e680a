#include "drivers/simulated/simulated_fleet.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/random.h"
#include "fleet/costs.h"
#include "fleet/state.h"
#include "mig/layout.h"

namespace smartmig {
namespace {

using Kind = FleetChange::Kind;

tl::unexpected<DriverError> refuse(DriverCode code, std::string message) {
  return tl::unexpected<DriverError>(DriverError{code, std::move(message)});
}

// "8f3a...-...": random-looking, and another one for each number.
std::string uuid_of(std::uint64_t seed, std::string_view stream, std::uint64_t number) {
  Random random(seed, stream, number);
  const std::uint64_t a = random.bits();
  const std::uint64_t b = random.bits();
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", a >> 32, a >> 16 & 0xffff, a & 0xffff,
                     b >> 48, b & 0xffff'ffff'ffff);
}

std::uint64_t seed_of(std::string_view id) { return Random(0, id).bits(); }

}  // namespace

SimulatedFleet::SimulatedFleet(Fleet fleet, std::string id)
    : fleet_(std::move(fleet)),
      id_(std::move(id)),
      uuid_seed_(seed_of(id_)),
      gpus_(fleet_.gpu_count()) {}

std::string SimulatedFleet::gpu_uuid(GpuIndex gpu) const {
  return "GPU-" + uuid_of(uuid_seed_, "gpu", gpu);
}

std::string SimulatedFleet::next_slice_uuid() {
  return "MIG-" + uuid_of(uuid_seed_, "slice", ++slices_made_);
}

TimeUs SimulatedFleet::oldest_effect() const {
  return std::max(floor_us_, now_ - static_cast<TimeUs>(static_cast<double>(kGraceUs) * speed_));
}

TimeUs SimulatedFleet::effective(TimeUs at_us, TimeUs not_before) const {
  return std::max({std::min(at_us, now_), oldest_effect(), not_before});
}

// As State does it under Costs::real().
TimeUs SimulatedFleet::operation_time(GpuIndex gpu, int slot, bool create) const {
  static const double scale = Costs::real().operation_scale;
  const Board& board = fleet_.board(gpu);
  const int size = size_index(
      board.profiles[board.slots[static_cast<std::size_t>(slot)].profile].compute_slices);
  const auto& times = create ? board.times.create_us : board.times.destroy_us;
  return std::llround(scale * static_cast<double>(times[static_cast<std::size_t>(size)]));
}

DriverResult<void> SimulatedFleet::check_gpu(GpuIndex gpu) const {
  if (gpu >= gpus_.size())
    return refuse(DriverCode::kNotFound,
                  fmt::format("found GPU {}, expected one of 0 to {}", gpu, gpus_.size() - 1));
  if (gpus_[gpu].lost) return refuse(DriverCode::kGpuLost, fmt::format("GPU {} is lost", gpu));
  return {};
}

SimulatedFleet::Slice* SimulatedFleet::find_slice(GpuIndex gpu, std::string_view uuid) {
  for (Slice& slice : gpus_[gpu].slices)
    if (slice.uuid == uuid) return &slice;
  return nullptr;
}

SimulatedFleet::Slice* SimulatedFleet::find_run(GpuIndex gpu, std::string_view run) {
  for (Slice& slice : gpus_[gpu].slices)
    if (slice.run && !run.empty() && slice.run->name == run) return &slice;
  return nullptr;
}

bool SimulatedFleet::has_slice(GpuIndex gpu, std::string_view uuid) const {
  const auto& slices = gpus_[gpu].slices;
  return std::any_of(slices.begin(), slices.end(), [&](const Slice& s) { return s.uuid == uuid; });
}

// --- time

void SimulatedFleet::advance_to(TimeUs now) {
  while (!due_.empty() && std::get<0>(*due_.begin()) <= std::max(now, now_)) {
    const auto [time, gpu, slot] = *due_.begin();
    now_ = std::max(now_, time);
    if (slot == kOperation) {
      end_operation(gpu);
    } else {
      pass_due_of_run(gpu, slot, time);
    }
  }
  now_ = std::max(now_, now);
}

void SimulatedFleet::schedule(GpuIndex gpu, Slice& slice) {
  unschedule(gpu, slice);
  Run& run = *slice.run;
  // What was told stays: an order from a while ago cannot make something end before that.
  for (TimeUs* time : {&run.end_us, &run.fail_us}) *time = std::max(*time, last_event_us_);
  run.due_us = run.phase == RunPhase::kSaving ? run.end_us
                                              : std::min({run.end_us, run.fail_us, run.obey_us});
  if (run.due_us != kNever) due_.insert({run.due_us, gpu, slice.slot});
}

void SimulatedFleet::unschedule(GpuIndex gpu, Slice& slice) {
  if (slice.run->due_us != kNever) due_.erase({slice.run->due_us, gpu, slice.slot});
  slice.run->due_us = kNever;
}

void SimulatedFleet::pass_due_of_run(GpuIndex gpu, std::uint8_t slot, TimeUs at_us) {
  auto& slices = gpus_[gpu].slices;
  Slice& slice = *std::find_if(slices.begin(), slices.end(),
                               [&](const Slice& other) { return other.slot == slot; });
  const Run& run = *slice.run;
  if (run.phase == RunPhase::kSaving) {
    finish(gpu, slice, at_us, FleetEvent::Kind::kSaved, run.saved_left);
  } else if (at_us == run.fail_us) {
    finish(gpu, slice, at_us, FleetEvent::Kind::kFailed, run.left);
  } else if (at_us == run.end_us) {
    finish(gpu, slice, at_us, FleetEvent::Kind::kEnded, 0);
  } else {
    begin_save(gpu, slice, at_us);
  }
}

void SimulatedFleet::emit(FleetEvent event) {
  event.number = ++last_event_;
  event.at_us = last_event_us_ = std::max(last_event_us_, event.at_us);
  events_.push_back(std::move(event));
}

void SimulatedFleet::changed(GpuIndex gpu, std::string message) {
  emit({.at_us = now_,
        .kind = FleetEvent::Kind::kChanged,
        .gpu = gpu,
        .run = {},
        .message = std::move(message)});
}

void SimulatedFleet::forget_events(std::uint64_t up_to) {
  while (!events_.empty() && events_.front().number <= up_to) events_.pop_front();
}

// --- slices

SimulatedFleet::Slice& SimulatedFleet::add_slice(GpuIndex gpu, int slot, std::string uuid,
                                                 TimeUs at_us) {
  auto& slices = gpus_[gpu].slices;
  const auto at = std::find_if(slices.begin(), slices.end(),
                               [&](const Slice& other) { return other.slot > slot; });
  gpus_[gpu].present |= SlotSet{1} << slot;
  Slice slice;
  slice.uuid = std::move(uuid);
  slice.slot = static_cast<std::uint8_t>(slot);
  slice.since_us = at_us;
  return *slices.insert(at, std::move(slice));
}

void SimulatedFleet::remove_slice(GpuIndex gpu, int slot) {
  std::erase_if(gpus_[gpu].slices, [&](const Slice& slice) { return slice.slot == slot; });
  gpus_[gpu].present &= ~(SlotSet{1} << slot);
}

void SimulatedFleet::begin_operation(GpuIndex gpu, const Operation& operation) {
  gpus_[gpu].operation = operation;
  gpus_[gpu].present |= SlotSet{1} << operation.slot;
  due_.insert({operation.end_us, gpu, kOperation});
}

void SimulatedFleet::end_operation(GpuIndex index) {
  Gpu& gpu = gpus_[index];
  const Operation operation = std::exchange(gpu.operation, {});
  due_.erase({operation.end_us, index, kOperation});
  gpu.free_us = operation.end_us;
  const bool create = operation.kind == Operation::Kind::kCreate;
  if (create) {
    add_slice(index, operation.slot, operation.uuid, operation.end_us);
  } else {
    remove_slice(index, operation.slot);
  }
  if (!operation.awaited)
    changed(index, fmt::format("slice {} was {}, and nobody waited for it", operation.uuid,
                               create ? "created" : "destroyed"));
}

SimulatedFleet::Answer SimulatedFleet::create(GpuIndex index, int slot, TimeUs at_us) {
  const Gpu& gpu = gpus_[index];
  const Board& board = fleet_.board(index);
  if (gpu.operation.kind != Operation::Kind::kIdle)
    return refuse(DriverCode::kInUse, fmt::format("GPU {} is being changed", index));
  if (slot < 0 || static_cast<std::size_t>(slot) >= board.slots.size())
    return refuse(DriverCode::kNotSupported, fmt::format("found slot {}, expected one of 0 to {}",
                                                         slot, board.slots.size() - 1));
  if (!can_add(board, gpu.present, slot))
    return refuse(DriverCode::kInsufficientResources,
                  fmt::format("no room for slot {} of GPU {} beside {}", slot, index,
                              layout_name(board, gpu.present)));
  const TimeUs end_us = effective(at_us, gpu.free_us) + operation_time(index, slot, true);
  const std::string uuid = next_slice_uuid();
  begin_operation(index, {.kind = Operation::Kind::kCreate,
                          .slot = static_cast<std::uint8_t>(slot),
                          .end_us = end_us,
                          .uuid = uuid});
  return Done{uuid, end_us};
}

SimulatedFleet::Answer SimulatedFleet::destroy(GpuIndex index, const std::string& uuid,
                                               TimeUs at_us) {
  const Gpu& gpu = gpus_[index];
  if (gpu.operation.kind != Operation::Kind::kIdle)
    return refuse(DriverCode::kInUse, fmt::format("GPU {} is being changed", index));
  const Slice* slice = find_slice(index, uuid);
  if (slice == nullptr)
    return refuse(DriverCode::kNotFound, fmt::format("no slice {} on GPU {}", uuid, index));
  if (slice->run) return refuse(DriverCode::kInUse, fmt::format("slice {} has a process", uuid));
  const TimeUs begin_us = effective(at_us, std::max(gpu.free_us, slice->since_us));
  const TimeUs end_us = begin_us + operation_time(index, slice->slot, false);
  begin_operation(
      index,
      {.kind = Operation::Kind::kDestroy, .slot = slice->slot, .end_us = end_us, .uuid = uuid});
  return Done{{}, end_us};
}

void SimulatedFleet::abandon(GpuIndex gpu) { gpus_[gpu].operation.awaited = false; }

// --- runs

double SimulatedFleet::left_at(const Run& run, TimeUs time) {
  if (time <= run.begin_us) return run.left;
  return run.left * static_cast<double>(run.end_us - time) /
         static_cast<double>(run.end_us - run.begin_us);
}

void SimulatedFleet::occupy(GpuIndex gpu, Slice& slice, Run run) {
  const Board& board = fleet_.board(gpu);
  const int compute = board.profiles[board.slots[slice.slot].profile].compute_slices;
  const auto busy = static_cast<std::size_t>(compute);
  if (run.watts == 0) run.watts = board.power.busy_w[busy] - board.power.busy_w[0];
  const BoardMeter::Change change{.at_us = run.start_us, .compute = compute, .watts = run.watts};
  gpus_[gpu].meter.add(board.power, change, oldest_effect());
  slice.run = std::make_unique<Run>(std::move(run));
  schedule(gpu, slice);
}

void SimulatedFleet::vacate(GpuIndex gpu, Slice& slice, TimeUs at_us) {
  const Board& board = fleet_.board(gpu);
  unschedule(gpu, slice);
  const BoardMeter::Change change{
      .at_us = at_us,
      .compute = -board.profiles[board.slots[slice.slot].profile].compute_slices,
      .watts = -slice.run->watts};
  gpus_[gpu].meter.add(board.power, change, oldest_effect());
  slice.run.reset();
  slice.since_us = at_us;
}

void SimulatedFleet::finish(GpuIndex gpu, Slice& slice, TimeUs at_us, FleetEvent::Kind kind,
                            double left) {
  // The four kinds of ends stand in the same order in both enumerations.
  const auto outcome = static_cast<RunOutcome>(static_cast<int>(kind) + 1);
  FleetEvent event{.at_us = at_us,
                   .kind = kind,
                   .gpu = gpu,
                   .run = slice.run->name,
                   .left = left,
                   .message = {}};
  if (kind == FleetEvent::Kind::kFailed) event.message = "the run ended with an error";
  ledger_.ended(slice.run->name, at_us, outcome);
  vacate(gpu, slice, at_us);
  SM_CHECK(at_us >= last_event_us_);
  emit(std::move(event));
}

SimulatedFleet::Answer SimulatedFleet::start(GpuIndex gpu, const RunOrder& order,
                                             const RunBehaviour& behaviour, TimeUs at_us) {
  // First of all, so that whoever did not hear the answer learns what it was.
  if (ledger_.has(order.run))
    return refuse(DriverCode::kAlreadyRan, fmt::format("run {} was started before", order.run));
  Slice* slice = find_slice(gpu, order.slice_uuid);
  if (slice == nullptr)
    return refuse(DriverCode::kNotFound,
                  fmt::format("no slice {} on GPU {}", order.slice_uuid, gpu));
  if (slice->run)
    return refuse(DriverCode::kInUse, fmt::format("slice {} has a process", slice->uuid));
  if (gpus_[gpu].operation.kind != Operation::Kind::kIdle &&
      gpus_[gpu].operation.slot == slice->slot)
    return refuse(DriverCode::kInUse, fmt::format("slice {} is being destroyed", slice->uuid));
  const double work_us = order.left * static_cast<double>(order.full_us) * behaviour.overrun;
  Run run;
  run.name = order.run;
  run.start_us = effective(at_us, slice->since_us);
  run.begin_us = run.start_us + order.restore_us;
  run.end_us = run.begin_us + State::whole_us(work_us);
  if (behaviour.fail_at >= 0) {
    const auto length = static_cast<double>(run.end_us - run.begin_us);
    run.fail_us = run.begin_us + std::llround(behaviour.fail_at * length);
  }
  run.checkpoint_us = order.checkpoint_us;
  run.left = order.left;
  run.watts = order.watts;
  run.ignore_stop_us = behaviour.ignore_stop_us;
  run.ignore_kill = behaviour.ignore_kill;
  const TimeUs start_us = run.start_us;
  ledger_.started(order.run, gpu, slice->uuid, start_us);
  occupy(gpu, *slice, std::move(run));
  return Done{{}, start_us};
}

void SimulatedFleet::begin_save(GpuIndex gpu, Slice& slice, TimeUs at_us) {
  Run& run = *slice.run;
  run.saved_left = left_at(run, at_us);
  run.phase = RunPhase::kSaving;
  run.end_us = at_us + run.checkpoint_us;
  schedule(gpu, slice);
}

SimulatedFleet::Answer SimulatedFleet::stop(GpuIndex gpu, const std::string& name, TimeUs at_us) {
  Slice* slice = find_run(gpu, name);
  if (slice == nullptr)
    return refuse(DriverCode::kNotFound, fmt::format("no run {} on GPU {}", name, gpu));
  Run& run = *slice->run;
  const TimeUs told_us = effective(at_us, run.start_us);
  if (run.phase == RunPhase::kSaving || run.ignore_stop_us == kNever) return Done{{}, told_us};
  if (run.ignore_stop_us == 0) {
    begin_save(gpu, *slice, told_us);
  } else {
    run.obey_us = std::min(run.obey_us, std::max(told_us + run.ignore_stop_us, now_));
    schedule(gpu, *slice);
  }
  return Done{{}, told_us};
}

SimulatedFleet::Answer SimulatedFleet::kill(GpuIndex gpu, const std::string& name, TimeUs at_us) {
  Slice* slice = find_run(gpu, name);
  if (slice == nullptr)
    return refuse(DriverCode::kNotFound, fmt::format("no run {} on GPU {}", name, gpu));
  const Run& run = *slice->run;
  const TimeUs told_us = effective(at_us, std::max(run.start_us, last_event_us_));
  if (!run.ignore_kill) finish(gpu, *slice, told_us, FleetEvent::Kind::kKilled, run.left);
  return Done{{}, told_us};
}

// --- what others do

SimulatedFleet::Answer SimulatedFleet::foreign(const FleetChange& change) {
  const GpuIndex gpu = change.gpu;
  if (change.kind == Kind::kForeignCreate) {
    auto made = create(gpu, change.slot, now_);
    if (!made) return made;
    // Another tool's waiting is no business of ours: the slice is there.
    due_.erase({gpus_[gpu].operation.end_us, gpu, kOperation});
    gpus_[gpu].operation = {};
    add_slice(gpu, change.slot, made->uuid, now_);
    gpus_[gpu].free_us = now_;
    changed(gpu, fmt::format("slice {} was created by somebody else", made->uuid));
    return Done{made->uuid, now_};
  }
  Slice* slice = find_slice(gpu, change.uuid);
  if (slice == nullptr)
    return refuse(DriverCode::kNotFound, fmt::format("no slice {} on GPU {}", change.uuid, gpu));
  const bool ends = change.kind == Kind::kForeignStop;
  if (ends && (!slice->run || !slice->run->name.empty()))
    return refuse(DriverCode::kNotFound, fmt::format("no foreign process on {}", change.uuid));
  const bool going = gpus_[gpu].operation.kind != Operation::Kind::kIdle &&
                     gpus_[gpu].operation.slot == slice->slot;
  if (!ends && (slice->run || going))
    return refuse(DriverCode::kInUse, fmt::format("slice {} is in use", change.uuid));
  if (ends) {
    vacate(gpu, *slice, now_);
    changed(gpu, fmt::format("a foreign process on slice {} ended", change.uuid));
  } else if (change.kind == Kind::kForeignRun) {
    Run run;
    run.start_us = run.begin_us = now_;
    occupy(gpu, *slice, std::move(run));
    changed(gpu, fmt::format("a foreign process uses slice {}", change.uuid));
  } else {
    remove_slice(gpu, slice->slot);
    gpus_[gpu].free_us = now_;
    changed(gpu, fmt::format("slice {} was destroyed by somebody else", change.uuid));
  }
  return Done{{}, now_};
}

// Everything on the board goes without a word of its own.
SimulatedFleet::Answer SimulatedFleet::reset(GpuIndex index, Kind kind) {
  Gpu& gpu = gpus_[index];
  const Board& board = fleet_.board(index);
  for (Slice& slice : gpu.slices) {
    if (!slice.run) continue;
    unschedule(index, slice);
    if (!slice.run->name.empty()) ledger_.ended(slice.run->name, now_, RunOutcome::kLost);
  }
  if (gpu.operation.kind != Operation::Kind::kIdle)
    due_.erase({gpu.operation.end_us, index, kOperation});
  gpu.slices.clear();
  gpu.operation = {};
  gpu.present = 0;
  gpu.free_us = now_;
  gpu.meter.add(board.power, {.at_us = now_, .kind = BoardMeter::Kind::kDown}, oldest_effect());
  gpu.lost = kind == Kind::kLose;
  if (!gpu.lost)
    gpu.meter.add(board.power, {.at_us = now_, .kind = BoardMeter::Kind::kUp}, oldest_effect());
  changed(index, kind == Kind::kLose     ? "the GPU is lost"
                 : kind == Kind::kReturn ? "the GPU is back"
                                         : "the GPU was reset");
  return Done{{}, now_};
}

SimulatedFleet::Answer SimulatedFleet::apply(const FleetChange& change) {
  if (change.kind >= Kind::kCreate && change.gpu != kNone) {
    const bool even_if_lost = change.kind == Kind::kReturn || change.kind == Kind::kAbandon;
    if (auto checked = check_gpu(change.gpu);
        !checked && !(even_if_lost && checked.error().code == DriverCode::kGpuLost))
      return tl::unexpected(checked.error());
  }
  Answer answer = Done{{}, now_};
  switch (change.kind) {
    case Kind::kTime:
      break;
    case Kind::kSpeed:
      speed_ = change.speed;
      floor_us_ = now_;
      break;
    case Kind::kClaim:
      ++epoch_;
      break;
    case Kind::kCreate:
      answer = create(change.gpu, change.slot, change.at_us);
      break;
    case Kind::kDestroy:
      answer = destroy(change.gpu, change.uuid, change.at_us);
      break;
    case Kind::kStart:
      answer = start(change.gpu, change.order, change.behaviour, change.at_us);
      break;
    case Kind::kStop:
      answer = stop(change.gpu, change.order.run, change.at_us);
      break;
    case Kind::kKill:
      answer = kill(change.gpu, change.order.run, change.at_us);
      break;
    case Kind::kAbandon:
    case Kind::kReboot:
      for (GpuIndex gpu = 0; gpu < gpus_.size(); ++gpu) {
        if (change.gpu != kNone && change.gpu != gpu) continue;
        if (change.kind == Kind::kAbandon) {
          abandon(gpu);
        } else if (!gpus_[gpu].lost) {
          answer = reset(gpu, change.kind);
        }
      }
      break;
    case Kind::kReturn:
      if (!gpus_[change.gpu].lost)
        return refuse(DriverCode::kNotFound, fmt::format("GPU {} is not lost", change.gpu));
      [[fallthrough]];
    case Kind::kLose:
      answer = reset(change.gpu, change.kind);
      break;
    case Kind::kForeignCreate:
    case Kind::kForeignDestroy:
    case Kind::kForeignRun:
    case Kind::kForeignStop:
      answer = foreign(change);
      break;
  }
  advance_to(now_);  // What took effect a while ago may be over by now.
  return answer;
}

// --- reading

DriverResult<GpuReading> SimulatedFleet::read(GpuIndex index) const {
  if (auto checked = check_gpu(index); !checked && checked.error().code != DriverCode::kGpuLost)
    return tl::unexpected(checked.error());
  const Gpu& gpu = gpus_[index];
  const BoardPower& power = fleet_.board(index).power;
  GpuReading reading;
  reading.lost = gpu.lost;
  reading.changing = gpu.operation.kind != Operation::Kind::kIdle;
  reading.power_w = gpu.meter.power_w(power, now_);
  reading.energy_j = gpu.meter.energy_j(power, now_);
  for (const Slice& slice : gpu.slices) {
    SliceReading& out = reading.slices.emplace_back();
    out.uuid = slice.uuid;
    out.slot = slice.slot;
    if (!slice.run) continue;
    out.phase = slice.run->phase;
    out.run = slice.run->name;
    out.begin_us = slice.run->begin_us;
  }
  return reading;
}

}  // namespace smartmig
