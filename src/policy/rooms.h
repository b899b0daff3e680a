// Where a job can go while others run: slices that are free or can be made at once, those that will
// be, and those that a running job would have to leave. For the rules by prices
// (docs/model/prices.md, queue-prices.md). Times are in minutes from now, values in job-minutes of
// tardiness; a minute may stand for another length of time (RoomTerms::unit).
//
// On large fleets only the most promising GPUs for each size and way are kept in view, so that
// placing one job costs the same at any size of fleet.
#pragma once

#include <array>
#include <limits>
#include <span>
#include <vector>

#include "fleet/view.h"
#include "policy/award.h"
#include "policy/beside.h"

namespace smartmig {

// What a choice weighs.
struct RoomTerms {
  double energy = 0;    // Of a watt-minute.
  double room = 0;      // Of room for a slice one compute slice larger.
  double distrust = 1;  // Times the time until a running job makes room.
  double stop = 0;      // Of a stop, beside its delay.
  double back = 0;      // Until a stopped job runs again.
  double waste = 0;     // Of a minute in which a compute slice does no work.
  bool empty = false;   // What runs counts as gone: everything may be placed elsewhere.
  double unit = 1;      // All minutes here are so many minutes long.
};

class Rooms {
 public:
  enum class Way : std::uint8_t { kFree, kWait, kStop };
  struct Option {
    GpuIndex gpu = 0;
    std::uint8_t slot = 0;
    std::uint8_t size = 0;
    Way way = Way::kFree;
    double start = 0;                                      // Until it can begin.
    double loss = 0;                                       // Of the jobs that would be stopped.
    double room = 0;                                       // What is lost of it.
    double watts = 0;                                      // Added.
    double key = std::numeric_limits<double>::infinity();  // Less is more promising.
  };
  struct Stoppable {
    JobIndex job = 0;
    const Candidate* candidate = nullptr;
    double save = 0;
    double restore = 0;  // The start of its process included.
  };

  // Whether the job that runs on this slice may be stopped, once it has run for so long.
  static bool can_stop(const View& view, SliceId slice, TimeUs least_run_us);
  // What it takes to stop these jobs, which run. They must stay where they are.
  static void list_stoppable(const View& view, std::span<const Candidate> running, double unit,
                             std::vector<Stoppable>& stoppable);
  // So that fleets of so many GPUs never allocate later.
  void reserve(std::size_t gpus);
  // Looks at the whole fleet. `stoppable` are running jobs, in the order of view.running().
  void begin(const View& view, const RoomTerms& terms, std::span<const Stoppable> stoppable);
  // Whether any slice is free or can be made at once.
  bool any_free() const;
  // The cheapest way for the job at no more than `largest`; false: there is none. Without
  // `may_wait` only what is free. `restore` comes before it makes progress, `price` is what a
  // slice-minute is worth to others.
  bool find(const Candidate& candidate, int largest, bool may_wait, double restore, Option& best,
            double price = 0) const;
  // Does it: what must stop goes to `stops`. A job that waits only keeps others from counting on
  // its place.
  void take(const Option& option, double minutes, std::vector<JobIndex>& stops);
  // The same, with the job's start if it does not wait; returns whether it starts.
  bool take(const Option& option, const Candidate& candidate, double restore, Decision& decision);
  // The running job that gains most, and at least `gain`, if it is stopped and started again on a
  // larger slice that is free; kNone: there is none.
  JobIndex worth_moving(double gain) const;
  // New targets of the GPUs that changed.
  void add_repartitions(std::vector<Repartition>& repartitions) const;

 private:
  static constexpr std::size_t kInView = 64;      // GPUs for each size and way.
  static constexpr std::size_t kMoveLooks = 256;  // Running jobs looked at for a move.
  struct Occupant {
    double until = 0;
    double loss = 0;
    double save = 0;
    std::uint32_t stoppable = kNone;  // Index; kNone: it stays to its end.
    std::uint8_t slot = 0;
    std::uint8_t slices = 0;  // Compute; 0 for one that only waits.
  };
  struct Room {
    SlotSet used = 0;   // By occupants that are there or are to start.
    SlotSet fresh = 0;  // To start now.
    std::uint8_t busy = 0;
    std::uint8_t count = 0;
    std::array<Occupant, 24> occupants;
  };
  // Of a board, the same for all its GPUs.
  struct BoardTerms {
    std::array<SlotSet, kSizeCount> slots{};      // Of the base profile of that size.
    std::array<double, kSizeCount> wait_watts{};  // Of a job that waits for a slice of that size.
    std::array<double, 64> make{};                // Minutes, by slot.
  };
  using Lists = std::array<std::array<std::vector<Option>, 3>, kSizeCount>;

  void learn_boards();
  void look_at(GpuIndex gpu);
  bool may_be_in_view(GpuIndex gpu) const;
  void list_options(GpuIndex gpu);
  void trim(std::size_t from);
  void list_slot(GpuIndex gpu, int size, int slot, std::array<Option, 3>& best) const;
  double cost(const Option& option, const Candidate& candidate, double restore, double price) const;
  double make_minutes(GpuIndex gpu, int slot) const;
  double added_watts(const Board& board, int busy, int slices) const;
  double gain_of_moving(const Occupant& occupant, GpuIndex gpu) const;

  const View* view_ = nullptr;
  RoomTerms terms_;
  std::span<const Stoppable> stoppable_;
  std::vector<BoardTerms> boards_;
  mutable Beside beside_;  // It answers the same whenever it is asked.
  std::vector<Room> rooms_;
  std::vector<GpuIndex> changed_;
  std::vector<std::uint32_t> stoppable_at_;  // By slice.
  Lists lists_;
  // A key that is not less does not come into view; while the fleet is looked at.
  std::array<std::array<double, 3>, kSizeCount> limits_;
};

}  // namespace smartmig
