#include "policy/placement_inputs.h"

#include <cmath>

#include "workload/catalogue.h"

namespace smartmig {
namespace {

// Times enter as x / (|x| + 5 min): bounded, and finest where most jobs of the papers' day are.
constexpr float kHalfUs = 5.0f * static_cast<float>(kMinuteUs);
float squash(TimeUs us) {
  const auto x = static_cast<float>(us);
  return x / (std::abs(x) + kHalfUs);
}
constexpr float kForEver = 1;  // squash() of a time without end.

// The papers' rate over the hours of a day, mean 1: a forecast that any policy can have.
const std::array<float, 24>& hourly_shape() {
  static const std::array<float, 24> shape = [] {
    std::array<float, 24> values{};
    const auto curve = find_curve("paper");
    SM_CHECK(curve.has_value());
    for (std::size_t h = 0; h < values.size(); ++h)
      values[h] = static_cast<float>((*curve)->by_hour[h]);
    return values;
  }();
  return shape;
}

// On a circle, so that midnight is no jump; by the minute, from a table.
struct Clock {
  float sine = 0;
  float cosine = 0;
};
Clock clock_at(TimeUs now) {
  static const std::array<Clock, 1440> table = [] {
    std::array<Clock, 1440> values{};
    for (std::size_t m = 0; m < values.size(); ++m) {
      const double angle = 2 * 3.14159265358979323846 * static_cast<double>(m) / 1440;
      values[m] = {static_cast<float>(std::sin(angle)), static_cast<float>(std::cos(angle))};
    }
    return values;
  }();
  return table[static_cast<std::size_t>(now % kDayUs / kMinuteUs)];
}

// Fills in order.
class Writer {
 public:
  explicit Writer(std::span<float> out) : out_(out) {}
  void add(float value) { out_[at_++] = value; }
  bool is_full() const { return at_ == out_.size(); }

