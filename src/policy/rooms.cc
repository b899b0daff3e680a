#include "policy/rooms.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace smartmig {
namespace {

constexpr double kNoLimit = std::numeric_limits<double>::infinity();
constexpr double kUnknownMin = 1;  // Until a slice is free that a job still waits for.

constexpr SlotSet bit(int slot) { return SlotSet{1} << slot; }

}  // namespace

double Rooms::added_watts(const Board& board, int busy, int slices) const {
  const auto& watts = board.power.busy_w;
  const int most = board.compute_slices;
  return watts[std::min(busy + slices, most)] - watts[std::clamp(busy, 0, most)];
}

void Rooms::learn_boards() {
  const Fleet& fleet = view_->fleet();
  beside_.know(fleet.boards());
  boards_.resize(fleet.boards().size());
  for (std::size_t b = 0; b < boards_.size(); ++b) {
    const Board& board = *fleet.boards()[b];
    BoardTerms& terms = boards_[b];
    for (int size = 0; size < kSizeCount; ++size) {
      const int profile = board.base_profile(kSizes[size]);
      terms.slots[size] = profile < 0 ? 0 : board.profile_slots[profile];
      terms.wait_watts[size] =
          added_watts(board, 0, board.compute_slices) / board.compute_slices * kSizes[size];
      const double minutes =
          (view_->costs().operation_scale *
               to_min(board.times.create_us[size] + board.times.destroy_us[size]) +
           to_min(view_->costs().deadline_cut_us)) /
          terms_.unit;
      for (SlotSet rest = terms.slots[size]; rest; rest &= rest - 1)
        terms.make[std::countr_zero(rest)] = minutes;
    }
  }
}

double Rooms::make_minutes(GpuIndex gpu, int slot) const {
  if (view_->gpu(gpu).present >> slot & 1) return 0;
  return boards_[view_->fleet().board_index(gpu)].make[slot];
}

void Rooms::look_at(GpuIndex gpu) {
  Room& room = rooms_[gpu];
  room.used = room.fresh = 0;
  room.busy = room.count = 0;
  if (!view_->gpu(gpu).up || terms_.empty) return;
  const Fleet& fleet = view_->fleet();
  const Board& board = fleet.board(gpu);
  room.used = view_->slots_in_use(gpu);
  for (SlotSet rest = room.used; rest; rest &= rest - 1) {
    const int slot = std::countr_zero(rest);
    const SliceId id = fleet.slice_at(gpu, board.slots[slot].start);
    const SeenSlice slice = view_->slice(id);
    Occupant occupant;
    occupant.slot = static_cast<std::uint8_t>(slot);
    occupant.slices =
        static_cast<std::uint8_t>(board.profiles[board.slots[slot].profile].compute_slices);
    occupant.until = kUnknownMin;
    if (slice.job != kNone && slice.slot == slot) {
      occupant.until = to_min(view_->believed_end(id) - view_->now()) / terms_.unit;
      if (view_->is_awaited(gpu, slot)) occupant.until += kUnknownMin;
      if (stoppable_at_[id] != kNone) {
        const Stoppable& running = stoppable_[stoppable_at_[id]];
        const Candidate& candidate = *running.candidate;
        const int held = candidate.held;
        // One that would get less now is missed less.
        const double back = candidate.size >= held ? terms_.back
                            : candidate.size >= 0  ? terms_.back / 2
                                                   : 0;
        occupant.stoppable = stoppable_at_[id];
        occupant.save = running.save;
        occupant.loss = terms_.stop +
                        terms_.waste * occupant.slices * (running.save + running.restore) +
                        late_minutes(back + running.save + running.restore, candidate.minutes[held],
                                     candidate.slack) -
                        late_minutes(0, candidate.minutes[held], candidate.slack);
      }
    }
    room.busy = static_cast<std::uint8_t>(room.busy + occupant.slices);
    SM_CHECK(room.count < room.occupants.size());
    room.occupants[room.count++] = occupant;
  }
}

bool Rooms::can_stop(const View& view, SliceId id, TimeUs least_run_us) {
  const SeenSlice slice = view.slice(id);
  const SeenJob job = view.job(slice.job);
  return view.preemption() == Preemption::kCheckpoint && !slice.doomed &&
         slice.phase == SlicePhase::kReady && job.status == JobStatus::kRunning &&
         job.preemptible && view.now() - slice.begin_us >= least_run_us &&
         !view.is_awaited(view.fleet().gpu_of(id), slice.slot);
}

