#include "report/comparison_pictures.h"

#include <fmt/format.h>

#include <optional>

#include "base/thread_pool.h"
#include "report/timeline.h"

namespace smartmig {
namespace {

std::vector<PageWidget> draw_day(const Engine& engine, const PolicyResult& result,
                                 std::size_t index, std::size_t day, std::size_t room) {
  ChartText text;
  text.name = fmt::format("timeline-{}", index);
  text.title = result.policy;
  text.caption = result.days.size() == 1 ? fmt::format("ET {}.", readable(result.days[day].et))
                                         : fmt::format("Day {}, the one with the median ET, {}.",
                                                       day, readable(result.days[day].et));
  return timeline_widgets(engine, text, room);
}

}  // namespace

ComparisonPictures::ComparisonPictures(std::span<const Policy> policies, std::size_t days)
    : policies_(policies.begin(), policies.end()), days_(days), shapes_(days * policies.size()) {}

CompareWatch ComparisonPictures::watch() {
  return [this](std::size_t policy, std::size_t day, const Engine& engine) {
    shapes_[day * policies_.size() + policy] = shapes_of(engine);
  };
}

Result<std::vector<PolicyPictures>> ComparisonPictures::finish(const RunSettings& settings,
                                                               const Comparison& comparison,
                                                               const DaySource& source,
                                                               int threads) && {
  std::vector<PolicyPictures> pictures(policies_.size());
  std::vector<std::optional<Error>> errors(policies_.size());
  RunSettings recorded = settings;
  recorded.engine.records = true;
  recorded.engine.stays = true;
  parallel_for(policies_.size(), threads, [&](std::size_t p) {
    PolicyPictures& picture = pictures[p];
    picture.shapes.policy = policies_[p].name;
    picture.shapes.days = days_;
    // In the order of the days: sums of doubles depend on it.
    for (std::size_t day = 0; day < days_; ++day)
      picture.shapes.shapes.add(shapes_[day * policies_.size() + p]);
    const std::size_t day = median_day(comparison.policies[p]);
    const auto table = source(day);
    if (!table) {
      errors[p] = table.error();
      return;
    }
    const auto drawn = run_day(recorded, policies_[p], **table, day, [&](const Engine& engine) {
      picture.timelines =
          draw_day(engine, comparison.policies[p], p, day, timeline_room(policies_.size()));
    });
    if (!drawn) errors[p] = drawn.error();
  });
  for (const auto& error : errors) {
    if (error) return tl::unexpected<Error>(*error);
  }
  return pictures;
}

}  // namespace smartmig
