// What a job asks for where slices are made on demand: one size of the fleet's base profiles, fixed
// when the job arrives (docs/model/semantics.md, `on-demand`).
#pragma once

#include <string_view>
#include <vector>

#include "fleet/view.h"

namespace smartmig {

// kAsked: the share of a GPU in the column `request`; kOnTime: the smallest size that ends by the
// deadline; kByProfile: a size for each speed profile.
enum class RequestRule : std::uint8_t { kAsked, kOnTime, kByProfile };

struct Requests {
  RequestRule rule = RequestRule::kOnTime;
  // kByProfile: by index into the catalogue, the compute slices asked for; 0: not named.
  std::vector<std::uint8_t> compute;

  // "asked", "on-time" or "NAME=k+NAME=k...". The error says what was expected.
  static Result<Requests> parse(std::string_view text);
};

// The kinds of slices that serve a job's request: all of one size, base profiles on which it runs.
class RequestReader {
 public:
  RequestReader(Requests requests, const Fleet& fleet);

  struct Request {
    int size = -1;  // Index into kSizes; -1: the job runs on no base profile of the fleet.
    KindSet kinds = 0;
    friend bool operator==(const Request&, const Request&) = default;
  };
  // `kinds`: those on which the job runs.
  Request read(const View& view, JobIndex job, KindSet kinds) const;
  RequestRule rule() const { return requests_.rule; }

 private:
  int wanted_size(const View& view, JobIndex job, KindSet kinds) const;
  int asked_size(const SeenJob& job) const;
  int on_time_size(const View& view, JobIndex job, KindSet kinds) const;

  Requests requests_;
  std::array<KindSet, kSizeCount> base_kinds_{};  // Of each size.
  int largest_ = 0;
};

}  // namespace smartmig
