#include "cli/quantity_options.h"

#include <CLI/CLI.hpp>

#include "base/quantity.h"

namespace smartmig {
namespace {

template <class Target, class Parse>
CLI::Option* add_quantity(CLI::App& app, const std::string& name, Target& target, Parse parse,
                          const std::string& help, const std::string& type) {
  return app
      .add_option_function<std::string>(
          name,
          [name, &target, parse](const std::string& text) {
            const auto value = parse(text);
            if (!value) throw CLI::ValidationError(name, value.error().message);
            target = *value;
          },
          help)
      ->option_text(type);
}

}  // namespace

CLI::Option* add_duration(CLI::App& app, const std::string& name, double& seconds,
                          const std::string& help) {
  return add_quantity(app, name, seconds, parse_duration_s, help, "DURATION");
}
CLI::Option* add_duration(CLI::App& app, const std::string& name, std::optional<double>& seconds,
                          const std::string& help) {
  return add_quantity(app, name, seconds, parse_duration_s, help, "DURATION");
}
CLI::Option* add_size(CLI::App& app, const std::string& name, std::optional<std::int64_t>& mib,
                      const std::string& help) {
  return add_quantity(app, name, mib, parse_size_mib, help, "SIZE");
}

}  // namespace smartmig
