// Makes the environments to learn in, and the settings in which the papers learned. Change what
// differs in the settings, then make:
//
//   PlacementTask::Settings settings = course_placement(pool_options);
//   auto environment = make_environment(settings);
//
// Two levels are learned in turns: size_placement() with a frozen partitioner in its policy, and
// mean_field() with a frozen placer, learned or not.
#pragma once

#include <memory>

#include "learn/partition_task.h"
#include "learn/placement_task.h"
#include "learn/size_task.h"
#include "policy/policy_file.h"

namespace smartmig {

std::unique_ptr<VectorEnvironment> make_environment(const PlacementTask::Settings& settings);
std::unique_ptr<VectorEnvironment> make_environment(const PartitionTask::Settings& settings);
std::unique_ptr<VectorEnvironment> make_environment(const SizeTask::Settings& settings);

// What the policy file of a network trained there says of it; how options are chosen is up to the
// caller.
LearnedSettings learned_settings(const PlacementTask::Settings& settings);
LearnedSettings learned_settings(const PartitionTask::Settings& settings);
LearnedSettings learned_settings(const SizeTask::Settings& settings);

// The course project's: its layouts on 8 GPUs, no preemption, relaxed deadlines (2:4), rate 20. The
// reward is the share of late jobs, its measure.
PlacementTask::Settings course_placement(DayPoolOptions days = {});
// The fleet paper's: free preemption, all GPUs `7` at first, decided every 5 events. Errors: a bad
// fleet or placer, or more than one board.
Result<PartitionTask::Settings> mean_field(std::string_view fleet = "8xA100-40GB",
                                           std::string_view placer = "cedf",
                                           const DayPoolOptions& days = {});
DayPoolOptions one_gpu_days();  // At rate 2.5.
// The one-GPU paper's: decided at every event.
Result<PartitionTask::Settings> one_gpu(std::string_view board = "A100-40GB",
                                        std::string_view placer = "cedf",
                                        DayPoolOptions days = one_gpu_days());
// Placement by size under a partitioner, such as "count" or a learned one.
Result<SizeTask::Settings> size_placement(std::string_view fleet = "8xA100-40GB",
                                          std::string_view partitioner = "count",
                                          const DayPoolOptions& days = {});

}  // namespace smartmig
