// Options that take a length of time or a size of memory as people write them (base/quantity.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/cli11.h"

namespace CLI {
class Option;
}

namespace smartmig {

// Both add to the help how the value is written. What is given must outlive the parser.
CLI::Option* add_duration(CLI::App& app, const std::string& name, double& seconds,
                          const std::string& help);
CLI::Option* add_duration(CLI::App& app, const std::string& name, std::optional<double>& seconds,
                          const std::string& help);
CLI::Option* add_size(CLI::App& app, const std::string& name, std::optional<std::int64_t>& mib,
                      const std::string& help);

}  // namespace smartmig
