// Checks JSON against the part of JSON Schema that web/openapi.json uses; a keyword that is not
// known here fails, so that nothing is taken for checked that is not.
#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>

namespace smartmig {

class SchemaCheck {
 public:
  using json = nlohmann::json;
  explicit SchemaCheck(const json& document) : document_(document) {}

  // The first thing wrong; empty: nothing.
  std::string check(const json& schema, const json& value, const std::string& at = "$") const {
    static const std::set<std::string> kKnown = {
        "$ref",          "type",     "properties",    "required",         "additionalProperties",
        "items",         "enum",     "pattern",       "minLength",        "maxLength",
        "minimum",       "maximum",  "default",       "exclusiveMinimum", "description",
        "minProperties", "examples", "propertyNames", "maxItems"};
    for (const auto& [keyword, unused] : schema.items())
      if (!kKnown.contains(keyword)) return fmt::format("{}: keyword {} is not known", at, keyword);
    if (schema.contains("$ref")) return check(resolve(schema.at("$ref")), value, at);
    if (schema.contains("type") && !is_of_type(schema.at("type"), value))
      return fmt::format("{}: {} is no {}", at, value.dump(), schema.at("type").dump());
    if (schema.contains("enum") &&
        std::find(schema["enum"].begin(), schema["enum"].end(), value) == schema["enum"].end())
      return fmt::format("{}: {} is not in the enum", at, value.dump());
    if (value.is_string()) return check_text(schema, value, at);
    if (value.is_number()) return check_number(schema, value, at);
    if (value.is_object()) return check_object(schema, value, at);
    if (value.is_array() && value.size() > schema.value("maxItems", std::size_t{1} << 30))
      return fmt::format("{}: {} items", at, value.size());
    if (value.is_array() && schema.contains("items"))
      for (std::size_t i = 0; i < value.size(); ++i)
        if (auto bad = check(schema["items"], value[i], fmt::format("{}[{}]", at, i)); !bad.empty())
          return bad;
    return "";
  }

  const json& resolve(const std::string& reference) const {
    return document_.at(json::json_pointer(reference.substr(1)));
  }
  const json& followed(const json& item) const {
    return item.contains("$ref") ? resolve(item.at("$ref")) : item;
  }

 private:
  static bool is_of_type(const json& type, const json& value) {
    if (type.is_array())
      return std::any_of(type.begin(), type.end(),
                         [&](const json& one) { return is_of_type(one, value); });
    const std::string& name = type.get_ref<const std::string&>();
    return (name == "object" && value.is_object()) || (name == "array" && value.is_array()) ||
           (name == "string" && value.is_string()) || (name == "boolean" && value.is_boolean()) ||
           (name == "integer" && value.is_number_integer()) ||
           (name == "number" && value.is_number()) || (name == "null" && value.is_null());
  }
  static std::string check_text(const json& schema, const json& value, const std::string& at) {
    const auto& text = value.get_ref<const std::string&>();
    if (schema.contains("pattern") && !std::regex_search(text, std::regex(schema["pattern"])))
      return fmt::format("{}: '{}' does not match the pattern", at, text);
    if (text.size() < schema.value("minLength", 0u) ||
        text.size() > schema.value("maxLength", 1u << 30))
      return fmt::format("{}: length {}", at, text.size());
    return "";
  }
  static std::string check_number(const json& schema, const json& value, const std::string& at) {
    const double number = value;
    if (number < schema.value("minimum", -1e300) || number > schema.value("maximum", 1e300) ||
        number <= schema.value("exclusiveMinimum", -1e300))
      return fmt::format("{}: {} is out of range", at, number);
    return "";
  }
  std::string check_object(const json& schema, const json& value, const std::string& at) const {
    const json properties = schema.value("properties", json::object());
    if (schema.contains("propertyNames"))
      for (const auto& [name, unused] : value.items())
        if (auto bad = check(schema["propertyNames"], json(name), at); !bad.empty()) return bad;
    for (const json& name : schema.value("required", json::array()))
      if (!value.contains(name)) return fmt::format("{}: no {}", at, name.dump());
    for (const auto& [name, item] : value.items()) {
      const std::string inner = fmt::format("{}.{}", at, name);
      const json others = schema.value("additionalProperties", json(true));
      if (properties.contains(name)) {
        if (auto bad = check(properties[name], item, inner); !bad.empty()) return bad;
      } else if (others.is_object()) {
        if (auto bad = check(others, item, inner); !bad.empty()) return bad;
      } else if (!others.get<bool>()) {
        return fmt::format("{}: is not in the schema", inner);
      }
    }
    if (value.size() < schema.value("minProperties", 0u)) return at + ": too few fields";
    return "";
  }

  const json& document_;
};

}  // namespace smartmig