void Rooms::list_stoppable(const View& view, std::span<const Candidate> running, double unit,
                           std::vector<Stoppable>& stoppable) {
  stoppable.clear();
  for (const Candidate& candidate : running) {
    const JobIndex job = candidate.job;
    stoppable.push_back({job, &candidate, to_min(view.checkpoint_us(job)) / unit,
                         to_min(view.costs().start_us + view.restore_us(job)) / unit});
  }
}

void Rooms::reserve(std::size_t gpus) {
  changed_.reserve(gpus);
  for (auto& ways : lists_) {
    for (auto& list : ways) list.reserve(gpus);
  }
}

void Rooms::begin(const View& view, const RoomTerms& terms, std::span<const Stoppable> stoppable) {
  view_ = &view;
  terms_ = terms;
  stoppable_ = stoppable;
  const Fleet& fleet = view.fleet();
  rooms_.resize(fleet.gpu_count());
  changed_.clear();
  learn_boards();
  stoppable_at_.resize(fleet.slice_count(), kNone);
  for (std::uint32_t i = 0; i < stoppable.size(); ++i)
    stoppable_at_[view.job(stoppable[i].job).slice] = i;
  for (int size = 0; size < kSizeCount; ++size) {
    for (auto& list : lists_[size]) list.clear();
    limits_[size].fill(kNoLimit);
  }
  for (GpuIndex gpu = 0; gpu < fleet.gpu_count(); ++gpu) {
    look_at(gpu);
    if (!view.gpu(gpu).up || !may_be_in_view(gpu)) continue;
    list_options(gpu);
    trim(2 * kInView);
  }
  for (const Stoppable& running : stoppable) stoppable_at_[view.job(running.job).slice] = kNone;
  trim(kInView + 1);
  for (auto& ways : limits_) ways.fill(kNoLimit);
}

// Whether any of its slots may be among the most promising so far. A later GPU must have the lesser
// key: between equals the first is taken.
bool Rooms::may_be_in_view(GpuIndex gpu) const {
  const Room& room = rooms_[gpu];
  double until = kNoLimit, loss = kNoLimit;
  for (int i = 0; i < room.count; ++i) {
    const Occupant& occupant = room.occupants[i];
    until = std::min(until, occupant.until);
    if (occupant.stoppable != kNone) loss = std::min(loss, occupant.loss);
  }
  for (const auto& limits : limits_) {
    if (until * terms_.distrust < limits[static_cast<std::size_t>(Way::kWait)] ||
        loss < limits[static_cast<std::size_t>(Way::kStop)])
      return true;
  }
  return beside_.of(view_->fleet().board(gpu), room.used).addable != 0;
}

// Leaves the most promising of lists that have come to this length.
void Rooms::trim(std::size_t from) {
  for (int size = 0; size < kSizeCount; ++size) {
    for (std::size_t way = 0; way < lists_[size].size(); ++way) {
      auto& list = lists_[size][way];
      if (list.size() < from) continue;
      const auto last = list.begin() + (kInView - 1);
      std::nth_element(list.begin(), last, list.end(), [](const Option& a, const Option& b) {
        return a.key != b.key ? a.key < b.key : a.gpu < b.gpu;
      });
      limits_[size][way] = last->key;
      list.resize(kInView);
    }
  }
}

