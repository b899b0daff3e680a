#include "policy/miso.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "policy/layout_assignment.h"
#include "policy/partitioners.h"
#include "policy/ready_jobs.h"

namespace smartmig {
namespace {

constexpr int kMostJobs = 7;  // On one GPU.

// Invariants between decisions: 1. a job waits in waiting_ or is one of a GPU's; 2. the jobs of a
// GPU are in order of submission, and those with a slot run there or will, once saves and
// operations that are under way have ended.
class Miso : public Partitioner {
 public:
  Miso(const Fleet& fleet, TimeUs profile_us) : profile_us_(profile_us) {
    for (const Board* board : fleet.boards()) boards_.emplace_back(*board);
  }
  std::unique_ptr<Partitioner> clone() const override { return std::make_unique<Miso>(*this); }
  bool stops_jobs() const override { return true; }
  bool follows_operations() const override { return true; }
  void reconsider(GpuIndex) override { stale_ = true; }
  TimeUs next_timer(TimeUs) const override { return timer_us_; }

  void first_layouts(const View& view, std::vector<SlotSet>& layouts) override {
    whole_gpus(view.fleet(), layouts);
    gpus_.assign(view.fleet().gpu_count(), {});
    waiting_.clear();
    stale_ = true;
    timer_us_ = kNever;
  }

  void decide(View& view, Decision& decision) override {
    timer_us_ = kNever;
    decision.whole = view.everything_ready();
    bring_up_to_date(view);
    for (GpuIndex gpu = 0; gpu < gpus_.size(); ++gpu) drop_finished(view, gpus_[gpu]);
    admit_waiting(view);
    for (GpuIndex gpu = 0; gpu < gpus_.size(); ++gpu) {
      if (gpus_[gpu].count == 0) {
        gpus_[gpu].due = false;
        continue;
      }
      if (!view.gpu(gpu).up) continue;
      if (gpus_[gpu].due) consider(view, gpu, decision);
      start_jobs(view, gpu, decision);
    }
  }

 private:
  struct GpuJob {
    JobIndex job = kNone;
    SliceValues values;     // Its slot is the one that it was given.
    bool stopping = false;  // Stopped in this decision, with a save that takes no time.
  };
  struct GpuPlan {
    std::array<GpuJob, kMostJobs> jobs{};
    int count = 0;
    TimeUs profile_until_us = 0;
    bool due = false;         // Its jobs are not those that its layout was chosen for.
    bool to_profile = false;  // One of them is new.
    bool asked = false;       // For a timer, since the last operation or save.
  };

  std::span<GpuJob> jobs_of(GpuPlan& plan) const {
    return {plan.jobs.data(), static_cast<std::size_t>(plan.count)};
  }

  // --- keeping up with the fleet

  void bring_up_to_date(const View& view) {
    if (stale_ || health_ != view.health_changes()) {
      stale_ = false;
      health_ = view.health_changes();
      for (GpuIndex gpu = 0; gpu < gpus_.size(); ++gpu) look_at_gpu(view, gpu);
      collect_waiting(view);
      return;
    }
    for (; seen_ < view.arrived(); ++seen_) {
      if (view.job(seen_).status == JobStatus::kReady) waiting_.insert({seen_, seen_});
    }
  }

  // A GPU that is down, or has lost its slices, has no jobs.
  void look_at_gpu(const View& view, GpuIndex gpu) {
    const GpuState& state = view.gpu(gpu);
    if (!state.up || (state.present == 0 && state.target != 0)) gpus_[gpu].count = 0;
  }

  void collect_waiting(const View& view) {
    taken_.clear();
    for (GpuPlan& plan : gpus_) {
      for (const GpuJob& job : jobs_of(plan)) taken_.push_back(job.job);
    }
    std::sort(taken_.begin(), taken_.end());
    waiting_.clear();
    for_each_ready(view, order_, [&](JobIndex job, KindSet) {
      if (view.job(job).status != JobStatus::kReady) return;
      if (!std::binary_search(taken_.begin(), taken_.end(), job)) waiting_.insert({job, job});
    });
    seen_ = view.arrived();
  }

  static void drop_finished(const View& view, GpuPlan& plan) {
    int kept = 0;
    for (int i = 0; i < plan.count; ++i) {
      if (view.job(plan.jobs[i].job).status == JobStatus::kDone) continue;
      plan.jobs[kept++] = plan.jobs[i];
    }
    if (kept == plan.count) return;
    plan.count = kept;
    plan.due = true;
  }

  // --- which GPU

