// `greedy`, a joint policy: short jobs get one compute slice each, what is left goes step by step
// to the late job that gains most from it, and the sizes are packed into GPUs anew at each call.
#include <algorithm>
#include <cmath>

#include "policy/partitioners.h"
#include "policy/ready_jobs.h"

namespace smartmig {
namespace {

struct Sized {
  JobIndex job = 0;
  KindSet kinds = 0;
  std::array<double, kSizeCount> full_us{};  // As the policy sees it; 0: not on this size.
  double scale = 0;                          // Fraction left.
  double first_power = 0;                    // p_first^.9, p in minutes.
  double left_power = 0;                     // left^.1
  TimeUs first_remaining_us = 0;
  TimeUs delay_us = 0;  // Before it makes progress.
  TimeUs deadline_us = 0;
  int size = 0;   // Index into kSizes.
  int next = -1;  // The size one step up; -1: there is none, or it is not late.
  double gain = 0;
};

// A placement of the multiset of `packed` and one more `profile` that keeps `fixed`; 0 if there is
// none.
class OneMore {
 public:
  // `wanted` is room to work in.
  OneMore(const Board& board, std::vector<int>& wanted) : board_(board), wanted_(wanted) {}

  SlotSet find(SlotSet fixed, SlotSet packed, int profile) {
    wanted_.reserve(board_.compute_slices);
    // Most GPUs are simply full.
    const int compute = compute_slices(board_, packed) + board_.profiles[profile].compute_slices;
    if (compute > board_.compute_slices) return 0;
    if (const SlotSet set = first_fit(packed, profile)) return set;
    wanted_.assign(1, profile);
    for (SlotSet rest = packed & ~fixed; rest; rest &= rest - 1) {
      wanted_.push_back(board_.slots[std::countr_zero(rest)].profile);
    }
    // Wide slices first: they have the fewest places.
    std::sort(wanted_.begin(), wanted_.end(), [&](int a, int b) {
      return board_.profiles[a].memory_slices > board_.profiles[b].memory_slices;
    });
    return place(fixed, 0);
  }

 private:
  // `packed` as it stands, with the profile in the first place that is free.
  SlotSet first_fit(SlotSet packed, int profile) const {
    for (SlotSet rest = board_.profile_slots[profile]; rest; rest &= rest - 1) {
      if (can_add(board_, packed, std::countr_zero(rest))) return packed | (rest & -rest);
    }
    return 0;
  }

  SlotSet place(SlotSet set, std::size_t i) {
    if (i == wanted_.size()) return set;
    for (SlotSet rest = board_.profile_slots[wanted_[i]]; rest; rest &= rest - 1) {
      if (!can_add(board_, set, std::countr_zero(rest))) continue;
      if (const SlotSet found = place(set | (rest & -rest), i + 1)) return found;
    }
    return 0;
  }

  const Board& board_;
  std::vector<int>& wanted_;
};

class Greedy : public Partitioner {
 public:
  std::unique_ptr<Partitioner> clone() const override { return std::make_unique<Greedy>(*this); }
  void first_layouts(const View& view, std::vector<SlotSet>& layouts) override {
    whole_gpus(view.fleet(), layouts);
  }

  void decide(View& view, Decision& decision) override {
    now_ = view.now();
    const int slices = look_at_gpus(view);
    ready_.clear();
    if (slices > 0) {
      give_first_sizes(view, slices);
      pack(view);
    }
    emit(view, decision);
  }

 private:
  struct Packed {
    SlotSet fixed = 0;  // Slices in use.
    SlotSet set = 0;
    std::vector<std::pair<JobIndex, int>> jobs;  // With their profiles.
    bool touched = false;
  };

  // Slices that must stay as they are; under `free` there are none.
  static SlotSet kept_slots(const View& view, GpuIndex gpu) {
    return view.everything_ready() ? 0 : view.slots_in_use(gpu);
  }

  // The GPUs that have room; returns the compute slices to give away.
  int look_at_gpus(const View& view) {
    const Fleet& fleet = view.fleet();
    packed_.resize(fleet.gpu_count());
    open_.clear();
    open_.reserve(fleet.gpu_count());
    int slices = 0;
    for (GpuIndex gpu = 0; gpu < fleet.gpu_count(); ++gpu) {
      const Board& board = fleet.board(gpu);
      Packed& packed = packed_[gpu];
      packed.fixed = packed.set = kept_slots(view, gpu);
      packed.touched = false;
      packed.jobs.clear();
      packed.jobs.reserve(board.compute_slices);  // No GPU holds more.
      const int left = board.compute_slices - compute_slices(board, packed.fixed);
      if (!view.gpu(gpu).up || left == 0) continue;
      open_.push_back(gpu);
      slices += left;
    }
    return slices;
  }

