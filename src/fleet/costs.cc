#include "fleet/costs.h"

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/json_fields.h"
#include "base/shipped.h"
#include "base/text.h"

namespace smartmig {

Result<Preemption> parse_preemption(std::string_view text) {
  if (text == "free") return Preemption::kFree;
  if (text == "checkpoint") return Preemption::kCheckpoint;
  if (text == "none") return Preemption::kOff;
  const std::string names[] = {"free", "checkpoint", "none"};
  return fail("--preemption: found '{}'{}", text, suggestion(text, names));
}

std::string_view to_string(Preemption preemption) {
  switch (preemption) {
    case Preemption::kFree:
      return "free";
    case Preemption::kCheckpoint:
      return "checkpoint";
    case Preemption::kOff:
      return "none";
  }
  return "";
}

Costs Costs::free() { return {}; }

Costs Costs::paper() {
  Costs costs;
  costs.name = "paper";
  costs.deadline_cut_us = 4 * kSecondUs;  // SMART-MIG takes a repartition's 4 s off deadlines only.
  return costs;
}

Costs Costs::real() {
  auto costs = parse_json(shipped_file("costs_real.json"), "data/costs_real.json");
  SM_CHECK(costs.has_value());
  return *costs;
}

Result<Costs> Costs::parse(std::string_view text) {
  if (text == "free") return free();
  if (text == "paper") return paper();
  if (text == "real") return real();
  const std::string path(text);
  auto bytes = read_file(path, kDocumentLimits);
  if (!bytes) {
    if (text.find('.') == std::string_view::npos && text.find('/') == std::string_view::npos) {
      const std::string names[] = {"free", "paper", "real"};
      return fail("--costs: '{}' is no file and no cost model{}", text, suggestion(text, names));
    }
    return pass_on(bytes);
  }
  return parse_json(*bytes, path);
}

Result<Costs> Costs::parse_json(std::string_view json, const std::string& name) {
  std::string repeated;
  const auto root = smartmig::parse_json(json, &repeated, JsonComments::kAllowed);
  if (!repeated.empty())
    return fail("{}: {}: stands twice, expected it once", name, in_quotes(repeated));
  if (root.is_discarded() || !root.is_object()) return fail("{}: is not a JSON object", name);
  Costs costs;
  costs.name = name;
  std::optional<Error> error;
  // Reads a number in [0, high], keeping `value` where the field is absent.
  const auto number = [&](const nlohmann::json& object, const char* field, double high,
                          double value) {
    if (!object.contains(field)) return value;
    const auto& found = object[field];
    if (!found.is_number() || !(found.get<double>() >= 0) || found.get<double>() > high) {
      if (!error)
        error = Error{fmt::format("{}: {}: found {}, expected a number from 0 to {}", name, field,
                                  found.dump(), high)};
      return value;
    }
    return found.get<double>();
  };
  static const std::string kFields[] = {
      "about",        "name",         "operation_scale", "deadline_cut_s", "start_s",
      "save_restore", "checkpoint_s", "restore_s",       "real_power",     "power_down_after_s",
      "off_w"};
  for (const auto& [field, value] : root.items()) {
    if (std::find(std::begin(kFields), std::end(kFields), field) == std::end(kFields)) {
      return fail("{}: unknown field '{}'{}", name, field, suggestion(field, kFields));
    }
  }
  if (root.contains("name")) {
    if (!root["name"].is_string())
      return fail("{}: name: found {}, expected text", name, root["name"].dump());
    costs.name = root["name"];
  }
  costs.operation_scale = number(root, "operation_scale", 1e6, 0);
  costs.deadline_cut_us = to_us(number(root, "deadline_cut_s", 1e6, 0));
  costs.start_us = to_us(number(root, "start_s", 1e6, 0));
  for (const char* field : {"save_restore", "real_power"}) {
    if (root.contains(field) && !root[field].is_boolean()) {
      return fail("{}: {}: found {}, expected true or false", name, field, root[field].dump());
    }
  }
  costs.save_restore = root.value("save_restore", false);
  costs.real_power = root.value("real_power", false);
  for (const char* field : {"checkpoint_s", "restore_s"}) {
    if (!root.contains(field)) continue;
    if (!root[field].is_object())
      return fail("{}: {}: expected an object with inference and training", name, field);
    static const std::string kKinds[] = {"inference", "training"};
    for (const auto& [kind, value] : root[field].items()) {
      if (std::find(std::begin(kKinds), std::end(kKinds), kind) == std::end(kKinds)) {
        return fail("{}: {}: unknown field '{}'{}", name, field, kind, suggestion(kind, kKinds));
      }
    }
    auto& target = field[0] == 'c' ? costs.checkpoint_ms : costs.restore_ms;
    target[0] =
        static_cast<std::int32_t>(std::lround(1000 * number(root[field], "inference", 1e6, 0)));
    target[1] =
        static_cast<std::int32_t>(std::lround(1000 * number(root[field], "training", 1e6, 0)));
  }
  if (root.contains("power_down_after_s")) {
    costs.power_down_after_us = to_us(number(root, "power_down_after_s", kMaxSeconds, 0));
  }
  costs.off_w = number(root, "off_w", 1e6, 0);
  if (error) return tl::unexpected<Error>(*error);
  return costs;
}

Costs Costs::scaled(double scale) const {
  Costs costs = *this;
  if (scale == 1) return costs;
  costs.name = fmt::format("{} x {:g}", name, scale);
  costs.operation_scale *= scale;
  costs.deadline_cut_us = to_us(to_s(deadline_cut_us) * scale);
  costs.start_us = to_us(to_s(start_us) * scale);
  costs.save_restore_scale *= scale;
  return costs;
}

TimeUs Costs::checkpoint_us(const Job& job) const {
  if (!save_restore) return 0;
  const auto ms = job.checkpoint_ms == kByCostModel ? checkpoint_ms[static_cast<int>(job.kind)]
                                                    : job.checkpoint_ms;
  return to_us(ms / 1000.0 * save_restore_scale);
}

TimeUs Costs::restore_us(const Job& job) const {
  if (!save_restore) return 0;
  const auto ms =
      job.restore_ms == kByCostModel ? restore_ms[static_cast<int>(job.kind)] : job.restore_ms;
  return to_us(ms / 1000.0 * save_restore_scale);
}

}  // namespace smartmig
