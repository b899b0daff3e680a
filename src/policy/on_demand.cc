#include "policy/on_demand.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "policy/ready_jobs.h"

namespace smartmig {
namespace {

// Each GPU has a queue of operations, of which one at a time is given to the engine as a new
// target. Invariants between decisions: 1. only the first operation of a queue is begun; 2. `taken`
// holds every slot that exists, is being made or destroyed, or is in the queue; 3. a job waits in
// the queue of its request, or is promised by a creation, or has started.
class OnDemand : public Partitioner {
 public:
  OnDemand(const OnDemandRules& rules, const Fleet& fleet)
      : reader_(rules.requests, fleet),
        table_(fleet, rules.fit),
        strict_(rules.strict),
        keep_(rules.keep) {}
  std::unique_ptr<Partitioner> clone() const override { return std::make_unique<OnDemand>(*this); }
  bool follows_operations() const override { return true; }
  // It stops none, and nothing else may.
  bool stops_jobs() const override { return true; }
  bool needs_requests() const override { return reader_.rule() == RequestRule::kAsked; }
  void reconsider(GpuIndex) override { stale_ = true; }

  void first_layouts(const View& view, std::vector<SlotSet>& layouts) override {
    const GpuIndex gpus = view.fleet().gpu_count();
    layouts.assign(gpus, 0);
    gpus_.resize(gpus);
    for (GpuPlan& plan : gpus_) {
      plan = {};
      plan.operations.reserve(kOperations);
    }
    active_.clear();
    active_.reserve(gpus);
    changed_.reserve(gpus);
    with_idle_.clear();
    with_idle_.reserve(gpus);
    for (Waiting& group : waiting_) group.queue.clear();
    stale_ = true;
  }

  void decide(View& view, Decision& decision) override {
    decision.whole = view.everything_ready();
    if (decision.whole) keep_running(view, decision);
    bring_up_to_date(view);
    find_idle(view);
    end_operations(view, decision);
    begin_operations(view, decision);
    place_waiting(view, decision);
    begin_operations(view, decision);
    name_targets(decision);
  }

 private:
  static constexpr std::size_t kOperations = 16;  // Seven slices to destroy and seven to make.

  struct Operation {
    TimeUs queued_us = 0;
    JobIndex job = kNone;  // For whom the slice is made; kNone: it is destroyed.
    std::uint8_t slot = 0;
    bool begun = false;
  };
  struct GpuPlan {
    std::vector<Operation> operations;
    SlotSet target = 0;
    SlotSet taken = 0;
    SlotSet queued = 0;  // Slots of the operations.
    SlotSet idle = 0;    // Slices without a job or an operation, as of this decision (keep_).
    PlacesBySize places{};
    bool active = false;   // In active_: it has operations.
    bool changed = false;  // In changed_: its target is to be named.
  };
  // Jobs with the same request, in order of submission.
  struct Waiting {
    RequestReader::Request request;
    JobQueue queue;
    bool blocked = false;  // No place was found, and nothing was freed since.
  };

  static SlotSet bit(int slot) { return SlotSet{1} << slot; }

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
      if (view.job(seen_).status == JobStatus::kReady) enqueue(view, seen_);
    }
    if (waiting_count() + promised_ready(view) != view.ready_count()) collect_waiting(view);
  }

  // A GPU that is down, or has lost its slices, keeps only what is in use there.
  void look_at_gpu(const View& view, GpuIndex gpu) {
    GpuPlan& plan = gpus_[gpu];
    const GpuState& state = view.gpu(gpu);
    plan.target = state.target;
    if (!state.up || (state.present == 0 && state.target != 0)) {
      plan.operations.clear();
      plan.queued = 0;
      const SlotSet in_use = view.slots_in_use(gpu);
      if (plan.target != in_use) change_target(gpu, in_use);
    }
    if (has_failed(state, plan)) {
      plan.queued &= ~bit(plan.operations.front().slot);
      plan.operations.erase(plan.operations.begin());
    }
    plan.taken = state.present | plan.target | plan.queued;
    update_places(view, gpu);
  }
  // The operation that was begun is neither under way nor done: hardware refused it.
  static bool has_failed(const GpuState& state, const GpuPlan& plan) {
    if (plan.operations.empty() || !plan.operations.front().begun) return false;
    const bool present = state.present >> plan.operations.front().slot & 1;
    if (plan.operations.front().job != kNone) return !present;
    return present && state.operation_end_us == kNever;
  }

