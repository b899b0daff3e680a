#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/run_summary.h"
#include "report/timeline.h"

namespace smartmig {
namespace {

PageWidget widget_of(const Timeline& timeline, const Engine& engine, const ChartText& text) {
  PageWidget widget;
  widget.name = text.name;
  widget.kind = "timeline";
  widget.label = text.title;
  widget.caption = text.caption;
  if (timeline.merged_us > 0) {
    widget.caption += fmt::format(
        " There is more than fits: what lasted less than {} is summed with its neighbours.",
        human_time(to_s(timeline.merged_us)));
  }
  if (timeline.gpus < engine.state().fleet().gpu_count()) {
    widget.caption +=
        fmt::format(" The first {} of {} GPUs.", timeline.gpus, engine.state().fleet().gpu_count());
  }
  widget.still_svg = timeline_still(timeline, engine, text);
  widget.data = timeline_data(timeline, engine);
  return widget;
}

}  // namespace

TimeUs median_clock_day(const Engine& engine) {
  struct Day {
    TimeUs late_us = 0;
    TimeUs jobs = 0;
    TimeUs number = 0;
    double mean() const { return static_cast<double>(late_us) / static_cast<double>(jobs); }
  };
  std::map<TimeUs, Day> by_number;
  for (JobIndex job = 0; job < engine.jobs().jobs.size(); ++job) {
    const TimeUs number = engine.jobs().jobs[job].submit_us / kDayUs;
    Day& day = by_number[number];
    day.number = number;
    ++day.jobs;
    day.late_us +=
        std::max<TimeUs>(0, engine.finish_us()[job] - engine.state().job_state(job).deadline_us);
  }
  std::vector<Day> days;
  for (const auto& [number, day] : by_number) days.push_back(day);
  std::stable_sort(days.begin(), days.end(),
                   [](const Day& a, const Day& b) { return a.mean() < b.mean(); });
  return days[(days.size() - 1) / 2].number;
}

std::vector<PageWidget> timeline_widgets(const Engine& engine, const ChartText& text,
                                         std::size_t room) {
  const Timeline whole = make_timeline(engine, room);
  if (whole.merged_us == 0 || whole.end_us - whole.begin_us < 2 * kDayUs)
    return {widget_of(whole, engine, text)};
  const TimeUs number = median_clock_day(engine);
  const TimeSpan day = {std::max(whole.begin_us, number * kDayUs),
                        std::min(whole.end_us, (number + 1) * kDayUs)};
  ChartText of_day;
  of_day.name = text.name + "-day";
  of_day.title = fmt::format("{}, day {} of the run", text.title, number);
  of_day.caption = "One day of it: of those on which jobs came, the one with the median tardiness.";
  return {widget_of(make_timeline(engine, room / 2), engine, text),
          widget_of(make_timeline(engine, room / 2, day), engine, of_day)};
}

}  // namespace smartmig
