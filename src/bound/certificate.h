// A file that proves bounds: which jobs, fleet and costs they are for, and the prices
// (docs/formats/certificate.md). Whoever has the jobs can compute the bounds again from it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bound/bound.h"

namespace smartmig {

std::string write_certificate(const BoundInput& input, const std::vector<CertifiedBound>& bounds);

// What a certificate says; nothing of it is believed yet.
struct Certificate {
  std::size_t jobs = 0;
  std::string jobs_sha256;
  std::string fleet;
  std::string setting_sha256;  // Costs, failures, length and weight.
  std::vector<CertifiedBound> bounds;
  bool unchanged = false;  // Its own checksum fits.
};
// Errors: not a certificate, or cut short. `name` is for error lines.
Result<Certificate> read_certificate(std::string_view text, const std::string& name);

// Computes every bound again. An error says in one line why the certificate does not hold for this
// input.
Result<void> verify(const BoundInput& input, const Certificate& certificate, int threads);

}  // namespace smartmig