 private:
  std::span<float> out_;
  std::size_t at_ = 0;
};

// The least remaining time on each size, over the fleet's kinds on which the job runs; 0: none.
using SizeTimes = std::array<TimeUs, kSizeCount>;
SizeTimes times_by_size(const View& view, const Seen& seen, KindSet job_kinds) {
  SizeTimes times{};
  for (KindSet rest = job_kinds; rest; rest &= rest - 1) {
    const int kind = std::countr_zero(rest);
    TimeUs& time = times[view.fleet().kinds()[kind].size];
    const TimeUs us = seen.remaining_us(kind);
    if (time == 0 || us < time) time = us;
  }
  return times;
}

// 15: clock, rate of this hour and the next, times on the sizes, how they scale, slack, kind.
void add_job(const View& view, JobIndex job, const SizeTimes& times, Writer& out) {
  const Clock clock = clock_at(view.now());
  out.add(clock.sine);
  out.add(clock.cosine);
  const auto hour = static_cast<std::size_t>(view.now() % kDayUs / kHourUs);
  out.add(hourly_shape()[hour]);
  out.add(hourly_shape()[(hour + 1) % 24]);
  TimeUs fastest = 0;
  for (const TimeUs time : times) {
    out.add(time > 0 ? squash(time) : kForEver);
    if (time > 0 && (fastest == 0 || time < fastest)) fastest = time;
  }
  for (int size = 0; size + 1 < kSizeCount; ++size) {
    out.add(times[size] > 0 ? static_cast<float>(fastest) / static_cast<float>(times[size]) : 0);
  }
  out.add(squash(view.look_at(job).slack_us()));
  out.add(view.job(job).kind == JobKind::kTraining ? 1 : 0);
}

}  // namespace

void PlacementInputs::begin(const View& view) {
  const Fleet& fleet = view.fleet();
  slices_.clear();
  sizes_.clear();
  for (GpuIndex gpu = 0; gpu < fleet.gpu_count(); ++gpu) {
    for (SlotSet rest = view.gpu(gpu).target; rest; rest &= rest - 1)
      slices_.push_back(fleet.slice_at(gpu, fleet.board(gpu).slots[std::countr_zero(rest)].start));
  }
  std::sort(slices_.begin(), slices_.end());
  sizes_.resize(slices_.size());
  for (GpuIndex gpu = 0; gpu < fleet.gpu_count(); ++gpu) {
    for (SlotSet rest = view.gpu(gpu).target; rest; rest &= rest - 1) {
      const int slot = std::countr_zero(rest);
      const SliceId slice = fleet.slice_at(gpu, fleet.board(gpu).slots[slot].start);
      const auto at = std::lower_bound(slices_.begin(), slices_.end(), slice) - slices_.begin();
      sizes_[static_cast<std::size_t>(at)] = fleet.kinds()[fleet.kind_of_slot(gpu, slot)].size;
    }
  }
}

void PlacementInputs::observe(const View& view, const StepwisePlacement& at,
                              std::span<float> inputs, std::span<std::uint8_t> allowed) const {
  const JobIndex job = at.job();
  const Seen seen = view.look_at(job);
  const KindSet job_kinds = view.kinds(job);
  const TimeUs now = view.now();
  const TimeUs slack = seen.slack_us();
  const TimeUs delay = seen.delay_us();
  std::array<TimeUs, kMaxKinds> by_kind{};  // Of the kinds on which it runs.
  SizeTimes times{};
  for (KindSet rest = job_kinds; rest; rest &= rest - 1) {
    const int kind = std::countr_zero(rest);
    by_kind[kind] = seen.remaining_us(kind);
    TimeUs& time = times[view.fleet().kinds()[kind].size];
    if (time == 0 || by_kind[kind] < time) time = by_kind[kind];
  }
  Writer out(inputs);
  add_job(view, job, times, out);

  // First the slices, which the sums over them need.
  float* of_slice = inputs.data() + kOfJob;
  std::array<float, kSizeCount> free_of_size{};
  float running = 0;
  float on_time = 0;
  float busy_gpus = 0;
  GpuIndex last_busy = kNone;
  for (std::size_t i = 0; i < slices_.size(); ++i, of_slice += kOfSlice) {
    const SeenSlice slice = view.slice(slices_[i]);
    if (slice.phase != SlicePhase::kReady) {  // Its GPU has failed, or it is not made yet.
      allowed[i] = 0;
      of_slice[0] = 0;
      of_slice[1] = of_slice[2] = kForEver;
      continue;
    }
    const bool runs = job_kinds >> slice.kind & 1;
    // What was taken at this instant has no job yet, and is no longer free.
    const bool free = view.free().is_free(slices_[i], slice.kind);
    const bool has_job = slice.job != kNone;
    const bool occupied = has_job && !free;  // Under free preemption a slice with a job is free.
    const TimeUs wait = occupied ? std::max<TimeUs>(0, view.believed_end(slices_[i]) - now) : 0;
    const TimeUs late = wait + delay + by_kind[slice.kind] - slack;
    allowed[i] = free && runs;
    of_slice[0] = free && runs ? 1.0f : 0.0f;
    of_slice[1] = free || has_job ? squash(wait) : kForEver;
    of_slice[2] = runs && (free || has_job) ? squash(late) : kForEver;
    if (free) free_of_size[sizes_[i]] += 0.25f;
    running += has_job;
    on_time += free && runs && late <= 0;
    const GpuIndex gpu = view.fleet().gpu_of(slices_[i]);
    if (!free && gpu != last_busy) busy_gpus += 1, last_busy = gpu;
  }
  // Here waits what has not been placed at this instant.
  const auto waiting = static_cast<float>(view.ready_count() - at.starts().size());
  out.add(waiting / (waiting + 10));
  for (const float free : free_of_size) out.add(free);
  const float slices = std::max(1.0f, static_cast<float>(slices_.size()));
  out.add(running / slices);
  out.add(busy_gpus / static_cast<float>(view.fleet().gpu_count()));
  out.add(on_time / slices);
  const JobIndex after = at.job_after();
  if (after == kNone) {
    for (int i = 0; i < 4; ++i) out.add(0);
    return;
  }
  const Seen behind = view.look_at(after);
  const KindSet its_kinds = view.kinds(after);
  out.add(1);
  out.add(squash(behind.slack_us()));
  out.add(its_kinds ? squash(behind.remaining_us(std::countr_zero(its_kinds))) : kForEver);
  out.add(its_kinds ? squash(behind.remaining_us(63 - std::countl_zero(its_kinds))) : kForEver);
}

void observe_sizes(const View& view, const StepwisePlacement& at, std::span<float> inputs,
                   std::span<std::uint8_t> allowed) {
  const JobIndex job = at.job();
  const Seen seen = view.look_at(job);
  const SizeTimes times = times_by_size(view, seen, view.kinds(job));
  Writer out(inputs);
  add_job(view, job, times, out);
  const Aggregates& sums = view.aggregates();
  const float per_gpu = 1 / static_cast<float>(std::max<GpuIndex>(1, view.gpus_up()));
  out.add(static_cast<float>(sums.ready()) * per_gpu);
  std::fill(allowed.begin(), allowed.end(), 0);
  for (KindSet rest = at.kinds(); rest; rest &= rest - 1)
    allowed[view.fleet().kinds()[std::countr_zero(rest)].size] = 1;
  // How many slices of each size the layouts have, for each GPU.
  std::array<float, kSizeCount> slices{};
  for (std::size_t b = 0; b < view.fleet().boards().size(); ++b) {
    const Board& board = *view.fleet().boards()[b];
    const LayoutNumbers& numbers = sums.layouts(b);
    for (int n = 0; n < numbers.size(); ++n) {
      const std::uint32_t gpus = sums.gpus_in(b, n);
      if (gpus == 0) continue;
      for (SlotSet rest = numbers.layout(n); rest; rest &= rest - 1) {
        const Profile& profile = board.profiles[board.slots[std::countr_zero(rest)].profile];
        slices[size_index(profile.compute_slices)] += static_cast<float>(gpus) * per_gpu;
      }
    }
  }
  const TimeUs slack = seen.slack_us();
  for (int size = 0; size < kSizeCount; ++size) {
    out.add(allowed[size]);
    out.add(slices[size]);
    out.add(times[size] > 0 ? squash(seen.delay_us() + times[size] - slack) : kForEver);
  }
  const auto ready = static_cast<float>(sums.ready());
  for (const std::uint32_t count : sums.counts(Histogram::kToDeadline))
    out.add(ready > 0 ? static_cast<float>(count) / ready : 0);
  SM_CHECK(out.is_full());
}

SliceId slice_of_size(const View& view, KindSet kinds, int size) {
  KindSet of_size = 0;
  for (KindSet rest = kinds; rest; rest &= rest - 1) {
    if (view.fleet().kinds()[std::countr_zero(rest)].size == size) of_size |= rest & -rest;
  }
  SM_CHECK(of_size != 0);
  return lowest_index(view, of_size);
}

}  // namespace smartmig
