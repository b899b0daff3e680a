// What ran where and when in one run: every GPU's layout, the jobs on its slices, and the queue,
// the power and the arrivals beside them. Made from an engine that ran with stays on; long runs are
// summarised until they fit.
//
//   for (const PageWidget& widget : timeline_widgets(engine, {"timeline-0", "count/cedf"}, room))
//     page.add(widget);
//
// docs/formats/report.md describes what the page holds of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/page.h"
#include "sim/engine.h"

namespace smartmig {

// How a job is coloured.
enum class Shade : std::uint8_t { kInference, kTraining, kLateInference, kLateTraining };
inline constexpr std::size_t kShades = 4;
Shade shade_of(const Engine& engine, JobIndex job);

// A job's stay on a slice, or several short ones in a row.
struct TimelinePiece {
  TimeUs begin_us = 0;
  TimeUs end_us = 0;
  SliceId slice = kNone;
  JobIndex job = kNone;     // kNone: several.
  std::uint32_t stays = 1;  // How many it is.
  TimeUs busy_us = 0;       // Of its length, how much had a job.
  std::uint8_t slot = 0;
  Shade shade = Shade::kInference;  // Of several: that which took the most time.
};

// A GPU's slices from a time on.
struct TimelineLayout {
  TimeUs begin_us = 0;
  GpuIndex gpu = 0;
  SlotSet ready = 0;
  bool up = true;
};

struct TimeSpan {
  TimeUs begin_us = 0;
  TimeUs end_us = 0;
};

struct Timeline {
  TimeUs begin_us = 0;
  TimeUs end_us = 0;
  GpuIndex gpus = 0;     // The first of the fleet's; more than kMaxGpus are not shown.
  TimeUs merged_us = 0;  // Stays shorter than this may be merged; 0: each is there by itself.
  std::vector<TimelinePiece> pieces;    // By slice, then time.
  std::vector<TimelineLayout> layouts;  // By GPU, then time.
  // Means over stretches of bin_us from begin_us on.
  TimeUs bin_us = 0;
  std::vector<double> queue;    // Jobs that have come, are not done and have no slice.
  std::vector<double> power_w;  // Of all GPUs of the fleet.
  std::vector<double> arrivals_per_min;

  static constexpr GpuIndex kMaxGpus = 256;
  static constexpr std::size_t kMaxBins = 2000;
};

// The shortest stays are merged until what is left fits into `room`: a piece takes one of it, a job
// that has one of its own two more, a layout one of as much again. Deterministic. O((stays +
// records)
// * log) time. With `part`, which lies within the run, of that alone.
Timeline make_timeline(const Engine& engine, std::size_t room,
                       const std::optional<TimeSpan>& part = {});

// The pictures of a run, moving for the page's script and still for readers without one. A run of
// days that does not fit as it is has two: the whole, summarised, and one of its days.
std::vector<PageWidget> timeline_widgets(const Engine& engine, const ChartText& text,
                                         std::size_t room);
// Of the days of the submit times' clock on which jobs came: the one whose jobs' mean tardiness is
// the median (the lower of two; of equal ones the first).
TimeUs median_clock_day(const Engine& engine);

std::string timeline_data(const Timeline& timeline, const Engine& engine);
std::string timeline_still(const Timeline& timeline, const Engine& engine, const ChartText& text);

// Round times of a clock within a span, at most `most`: "06:00", or "day 3" where days are in it.
std::vector<Tick> clock_ticks(TimeUs begin_us, TimeUs end_us, std::size_t most);

}  // namespace smartmig
