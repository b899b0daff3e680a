#include "foresight/present.h"

#include <algorithm>
#include <bit>

namespace smartmig {
namespace {

class Looking {
 public:
  Looking(const View& view, const FleetSample& sample, Random& random, Present& present)
      : view_(view), sample_(sample), random_(random), present_(present) {}

  void run() {
    present_.clear();
    present_.standing.now_us = view_.now();
    choose_jobs();
    for (const JobIndex number : present_.numbers) add_job(number);
    for (GpuIndex gpu = 0; gpu < sample_.fleet().gpu_count(); ++gpu) add_gpu(gpu);
    for (const State::Awaiting& wait : view_.awaiting()) {
      const GpuIndex gpu = sample_.in_sample(wait.gpu);
      if (gpu != kNone) present_.standing.waits.push_back({gpu, wait.slot, index_of(wait.job)});
    }
  }

 private:
  // Those that have a slice of the sample, or wait for one, and their share of those that wait for
  // any.
  void choose_jobs() {
    auto& numbers = present_.numbers;
    for (const SliceId slice : view_.running()) {
      if (sample_.in_sample(view_.fleet().gpu_of(slice)) != kNone)
        numbers.push_back(view_.slice(slice).job);
    }
    for (const State::Awaiting& wait : view_.awaiting()) {
      if (sample_.in_sample(wait.gpu) != kNone) numbers.push_back(wait.job);
    }
    double due = sample_.share() == 1 ? 0 : random_.uniform();
    for (const State::Group& group : view_.groups()) {
      for (auto at = group.queue.begin(); !group.queue.at_end(at); group.queue.advance(at)) {
        const JobIndex job = group.queue.at(at).job;
        if (view_.job(job).status != JobStatus::kReady) continue;
        due += sample_.share();
        if (due < 1) continue;
        due -= 1;
        numbers.push_back(job);
      }
    }
    std::ranges::sort(numbers);
  }

  void add_job(JobIndex number) {
    Job job = view_.believed_job(number);
    const SeenJob seen = view_.job(number);
    job.submit_us = view_.now();
    job.deadline_us = seen.deadline_us;
    present_.jobs.push_back(job);
    present_.done.push_back(view_.believed_done(number));
    present_.standing.left.push_back(std::clamp(view_.believed_left(number), 1e-9, 1.));
  }

  void add_gpu(GpuIndex index) {
    const GpuIndex number = sample_.in_fleet(index);
    const GpuState& gpu = view_.gpu(number);
    Standing::Gpu& there = present_.standing.gpus.emplace_back();
    there.up = gpu.up;
    there.present = gpu.present;
    there.target = gpu.target;
    if (gpu.operation_end_us != kNever) {
      there.operation_end_us = std::max(gpu.operation_end_us, view_.now() + 1);
      there.operation_slot = gpu.operation_slot;
      const SliceId slice = slice_of(number, gpu.operation_slot);
      there.creates = view_.slice(slice).phase == SlicePhase::kCreating;
      if (there.creates) there.present &= ~(SlotSet{1} << gpu.operation_slot);
    }
    for (SlotSet rest = there.present; rest; rest &= rest - 1) {
      const auto slot = static_cast<std::uint8_t>(std::countr_zero(rest));
      const SliceId id = slice_of(number, slot);
      const SeenSlice slice = view_.slice(id);
      if (slice.job == kNone) continue;
      Standing::Run& run = present_.standing.runs.emplace_back();
      run.job = index_of(slice.job);
      run.gpu = index;
      run.slot = slot;
      run.saves = view_.job(slice.job).status == JobStatus::kSaving;
      run.begin_us = run.saves ? view_.now() : std::max(slice.begin_us, view_.now());
      run.end_us = std::max(view_.believed_end(id), run.begin_us + 1);
    }
  }

  SliceId slice_of(GpuIndex gpu, int slot) const {
    return view_.fleet().slice_at(gpu, view_.fleet().board(gpu).slots[slot].start);
  }
  JobIndex index_of(JobIndex number) const {
    return static_cast<JobIndex>(std::ranges::lower_bound(present_.numbers, number) -
                                 present_.numbers.begin());
  }

  const View& view_;
  const FleetSample& sample_;
  Random& random_;
  Present& present_;
};

}  // namespace

void look_at_present(const View& view, const FleetSample& sample, Random& random,
                     Present& present) {
  Looking(view, sample, random, present).run();
}

}  // namespace smartmig
