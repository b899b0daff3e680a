#include "fleet/power.h"

#include <algorithm>

#include "workload/catalogue.h"

namespace smartmig {
namespace {

constexpr double kSecondsPerUs = 1e-6;

// How an idle stretch splits: context still open, then idle, then switched off.
struct IdleSplit {
  TimeUs context = 0;
  TimeUs idle = 0;
  TimeUs off = 0;
};
IdleSplit split_idle(TimeUs length, TimeUs linger, std::optional<TimeUs> off_after) {
  IdleSplit split;
  split.context = std::min(length, linger);
  if (off_after) split.off = std::max<TimeUs>(0, length - std::max(linger, *off_after));
  split.idle = length - split.context - split.off;
  return split;
}

}  // namespace

PowerMeter::PowerMeter(const Fleet& fleet, const Costs& costs, std::size_t jobs_to_attribute)
    : fleet_(&fleet),
      real_power_(costs.real_power),
      start_us_(costs.start_us),
      power_down_after_us_(costs.power_down_after_us),
      off_w_(costs.off_w),
      gpus_(fleet.gpu_count()),
      job_energy_j_(jobs_to_attribute, 0.0) {
  bool additive = false;
  for (const Board* board : fleet.boards()) {
    SM_CHECK(board->power.busy_w.size() <= kMaxLevels);
    meters_.emplace_back();
    additive |= real_power_ && board->power.additive;
  }
  if (additive || jobs_to_attribute > 0) running_.resize(fleet.slice_count());
  if (real_power_ && start_us_ > 0) starting_.resize(fleet.slice_count());
}

void PowerMeter::restart(std::size_t jobs_to_attribute) {
  for (Gpu& gpu : gpus_) gpu = {};
  for (Meter& meter : meters_) meter = {};
  stretches_.clear();
  for (Running& running : running_) running = {};
  for (Starting& starting : starting_) starting = {};
  job_energy_j_.assign(jobs_to_attribute, 0.0);
}

void PowerMeter::begin(TimeUs now, bool for_tails) {
  for_tails_ = for_tails;
  for (Gpu& gpu : gpus_) gpu.since_us = gpu.used_until_us = now;
}

void PowerMeter::add_interval(Meter& meter, const Gpu& gpu, const BoardPower& power,
                              TimeUs length) const {
  if (!gpu.up) return;
  if (gpu.busy == 0 && gpu.starting > 0) {
    meter.context_us += length;
  } else if (gpu.busy == 0) {
    const TimeUs linger = real_power_ && gpu.lingers ? power.context_linger_us : 0;
    const IdleSplit split = split_idle(length, linger, power_down_after_us_);
    meter.context_us += split.context;
    meter.level_us[0] += split.idle;
    meter.off_us += split.off;
  } else if (real_power_ && power.additive) {
    meter.added_j += std::min(power.cap_w, power.context_idle_w + gpu.added_w) *
                     static_cast<double>(length) * kSecondsPerUs;
  } else {
    meter.level_us[gpu.busy] += length;
  }
}

void PowerMeter::account(TimeUs now, GpuIndex index) {
  Gpu& gpu = gpus_[index];
  while (gpu.starting > 0) {
    const SliceId slice = next_started(index, gpu.since_us, now);
    if (slice == kNone) break;
    Starting& started = starting_[slice];
    account_level(started.from_us, index);
    gpu.starting = static_cast<std::uint8_t>(gpu.starting - started.then.compute);
    gpu.busy = static_cast<std::uint8_t>(gpu.busy + started.then.compute);
    if (!running_.empty()) running_[slice] = started.then;
    if (is_additive(index)) gpu.added_w = sum_watts(index);
    started = {};
  }
  account_level(now, index);
}

void PowerMeter::add_start(TimeUs now, SliceId slice, KindIndex kind, JobIndex index,
                           const Job& job) {
  const GpuIndex gpu = fleet_->gpu_of(slice);
  const std::uint8_t compute = fleet_->kinds()[kind].compute;
  const double watts = is_additive(gpu) ? own_watts(gpu, kind, job) : 0;
  starting_[slice] = {now + start_us_, {index, compute, watts}};
  gpus_[gpu].starting = static_cast<std::uint8_t>(gpus_[gpu].starting + compute);
}

bool PowerMeter::drop_start(SliceId slice) {
  Starting& starting = starting_[slice];
  if (starting.from_us == kNever) return false;
  Gpu& gpu = gpus_[fleet_->gpu_of(slice)];
  gpu.starting = static_cast<std::uint8_t>(gpu.starting - starting.then.compute);
  starting = {};
  return true;
}

SliceId PowerMeter::next_started(GpuIndex gpu, TimeUs after, TimeUs until) const {
  SliceId next = kNone;
  const SliceId first = fleet_->slice_at(gpu, 0);
  for (SliceId slice = first; slice < first + fleet_->stride(); ++slice) {
    const TimeUs from_us = starting_[slice].from_us;
    if (from_us < after || from_us > until) continue;
    if (next == kNone || from_us < starting_[next].from_us) next = slice;
  }
  return next;
}

PowerMeter::Gpu PowerMeter::as_started(GpuIndex index, Gpu gpu, TimeUs time) const {
  const SliceId first = fleet_->slice_at(index, 0);
  for (SliceId slice = first; slice < first + fleet_->stride(); ++slice) {
    const Starting& starting = starting_[slice];
    if (starting.from_us > time) continue;
    gpu.starting = static_cast<std::uint8_t>(gpu.starting - starting.then.compute);
    gpu.busy = static_cast<std::uint8_t>(gpu.busy + starting.then.compute);
    gpu.added_w += starting.then.watts;
  }
  return gpu;
}

// At the level that the board has had since it was last accounted for.
void PowerMeter::account_level(TimeUs now, GpuIndex index) {
  Gpu& gpu = gpus_[index];
  const TimeUs length = now - gpu.since_us;
  if (length == 0) return;
  gpu.since_us = now;
  if (gpu.busy > 0 || gpu.starting > 0) gpu.used_until_us = now;
  add_interval(meters_[fleet_->board_index(index)], gpu, fleet_->board(index).power, length);
  if (job_energy_j_.empty() || gpu.busy == 0 || !gpu.up) return;
  const double share = (watts_at(index, gpu, now) - fleet_->board(index).power.busy_w[0]) *
                       static_cast<double>(length) * kSecondsPerUs / gpu.busy;
  const SliceId first = fleet_->slice_at(index, 0);
  for (SliceId slice = first; slice < first + fleet_->stride(); ++slice) {
    const Running& running = running_[slice];
    if (running.job != kNone) job_energy_j_[running.job] += share * running.compute;
  }
}

void PowerMeter::track_on(SliceId slice, KindIndex kind, JobIndex index, const Job& job) {
  const GpuIndex gpu = fleet_->gpu_of(slice);
  const SliceKind& slice_kind = fleet_->kinds()[kind];
  Running& running = running_[slice];
  running.job = index;
  running.compute = slice_kind.compute;
  if (!is_additive(gpu)) return;
  running.watts = own_watts(gpu, kind, job);
  gpus_[gpu].added_w = sum_watts(gpu);
}

double PowerMeter::own_watts(GpuIndex gpu, KindIndex kind, const Job& job) const {
  const SliceKind& slice_kind = fleet_->kinds()[kind];
  const BoardPower& power = fleet_->board(gpu).power;
  const double watts =
      job.profile == kNoProfile
          ? 0
          : Catalogue::shipped().profiles()[job.profile].watts[slice_kind.size] * power.job_scale;
  if (watts != 0) return watts;
  return power.busy_w[slice_kind.compute] - power.busy_w[0];  // Not measured: the table's.
}

void PowerMeter::track_off(SliceId slice) {
  const GpuIndex gpu = fleet_->gpu_of(slice);
  running_[slice] = {};
  if (is_additive(gpu)) gpus_[gpu].added_w = sum_watts(gpu);
}

// A failure or return changes what a board without a job draws; idle_tails() has to know from when.
void PowerMeter::end_stretch(TimeUs now, GpuIndex gpu) {
  if (for_tails_ && gpus_[gpu].since_us < now) stretches_.push_back({gpu, now, gpus_[gpu]});
  account(now, gpu);
}

void PowerMeter::board_down(TimeUs now, GpuIndex gpu) {
  end_stretch(now, gpu);
  gpus_[gpu].up = false;
}

void PowerMeter::board_up(TimeUs now, GpuIndex gpu) {
  end_stretch(now, gpu);
  gpus_[gpu].up = true;
  gpus_[gpu].lingers = false;
}

double PowerMeter::energy_j(TimeUs now) const {
  double energy = 0;
  for (std::size_t b = 0; b < meters_.size(); ++b) {
    const BoardPower& power = fleet_->boards()[b]->power;
    Meter meter = meters_[b];
    for (GpuIndex i = 0; i < gpus_.size(); ++i) {
      if (fleet_->board_index(i) != b) continue;
      Gpu gpu = gpus_[i];
      // Each process that has started since then has changed the level.
      while (gpu.starting > 0) {
        const SliceId slice = next_started(i, gpu.since_us + 1, now);
        if (slice == kNone) break;
        const TimeUs from_us = starting_[slice].from_us;
        add_interval(meter, gpu, power, from_us - gpu.since_us);
        gpu = as_started(i, gpus_[i], from_us);
        gpu.since_us = from_us;
      }
      add_interval(meter, gpu, power, now - gpu.since_us);
    }
    double watt_us = power.context_idle_w * static_cast<double>(meter.context_us) +
                     off_w_ * static_cast<double>(meter.off_us);
    for (std::size_t level = 0; level < power.busy_w.size(); ++level)
      watt_us += power.busy_w[level] * static_cast<double>(meter.level_us[level]);
    energy += watt_us * kSecondsPerUs + meter.added_j;
  }
  return energy;
}

void PowerMeter::add_idle(std::vector<IdlePiece>& pieces, GpuIndex index, const Gpu& gpu,
                          TimeUs from, TimeUs to) const {
  for (TimeUs now = std::max(from, gpu.since_us); now < to;) {
    const TimeUs next = std::min(to, next_change(index, gpu, now));
    pieces.push_back({index, now, next, watts_at(index, gpu, now)});
    now = next;
  }
}

std::vector<IdlePiece> PowerMeter::idle_tails(TimeUs from, TimeUs now) const {
  SM_CHECK(for_tails_);
  std::vector<IdlePiece> pieces;
  for (const IdleStretch& stretch : stretches_) {
    const TimeUs used_until_us = gpus_[stretch.gpu].used_until_us;
    add_idle(pieces, stretch.gpu, stretch.before, std::max(from, used_until_us), stretch.end_us);
  }
  for (GpuIndex index = 0; index < gpus_.size(); ++index) {
    const Gpu& gpu = gpus_[index];
    if (gpu.busy == 0 && gpu.starting == 0)
      add_idle(pieces, index, gpu, std::max(from, gpu.used_until_us), now);
  }
  std::ranges::stable_sort(pieces, {}, &IdlePiece::gpu);
  return pieces;
}

double PowerMeter::watts_at(GpuIndex index, TimeUs time) const {
  if (gpus_[index].starting > 0)
    return watts_at(index, as_started(index, gpus_[index], time), time);
  return watts_at(index, gpus_[index], time);
}

double PowerMeter::watts_when_started(GpuIndex index, TimeUs now) const {
  if (gpus_[index].starting == 0) return watts_at(index, now);
  return watts_at(index, as_started(index, gpus_[index], kNever - 1), now);
}

double PowerMeter::watts_at(GpuIndex index, const Gpu& gpu, TimeUs time) const {
  const BoardPower& power = fleet_->board(index).power;
  if (!gpu.up) return 0;
  if (gpu.busy > 0) {
    if (is_additive(index)) return std::min(power.cap_w, power.context_idle_w + gpu.added_w);
    return power.busy_w[gpu.busy];
  }
  if (gpu.starting > 0) return power.context_idle_w;
  // The level of the moment just after `time`.
  const TimeUs linger = real_power_ && gpu.lingers ? power.context_linger_us : 0;
  const TimeUs idle_for = time - gpu.since_us;
  if (idle_for < linger) return power.context_idle_w;
  if (power_down_after_us_ && idle_for >= *power_down_after_us_) return off_w_;
  return power.busy_w[0];
}

double PowerMeter::watts_with(GpuIndex index, KindIndex kind, const Job& job) const {
  Gpu gpu = gpus_[index];
  if (gpu.starting > 0) gpu = as_started(index, gpu, kNever - 1);
  const BoardPower& power = fleet_->board(index).power;
  if (is_additive(index))
    return std::min(power.cap_w, power.context_idle_w + gpu.added_w + own_watts(index, kind, job));
  const std::size_t busy = gpu.busy + std::size_t{fleet_->kinds()[kind].compute};
  return power.busy_w[std::min(busy, power.busy_w.size() - 1)];
}

TimeUs PowerMeter::next_change(GpuIndex index, TimeUs time) const {
  return next_change(index, gpus_[index], time);
}

TimeUs PowerMeter::next_change(GpuIndex index, const Gpu& gpu, TimeUs time) const {
  if (!gpu.up) return kNever;
  if (gpu.starting > 0) {
    const SliceId slice = next_started(index, time + 1, kNever - 1);
    return slice == kNone ? kNever : starting_[slice].from_us;
  }
  if (gpu.busy > 0) return kNever;
  const TimeUs linger =
      real_power_ && gpu.lingers ? fleet_->board(index).power.context_linger_us : 0;
  TimeUs next = kNever;
  if (linger > 0 && gpu.since_us + linger > time) next = gpu.since_us + linger;
  if (power_down_after_us_) {
    const TimeUs off = gpu.since_us + std::max(linger, *power_down_after_us_);
    if (off > time) next = std::min(next, off);
  }
  return next;
}

// Summed from scratch at each change, so that rounding errors do not add up.
double PowerMeter::sum_watts(GpuIndex gpu) const {
  double sum = 0;
  const SliceId first = fleet_->slice_at(gpu, 0);
  for (SliceId slice = first; slice < first + fleet_->stride(); ++slice) {
    if (running_[slice].job != kNone) sum += running_[slice].watts;
  }
  return sum;
}

}  // namespace smartmig
