#include "sim/layout_times.h"

namespace smartmig {

void LayoutTimes::change(TimeUs now, GpuIndex gpu, SlotSet target) {
  Present& present = present_[gpu];
  if (present.since_us >= 0)
    spent_us_[{fleet_->board_index(gpu), present.target}] += now - present.since_us;
  present = {target, now};
}

std::map<std::string, double> LayoutTimes::percent(TimeUs end) const {
  LayoutTimes closed = *this;
  for (GpuIndex gpu = 0; gpu < present_.size(); ++gpu) closed.change(end, gpu, 0);
  TimeUs all_us = 0;
  for (const auto& [key, us] : closed.spent_us_) all_us += us;
  std::map<std::string, double> percent;
  for (const auto& [key, us] : closed.spent_us_) {
    if (us == 0) continue;
    percent[layout_name(*fleet_->boards()[key.first], key.second)] +=
        100 * static_cast<double>(us) / static_cast<double>(all_us);
  }
  return percent;
}

}  // namespace smartmig
