// The registry: every policy by the word a user writes, PARTITIONER/PLACER or the name of a joint
// policy.
//   none/edf   static:7,4-3*4,3-2-2*3/cedf   day-night:8=4-3*8+20=7*8/cedf   count/cedf   greedy
//   on-demand:on-time,pack   miso
//   mean-field:FILE/cedf   static:7*8/learned:FILE   (learned ones; without :FILE what is shipped)
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/policy.h"

namespace smartmig {

struct PolicyOptions {
  double energy_weight = 2e-7;  // `a` of ET, in the papers' units; `met` and `smartmig` use it.
  std::uint64_t seed = 1;       // Of policies that draw.
};

// A joint policy of a room above this one.
struct JointMaker {
  std::string name;
  std::string what;  // For --help.
  // `argument` is what stands behind the name's ':', if anything does.
  Result<Policy> (*make)(std::optional<std::string_view> argument, const Fleet& fleet,
                         const PolicyOptions& options);
};

// Errors name what is unknown and suggest the nearest name. `more` are known beside those of this
// room; programs ask make_named_policy() (foresight/named_policies.h), which knows them all.
Result<Policy> make_policy(std::string_view spec, const Fleet& fleet,
                           const PolicyOptions& options = {},
                           std::span<const JointMaker> more = {});

// Those that are not learned: they need no file.
std::vector<std::string> partitioner_names();
std::vector<std::string> placer_names();
std::vector<std::string> joint_names(std::span<const JointMaker> more = {});
// One line each, for --help.
std::string describe_policies(std::span<const JointMaker> more = {});

}  // namespace smartmig
