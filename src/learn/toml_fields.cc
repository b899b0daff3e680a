#include "learn/toml_fields.h"

#include <toml++/toml.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace smartmig {
namespace {

int line_of(const toml::node& node) { return static_cast<int>(node.source().begin.line); }

const toml::node* as_node(const void* node) { return static_cast<const toml::node*>(node); }

// What was written, fit for an error line.
std::string found(const toml::node& node) {
  if (const auto* s = node.as_string()) return in_quotes(s->get());
  if (const auto* i = node.as_integer()) return fmt::format("{}", i->get());
  if (const auto* f = node.as_floating_point()) return fmt::format("{}", f->get());
  if (const auto* b = node.as_boolean()) return b->get() ? "true" : "false";
  if (node.is_array()) return "a list";
  return node.is_table() ? "a section" : "a date";
}

// Whole numbers count as numbers.
std::optional<double> as_number(const toml::node& node) {
  if (const auto* i = node.as_integer()) return static_cast<double>(i->get());
  const auto* f = node.as_floating_point();
  if (!f || !std::isfinite(f->get())) return {};
  return f->get();
}

std::optional<double> number_in(const toml::node& node, double low, double high) {
  const auto value = as_number(node);
  if (!value || !(*value >= low && *value <= high)) return {};
  return value;
}

std::optional<std::int64_t> integer_in(const toml::node& node, std::int64_t low,
                                       std::int64_t high) {
  const auto* value = node.as_integer();
  if (!value || value->get() < low || value->get() > high) return {};
  return value->get();
}

}  // namespace

struct TomlDocument::Tables {
  toml::table root;
};

TomlDocument::TomlDocument(std::string name) : name_(std::move(name)) {}
TomlDocument::~TomlDocument() = default;

bool TomlDocument::parse(std::string_view text) {
  try {
    tables_ = std::make_unique<Tables>(Tables{toml::parse(text)});
    return true;
  } catch (const toml::parse_error& wrong) {
    const auto& at = wrong.source().begin;
    std::string message(wrong.description());
    // The parser quotes what it found, line breaks and all.
    std::replace_if(
        message.begin(), message.end(), [](unsigned char c) { return c < ' '; }, ' ');
    error_ = Error{fmt::format("{}:{}:{}: {}", name_, at.line, at.column, message)};
    return false;
  }
}

void TomlDocument::report(int line, std::string_view field, std::string_view message) {
  if (error_) return;
  error_ = Error{line > 0 ? fmt::format("{}:{}: {}: {}", name_, line, field, message)
                          : fmt::format("{}: {}: {}", name_, field, message)};
}

bool TomlDocument::section(const std::string& name, const std::function<void(TomlFields&)>& read) {
  asked_.push_back(name);
  const toml::node* node = tables_->root.get(name);
  if (!node) return false;
  if (!node->is_table()) {
    report(line_of(*node), in_quotes(name),
           fmt::format("found {}, expected [{}]", found(*node), name));
    return false;
  }
  TomlFields fields(*this, name, node->as_table());
  read(fields);
  fields.report_unknown();
  return true;
}

void TomlDocument::finish() {
  for (const auto& [key, node] : tables_->root) {
    const std::string name(key.str());
    if (std::find(asked_.begin(), asked_.end(), name) != asked_.end()) continue;
    report(line_of(node), in_quotes(name), "unknown section" + suggestion(name, asked_));
  }
}

const void* TomlFields::find(const std::string& key) {
  asked_.push_back(key);
  return static_cast<const toml::table*>(table_)->get(key);
}

bool TomlFields::has(const std::string& key) { return find(key) != nullptr; }

bool TomlFields::is_list(const std::string& key) {
  const toml::node* node = as_node(find(key));
  return node && node->is_array();
}

void TomlFields::report_unknown() {
  // In the order of the file, not of the alphabet.
  const toml::node* first = nullptr;
  std::string name;
  for (const auto& [key, node] : *static_cast<const toml::table*>(table_)) {
    const std::string word(key.str());
    if (std::find(asked_.begin(), asked_.end(), word) != asked_.end()) continue;
    if (!first || line_of(node) < line_of(*first)) first = &node, name = word;
  }
  if (first) {
    document_.report(line_of(*first), section_ + "." + name, "unknown" + suggestion(name, asked_));
  }
}

