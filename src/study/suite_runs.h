// The runs of policies on the days of one setting, each made at most once.
#pragma once

#include <limits>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "study/suite_cache.h"
#include "study/suite_world.h"

namespace smartmig {

// One day under one policy.
struct DayScore {
  double et = std::numeric_limits<double>::infinity();  // Infinite: some job can never run.
  double p99_wait_s = 0;                                // From submit to first start.
  double worst_wait_s = 0;
};

class SuiteRuns {
 public:
  // The references must outlive the object. `policy_digest` stands for the files that a policy
  // names, for the cache; it may be empty.
  using PolicyDigest = std::function<std::string(const std::string& policy)>;
  SuiteRuns(const SuiteWorld& world, const SuiteCache& cache, PolicyDigest policy_digest,
            int threads);

  // Has these policies run on days 0..days-1. Errors: a policy that cannot be made, a cache that
  // cannot be written.
  Result<void> extend(std::span<const std::string> policies, std::size_t days);

  // The days so far, of a policy that was extended.
  const std::vector<DayScore>& scores(const std::string& policy) const;
  // Why the first day that is infinite is so; "" where none is, or the cache had it.
  const std::string& why_infinite(const std::string& policy) const;

 private:
  struct OfPolicy {
    std::vector<DayScore> days;
    std::string why_infinite;
  };
  OfPolicy& find(const std::string& policy);
  Result<void> run(std::span<const std::string> policies, std::size_t first, std::size_t end);

  const SuiteWorld& world_;
  const SuiteCache& cache_;
  PolicyDigest policy_digest_;
  int threads_;
  std::string setting_;  // The key of the cache.
  std::map<std::string, OfPolicy> policies_;
};

}  // namespace smartmig