  void admit_waiting(const View& view) {
    admitted_.clear();
    int open = 0;
    for (GpuIndex gpu = 0; gpu < gpus_.size(); ++gpu) open += has_room(view, gpu);
    for (auto cursor = waiting_.begin(); open > 0 && !JobQueue::at_end(cursor);
         waiting_.advance(cursor)) {
      const JobIndex job = JobQueue::at(cursor).job;
      const bool withdrawn = view.job(job).status != JobStatus::kReady;
      const GpuIndex gpu = withdrawn ? kNone : choose_gpu(view, job);
      if (withdrawn || gpu != kNone) admitted_.push_back(job);
      if (gpu == kNone) continue;
      add(view, gpu, job);
      open -= !has_room(view, gpu);
    }
    for (const JobIndex job : admitted_) waiting_.erase({job, job});
  }

  bool has_room(const View& view, GpuIndex gpu) const {
    const int most = std::min(kMostJobs, boards_[view.fleet().board_index(gpu)].most_slices());
    return view.gpu(gpu).up && gpus_[gpu].count < most;
  }

  // The one with the fewest jobs among which it fits.
  GpuIndex choose_gpu(const View& view, JobIndex job) const {
    for (int count = 0; count < kMostJobs; ++count) {
      for (GpuIndex gpu = 0; gpu < gpus_.size(); ++gpu) {
        if (gpus_[gpu].count == count && has_room(view, gpu) && fits(view, gpu, job)) return gpu;
      }
    }
    return kNone;
  }

  bool fits(const View& view, GpuIndex gpu, JobIndex job) const {
    std::array<SliceValues, kMostJobs> values;
    const GpuPlan& plan = gpus_[gpu];
    for (int i = 0; i < plan.count; ++i) values[i] = plan.jobs[i].values;
    values[plan.count] = values_of(view, gpu, job);
    const auto all = std::span(values).first(static_cast<std::size_t>(plan.count) + 1);
    return boards_[view.fleet().board_index(gpu)].assign(all).found;
  }

  // The job's speed on each base profile of the board, in millionths of that on the largest on
  // which it runs, by the remaining times that it is seen with now.
  static SliceValues values_of(const View& view, GpuIndex gpu, JobIndex job) {
    const Fleet& fleet = view.fleet();
    const KindSet runs = view.kinds(job);
    const Seen seen = view.look_at(job);
    std::array<TimeUs, kSizeCount> remaining_us{};
    TimeUs on_largest_us = 0;
    for (std::size_t k = 0; k < fleet.kinds().size(); ++k) {
      const SliceKind& kind = fleet.kinds()[k];
      if (kind.board != fleet.board_index(gpu) || !kind.base || !(runs >> k & 1)) continue;
      remaining_us[kind.size] = seen.remaining_us(static_cast<int>(k));
    }
    for (const TimeUs us : remaining_us) on_largest_us = us > 0 ? us : on_largest_us;
    SliceValues values;
    for (int size = 0; size < kSizeCount; ++size) {
      const TimeUs us = remaining_us[size];
      // No job is that much slower on a larger slice; the bound keeps sums far from overflow.
      const double speed =
          us > 0 ? static_cast<double>(on_largest_us) / static_cast<double>(us) : 0;
      values.by_size[size] =
          us > 0 ? static_cast<std::int32_t>(std::floor(std::min(speed, 2000.0) * 1e6 + 0.5))
                 : kNotThere;
    }
    return values;
  }

  void add(const View& view, GpuIndex gpu, JobIndex job) {
    GpuPlan& plan = gpus_[gpu];
    // Jobs are admitted in order, but one that was lost in a failure comes back later.
    int at = plan.count++;
    for (; at > 0 && plan.jobs[at - 1].job > job; --at) plan.jobs[at] = plan.jobs[at - 1];
    plan.jobs[at] = {job, values_of(view, gpu, job), false};
    plan.due = plan.to_profile = true;
  }

  // --- which layout

  // A new layout, unless the last change is still under way or the new one must wait.
  void consider(const View& view, GpuIndex gpu, Decision& decision) {
    GpuPlan& plan = gpus_[gpu];
    if (is_under_way(view, gpu)) return;
    const bool profiles = profile_us_ > 0 && plan.to_profile;
    if (!profiles && view.now() < plan.profile_until_us) {
      ask_for(plan.profile_until_us);
      return;
    }
    LayoutAssignment next;
    if (profiles) next = equal_shares(view, gpu);
    const bool equal = next.found;
    if (!equal) next = best(view, gpu);
    plan.due = false;
    if (!next.found || !can_change(view, gpu, next)) return;
    plan.to_profile = false;
    if (equal) {
      plan.profile_until_us = view.now() + profile_us_;
      plan.due = true;
      ask_for(plan.profile_until_us);
    }
    change(view, gpu, next, decision);
  }

