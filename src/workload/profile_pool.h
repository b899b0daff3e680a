// The speed profiles that --assign-profiles, or a described workload, may give to a job: some of
// the catalogue, or one made-up rule for all jobs.
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
  // A set of the catalogue ("paper"), all of it ("catalogue"), names of profiles
  // ("bert-training,miso-gnn-b64"), or a made-up rule: "linear" (speed k on kg), "flat" (no faster
  // anywhere), "memory-bound" (by memory slices) or "large-only" (linear, and only on 3g and more).
  static Result<ProfilePool> parse(std::string_view words);

  // Draws a profile for a job of that kind that was seen to run on kSizes[seen_on]: from those of
  // its kind that run there, else from all that run there, else from all of its kind. kNoProfile
  // for a made-up rule. Always one draw.
  std::uint16_t draw(JobKind kind, int seen_on, Random& random) const;

  // What draw() gives, and how often; the shares sum to 1.
  struct Share {
    std::uint16_t profile;
    double share;
  };
  std::vector<Share> shares(JobKind kind, int seen_on) const;

  // Relative speeds on each size, 0 where it does not run; for kNoProfile those of the rule.
  std::array<double, kSizeCount> speed(std::uint16_t profile) const;

  std::size_t size() const { return members_; }
  // "linear in the compute slices"; "" where profiles are drawn.
  const std::string& made_up() const { return made_up_; }

 private:
  struct Entry {
    std::uint16_t profile;
    double up_to;  // Cumulated weight.
  };
  std::size_t members_ = 0;  // 0: a made-up rule.
  std::string made_up_;
  std::array<double, kSizeCount> made_up_speed_{};
  std::array<std::array<std::vector<Entry>, kSizeCount>, 2> by_kind_and_size_;
};

}  // namespace smartmig
