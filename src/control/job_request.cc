#include "control/job_request.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/json_fields.h"
#include "base/text.h"
#include "workload/catalogue.h"

namespace smartmig {
namespace {

using nlohmann::json;

constexpr double kMaxJobSeconds = 1e8;  // About three years.
constexpr double kMaxMoveSeconds = 1e6;
constexpr std::size_t kMaxArguments = 1024;
const std::vector<std::string> kFields = {
    "profile", "work_s",      "deadline_s",   "key",       "name",         "memory_mib",
    "command", "preemptible", "checkpoint_s", "restore_s", "max_runtime_s"};

// Of UTF-8: every byte but those that continue a character.
std::size_t count_characters(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

// Reads fields of one object; the first thing wrong is kept.
class Reader {
 public:
  explicit Reader(const json& body) : body_(body) {}

  void refuse(std::string_view field, std::string error) {
    if (!refusal_) refusal_ = Refusal{400, std::move(error), std::string(field)};
  }
  std::optional<double> number(const char* field, double low, double high) {
    const auto found = body_.find(field);
    if (found == body_.end()) return std::nullopt;
    if (found->is_number()) {
      const double value = found->get<double>();
      if (std::isfinite(value) && value >= low && value <= high) return value;
    }
    refuse(field,
           fmt::format("found {}, expected a number from {:g} to {:g}", shown(*found), low, high));
    return std::nullopt;
  }
  // JSON has one kind of number: 4096.0 is whole, 1.5 is not.
  std::optional<std::int32_t> integer(const char* field, std::int32_t low, std::int32_t high) {
    const auto found = body_.find(field);
    if (found == body_.end()) return std::nullopt;
    if (found->is_number()) {
      const double value = found->get<double>();
      if (value >= low && value <= high && value == std::floor(value))
        return static_cast<std::int32_t>(value);
    }
    refuse(field, fmt::format("found {}, expected a whole number from {} to {}", shown(*found), low,
                              high));
    return std::nullopt;
  }
  double required(const char* field, double low, double high) {
    if (!body_.contains(field)) refuse(field, "is missing");
    return number(field, low, high).value_or(0);
  }
  std::string text(const char* field, std::size_t most) {
    const auto found = body_.find(field);
    if (found == body_.end()) return {};
    if (found->is_string()) {
      const auto& value = found->get_ref<const std::string&>();
      const bool plain = std::none_of(value.begin(), value.end(),
                                      [](unsigned char c) { return c < 0x20 || c == 0x7f; });
      if (!value.empty() && count_characters(value) <= most && plain) return value;
    }
    refuse(field, fmt::format("found {}, expected 1 to {} characters, none of them control",
                              shown(*found), most));
    return {};
  }
  std::optional<bool> boolean(const char* field) {
    const auto found = body_.find(field);
    if (found == body_.end()) return std::nullopt;
    if (found->is_boolean()) return found->get<bool>();
    refuse(field, fmt::format("found {}, expected true or false", shown(*found)));
    return std::nullopt;
  }
  std::vector<std::string> texts(const char* field, std::size_t most_bytes) {
    const auto found = body_.find(field);
    std::vector<std::string> values;
    if (found == body_.end()) return values;
    std::size_t bytes = 0;
    bool good = found->is_array() && found->size() <= kMaxArguments;
    for (std::size_t i = 0; good && i < found->size(); ++i) {
      const json& item = (*found)[i];
      good = item.is_string() && item.get_ref<const std::string&>().find('\0') == std::string::npos;
      if (!good) break;
      values.push_back(item);
      bytes += values.back().size() + 1;
      good = bytes <= most_bytes;
    }
    if (!good)
      refuse(field, fmt::format("expected a list of at most {} arguments with {} bytes together",
                                kMaxArguments, most_bytes));
    return values;
  }
  const std::optional<Refusal>& refusal() const { return refusal_; }

 private:
  static std::string shown(const json& value) {
    constexpr std::size_t kMost = 40;
    std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
    if (text.size() > kMost) text = text.substr(0, kMost) + "...";
    return text;
  }

  const json& body_;
  std::optional<Refusal> refusal_;
};

}  // namespace

Answer<JobRequest> parse_job_request(std::string_view text) {
  std::string repeated;
  const json body = parse_json(text, &repeated);
  if (!repeated.empty())
    return tl::unexpected(Refusal{400, "stands twice, expected it once", repeated});
  if (!body.is_object())
    return tl::unexpected(
        Refusal{400, "expected a JSON object with profile, work_s and deadline_s", ""});
  Reader reader(body);
  for (const auto& [field, value] : body.items()) {
    if (std::find(kFields.begin(), kFields.end(), field) == kFields.end())
      reader.refuse(field, "is not a field of a job" + suggestion(field, kFields));
  }
  JobRequest request;
  request.profile = reader.text("profile", kMaxNameCharacters);
  if (!body.contains("profile")) reader.refuse("profile", "is missing");
  if (!reader.refusal()) {
    if (const auto found = Catalogue::shipped().find(request.profile); !found)
      reader.refuse("profile", found.error().message);
  }
  request.work_s = reader.required("work_s", 1e-6, kMaxJobSeconds);
  request.deadline_s = reader.required("deadline_s", 0, kMaxJobSeconds);
  request.key = reader.text("key", kMaxKeyCharacters);
  request.name = reader.text("name", kMaxNameCharacters);
  request.memory_mib = reader.integer("memory_mib", 0, 1 << 24).value_or(0);
  request.command = reader.texts("command", kMaxCommandBytes);
  request.preemptible = reader.boolean("preemptible");
  request.checkpoint_s = reader.number("checkpoint_s", 0, kMaxMoveSeconds);
  request.restore_s = reader.number("restore_s", 0, kMaxMoveSeconds);
  request.max_runtime_s = reader.number("max_runtime_s", 1e-3, kMaxJobSeconds);
  if (reader.refusal()) return tl::unexpected(*reader.refusal());
  return request;
}

std::string to_json_text(const JobRequest& request) {
  json body = {
      {"profile", request.profile}, {"work_s", request.work_s}, {"deadline_s", request.deadline_s}};
  if (!request.key.empty()) body["key"] = request.key;
  if (!request.name.empty()) body["name"] = request.name;
  if (request.memory_mib > 0) body["memory_mib"] = request.memory_mib;
  if (!request.command.empty()) body["command"] = request.command;
  if (request.preemptible) body["preemptible"] = *request.preemptible;
  if (request.checkpoint_s) body["checkpoint_s"] = *request.checkpoint_s;
  if (request.restore_s) body["restore_s"] = *request.restore_s;
  if (request.max_runtime_s) body["max_runtime_s"] = *request.max_runtime_s;
  return body.dump(-1, ' ', false, json::error_handler_t::replace);
}

Job to_job(const JobRequest& request, TimeUs now) {
  Job job;
  job.submit_us = now;
  job.deadline_us = now + to_us(request.deadline_s);
  job.memory_mib = request.memory_mib;
  job.profile = *Catalogue::shipped().find(request.profile);
  const SpeedProfile& profile = Catalogue::shipped().profiles()[job.profile];
  job.kind = profile.kind;
  for (std::size_t size = 0; size < kSizeCount; ++size) {
    if (profile.speed[size] > 0)
      job.time_us[size] = std::max<TimeUs>(1, to_us(request.work_s / profile.speed[size]));
  }
  if (request.preemptible)
    job.preemptible = *request.preemptible ? Preemptible::kYes : Preemptible::kNo;
  const auto ms = [](double seconds) {
    return static_cast<std::int32_t>(std::lround(seconds * 1000));
  };
  if (request.checkpoint_s) job.checkpoint_ms = ms(*request.checkpoint_s);
  if (request.restore_s) job.restore_ms = ms(*request.restore_s);
  return job;
}

}  // namespace smartmig