  // The size that a job begins with, and all that is known of it.
  static Sized sized(const View& view, JobIndex job, KindSet kinds) {
    Sized sized;
    sized.job = job;
    sized.kinds = kinds;
    sized.full_us = view.believed_times(job, kinds);
    sized.scale = view.believed_left(job);
    while (sized.size < kSizeCount - 1 && sized.full_us[sized.size] == 0) ++sized.size;
    sized.first_remaining_us = State::whole_us(sized.scale * sized.full_us[sized.size]);
    sized.delay_us = view.look_at(job).delay_us();
    sized.deadline_us = view.job(job).deadline_us;
    return sized;
  }

  bool is_late(const Sized& sized) const {
    const TimeUs end =
        now_ + sized.delay_us + State::whole_us(sized.scale * sized.full_us[sized.size]);
    return end > sized.deadline_us;
  }

  // Where the job's next step leads and what it gains.
  static void find_step(Sized& sized) {
    sized.next = -1;
    for (int size = sized.size + 1; size < kSizeCount && sized.next < 0; ++size) {
      if (sized.full_us[size] > 0) sized.next = size;
    }
    if (sized.next < 0) return;
    const double before = minutes(sized, sized.size);
    const double after = minutes(sized, sized.next);
    sized.gain = (1 / after - 1 / before) / (kSizes[sized.next] - kSizes[sized.size]) *
                 sized.first_power / sized.left_power;
  }
  static double minutes(const Sized& sized, int size) {
    return sized.full_us[size] / static_cast<double>(kMinuteUs);
  }

  // To the shortest, as long as there are slices.
  void give_first_sizes(const View& view, int slices) {
    waiting_.clear();
    for_each_ready(view, order_, [&](JobIndex job, KindSet kinds) {
      waiting_.push_back({sized(view, job, kinds).first_remaining_us, job, kinds});
    });
    std::make_heap(waiting_.begin(), waiting_.end());
    while (slices > 0 && !waiting_.empty()) {
      std::pop_heap(waiting_.begin(), waiting_.end());
      const Sized next = sized(view, waiting_.back().job, waiting_.back().kinds);
      waiting_.pop_back();
      if (next.full_us[next.size] == 0 || kSizes[next.size] > slices) continue;
      slices -= kSizes[next.size];
      ready_.push_back(next);
    }
    if (slices > 0) move_up(slices);
  }

  // The late job that gains most goes first. Who needs more than there is will not get it later.
  void move_up(int slices) {
    steps_.clear();
    steps_.reserve(ready_.capacity());
    for (std::uint32_t i = 0; i < ready_.size(); ++i) {
      Sized& sized = ready_[i];
      if (!is_late(sized)) continue;
      sized.first_power = std::pow(minutes(sized, sized.size), 0.9);
      sized.left_power = std::pow(sized.scale, 0.1);
      find_step(sized);
      if (sized.next >= 0) steps_.push_back({sized.gain, sized.job, i});
    }
    std::make_heap(steps_.begin(), steps_.end());
    while (slices > 0 && !steps_.empty()) {
      std::pop_heap(steps_.begin(), steps_.end());
      Sized& best = ready_[steps_.back().index];
      const int more = kSizes[best.next] - kSizes[best.size];
      if (more > slices) {
        steps_.pop_back();
        continue;
      }
      slices -= more;
      best.size = best.next;
      best.next = -1;
      if (is_late(best)) find_step(best);
      if (best.next < 0) {
        steps_.pop_back();
        continue;
      }
      steps_.back().gain = best.gain;
      std::push_heap(steps_.begin(), steps_.end());
    }
  }

  void pack(const View& view) {
    std::sort(ready_.begin(), ready_.end(), [](const Sized& a, const Sized& b) {
      return a.size != b.size ? a.size > b.size : a.job < b.job;
    });
    first_open_.fill(0);
    for (Sized& sized : ready_) {
      for (; sized.size >= 0; --sized.size) {
        if (sized.full_us[sized.size] > 0 && pack_one(view, sized)) break;
      }
    }
  }

