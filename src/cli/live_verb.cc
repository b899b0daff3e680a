#include "cli/live_verb.h"

#include "base/printable.h"

namespace smartmig {

using nlohmann::json;

std::string text_of(const json& value, const char* field) {
  const auto found = value.find(field);
  if (found == value.end() || found->is_null()) return "";
  return printable(found->is_string() ? found->get<std::string>() : found->dump());
}

int print_lines(const json& answer) {
  for (const json& line : answer.value("lines", json::array()))
    fmt::print("{}\n", printable(line.get<std::string>()));
  return 0;
}

std::string rehearsed(const LiveOptions& options, const std::string& path) {
  return options.dry_run ? path + "?dry_run=true" : path;
}

int run_command(const LiveOptions& options, const std::string& path, const json& body) {
  return ask(options, "POST", rehearsed(options, kLiveApi + path), body.dump(), print_lines);
}

}  // namespace smartmig