  void ask_for(TimeUs at_us) { timer_us_ = std::min(timer_us_, at_us); }

  // Where a change has begun, the next one waits until all its jobs run.
  bool is_under_way(const View& view, GpuIndex gpu) {
    GpuPlan& plan = gpus_[gpu];
    bool moves = view.gpu(gpu).operation_end_us != kNever;
    bool starts = false;
    for (const GpuJob& job : jobs_of(plan)) {
      const JobStatus status = view.job(job.job).status;
      moves |= status == JobStatus::kSaving;
      starts |= job.values.slot != kNoSlice && status != JobStatus::kRunning;
    }
    if (moves || !starts) plan.asked = false;
    if (!starts) return false;
    // What is left begins at this very instant, after this decision.
    if (!moves && !std::exchange(plan.asked, true)) ask_for(view.now() + 1);
    return true;
  }

  LayoutAssignment best(const View& view, GpuIndex gpu) {
    collect_values(gpu);
    return boards_[view.fleet().board_index(gpu)].assign(values());
  }

  // The largest size of which there are slices for all jobs.
  LayoutAssignment equal_shares(const View& view, GpuIndex gpu) {
    const int jobs = gpus_[gpu].count;
    for (int size = kSizeCount - 1; size >= 0; --size) {
      collect_values(gpu);
      for (int i = 0; i < jobs; ++i) {
        for (int other = 0; other < kSizeCount; ++other) {
          std::int32_t& value = values_[i].by_size[other];
          value = other == size && value != kNotThere ? 0 : kNotThere;
        }
      }
      const LayoutAssignment found = boards_[view.fleet().board_index(gpu)].assign(values());
      if (found.found) return found;
    }
    return {};
  }

  void collect_values(GpuIndex gpu) {
    count_ = gpus_[gpu].count;
    for (int i = 0; i < count_; ++i) values_[i] = gpus_[gpu].jobs[i].values;
  }
  std::span<const SliceValues> values() const {
    return {values_.data(), static_cast<std::size_t>(count_)};
  }

  // Whether every job that would leave its slice can be stopped.
  bool can_change(const View& view, GpuIndex gpu, const LayoutAssignment& next) {
    if (view.everything_ready()) return true;
    GpuPlan& plan = gpus_[gpu];
    for (int i = 0; i < plan.count; ++i) {
      const GpuJob& job = plan.jobs[i];
      if (job.values.slot == kNoSlice || job.values.slot == next.slots[i]) continue;
      if (view.preemption() != Preemption::kCheckpoint || !view.job(job.job).preemptible)
        return false;
    }
    return true;
  }

  void change(const View& view, GpuIndex gpu, const LayoutAssignment& next, Decision& decision) {
    GpuPlan& plan = gpus_[gpu];
    for (int i = 0; i < plan.count; ++i) {
      GpuJob& job = plan.jobs[i];
      const bool leaves = job.values.slot != kNoSlice && job.values.slot != next.slots[i];
      job.values.slot = next.slots[i];
      if (!leaves || view.everything_ready()) continue;
      decision.stops.push_back(job.job);
      job.stopping = view.checkpoint_us(job.job) == 0;
    }
    if (view.gpu(gpu).target != next.set) decision.repartitions.push_back({gpu, next.set});
  }

  // Jobs that have a slot and do not run there yet; under `free` all of them, as a decision is the
  // whole assignment.
  void start_jobs(const View& view, GpuIndex gpu, Decision& decision) {
    const Board& board = view.fleet().board(gpu);
    for (GpuJob& job : jobs_of(gpus_[gpu])) {
      if (job.values.slot == kNoSlice) continue;
      const bool ready =
          view.job(job.job).status == JobStatus::kReady || std::exchange(job.stopping, false);
      if (!ready && !decision.whole) continue;
      const std::uint32_t start = board.slots[job.values.slot].start;
      decision.starts.push_back({job.job, view.fleet().slice_at(gpu, start), job.values.slot});
    }
  }

  TimeUs profile_us_;
  std::vector<MaximalPlacements> boards_;
  std::vector<GpuPlan> gpus_;
  JobQueue waiting_;  // In order of submission.
  std::array<SliceValues, kMostJobs> values_{};
  int count_ = 0;
  std::vector<JobIndex> admitted_, taken_, order_;  // Room to work in.
  JobIndex seen_ = 0;
  TimeUs timer_us_ = kNever;
  std::uint32_t health_ = 0;
  bool stale_ = true;
};

}  // namespace

std::unique_ptr<Partitioner> make_miso(const Fleet& fleet, TimeUs profile_us) {
  return std::make_unique<Miso>(fleet, profile_us);
}

}  // namespace smartmig
