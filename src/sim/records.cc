#include "sim/records.h"

#include <algorithm>
#include <bit>

namespace smartmig {

Records::Records(const State& state, std::size_t jobs, bool stays)
    : begin_us_(state.now()), now_us_(state.now()), jobs_(jobs) {
  const Fleet& fleet = state.fleet();
  compute_total_ = fleet.compute_slices();
  seen_.resize(fleet.gpu_count());
  if (stays) staying_.resize(fleet.slice_count());
  for (GpuIndex gpu = 0; gpu < fleet.gpu_count(); ++gpu) note_gpu(state, gpu);
}

void Records::job_started(const State& state, JobIndex job) {
  JobRecord& record = jobs_[job];
  const SliceId slice = state.job_state(job).slice;
  if (record.first_start_us < 0) record.first_start_us = state.now();
  record.slice = slice;
  record.kind = state.slice(slice).kind;
  ++record.starts;
}

void Records::note_gpu(const State& state, GpuIndex gpu) {
  const Fleet& fleet = state.fleet();
  const Board& board = fleet.board(gpu);
  const GpuState& gpu_state = state.gpu(gpu);
  GpuSeen& seen = seen_[gpu];
  SlotSet ready = 0;
  SlotSet in_use = 0;
  for (SlotSet rest = gpu_state.present; rest; rest &= rest - 1) {
    const int slot = std::countr_zero(rest);
    const SliceState& slice = state.slice(fleet.slice_at(gpu, board.slots[slot].start));
    if (slice.phase == SlicePhase::kReady) ready |= SlotSet{1} << slot;
    if (slice.job != kNone) in_use |= SlotSet{1} << slot;
  }
  const int busy = state.power().busy(gpu);
  const int usable = gpu_state.up ? largest_creatable(board, in_use) : 0;
  busy_ += busy - seen.busy;
  usable_ += usable - seen.usable;
  seen.busy = busy;
  seen.usable = usable;
  const double watts = state.power().watts_at(gpu, state.now());
  if (watts != seen.watts) {
    watts_ += watts - std::max(seen.watts, 0.0);
    seen.watts = watts;
    power_.push_back({state.now(), gpu, watts});
  }
  seen.next_change_us = state.power().next_change(gpu, state.now());
  const bool first = layouts_.size() < seen_.size() && state.now() == begin_us_ && seen.target == 0;
  if (first || ready != seen.ready || gpu_state.target != seen.target || gpu_state.up != seen.up) {
    layouts_.push_back({state.now(), gpu, ready, gpu_state.target, gpu_state.up});
    seen.ready = ready;
    seen.target = gpu_state.target;
    seen.up = gpu_state.up;
  }
}

void Records::note_stays(const State& state, GpuIndex gpu) {
  const SliceId first = state.fleet().slice_at(gpu, 0);
  for (SliceId id = first; id < first + state.fleet().stride(); ++id) {
    const SliceState& slice = state.slice(id);
    StayRecord& stay = staying_[id];
    if (stay.job == slice.job && (stay.job == kNone || stay.slot == slice.slot)) continue;
    stay.end_us = state.now();
    if (stay.job != kNone && stay.begin_us < stay.end_us) stays_.push_back(stay);
    stay = {state.now(), state.now(), id, slice.job, slice.slot};
  }
}

void Records::observe(const State& state, std::span<const GpuIndex> touched) {
  for (const GpuIndex gpu : touched) note_gpu(state, gpu);
  if (!staying_.empty()) {
    for (const GpuIndex gpu : touched) note_stays(state, gpu);
  }
  waiting_ = static_cast<double>(state.ready_count());
}

// Idle boards fall to lower levels, and processes that have started draw more, with no event of the
// engine; each is a step of power of its own.
void Records::note_changes(const State& state, TimeUs until) {
  for (;;) {
    GpuIndex first = kNone;
    TimeUs at = until;
    for (GpuIndex gpu = 0; gpu < seen_.size(); ++gpu) {
      if (seen_[gpu].next_change_us < at) at = seen_[gpu].next_change_us, first = gpu;
    }
    if (first == kNone) return;
    integrate(now_us_, at);
    now_us_ = at;
    GpuSeen& seen = seen_[first];
    const double watts = state.power().watts_at(first, at);
    watts_ += watts - seen.watts;
    seen.watts = watts;
    power_.push_back({at, first, watts});
    seen.next_change_us = state.power().next_change(first, at);
  }
}

void Records::pass_time(const State& state, TimeUs to) {
  note_changes(state, to);
  integrate(now_us_, to);
  now_us_ = to;
}

void Records::add(Sums& sums, double length) const {
  sums.time += length;
  sums.busy += length * static_cast<double>(busy_);
  sums.idle += length * static_cast<double>(compute_total_ - busy_);
  sums.usable += length * static_cast<double>(usable_);
  sums.waiting += length * waiting_;
  sums.energy_w_us += length * watts_;
}

template <class Add>
void Records::for_each_bin(TimeUs from, TimeUs to, const Add& add) {
  while (from < to) {
    const auto bin = static_cast<std::size_t>((from - begin_us_) / kBinUs);
    const TimeUs end = std::min(to, begin_us_ + static_cast<TimeUs>(bin + 1) * kBinUs);
    if (bins_.size() <= bin) bins_.resize(bin + 1);
    add(bins_[bin], static_cast<double>(end - from));
    from = end;
  }
}

void Records::integrate(TimeUs from, TimeUs to) {
  for_each_bin(from, to, [this](Sums& sums, double length) { add(sums, length); });
}

void Records::leave_out(std::span<const IdlePiece> uncharged) {
  if (uncharged.empty()) return;
  std::vector<TimeUs> charged_until(seen_.size(), kNever);
  for (const IdlePiece& piece : uncharged) {
    charged_until[piece.gpu] = std::min(charged_until[piece.gpu], piece.begin_us);
    for_each_bin(piece.begin_us, piece.end_us,
                 [&](Sums& sums, double length) { sums.energy_w_us -= length * piece.watts; });
  }
  std::erase_if(
      power_, [&](const PowerRecord& record) { return record.at_us >= charged_until[record.gpu]; });
  for (GpuIndex gpu = 0; gpu < seen_.size(); ++gpu) {
    if (charged_until[gpu] != kNever) power_.push_back({charged_until[gpu], gpu, 0});
  }
  std::ranges::stable_sort(power_, {}, &PowerRecord::at_us);
}

namespace {

template <class Sums>
TimelineRecord mean_of(const Sums& sums, int compute_total) {
  TimelineRecord record;
  if (sums.time == 0) return record;
  record.utilisation = sums.busy / (sums.time * compute_total);
  record.fragmentation = sums.idle > 0 ? std::max(0.0, 1 - sums.usable / sums.idle) : 0;
  record.waiting = sums.waiting / sums.time;
  record.power_w = sums.energy_w_us / sums.time;
  return record;
}

}  // namespace

std::vector<TimelineRecord> Records::timeline() const {
  std::vector<TimelineRecord> records;
  for (const Sums& sums : bins_) records.push_back(mean_of(sums, compute_total_));
  return records;
}

TimelineRecord Records::means() const {
  Sums all;
  for (const Sums& sums : bins_) {
    all.time += sums.time;
    all.busy += sums.busy;
    all.idle += sums.idle;
    all.usable += sums.usable;
    all.waiting += sums.waiting;
    all.energy_w_us += sums.energy_w_us;
  }
  return mean_of(all, compute_total_);
}

}  // namespace smartmig
