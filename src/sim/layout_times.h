// How long GPUs were meant to have each layout: by target, not by what was there while slices came
// and went. One addition for each change of target.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "fleet/fleet.h"

namespace smartmig {

class LayoutTimes {
 public:
  explicit LayoutTimes(const Fleet& fleet) : fleet_(&fleet), present_(fleet.gpu_count()) {}

  // The GPU's target from now on. The first call for a GPU begins its time.
  void change(TimeUs now, GpuIndex gpu, SlotSet target);
  // By name, in percent of the time of all GPUs until `end`; a run without length has none.
  std::map<std::string, double> percent(TimeUs end) const;

 private:
  struct Present {
    SlotSet target = 0;
    TimeUs since_us = -1;  // Before the first.
  };
  // A placement of a board; what has one multiset is one layout only when it is named.
  using Key = std::pair<std::uint8_t, SlotSet>;

  const Fleet* fleet_;
  std::vector<Present> present_;
  std::map<Key, TimeUs> spent_us_;
};

}  // namespace smartmig
