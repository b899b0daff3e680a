// Slurm's trackable resources, as AllocTRES and ReqTRES write them:
// "billing=8,cpu=8,gres/gpu:a100=2,mem=64G".
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace smartmig {

// The GPUs in such a list. A MIG slice counts as one GPU of `mig_slices` compute slices.
struct TresGpus {
  std::int64_t count = 0;
  int mig_slices = 0;  // 1..7 where every GPU of the job is a MIG slice of that size, else 0.
  std::int32_t memory_mib =
      0;  // Of one such slice on the smallest board that has its profile; 0: not known.
  bool shards = false;  // gres/shard: a share whose size the list does not say.
};

// Nothing where a GPU entry is malformed (no number, a negative one).
std::optional<TresGpus> parse_tres(std::string_view text);

}  // namespace smartmig
