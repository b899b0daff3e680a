// Every policy by the word a user writes: those of policy/registry.h, and those that look ahead.
#pragma once

#include "policy/registry.h"

namespace smartmig {

// As make_policy().
Result<Policy> make_named_policy(std::string_view spec, const Fleet& fleet,
                                 const PolicyOptions& options = {});
std::vector<std::string> named_joint_policies();
std::string describe_named_policies();

}  // namespace smartmig