// The ways to use this slot, where they are better than the best so far.
void Rooms::list_slot(GpuIndex gpu, int size, int slot, std::array<Option, 3>& best) const {
  const Room& room = rooms_[gpu];
  const Board& board = view_->fleet().board(gpu);
  SlotSet in_the_way = 0;
  bool can_stop = true;
  double until = 0;
  double save = 0;
  double loss = 0;
  int freed = 0;
  for (int i = 0; i < room.count; ++i) {
    const Occupant& occupant = room.occupants[i];
    if (!(board.conflicts[slot] >> occupant.slot & 1)) continue;
    in_the_way |= bit(occupant.slot);
    can_stop &= occupant.stoppable != kNone;
    until = std::max(until, occupant.until);
    save = std::max(save, occupant.save);
    loss += occupant.loss;
    freed += occupant.slices;
  }
  const double make = make_minutes(gpu, slot);
  const int slices = kSizes[size];
  const auto offer = [&](Way way, double start, double lost, double room_lost, double watts,
                         double key) {
    Option& option = best[static_cast<std::size_t>(way)];
    if (key >= option.key) return;
    option = {gpu,
              static_cast<std::uint8_t>(slot),
              static_cast<std::uint8_t>(size),
              way,
              start,
              lost,
              room_lost,
              watts,
              key};
  };
  if (in_the_way == 0) {
    const Beside::Entry now = beside_.of(board, room.used);
    if (!(now.addable >> slot & 1)) return;
    const double room_lost = now.room - beside_.of(board, room.used | bit(slot)).room;
    const double watts = added_watts(board, room.busy, slices);
    offer(Way::kFree, make, 0, room_lost, watts,
          terms_.room * room_lost + make + terms_.energy * watts);
    return;
  }
  const double start = (make + until) * terms_.distrust;
  offer(Way::kWait, start, 0, 0, boards_[view_->fleet().board_index(gpu)].wait_watts[size], start);
  if (can_stop && beside_.of(board, room.used & ~in_the_way).addable >> slot & 1)
    offer(Way::kStop, make + save, loss, 0, added_watts(board, room.busy - freed, slices), loss);
}

// The GPU's best slot for each size and way.
void Rooms::list_options(GpuIndex gpu) {
  const BoardTerms& board = boards_[view_->fleet().board_index(gpu)];
  for (int size = 0; size < kSizeCount; ++size) {
    std::array<Option, 3> best;
    for (SlotSet rest = board.slots[size]; rest; rest &= rest - 1)
      list_slot(gpu, size, std::countr_zero(rest), best);
    for (std::size_t way = 0; way < best.size(); ++way) {
      if (best[way].key < limits_[size][way]) lists_[size][way].push_back(best[way]);
    }
  }
}

bool Rooms::any_free() const {
  return std::any_of(lists_.begin(), lists_.end(), [](const auto& ways) {
    return !ways[static_cast<std::size_t>(Way::kFree)].empty();
  });
}

double Rooms::cost(const Option& option, const Candidate& candidate, double restore,
                   double price) const {
  const double minutes = candidate.minutes[option.size] + restore;
  return option.loss + late_minutes(option.start, minutes, candidate.slack) +
         (terms_.energy * option.watts + price * kSizes[option.size]) * minutes +
         terms_.room * option.room;
}

bool Rooms::find(const Candidate& candidate, int largest, bool may_wait, double restore,
                 Option& best, double price) const {
  bool found = false;
  double least = 0;
  const Fleet& fleet = view_->fleet();
  for (int size = 0; size <= largest; ++size) {
    if (candidate.speed[size] == 0) continue;
    for (std::size_t way = 0; way < (may_wait ? 3 : 1); ++way) {
      for (const Option& option : lists_[size][way]) {
        if (!(candidate.kinds >> fleet.kind_of_slot(option.gpu, option.slot) & 1)) continue;
        const double cost = this->cost(option, candidate, restore, price);
        if (!found || cost < least) least = cost, best = option, found = true;
      }
    }
  }
  return found;
}

void Rooms::take(const Option& option, double minutes, std::vector<JobIndex>& stops) {
  Room& room = rooms_[option.gpu];
  const SlotSet conflicts = view_->fleet().board(option.gpu).conflicts[option.slot];
  if (option.way == Way::kStop) {
    int kept = 0;
    for (int i = 0; i < room.count; ++i) {
      const Occupant& occupant = room.occupants[i];
      if (!(conflicts >> occupant.slot & 1)) {
        room.occupants[kept++] = occupant;
        continue;
      }
      stops.push_back(stoppable_[occupant.stoppable].job);
      room.used &= ~bit(occupant.slot);
      room.busy = static_cast<std::uint8_t>(room.busy - occupant.slices);
    }
    room.count = static_cast<std::uint8_t>(kept);
  }
  if (room.count < room.occupants.size()) {
    Occupant occupant;
    occupant.slot = option.slot;
    occupant.until = option.start + minutes;
    if (option.way != Way::kWait) occupant.slices = static_cast<std::uint8_t>(kSizes[option.size]);
    room.occupants[room.count++] = occupant;
  }
  if (option.way != Way::kWait) {
    room.used |= bit(option.slot);
    room.fresh |= bit(option.slot);
    room.busy = static_cast<std::uint8_t>(room.busy + kSizes[option.size]);
    if (std::find(changed_.begin(), changed_.end(), option.gpu) == changed_.end())
      changed_.push_back(option.gpu);
  }
  for (auto& ways : lists_) {
    for (auto& list : ways)
      std::erase_if(list, [&](const Option& other) { return other.gpu == option.gpu; });
  }
  list_options(option.gpu);
}

