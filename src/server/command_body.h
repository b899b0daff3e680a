// The bodies of requests that command the controller. Empty text stands for {}; a field that is not
// known is refused.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "control/controller.h"

namespace smartmig {

// apply: {"layouts": {"GPU": "4-2-1"}}, rollback: {"gpu": "GPU"}, power-cap: {"watts": 2000}; all
// of them but watts optional, and the others' bodies are {}. `gpu` comes from the path.
Answer<Command> parse_command(Command::Kind kind, std::string_view gpu, std::string_view body);

// For operations that take nothing: the body is empty, or an object without fields.
std::optional<Refusal> check_empty_body(std::string_view text);

}  // namespace smartmig
