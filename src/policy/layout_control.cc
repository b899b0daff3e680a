#include "policy/layout_control.h"

namespace smartmig {

void observe_layouts(const View& view, bool with_queue_length, std::span<float> inputs) {
  const Aggregates& sums = view.aggregates();
  const int layouts = sums.layouts(0).choices();
  SM_CHECK(std::ssize(inputs) == layout_input_count(layouts, with_queue_length));
  std::size_t at = 0;
  inputs[at++] = static_cast<float>(view.now() % kDayUs) / static_cast<float>(kDayUs);
  const float per_gpu = 1 / static_cast<float>(std::max<GpuIndex>(1, view.gpus_up()));
  for (int n = 0; n < layouts; ++n) inputs[at++] = static_cast<float>(sums.gpus_in(0, n)) * per_gpu;
  const auto ready = static_cast<float>(sums.ready());
  const float per_job = ready > 0 ? 1 / ready : 0;
  for (int h = 0; h < kHistogramCount; ++h) {
    for (const std::uint32_t count : sums.counts(static_cast<Histogram>(h)))
      inputs[at++] = static_cast<float>(count) * per_job;
  }
  if (with_queue_length) inputs[at++] = ready * per_gpu;
}

void move_one_gpu(const View& view, int to, Decision& decision) {
  const Aggregates& sums = view.aggregates();
  if (!view.gpu(0).up) return;
  aim_at(view, 0, sums.layouts(0).layout(to), decision);
}

}  // namespace smartmig
