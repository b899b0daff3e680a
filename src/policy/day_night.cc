// `day-night`: two lists of layouts and the two times of day at which they come into force.
#include "policy/partitioners.h"

namespace smartmig {
namespace {

class DayNightPartitioner : public Partitioner {
 public:
  explicit DayNightPartitioner(DayNight plan) : plan_(std::move(plan)) {}
  std::unique_ptr<Partitioner> clone() const override {
    return std::make_unique<DayNightPartitioner>(*this);
  }

  void first_layouts(const View& view, std::vector<SlotSet>& layouts) override {
    const auto& first = plan_.layouts[in_force(view.now())];
    layouts.assign(first.begin(), first.end());
  }

  void decide(View& view, Decision& decision) override {
    const auto& layouts = plan_.layouts[in_force(view.now())];
    for (GpuIndex gpu = 0; gpu < view.fleet().gpu_count(); ++gpu)
      aim_at(view, gpu, layouts[gpu], decision);
  }

  TimeUs next_timer(TimeUs now) const override {
    const TimeUs midnight = now - now % kDayUs;
    TimeUs next = midnight + kDayUs + plan_.from_us[0];
    for (const TimeUs from : plan_.from_us) {
      if (midnight + from > now) next = std::min(next, midnight + from);
    }
    return next;
  }

 private:
  int in_force(TimeUs now) const {
    const TimeUs time_of_day = now % kDayUs;
    return time_of_day >= plan_.from_us[0] && time_of_day < plan_.from_us[1] ? 0 : 1;
  }
  DayNight plan_;
};

}  // namespace

std::unique_ptr<Partitioner> make_day_night(DayNight plan) {
  return std::make_unique<DayNightPartitioner>(std::move(plan));
}

}  // namespace smartmig
