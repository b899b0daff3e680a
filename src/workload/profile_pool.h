// The speed profiles that --assign-profiles may give to a job.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "workload/job.h"

namespace smartmig {

class ProfilePool {
 public:
  // A set of the catalogue ("paper"), names of profiles ("bert-training,miso-gnn-b64") or "linear".
  static Result<ProfilePool> parse(std::string_view words);

  // Draws a profile for a job of that kind that was seen to run on kSizes[seen_on]: from those of
  // its kind that run there, else from all that run there, else from all of its kind. kNoProfile
  // for "linear". Always one draw.
  std::uint16_t draw(JobKind kind, int seen_on, Random& random) const;

  // Speeds on each size, 0 where it does not run; for kNoProfile k on size k.
  static std::array<double, kSizeCount> speed(std::uint16_t profile);

  std::size_t size() const { return members_; }
  bool is_linear() const { return members_ == 0; }

 private:
  struct Entry {
    std::uint16_t profile;
    double up_to;  // Cumulated weight.
  };
  std::size_t members_ = 0;
  std::array<std::array<std::vector<Entry>, kSizeCount>, 2> by_kind_and_size_;
};

}  // namespace smartmig