  // All jobs that wait and are promised nothing.
  void collect_waiting(const View& view) {
    promised_.clear();
    for (const GpuIndex gpu : active_) {
      for (const Operation& operation : gpus_[gpu].operations) promised_.push_back(operation.job);
    }
    std::sort(promised_.begin(), promised_.end());
    for (Waiting& group : waiting_) group.queue.clear();
    for_each_ready(view, order_, [&](JobIndex job, KindSet) {
      if (view.job(job).status != JobStatus::kReady) return;
      if (!std::binary_search(promised_.begin(), promised_.end(), job)) enqueue(view, job);
    });
    seen_ = view.arrived();
    unblock();
  }

  std::size_t waiting_count() const {
    std::size_t count = 0;
    for (const Waiting& group : waiting_) count += group.queue.size();
    return count;
  }
  // Promised jobs that are ready as far as the state knows: under `free` no promise outlasts an
  // instant.
  std::size_t promised_ready(const View& view) const {
    std::size_t count = 0;
    for (const GpuIndex gpu : active_) {
      for (const Operation& operation : gpus_[gpu].operations)
        count += operation.job != kNone && (!operation.begun || view.everything_ready());
    }
    return count;
  }

  void enqueue(const View& view, JobIndex job) {
    const KindSet kinds = view.kinds(job);
    const RequestReader::Request request = reader_.read(view, job, kinds);
    auto group = std::find_if(waiting_.begin(), waiting_.end(),
                              [&](const Waiting& w) { return w.request == request; });
    if (group == waiting_.end()) group = waiting_.insert(group, Waiting{request, {}, false});
    group->queue.insert({job, job});
  }

  void unblock() {
    for (Waiting& group : waiting_) group.blocked = false;
  }

  // Under `free` a decision is the whole assignment.
  static void keep_running(const View& view, Decision& decision) {
    for (const SliceId slice : view.running())
      decision.starts.push_back({view.slice(slice).job, slice, view.slice(slice).slot});
  }

  // Slices whose job has ended: they stay, or are destroyed.
  void find_idle(const View& view) {
    for (const GpuIndex gpu : with_idle_) gpus_[gpu].idle = 0;
    with_idle_.clear();
    for (KindSet rest = view.free().kinds(); rest; rest &= rest - 1) {
      const int kind = std::countr_zero(rest);
      for (SliceId id = view.free().next_anywhere(kind, 0); id != kNone;
           id = view.free().next_anywhere(kind, id + 1)) {
        const SeenSlice slice = view.slice(id);
        const GpuIndex gpu = view.fleet().gpu_of(id);
        GpuPlan& plan = gpus_[gpu];
        if (slice.job != kNone || (plan.queued | view.gpu(gpu).awaited) >> slice.slot & 1) continue;
        if (plan.idle == 0) with_idle_.push_back(gpu);
        plan.idle |= bit(slice.slot);
      }
    }
    if (with_idle_.empty()) return;
    unblock();
    if (keep_) return;
    for (const GpuIndex gpu : with_idle_) {
      const SlotSet idle = std::exchange(gpus_[gpu].idle, 0);
      destroy(view, gpu, idle);
    }
    with_idle_.clear();
  }

  // --- the queues of operations

  // Queues the slices, lowest first memory slice first, before what is made at this instant.
  void destroy(const View& view, GpuIndex gpu, SlotSet slots) {
    GpuPlan& plan = gpus_[gpu];
    const Board& board = view.fleet().board(gpu);
    for (int start = 0; start < board.memory_slices; ++start) {
      for (SlotSet rest = slots; rest; rest &= rest - 1) {
        const int slot = std::countr_zero(rest);
        if (board.slots[static_cast<std::size_t>(slot)].start == start)
          queue_operation(gpu, {view.now(), kNone, static_cast<std::uint8_t>(slot), false});
      }
    }
    plan.idle &= ~slots;
  }

  void queue_operation(GpuIndex gpu, const Operation& operation) {
    GpuPlan& plan = gpus_[gpu];
    auto at = plan.operations.end();
    if (operation.job == kNone) {
      while (at != plan.operations.begin() && std::prev(at)->job != kNone &&
             std::prev(at)->queued_us == operation.queued_us && !std::prev(at)->begun)
        --at;
    }
    plan.operations.insert(at, operation);
    plan.queued |= bit(operation.slot);
    if (!std::exchange(plan.active, true)) active_.push_back(gpu);
  }

