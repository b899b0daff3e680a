// What a client asks for when it submits a job: the body of POST jobs, checked field by field.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "base/units.h"
#include "workload/job.h"

namespace smartmig {

// Why a request is refused, for the answer {"error", "field"}.
struct Refusal {
  int status = 400;
  std::string error;  // One line.
  std::string field;  // The field it is about; empty: none.
};
template <class T>
using Answer = tl::expected<T, Refusal>;

// Limits of a request; longer ones are refused.
inline constexpr std::size_t kMaxKeyCharacters = 128;
inline constexpr std::size_t kMaxNameCharacters = 256;
inline constexpr std::size_t kMaxCommandBytes = 16 * 1024;

struct JobRequest {
  std::string profile;    // A speed profile of the catalogue.
  double work_s = 0;      // On a whole GPU, as estimated.
  double deadline_s = 0;  // From now.
  std::string key;
  std::string name;
  std::int32_t memory_mib = 0;
  std::vector<std::string> command;
  std::optional<bool> preemptible;
  std::optional<double> checkpoint_s;
  std::optional<double> restore_s;
  std::optional<double> max_runtime_s;
};

Answer<JobRequest> parse_job_request(std::string_view json);
// The same request as one JSON text, the same for the same request: what a key is compared by.
std::string to_json_text(const JobRequest& request);
// The job as policies see it, submitted now.
Job to_job(const JobRequest& request, TimeUs now);

}  // namespace smartmig
