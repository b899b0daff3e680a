#include "bound/certificate.h"

#include "bound/check.h"
#include "check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace smartmig;
  static const Fleet fleet = *Fleet::parse("A100-40GB");
  static const Costs costs = Costs::free();
  static const std::vector<Job> jobs = [] {
    std::vector<Job> two(2);
    for (Job& job : two) job.time_us.fill(60'000'000), job.deadline_us = 30'000'000;
    return two;
  }();
  const auto certificate = read_certificate(as_text(data, size), "fuzz");
  check_error(certificate);
  if (!certificate) return 0;
  BoundInput input;
  input.fleet = &fleet;
  input.jobs = jobs;
  input.costs = &costs;
  // Whatever prices it has, they are refused or prove no more than the best schedule costs.
  for (const CertifiedBound& bound : certificate->bounds) {
    if (bound.prices.stretches() > 100 || !check_prices(bound.prices, 2)) continue;
    const double value =
        certified_value(input, weights_of(input, Objective::kTardiness), bound.prices, 1);
    SM_CHECK(value >= 0 && value <= 30);
  }
  return 0;
}