  // What was begun and is done: the slice is there, or gone.
  void end_operations(const View& view, Decision& decision) {
    for (const GpuIndex gpu : active_) {
      GpuPlan& plan = gpus_[gpu];
      if (plan.operations.empty() || !plan.operations.front().begun) continue;
      const Operation first = plan.operations.front();
      const bool creates = first.job != kNone;
      if (creates && decision.whole) start(view, gpu, first, decision);
      const bool there = is_there(view, gpu, first.slot);
      const bool present = view.gpu(gpu).present >> first.slot & 1;
      if (creates ? !there : present) continue;
      drop_first(view, gpu, !creates);
    }
  }
  static bool is_there(const View& view, GpuIndex gpu, int slot) {
    const Slot& place = view.fleet().board(gpu).slots[static_cast<std::size_t>(slot)];
    const SeenSlice slice = view.slice(view.fleet().slice_at(gpu, place.start));
    return slice.phase == SlicePhase::kReady && slice.slot == slot;
  }

  void drop_first(const View& view, GpuIndex gpu, bool frees_place) {
    GpuPlan& plan = gpus_[gpu];
    const SlotSet slot = bit(plan.operations.front().slot);
    plan.operations.erase(plan.operations.begin());
    plan.queued &= ~slot;
    if (!frees_place) return;
    plan.taken &= ~slot;
    update_places(view, gpu);
    unblock();
  }

