// `greedy`, a joint policy: short jobs get one compute slice each, what is left goes step by step
// to the late job that gains most from it, and the sizes are packed into GPUs anew at each call.
#include <algorithm>
#include <cmath>

#include "policy/partitioners.h"

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
    const int slices = collect(view);
    give_first_sizes(slices);
    pack(view);
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

  // The ready jobs; returns the compute slices to give away.
  int collect(View& view) {
    const Fleet& fleet = view.fleet();
    ready_.clear();
    now_ = view.now();
    for (const State::Group& group : view.groups()) {
      for (auto cursor = group.queue.begin(); !group.queue.at_end(cursor);
           group.queue.advance(cursor)) {
        Sized sized;
        sized.job = group.queue.at(cursor).job;
        sized.kinds = group.kinds;
        ready_.push_back(sized);
      }
    }
    for (Sized& sized : ready_) {
      sized.full_us = fleet.best_times(view.job(sized.job), sized.kinds);
      const double estimate = view.job_state(sized.job).estimate;
      for (double& us : sized.full_us) us *= estimate;
      sized.scale = view.left(sized.job);
      sized.size = 0;
      while (sized.size < kSizeCount - 1 && sized.full_us[sized.size] == 0) ++sized.size;
      sized.first_remaining_us = State::whole_us(sized.scale * sized.full_us[sized.size]);
      sized.deadline_us = view.job_state(sized.job).deadline_us;
    }
    int slices = 0;
    for (GpuIndex gpu = 0; gpu < fleet.gpu_count(); ++gpu) {
      if (!view.gpu(gpu).up) continue;
      slices +=
          fleet.board(gpu).compute_slices - compute_slices(fleet.board(gpu), kept_slots(view, gpu));
    }
    return slices;
  }

  bool is_late(const Sized& sized) const {
    const TimeUs end = now_ + State::whole_us(sized.scale * sized.full_us[sized.size]);
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

  void give_first_sizes(int slices) {
    std::sort(ready_.begin(), ready_.end(), [](const Sized& a, const Sized& b) {
      return a.first_remaining_us != b.first_remaining_us
                 ? a.first_remaining_us < b.first_remaining_us
                 : a.job < b.job;
    });
    std::size_t chosen = 0;
    for (std::size_t i = 0; i < ready_.size() && slices > 0; ++i) {
      if (ready_[i].full_us[ready_[i].size] == 0 || kSizes[ready_[i].size] > slices) continue;
      slices -= kSizes[ready_[i].size];
      ready_[chosen++] = ready_[i];
    }
    ready_.resize(chosen);
    if (slices > 0) move_up(slices);
  }

  void move_up(int slices) {
    for (Sized& sized : ready_) {
      if (!is_late(sized)) continue;
      sized.first_power = std::pow(minutes(sized, sized.size), 0.9);
      sized.left_power = std::pow(sized.scale, 0.1);
      find_step(sized);
    }
    while (slices > 0) {
      Sized* best = nullptr;
      for (Sized& sized : ready_) {
        if (sized.next < 0 || kSizes[sized.next] - kSizes[sized.size] > slices) continue;
        if (!best || sized.gain > best->gain || (sized.gain == best->gain && sized.job < best->job))
          best = &sized;
      }
      if (!best) return;
      slices -= kSizes[best->next] - kSizes[best->size];
      best->size = best->next;
      best->next = -1;
      if (is_late(*best)) find_step(*best);
    }
  }

  void pack(const View& view) {
    const Fleet& fleet = view.fleet();
    packed_.resize(fleet.gpu_count());
    for (GpuIndex gpu = 0; gpu < fleet.gpu_count(); ++gpu) {
      Packed& packed = packed_[gpu];
      packed.fixed = packed.set = kept_slots(view, gpu);
      packed.jobs.clear();
      packed.jobs.reserve(fleet.board(gpu).compute_slices);  // No GPU holds more.
      packed.touched = false;
    }
    std::sort(ready_.begin(), ready_.end(), [](const Sized& a, const Sized& b) {
      return a.size != b.size ? a.size > b.size : a.job < b.job;
    });
    for (Sized& sized : ready_) {
      for (; sized.size >= 0; --sized.size) {
        if (sized.full_us[sized.size] > 0 && pack_one(view, sized)) break;
      }
    }
  }

  bool pack_one(const View& view, const Sized& sized) {
    const Fleet& fleet = view.fleet();
    for (GpuIndex gpu = 0; gpu < fleet.gpu_count(); ++gpu) {
      if (!view.gpu(gpu).up) continue;
      const Board& board = fleet.board(gpu);
      const int profile = board.base_profile(kSizes[sized.size]);
      if (profile < 0 || !runs_on(fleet, sized, gpu, profile)) continue;
      const SlotSet set =
          OneMore(board, wanted_).find(packed_[gpu].fixed, packed_[gpu].set, profile);
      if (!set) continue;
      packed_[gpu].set = set;
      packed_[gpu].jobs.push_back({sized.job, profile});
      packed_[gpu].touched = true;
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
      const JobState& state = view.job_state(job);
      if (state.status != JobStatus::kRunning || view.fleet().gpu_of(state.slice) != gpu) continue;
      const int slot = view.slice(state.slice).slot;
      if (board.slots[slot].profile != profile || !(open >> slot & 1)) continue;
      open &= ~(SlotSet{1} << slot);
      decision.starts.push_back({job, state.slice, static_cast<std::uint8_t>(slot)});
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

  std::vector<Sized> ready_;
  std::vector<Packed> packed_;
  std::vector<int> wanted_;
};

}  // namespace

std::unique_ptr<Partitioner> make_greedy() { return std::make_unique<Greedy>(); }

}  // namespace smartmig
