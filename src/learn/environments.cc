#include "learn/environments.h"

#include "foresight/named_policies.h"
#include "learn/environment_set.h"

namespace smartmig {
namespace {

constexpr std::string_view kCourseLayouts = "7*2,4-3*2,4-2-1*2,2-2-2-1*2";

template <class Settings>
Result<Settings> with_policy(std::string_view fleet, const std::string& policy,
                             const DayPoolOptions& days) {
  auto parsed = Fleet::parse(fleet);
  if (!parsed) return pass_on(parsed);
  Settings settings;
  settings.episodes.fleet = std::make_shared<const Fleet>(std::move(*parsed));
  auto made = make_named_policy(policy, *settings.episodes.fleet);
  if (!made) return pass_on(made);
  settings.episodes.policy = std::move(*made);
  settings.episodes.days = std::make_shared<const DayPool>(days);
  return settings;
}

Result<PartitionTask::Settings> partition(std::string_view fleet, std::string_view placer,
                                          const DayPoolOptions& days) {
  auto settings = with_policy<PartitionTask::Settings>(fleet, fmt::format("none/{}", placer), days);
  if (settings && settings->episodes.fleet->boards().size() != 1) {
    return fail("fleet {}: found {} boards, expected one: GPUs must be interchangeable", fleet,
                settings->episodes.fleet->boards().size());
  }
  return settings;
}

}  // namespace

std::unique_ptr<VectorEnvironment> make_environment(const PlacementTask::Settings& settings) {
  return std::make_unique<EnvironmentSet<PlacementTask>>(settings, settings.episodes.environments);
}
std::unique_ptr<VectorEnvironment> make_environment(const PartitionTask::Settings& settings) {
  return std::make_unique<EnvironmentSet<PartitionTask>>(settings, settings.episodes.environments);
}
std::unique_ptr<VectorEnvironment> make_environment(const SizeTask::Settings& settings) {
  return std::make_unique<EnvironmentSet<SizeTask>>(settings, settings.episodes.environments);
}

LearnedSettings learned_settings(const PlacementTask::Settings& settings) {
  const Fleet& fleet = *settings.episodes.fleet;
  // As the fleet starts, so it stays.
  Engine engine(fleet, settings.episodes.days->day(0), settings.episodes.policy,
                settings.episodes.engine);
  std::vector<SlotSet> layouts;
  for (GpuIndex gpu = 0; gpu < fleet.gpu_count(); ++gpu)
    layouts.push_back(engine.state().gpu(gpu).target);
  LearnedSettings learned;
  learned.kind = LearnedKind::kPlacement;
  learned.board = fleet.board(0).name;
  learned.slices = slice_sizes(fleet, layouts);
  return learned;
}
LearnedSettings learned_settings(const PartitionTask::Settings& settings) {
  LearnedSettings learned;
  learned.kind = settings.one_head ? LearnedKind::kOneGpu : LearnedKind::kMeanField;
  learned.board = settings.episodes.fleet->board(0).name;
  learned.queue_length = settings.queue_length;
  learned.every = static_cast<int>(settings.every);
  return learned;
}
LearnedSettings learned_settings(const SizeTask::Settings& settings) {
  LearnedSettings learned;
  learned.kind = LearnedKind::kSize;
  learned.board = settings.episodes.fleet->board(0).name;
  return learned;
}

PlacementTask::Settings course_placement(DayPoolOptions days) {
  days.workload.deadlines = {2, 4, 7};
  auto settings = with_policy<PlacementTask::Settings>(
      "8xA100-40GB", fmt::format("static:{}/earliest-finish", kCourseLayouts), days);
  SM_CHECK(settings.has_value());
  settings->episodes.engine.preemption = Preemption::kOff;
  settings->episodes.reward = {.tardiness = 0, .energy = 0, .late = 1};
  return std::move(*settings);
}

Result<PartitionTask::Settings> mean_field(std::string_view fleet, std::string_view placer,
                                           const DayPoolOptions& days) {
  return partition(fleet, placer, days);
}

DayPoolOptions one_gpu_days() {
  DayPoolOptions days;
  days.rates = {2.5};
  return days;
}

Result<PartitionTask::Settings> one_gpu(std::string_view board, std::string_view placer,
                                        DayPoolOptions days) {
  auto settings = partition(fmt::format("1x{}", board), placer, days);
  if (!settings) return settings;
  settings->one_head = true;
  settings->every = 1;
  return settings;
}

Result<SizeTask::Settings> size_placement(std::string_view fleet, std::string_view partitioner,
                                          const DayPoolOptions& days) {
  // The placer's order of jobs counts, not its choice of slices.
  return with_policy<SizeTask::Settings>(fleet, fmt::format("{}/slowest-on-time", partitioner),
                                         days);
}

}  // namespace smartmig