  void begin_operations(const View& view, Decision& decision) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < active_.size(); ++i) {
      const GpuIndex gpu = active_[i];
      begin_operations_on(view, gpu, decision);
      gpus_[gpu].active = !gpus_[gpu].operations.empty();
      if (gpus_[gpu].active) active_[kept++] = gpu;
    }
    active_.resize(kept);
  }

  // The next one, and those behind it while they take no time.
  void begin_operations_on(const View& view, GpuIndex gpu, Decision& decision) {
    GpuPlan& plan = gpus_[gpu];
    while (!plan.operations.empty() && !plan.operations.front().begun) {
      Operation& first = plan.operations.front();
      const bool creates = first.job != kNone;
      if (creates && view.job(first.job).status != JobStatus::kReady) {
        drop_first(view, gpu, true);  // It was withdrawn.
        continue;
      }
      change_target(gpu, creates ? plan.target | bit(first.slot) : plan.target & ~bit(first.slot));
      if (creates) start(view, gpu, first, decision);
      first.begun = true;
      if (takes_time(view, gpu, first)) return;
      drop_first(view, gpu, !creates);
    }
  }

  static bool takes_time(const View& view, GpuIndex gpu, const Operation& operation) {
    const Board& board = view.fleet().board(gpu);
    const Slot& slot = board.slots[operation.slot];
    const int size = size_index(board.profiles[slot.profile].compute_slices);
    const TimeUs time_us =
        operation.job != kNone ? board.times.create_us[size] : board.times.destroy_us[size];
    return std::llround(view.costs().operation_scale * static_cast<double>(time_us)) > 0;
  }

  static void start(const View& view, GpuIndex gpu, const Operation& operation,
                    Decision& decision) {
    const Slot& slot = view.fleet().board(gpu).slots[operation.slot];
    decision.starts.push_back(
        {operation.job, view.fleet().slice_at(gpu, slot.start), operation.slot});
  }

  void change_target(GpuIndex gpu, SlotSet target) {
    gpus_[gpu].target = target;
    if (!std::exchange(gpus_[gpu].changed, true)) changed_.push_back(gpu);
  }

  void name_targets(Decision& decision) {
    std::sort(changed_.begin(), changed_.end());
    for (const GpuIndex gpu : changed_) {
      gpus_[gpu].changed = false;
      decision.repartitions.push_back({gpu, gpus_[gpu].target});
    }
    changed_.clear();
  }

  // --- places for waiting jobs

  void place_waiting(const View& view, Decision& decision) {
    while (Waiting* const group = next_group()) {
      const JobIndex job = JobQueue::at(group->queue.begin()).job;
      const bool withdrawn = view.job(job).status != JobStatus::kReady;
      if (withdrawn || serve(view, *group, job, decision)) {
        group->queue.erase({job, job});
        continue;
      }
      group->blocked = true;
    }
  }

  // Of the jobs that may find a place, the first submitted one's group.
  Waiting* next_group() {
    Waiting* first = nullptr;
    for (Waiting& group : waiting_) {
      if (group.queue.empty() || group.request.size < 0 || (group.blocked && !strict_)) continue;
      if (first == nullptr ||
          JobQueue::at(group.queue.begin()).job < JobQueue::at(first->queue.begin()).job)
        first = &group;
    }
    return first != nullptr && first->blocked ? nullptr : first;
  }

  bool serve(const View& view, const Waiting& group, JobIndex job, Decision& decision) {
    const RequestReader::Request& request = group.request;
    if (keep_ && take_idle(view, request, job, decision)) return true;
    if (reserve_free_place(view, request, job)) return true;
    return keep_ && reserve_idle_place(view, request, job);
  }

  bool take_idle(const View& view, const RequestReader::Request& request, JobIndex job,
                 Decision& decision) {
    SliceId best = kNone;
    for (KindSet rest = request.kinds & view.free().kinds(); rest; rest &= rest - 1) {
      const int kind = std::countr_zero(rest);
      SliceId id = view.free().next_anywhere(kind, 0);
      while (id != kNone && !is_idle(view, id)) id = view.free().next_anywhere(kind, id + 1);
      best = std::min(best, id);
    }
    if (best == kNone) return false;
    gpus_[view.fleet().gpu_of(best)].idle &= ~bit(view.slice(best).slot);
    decision.starts.push_back({job, best, view.slice(best).slot});
    return true;
  }
  bool is_idle(const View& view, SliceId id) const {
    return gpus_[view.fleet().gpu_of(id)].idle >> view.slice(id).slot & 1;
  }

  bool reserve_free_place(const View& view, const RequestReader::Request& request, JobIndex job) {
    Place best;
    GpuIndex best_gpu = kNone;
    for (GpuIndex gpu = 0; gpu < gpus_.size(); ++gpu) {
      const Place place = gpus_[gpu].places[request.size];
      if (place.slot == kNoSlot || place.rank >= best.rank) continue;
      if (!(request.kinds >> view.fleet().kind_of_slot(gpu, place.slot) & 1)) continue;
      best = place;
      best_gpu = gpu;
    }
    if (best_gpu == kNone) return false;
    reserve(view, best_gpu, best.slot, job);
    return true;
  }

  // A place that only idle slices block: they are destroyed.
  bool reserve_idle_place(const View& view, const RequestReader::Request& request, JobIndex job) {
    Place best;
    GpuIndex best_gpu = kNone;
    for (const GpuIndex gpu : with_idle_) {
      const GpuPlan& plan = gpus_[gpu];
      if (plan.idle == 0) continue;
      const Place place =
          table_.find(view.fleet().board_index(gpu), plan.taken & ~plan.idle)[request.size];
      const bool better = place.rank < best.rank || (place.rank == best.rank && gpu < best_gpu);
      if (place.slot == kNoSlot || !better) continue;
      if (!(request.kinds >> view.fleet().kind_of_slot(gpu, place.slot) & 1)) continue;
      best = place;
      best_gpu = gpu;
    }
    if (best_gpu == kNone) return false;
    const Board& board = view.fleet().board(best_gpu);
    destroy(view, best_gpu, board.conflicts[best.slot] & gpus_[best_gpu].idle);
    reserve(view, best_gpu, best.slot, job);
    return true;
  }

  void reserve(const View& view, GpuIndex gpu, std::uint8_t slot, JobIndex job) {
    queue_operation(gpu, {view.now(), job, slot, false});
    gpus_[gpu].taken |= bit(slot);
    update_places(view, gpu);
  }

  void update_places(const View& view, GpuIndex gpu) {
    GpuPlan& plan = gpus_[gpu];
    plan.places =
        view.gpu(gpu).up ? table_.find(view.fleet().board_index(gpu), plan.taken) : PlacesBySize{};
  }

  RequestReader reader_;
  PlaceTable table_;
  bool strict_;
  bool keep_;
  std::vector<GpuPlan> gpus_;
  std::vector<GpuIndex> active_;     // With operations.
  std::vector<GpuIndex> changed_;    // Whose target changes at this instant.
  std::vector<GpuIndex> with_idle_;  // With idle slices, as of this decision.
  std::vector<Waiting> waiting_;
  std::vector<JobIndex> promised_, order_;  // Room to work in.
  JobIndex seen_ = 0;                       // Jobs below were enqueued.
  std::uint32_t health_ = 0;
  bool stale_ = true;
};

}  // namespace

std::unique_ptr<Partitioner> make_on_demand(const OnDemandRules& rules, const Fleet& fleet) {
  return std::make_unique<OnDemand>(rules, fleet);
}

}  // namespace smartmig
