#include "fleet/aggregates.h"

#include <algorithm>

namespace smartmig {
namespace {

constexpr std::uint16_t kNoSet = 0xffff;
constexpr double kForEver = 1e18;  // Of a job on sizes on which it does not run.

// Written so that no branch depends on the value.
template <class Time>
std::uint8_t bin_of(Time us) {
  int bin = 0;
  for (int b = 1; b < kBinCount; ++b) bin += us >= static_cast<Time>(kBinFromUs[b]);
  return static_cast<std::uint8_t>(bin);
}

// Of the sizes on which it runs.
double mean_time(const std::array<double, kSizeCount>& full_us, int a, int b) {
  if (full_us[a] == 0 && full_us[b] == 0) return kForEver;
  if (full_us[a] == 0) return full_us[b];
  if (full_us[b] == 0) return full_us[a];
  return (full_us[a] + full_us[b]) / 2;
}

}  // namespace

Aggregates::Aggregates(const Fleet& fleet, std::size_t jobs) : fleet_(&fleet), entries_(jobs) {
  std::size_t sets = 0;
  for (const Board* board : fleet.boards()) {
    layouts_.emplace_back(*board);
    first_set_.push_back(sets);
    sets += static_cast<std::size_t>(layouts_.back().size());
  }
  in_layout_.assign(sets, 0);
  gpus_ = BitForest(sets, fleet.gpu_count());
  set_of_gpu_.assign(fleet.gpu_count(), kNoSet);
}

void Aggregates::restart(std::size_t jobs) {
  in_layout_.assign(in_layout_.size(), 0);
  gpus_.clear();
  set_of_gpu_.assign(set_of_gpu_.size(), kNoSet);
  entries_.resize(jobs);
  counts_ = {};
  for (JobQueue& queue : by_deadline_) queue.clear();
  ready_ = 0;
}

void Aggregates::learn_times(JobIndex job, const std::array<double, kSizeCount>& full_us) {
  const double large = full_us[fleet_->largest_size()];
  entries_[job].full_us = {mean_time(full_us, size_index(1), size_index(2)),
                           mean_time(full_us, size_index(3), size_index(4)),
                           large > 0 ? large : kForEver};
}

void Aggregates::add(JobIndex job, TimeUs deadline_us, double left, TimeUs now) {
  Entry& entry = entries_[job];
  entry.deadline_us = deadline_us;
  entry.bins[0] = bin_of(deadline_us - now);
  ++counts_[0][entry.bins[0]];
  if (entry.bins[0] > 0) by_deadline_[entry.bins[0]].insert({deadline_us, job});
  put_in_bins(entry, left);
  ++ready_;
}

void Aggregates::remove(JobIndex job) {
  const Entry& entry = entries_[job];
  if (entry.bins[0] > 0) by_deadline_[entry.bins[0]].erase({entry.deadline_us, job});
  for (int h = 0; h < kHistogramCount; ++h) --counts_[h][entry.bins[h]];
  --ready_;
}

void Aggregates::put_in_bins(Entry& entry, double left) {
  // A little early: whether a bin has changed is for bin_of() to say, to the last bit.
  constexpr double kEarly = 1 + 1e-12;
  entry.moves_below = 0;
  entry.moves_above = kForEver;
  for (int t = 0; t < kTimes; ++t) {
    const std::uint8_t bin = bin_of(left * entry.full_us[t]);
    entry.bins[1 + t] = bin;
    ++counts_[1 + t][bin];
    const double edge = static_cast<double>(kBinFromUs[bin]) / entry.full_us[t];
    entry.moves_below = std::max(entry.moves_below, edge * kEarly);
    if (bin + 1 == kBinCount) continue;
    const double next = static_cast<double>(kBinFromUs[bin + 1]) / entry.full_us[t];
    entry.moves_above = std::min(entry.moves_above, next / kEarly);
  }
}

void Aggregates::move_times(Entry& entry, double left) {
  for (int t = 0; t < kTimes; ++t) --counts_[1 + t][entry.bins[1 + t]];
  put_in_bins(entry, left);
}

void Aggregates::pass_time(TimeUs now) {
  // From the last bin down, so that one that fell through several goes all the way.
  for (int b = kBinCount - 1; b > 0; --b) {
    JobQueue& queue = by_deadline_[b];
    while (!queue.empty()) {
      const JobQueue::Entry first = JobQueue::at(queue.begin());
      if (first.key - now >= kBinFromUs[b]) break;
      queue.erase(first);
      --counts_[0][b];
      ++counts_[0][b - 1];
      entries_[first.job].bins[0] = static_cast<std::uint8_t>(b - 1);
      if (b > 1) by_deadline_[b - 1].insert(first);
    }
  }
}

void Aggregates::set_layout(GpuIndex gpu, SlotSet target, bool up) {
  const std::size_t board = fleet_->board_index(gpu);
  const int number = up ? layouts_[board].number_of(target) : -1;
  const std::uint16_t set = number < 0 ? kNoSet : static_cast<std::uint16_t>(set_of(board, number));
  std::uint16_t& present = set_of_gpu_[gpu];
  if (set == present) return;
  if (present != kNoSet) gpus_.erase(present, gpu), --in_layout_[present];
  if (set != kNoSet) gpus_.insert(set, gpu), ++in_layout_[set];
  present = set;
}

}  // namespace smartmig
