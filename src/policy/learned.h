// Makers of the learned policies: inference only. docs/model/learning.md has what they see and do.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "policy/policy.h"
#include "policy/policy_file.h"

namespace smartmig {

// Of a mean-field or one-GPU policy, whose board the fleet has.
std::unique_ptr<Partitioner> make_learned_layouts(std::shared_ptr<const LearnedPolicy> policy,
                                                  std::uint64_t seed);
// Of a placement or size policy. One for placement is for fleets whose slices are those it names.
std::unique_ptr<Placer> make_learned_placer(std::shared_ptr<const LearnedPolicy> policy,
                                            std::uint64_t seed);

// From files; "" is the shipped one. Errors are those of the file, or of a file that does not fit.
// `fixed_layouts` is empty where layouts change.
Result<std::unique_ptr<Partitioner>> read_learned_layouts(LearnedKind kind, const std::string& path,
                                                          const Fleet& fleet, std::uint64_t seed);
Result<std::unique_ptr<Placer>> read_learned_placer(const std::string& path, const Fleet& fleet,
                                                    std::span<const SlotSet> fixed_layouts,
                                                    std::uint64_t seed);

}  // namespace smartmig
