#include "bound/certificate.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "base/json_fields.h"
#include "base/sha256.h"
#include "base/text.h"
#include "bound/check.h"

namespace smartmig {
namespace {

using nlohmann::json;

constexpr std::string_view kForm = "smartmig bound certificate 1";

// All that a bound depends on, of each job.
std::string digest_of_jobs(std::span<const Job> jobs) {
  Sha256 sum;
  for (const Job& job : jobs) {
    sum.add(std::int64_t{job.submit_us});
    sum.add(std::int64_t{job.deadline_us});
    for (const TimeUs us : job.time_us) sum.add(std::int64_t{us});
    sum.add(std::int64_t{job.memory_mib});
    sum.add(std::int64_t{job.profile});
  }
  return sum.hex();
}

// Numbers as %a has them: exact.
std::string digest_of_setting(const BoundInput& input) {
  const Costs& costs = *input.costs;
  std::string text = fmt::format("days {:a} weight {:a} real power {} ", input.days,
                                 input.energy_weight, costs.real_power);
  if (input.trace) {
    text += fmt::format("trace {} {} ", input.trace->first_submit_us, input.trace->last_submit_us);
  }
  if (costs.start_us > 0) text += fmt::format("start {} ", costs.start_us);
  if (costs.power_down_after_us) text += fmt::format("off {:a} ", costs.off_w);
  for (const GpuEvent& event : input.events)
    text += fmt::format("{} {} {} ", event.at_us, event.gpu, event.fail);
  for (const Board* board : input.fleet->boards()) {
    text += fmt::format("board {} {} {} cap {:a} additive {} ", board->name, board->compute_slices,
                        board->memory_slices, board->power.cap_w, board->power.additive);
    for (const double watts : board->power.busy_w) text += fmt::format("{:a} ", watts);
    for (const double factor : board->speed.factor) text += fmt::format("{:a} ", factor);
  }
  return sha256_hex(text);
}

Result<Objective> parse_objective(const std::string& text) {
  for (const Objective objective : {Objective::kEnergy, Objective::kTardiness, Objective::kEt}) {
    if (to_string(objective) == text) return objective;
  }
  return fail("unknown objective {}", in_quotes(text));
}

json to_json(const CertifiedBound& bound) {
  json edges = json::array();
  for (const double edge_s : bound.prices.edges_s) edges.push_back(to_us(edge_s));
  return {{"objective", to_string(bound.objective)},
          {"value", bound.value},
          {"edges_us", std::move(edges)},
          {"prices", bound.prices.value}};
}

// A whole number from 0 to `most`; nothing where it is something else.
std::optional<std::int64_t> whole_number(const json& value, std::int64_t most) {
  if (!value.is_number_integer()) return std::nullopt;
  // A number too large to have a sign reads as a negative one.
  const auto number = value.get<std::int64_t>();
  return number >= 0 && number <= most ? std::optional(number) : std::nullopt;
}

// Throws what nlohmann throws where a field is missing or of another type.
Result<CertifiedBound> bound_from(const json& object) {
  CertifiedBound bound;
  const auto objective = parse_objective(object.at("objective").get<std::string>());
  if (!objective) return pass_on(objective);
  bound.objective = *objective;
  bound.value = object.at("value").get<double>();
  for (const json& edge : object.at("edges_us")) {
    const auto us = whole_number(edge, to_us(kMaxSeconds));
    if (!us) return fail("edges_us: found {}, expected whole microseconds", edge.dump());
    bound.prices.edges_s.push_back(to_s(*us));
  }
  bound.prices.value = object.at("prices").get<std::vector<double>>();
  return bound;
}

}  // namespace

std::string write_certificate(const BoundInput& input, const std::vector<CertifiedBound>& bounds) {
  json root = {{"form", kForm},
               {"jobs", input.jobs.size()},
               {"jobs_sha256", digest_of_jobs(input.jobs)},
               {"fleet", input.fleet->name()},
               {"setting_sha256", digest_of_setting(input)},
               {"bounds", json::array()}};
  for (const CertifiedBound& bound : bounds) root["bounds"].push_back(to_json(bound));
  root["sha256"] = sha256_hex(root.dump());
  return root.dump(1) + "\n";
}

Result<Certificate> read_certificate(std::string_view text, const std::string& name) {
  std::string repeated;
  json root = parse_json(text, &repeated);
  if (!repeated.empty()) return fail("{}: the field {} stands twice", name, in_quotes(repeated));
  if (root.is_discarded() || !root.is_object())
    return fail("{}: is not a whole JSON object; was it cut short?", name);
  if (!root.contains("form") || root["form"] != kForm)
    return fail("{}: is not a certificate; expected \"form\": \"{}\"", name, kForm);
  Certificate certificate;
  try {
    const std::string sum = root.at("sha256").get<std::string>();
    root.erase("sha256");
    certificate.unchanged = sha256_hex(root.dump()) == sum;
    const auto jobs = whole_number(root.at("jobs"), INT64_MAX);
    if (!jobs) return fail("{}: jobs: found {}, expected a number", name, root["jobs"].dump());
    certificate.jobs = static_cast<std::size_t>(*jobs);
    certificate.jobs_sha256 = root.at("jobs_sha256").get<std::string>();
    certificate.fleet = root.at("fleet").get<std::string>();
    certificate.setting_sha256 = root.at("setting_sha256").get<std::string>();
    for (const json& object : root.at("bounds")) {
      auto bound = bound_from(object);
      if (!bound) return fail("{}: {}", name, bound.error().message);
      certificate.bounds.push_back(std::move(*bound));
    }
  } catch (const json::exception& error) {
    return fail("{}: {}", name, error.what());
  }
  if (certificate.bounds.empty()) return fail("{}: proves nothing: no bounds", name);
  return certificate;
}

Result<void> verify(const BoundInput& input, const Certificate& certificate, int threads) {
  if (certificate.fleet != input.fleet->name()) {
    return fail("it is for fleet {}, not '{}'", in_quotes(certificate.fleet), input.fleet->name());
  }
  if (certificate.jobs != input.jobs.size() ||
      certificate.jobs_sha256 != digest_of_jobs(input.jobs)) {
    return fail("it is for other jobs ({}, not these {})", certificate.jobs, input.jobs.size());
  }
  if (certificate.setting_sha256 != digest_of_setting(input)) {
    return fail(
        "it is for other costs, failures, boards, another window of a trace or another "
        "--energy-weight");
  }
  if (!certificate.unchanged) return fail("it was changed after it was written");
  for (const Job& job : input.jobs) {
    if (input.fleet->kinds_for(job) == 0) return fail("a job runs on no slice of the fleet");
  }
  for (const CertifiedBound& bound : certificate.bounds) {
    const auto sound = check_prices(bound.prices, 2 * input.fleet->boards().size());
    if (!sound) return pass_on(sound);
    const double value =
        certified_value(input, weights_of(input, bound.objective), bound.prices, threads);
    if (!(value >= bound.value)) {
      return fail("its prices prove {} of {}, less than the {} it claims", value,
                  to_string(bound.objective), bound.value);
    }
  }
  return {};
}

}  // namespace smartmig