void TomlFields::report(const std::string& key, std::string_view message) {
  const toml::node* node = static_cast<const toml::table*>(table_)->get(key);
  document_.report(node ? line_of(*node) : 0, section_ + "." + key, message);
}

void TomlFields::unexpected(const std::string& key, std::string_view expected) {
  const toml::node* node = static_cast<const toml::table*>(table_)->get(key);
  report(key, fmt::format("found {}, expected {}", found(*node), expected));
}

void TomlFields::unexpected(const std::string& key, double low, double high,
                            std::string_view what) {
  unexpected(key, fmt::format("{} from {} to {}", what, low, high));
}

void TomlFields::number(const std::string& key, double& out, double low, double high) {
  const toml::node* node = as_node(find(key));
  if (!node) return;
  const auto value = number_in(*node, low, high);
  if (!value) return unexpected(key, low, high, "a number");
  out = *value;
}

void TomlFields::integer(const std::string& key, std::int64_t& out, std::int64_t low,
                         std::int64_t high) {
  const toml::node* node = as_node(find(key));
  if (!node) return;
  const auto value = integer_in(*node, low, high);
  if (!value) return unexpected(key, fmt::format("a whole number from {} to {}", low, high));
  out = *value;
}

void TomlFields::integer(const std::string& key, int& out, int low, int high) {
  std::int64_t value = out;
  integer(key, value, low, high);
  out = static_cast<int>(value);
}

void TomlFields::integer(const std::string& key, std::uint64_t& out) {
  auto value = static_cast<std::int64_t>(out);
  integer(key, value, 0, std::numeric_limits<std::int64_t>::max());
  out = static_cast<std::uint64_t>(value);
}

void TomlFields::boolean(const std::string& key, bool& out) {
  const toml::node* node = as_node(find(key));
  if (!node) return;
  if (!node->is_boolean()) return unexpected(key, "true or false");
  out = node->as_boolean()->get();
}

void TomlFields::text(const std::string& key, std::string& out) {
  const toml::node* node = as_node(find(key));
  if (!node) return;
  const auto* value = node->as_string();
  if (!value || value->get().empty() || value->get().find('\n') != std::string::npos) {
    return unexpected(key, "a text of one line");
  }
  out = value->get();
}

void TomlFields::texts(const std::string& key, std::vector<std::string>& out) {
  const toml::node* node = as_node(find(key));
  if (!node) return;
  const auto* list = node->as_array();
  if (!list) return report(key, fmt::format("found {}, expected a list of texts", found(*node)));
  out.clear();
  for (const toml::node& item : *list) {
    const auto text = item.value_exact<std::string>();
    if (!text) return report(key, fmt::format("found {}, expected texts", found(item)));
    out.push_back(*text);
  }
}

void TomlFields::numbers(const std::string& key, std::vector<double>& out, double low,
                         double high) {
  const toml::node* node = as_node(find(key));
  if (!node) return;
  const auto* list = node->as_array();
  if (!list || list->empty()) return unexpected(key, low, high, "a list of numbers");
  out.clear();
  for (const toml::node& item : *list) {
    const auto value = number_in(item, low, high);
    if (!value) {
      return report(
          key, fmt::format("found {}, expected numbers from {} to {}", found(item), low, high));
    }
    out.push_back(*value);
  }
}

void TomlFields::integers(const std::string& key, std::vector<int>& out, int low, int high) {
  const toml::node* node = as_node(find(key));
  if (!node) return;
  const auto* list = node->as_array();
  if (!list) return unexpected(key, low, high, "a list of whole numbers");
  out.clear();
  for (const toml::node& item : *list) {
    const auto value = integer_in(item, low, high);
    if (!value) {
      return report(key, fmt::format("found {}, expected whole numbers from {} to {}", found(item),
                                     low, high));
    }
    out.push_back(static_cast<int>(*value));
  }
}

bool TomlFields::word_of(const std::string& key, std::span<const std::string> words,
                         std::string& out) {
  const toml::node* node = as_node(find(key));
  if (!node) return false;
  const auto* value = node->as_string();
  if (value && std::find(words.begin(), words.end(), value->get()) != words.end()) {
    out = value->get();
    return true;
  }
  report(key,
         fmt::format("found {}{}", found(*node), suggestion(value ? value->get() : "", words)));
  return false;
}

}  // namespace smartmig
