#include "foresight/named_policies.h"

#include "foresight/foresight.h"

namespace smartmig {
namespace {

Result<Policy> make_smartmig_policy(std::optional<std::string_view> file, const Fleet& fleet,
                                    const PolicyOptions& options) {
  if (file && file->empty()) return fail("policy smartmig: expected a file after the ':'");
  return make_foresight(std::string(file.value_or("")), fleet, options);
}

const JointMaker kMakers[] = {
    {"smartmig",
     "smartmig[:FILE], the default: looks ahead which of several policies does best, prices[:FILE] "
     "among them",
     make_smartmig_policy}};

}  // namespace

Result<Policy> make_named_policy(std::string_view spec, const Fleet& fleet,
                                 const PolicyOptions& options) {
  return make_policy(spec, fleet, options, kMakers);
}
std::vector<std::string> named_joint_policies() { return joint_names(kMakers); }
std::string describe_named_policies() { return describe_policies(kMakers); }

}  // namespace smartmig
