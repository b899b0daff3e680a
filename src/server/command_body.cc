#include "server/command_body.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/json_fields.h"
#include "base/text.h"

namespace smartmig {
namespace {

using nlohmann::json;
using Kind = Command::Kind;

constexpr std::size_t kLongestName = 128;
constexpr double kMostWatts = 1e9;

tl::unexpected<Refusal> refuse(std::string_view field, std::string error) {
  return tl::unexpected<Refusal>(Refusal{400, std::move(error), std::string(field)});
}

bool is_short_text(const json& value) {
  if (!value.is_string()) return false;
  const auto& text = value.get_ref<const std::string&>();
  return !text.empty() && text.size() <= kLongestName &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7f; });
}

std::vector<std::string> fields_of(Kind kind) {
  if (kind == Kind::kApply) return {"layouts", "hold"};
  if (kind == Kind::kRollback) return {"gpu"};
  if (kind == Kind::kPowerCap) return {"watts"};
  return {};
}

Answer<void> read_layouts(const json& layouts, Command& command) {
  if (!layouts.is_object()) return refuse("layouts", "expected an object of layouts by GPU");
  for (const auto& [gpu, layout] : layouts.items()) {
    if (!is_short_text(json(gpu)) || !is_short_text(layout))
      return refuse("layouts",
                    fmt::format("{}: expected a GPU and the name of a layout, such as 4-2-1",
                                in_quotes(gpu)));
    command.layouts.emplace_back(gpu, layout.get<std::string>());
  }
  if (command.layouts.empty())
    return refuse("layouts", "is empty; leave it out for what the policy would do now");
  return {};
}

Answer<void> read_hold(const json& hold, Command& command) {
  if (!hold.is_boolean()) return refuse("hold", "expected true or false");
  command.hold = hold.get<bool>();
  if (command.hold && command.layouts.empty())
    return refuse("hold", "needs layouts: a hold keeps the layouts of the GPUs it names");
  return {};
}

Answer<void> read_watts(const json& body, Command& command) {
  const auto at = body.find("watts");
  const double watts = at != body.end() && at->is_number() ? at->get<double>() : -1;
  if (!(watts >= 0 && watts <= kMostWatts))
    return refuse("watts", "expected a number of watts, 0 for no cap");
  command.power_cap_w = watts;
  return {};
}

// The object of a body; an empty body is one without fields.
Answer<json> parse_object(std::string_view text, const std::vector<std::string>& known) {
  std::string repeated;
  json body = text.empty() ? json::object() : parse_json(text, &repeated);
  if (!repeated.empty()) return refuse(repeated, "stands twice, expected it once");
  if (!body.is_object()) return refuse("", "the body is no JSON object");
  for (const auto& [field, value] : body.items())
    if (std::find(known.begin(), known.end(), field) == known.end())
      return refuse(field,
                    fmt::format("unknown field {}{}", in_quotes(field),
                                known.empty() ? "; the body is {}" : suggestion(field, known)));
  return body;
}

}  // namespace

std::optional<Refusal> check_empty_body(std::string_view text) {
  const auto body = parse_object(text, {});
  return body ? std::nullopt : std::optional<Refusal>(body.error());
}

Answer<Command> parse_command(Kind kind, std::string_view gpu, std::string_view text) {
  const auto parsed = parse_object(text, fields_of(kind));
  if (!parsed) return tl::unexpected(parsed.error());
  const json& body = *parsed;
  Command command;
  command.kind = kind;
  command.gpu = gpu;
  if (const auto at = body.find("layouts"); at != body.end())
    if (auto done = read_layouts(*at, command); !done) return tl::unexpected(done.error());
  if (const auto at = body.find("hold"); at != body.end())
    if (auto done = read_hold(*at, command); !done) return tl::unexpected(done.error());
  if (const auto at = body.find("gpu"); at != body.end()) {
    if (!is_short_text(*at)) return refuse("gpu", "expected the UUID or index of a GPU");
    command.gpu = at->get<std::string>();
  }
  if (kind == Kind::kPowerCap)
    if (auto done = read_watts(body, command); !done) return tl::unexpected(done.error());
  return command;
}

}  // namespace smartmig
