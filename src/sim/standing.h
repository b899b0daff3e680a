// How things stand at a time: what a run that begins in the middle begins with (Engine::restart).
// A plain value; docs/model/smartmig.md says where it comes from.
#pragma once

#include <vector>

#include "fleet/state.h"

namespace smartmig {

struct Standing {
  struct Gpu {
    bool up = true;
    SlotSet present = 0;  // Slices that are there, one that is being destroyed among them.
    SlotSet target = 0;
    TimeUs operation_end_us = kNever;  // Of the operation under way; kNever: none.
    std::uint8_t operation_slot = 0;
    bool creates = false;
  };
  // A job on a slice; one that saves leaves it at end_us, any other when its work is done.
  struct Run {
    JobIndex job = kNone;
    GpuIndex gpu = 0;
    std::uint8_t slot = 0;
    bool saves = false;
    TimeUs begin_us = 0;  // It makes progress from here on.
    TimeUs end_us = 0;
  };

  TimeUs now_us = 0;
  std::vector<Gpu> gpus;     // One for each of the fleet.
  std::vector<double> left;  // Of the jobs that have arrived, which are the table's first: the
                             // fraction of their work that is left, above 0.
  std::vector<Run> runs;
  std::vector<State::Awaiting> waits;

  void clear() {
    gpus.clear();
    left.clear();
    runs.clear();
    waits.clear();
  }
};

}  // namespace smartmig
