// What a learned partitioner sees and does, the same in training and in use. The fleet has GPUs of
// one board, which are interchangeable: it sees distributions, and says how many GPUs of each
// layout take which layout next. Both cost the same for any number of GPUs and jobs, but for the
// GPUs that change. docs/model/learning.md lists the inputs.
#pragma once

#include <cstdint>
#include <span>

#include "policy/policy.h"

namespace smartmig {

// 53 on a board with the papers' 12 layouts; one more with the length of the queue, which
// normalised histograms hide.
constexpr int layout_input_count(int layouts, bool with_queue_length) {
  return 1 + layouts + kHistogramCount * kBinCount + (with_queue_length ? 1 : 0);
}
// The view must have aggregates.
void observe_layouts(const View& view, bool with_queue_length, std::span<float> inputs);

// Once at the start, then whenever this many arrivals and completions have happened since the last
// time.
class EveryFewEvents {
 public:
  explicit EveryFewEvents(long every) : every_(every) {}
  void begin() { next_ = 0; }
  bool is_due(const View& view) const { return view.events() >= next_; }
  void note(const View& view) { next_ = view.events() + every_; }

 private:
  long every_;
  long next_ = 0;
};

// Adds the repartitions after which `counts[from * layouts + to]` GPUs have gone from one layout to
// the other. Of each layout the GPUs of lowest index change, to the layouts in order of number; the
// others stay. What stands at from == to is not looked at.
template <class Count>
void move_gpus(const View& view, std::span<const Count> counts, Decision& decision) {
  const Aggregates& sums = view.aggregates();
  const LayoutNumbers& numbers = sums.layouts(0);
  const int layouts = numbers.choices();
  for (int from = 0; from < layouts; ++from) {
    GpuIndex gpu = 0;
    for (int to = 0; to < layouts; ++to) {
      if (to == from) continue;
      for (Count moves = counts[from * layouts + to]; moves > 0; --moves, ++gpu) {
        gpu = sums.next_gpu(0, from, gpu);
        SM_CHECK(gpu != kNone);
        aim_at(view, gpu, numbers.layout(to), decision);
      }
    }
  }
}

// For one GPU: its next layout. One without a numbered layout, or down, stays as it is.
void move_one_gpu(const View& view, int to, Decision& decision);

}  // namespace smartmig