bool Rooms::take(const Option& option, const Candidate& candidate, double restore,
                 Decision& decision) {
  take(option, candidate.minutes[option.size] + restore, decision.stops);
  if (option.way == Way::kWait) return false;
  const Fleet& fleet = view_->fleet();
  const int start = fleet.board(option.gpu).slots[option.slot].start;
  decision.starts.push_back({candidate.job, fleet.slice_at(option.gpu, start), option.slot});
  return true;
}

double Rooms::gain_of_moving(const Occupant& occupant, GpuIndex gpu) const {
  const Stoppable& running = stoppable_[occupant.stoppable];
  const Candidate& candidate = *running.candidate;
  const double delay = running.save + running.restore;
  const double now = late_minutes(0, candidate.minutes[candidate.held], candidate.slack);
  double best = 0;
  const Fleet& fleet = view_->fleet();
  const auto consider = [&](int size, double start, double watts, double spared) {
    const double minutes = candidate.minutes[size];
    const double then = late_minutes(delay + start, minutes, candidate.slack);
    best = std::max(best, now - then - terms_.energy * (watts - spared) * minutes -
                              terms_.waste * kSizes[size] * delay);
  };
  for (int size = candidate.held + 1; size <= candidate.size; ++size) {
    if (candidate.speed[size] == 0) continue;
    for (const Option& option : lists_[size][static_cast<std::size_t>(Way::kFree)]) {
      if (candidate.kinds >> fleet.kind_of_slot(option.gpu, option.slot) & 1)
        consider(size, option.start, option.watts, 0);
    }
    // Where it is, with its own place.
    const Board& board = fleet.board(gpu);
    const Room& room = rooms_[gpu];
    SlotSet blocked = 0;
    for (int i = 0; i < room.count; ++i) {
      if (room.occupants[i].slot != occupant.slot) blocked |= bit(room.occupants[i].slot);
    }
    for (SlotSet rest = boards_[fleet.board_index(gpu)].slots[size]; rest; rest &= rest - 1) {
      const int slot = std::countr_zero(rest);
      if (board.conflicts[slot] & blocked) continue;
      const int busy = room.busy - occupant.slices;
      consider(size, make_minutes(gpu, slot), added_watts(board, busy, kSizes[size]),
               added_watts(board, busy, occupant.slices));
      break;
    }
  }
  return best;
}

JobIndex Rooms::worth_moving(double gain) const {
  JobIndex job = kNone;
  std::size_t looks = 0;
  for (GpuIndex gpu = 0; gpu < rooms_.size() && looks < kMoveLooks; ++gpu) {
    const Room& room = rooms_[gpu];
    for (int i = 0; i < room.count; ++i) {
      const Occupant& occupant = room.occupants[i];
      if (occupant.stoppable == kNone) continue;
      const Candidate& candidate = *stoppable_[occupant.stoppable].candidate;
      if (candidate.size <= candidate.held) continue;
      ++looks;
      const double found = gain_of_moving(occupant, gpu);
      if (found > gain) gain = found, job = candidate.job;
    }
  }
  return job;
}

void Rooms::add_repartitions(std::vector<Repartition>& repartitions) const {
  for (const GpuIndex gpu : changed_) {
    const Board& board = view_->fleet().board(gpu);
    const Room& room = rooms_[gpu];
    const SlotSet present = view_->gpu(gpu).target;
    SlotSet target = room.fresh | (room.used & present);
    for (SlotSet rest = present & ~target; rest; rest &= rest - 1) {
      if (can_add(board, target, std::countr_zero(rest))) target |= rest & -rest;
    }
    if (target != present) repartitions.push_back({gpu, target});
  }
}

}  // namespace smartmig