  // On the first GPU that has room. One that has none for a size will have none for the next job.
  bool pack_one(const View& view, const Sized& sized) {
    const Fleet& fleet = view.fleet();
    std::size_t& first = first_open_[sized.size];
    for (std::size_t i = first; i < open_.size(); ++i) {
      const GpuIndex gpu = open_[i];
      Packed& packed = packed_[gpu];
      const Board& board = fleet.board(gpu);
      const int profile = board.base_profile(kSizes[sized.size]);
      if (profile >= 0 && !runs_on(fleet, sized, gpu, profile)) continue;
      const SlotSet set =
          profile < 0 ? 0 : OneMore(board, wanted_).find(packed.fixed, packed.set, profile);
      if (!set) {
        if (i == first) ++first;
        continue;
      }
      packed.set = set;
      packed.jobs.push_back({sized.job, profile});
      packed.touched = true;
      return true;
    }
    return false;
  }

  static bool runs_on(const Fleet& fleet, const Sized& sized, GpuIndex gpu, int profile) {
    for (KindSet rest = sized.kinds; rest; rest &= rest - 1) {
      const SliceKind& kind = fleet.kinds()[std::countr_zero(rest)];
      if (kind.board == fleet.board_index(gpu) && kind.profile == profile) return true;
    }
    return false;
  }

  void emit(View& view, Decision& decision) {
    for (GpuIndex gpu = 0; gpu < packed_.size(); ++gpu) {
      Packed& packed = packed_[gpu];
      if (!packed.touched) continue;
      const std::size_t before = decision.repartitions.size();
      aim_at(view, gpu, packed.set, decision);
      const SlotSet target = decision.repartitions.size() > before
                                 ? decision.repartitions.back().target
                                 : view.gpu(gpu).target;
      assign(view, gpu, packed, target & ~packed.fixed, decision);
    }
    decision.whole = view.everything_ready();
  }

  // Jobs to the slices of their profile; under `free` one that runs on such a slice keeps it.
  static void assign(const View& view, GpuIndex gpu, Packed& packed, SlotSet open,
                     Decision& decision) {
    const Board& board = view.fleet().board(gpu);
    std::sort(packed.jobs.begin(), packed.jobs.end());
    for (auto& [job, profile] : packed.jobs) {
      const SeenJob seen = view.job(job);
      if (seen.status != JobStatus::kRunning || view.fleet().gpu_of(seen.slice) != gpu) continue;
      const int slot = view.slice(seen.slice).slot;
      if (board.slots[slot].profile != profile || !(open >> slot & 1)) continue;
      open &= ~(SlotSet{1} << slot);
      decision.starts.push_back({job, seen.slice, static_cast<std::uint8_t>(slot)});
      profile = -1;
    }
    for (const auto& [job, profile] : packed.jobs) {
      if (profile < 0) continue;
      int best = -1;
      for (SlotSet rest = open; rest; rest &= rest - 1) {
        const int slot = std::countr_zero(rest);
        if (board.slots[slot].profile != profile) continue;
        if (best < 0 || board.slots[slot].start < board.slots[best].start) best = slot;
      }
      SM_CHECK(best >= 0);
      open &= ~(SlotSet{1} << best);
      decision.starts.push_back({job, view.fleet().slice_at(gpu, board.slots[best].start),
                                 static_cast<std::uint8_t>(best)});
    }
  }

  TimeUs now_ = 0;

  struct Waiting {
    TimeUs remaining_us = 0;
    JobIndex job = 0;
    KindSet kinds = 0;
    // The shortest is on top of the heap; of equals the first.
    friend bool operator<(const Waiting& a, const Waiting& b) {
      return a.remaining_us != b.remaining_us ? a.remaining_us > b.remaining_us : a.job > b.job;
    }
  };
  struct Step {
    double gain = 0;
    JobIndex job = 0;
    std::uint32_t index = 0;
    // The largest gain is on top of the heap; of equals the first job.
    friend bool operator<(const Step& a, const Step& b) {
      return a.gain != b.gain ? a.gain < b.gain : a.job > b.job;
    }
  };
  std::vector<JobIndex> order_;  // Of a queue.
  std::vector<Waiting> waiting_;
  std::vector<Sized> ready_;  // Those that get something.
  std::vector<Step> steps_;
  std::vector<Packed> packed_;
  std::vector<GpuIndex> open_;                        // With room, when it began.
  std::array<std::size_t, kSizeCount> first_open_{};  // In open_, for each size.
  std::vector<int> wanted_;
};

}  // namespace

std::unique_ptr<Partitioner> make_greedy() { return std::make_unique<Greedy>(); }

}  // namespace smartmig
