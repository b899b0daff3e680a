// Which job gets which size: slices are awarded one step at a time to the job whose step up is
// worth most per slice (docs/model/prices.md). A job's weight is the tardiness, in job-minutes,
// that one minute of its work on the smallest size saves: its own, and that of the jobs which the
// slices it holds are kept from, at a price for a slice-minute.
#pragma once

#include <array>
#include <vector>

#include "fleet/view.h"
#include "policy/knobs.h"

namespace smartmig {

// On large fleets most of a decision is waiting for memory: what is looked at most is in one cache
// line.
struct alignas(64) Candidate {
  double weight = 0;
  double density = 0;  // Of its next step.
  double slack = 0;    // Minutes to its deadline.
  double work = 0;     // Minutes on its smallest size.
  KindSet kinds = 0;
  JobIndex job = 0;
  std::int8_t held = -1;  // The size it runs on and need not leave; -1: none.
  std::int8_t size = -1;  // Awarded; -1: none.
  std::int8_t next = -1;  // Where its next step leads; -1: nowhere.
  // By size: speed over that on its smallest size, and minutes to its end, with what is left of the
  // start of its process; 0: does not run there.
  std::array<double, kSizeCount> speed{};
  std::array<double, kSizeCount> minutes{};
};
static_assert(sizeof(Candidate) == 128);

// The tardiness still to come if it goes on after a delay.
inline double late_minutes(double delay, double minutes, double slack) {
  return std::max(0.0, delay + minutes - std::max(0.0, slack));
}

class Award {
 public:
  // Sets what is the same for all jobs at one instant.
  // `energy`: what a watt-minute is worth, as a multiple of what it is on the papers' day.
  // `unit`: all minutes here are so many minutes long; `price`: times what the knobs say.
  void begin(const Knobs& knobs, double backlog, double load, double trend, double energy,
             bool moves_cost, double unit = 1, double price = 1);
  // A job as a candidate, with its weight; false: it runs nowhere.
  bool weigh(const View& view, JobIndex job, KindSet kinds, int held, Candidate& candidate) const;
  // Awards at most that many compute slices; returns how many are left. O(n + slices log n).
  // Where `gpus` is not 0, only sizes are awarded that so many GPUs of seven compute slices can
  // hold.
  int give(std::vector<Candidate>& candidates, int slices, int gpus = 0);
  // What a step between sizes is worth for each compute slice it adds.
  double density(const Candidate& candidate, int from, int to) const;

 private:
  struct Entry {
    double density;
    std::uint32_t index;
    // The densest is on top of the heap; of equals the first.
    friend bool operator<(const Entry& a, const Entry& b) {
      return a.density != b.density ? a.density < b.density : a.index > b.index;
    }
  };
  double price(double work) const;
  double value_of_work(const Candidate& candidate) const;
  void find_step(Candidate& candidate) const;
  bool fits_in_what_is_left(Candidate& candidate, int slices, int gpus);

  double unit_ = 1;
  double price_now_ = 1, price_later_ = 1, horizon_ = 1;
  double laxity_ = 1, tilt_from_ = 1, tilt_ = 0, training_ = 1;
  double least_ = 0, steepness_ = 1, on_time_ = 0, hold_ = 1;
  double margin_ = 1, head_start_ = 0;   // On time: minutes * margin + head start <= slack.
  std::array<int, kSizeCount> given_{};  // How many of each size.
  std::vector<Entry> heap_;              // Kept so that deciding allocates nothing.
};

}  // namespace smartmig
