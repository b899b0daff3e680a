#include "base/json_fields.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <set>

#include "base/text.h"

namespace smartmig {
namespace {

using nlohmann::json;

std::string child(const std::string& path, std::string_view key) {
  if (key.empty()) return path;
  return path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
}

// The library's text without its prefix: "[json.exception...] parse error at line 1, column 2:
// syntax error ...".
std::string reason(const json::exception& error) {
  std::string_view text = error.what();
  if (const auto at = text.find("] "); at != std::string_view::npos) text.remove_prefix(at + 2);
  if (text.starts_with("parse error")) {
    if (const auto at = text.find(": "); at != std::string_view::npos) text.remove_prefix(at + 2);
  }
  return std::string(text);
}

std::string shown(const json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  return in_quotes(value.is_string() ? value.get_ref<const std::string&>() : value.dump());
}

bool one_line(const std::string& text) {
  return std::none_of(text.begin(), text.end(),
                      [](char c) { return static_cast<unsigned char>(c) < 32; });
}

// Watches a parser: nothing is nested deeper than anything we read (what is built from it is walked
// by recursion), and no object has a field twice, of which two readers could take different ones.
class JsonWatch {
 public:
  bool operator()(int depth, json::parse_event_t event, json& value) {
    constexpr int kDeepest = 32;
    if (depth > kDeepest) too_deep_ = true;
    if (broken()) return false;
    if (event == json::parse_event_t::object_start) open_.emplace_back();
    if (event == json::parse_event_t::object_end) open_.pop_back();
    if (event == json::parse_event_t::key) {
      const auto& name = value.get_ref<const std::string&>();
      if (!open_.back().insert(name).second) repeated_ = name;
    }
    return !broken();
  }
  bool too_deep() const { return too_deep_; }
  const std::optional<std::string>& repeated() const { return repeated_; }
  bool broken() const { return too_deep_ || repeated_.has_value(); }

 private:
  std::vector<std::set<std::string>> open_;  // The names in each object that is not closed yet.
  std::optional<std::string> repeated_;
  bool too_deep_ = false;
};

// Counts the lines that a parser has read: the parser copies the iterator, and all copies count
// into the same number.
struct LineCounter {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  const char* at = nullptr;
  int* line = nullptr;

  reference operator*() const { return *at; }
  LineCounter& operator++() {
    *line += *at == '\n';
    ++at;
    return *this;
  }
  LineCounter operator++(int) {
    LineCounter before = *this;
    ++*this;
    return before;
  }
  bool operator==(const LineCounter& other) const { return at == other.at; }
};

// The line in which a text breaks a rule of JsonWatch. The text is parsed again: counting lines
// takes several times as long as parsing does, and few texts break a rule.
int broken_line(std::string_view text) {
  JsonWatch watch;
  int line = 1, found = 0;
  const auto see = [&](int depth, json::parse_event_t event, json& value) {
    const bool good = watch(depth, event, value);
    if (!good && found == 0) found = line;
    return good;
  };
  const char* end = text.data() + text.size();
  [[maybe_unused]] const json read =
      json::parse(LineCounter{text.data(), &line}, LineCounter{end, &line}, see, false);
  return found;
}

}  // namespace

json parse_json(std::string_view text, std::string* repeated_field, JsonComments comments) {
  JsonWatch watch;
  json value = json::parse(text, std::ref(watch), false, comments == JsonComments::kAllowed);
  if (repeated_field && watch.repeated()) *repeated_field = *watch.repeated();
  return watch.broken() ? json(json::value_t::discarded) : value;
}

bool JsonDocument::parse(std::string_view text) {
  JsonWatch watch;
  try {
    value_ = json::parse(text, std::ref(watch));
  } catch (const json::parse_error& error) {
    const std::string_view before = text.substr(0, error.byte > 0 ? error.byte - 1 : 0);
    const auto at_line = std::count(before.begin(), before.end(), '\n') + 1;
    const std::size_t start = before.rfind('\n') + 1;  // npos + 1 is 0: the first line.
    error_ = Error{fmt::format("{}:{}:{}: not JSON: {}", name_, at_line, before.size() - start + 1,
                               reason(error))};
    return false;
  } catch (const json::exception& error) {  // A number that no double can hold.
    error_ = Error{fmt::format("{}: not JSON: {}", name_, reason(error))};
    return false;
  }
  if (watch.repeated())
    error_ = Error{fmt::format("{}:{}: the field {} stands twice, expected it once", name_,
                               broken_line(text), in_quotes(*watch.repeated()))};
  if (watch.too_deep())
    error_ = Error{fmt::format("{}:{}: is nested too deeply", name_, broken_line(text))};
  if (watch.broken()) return false;
  if (!value_.is_object())
    error_ = Error{fmt::format("{}: found {}, expected an object", name_, shown(value_))};
  return value_.is_object();
}

JsonFields JsonDocument::root() { return JsonFields(this, &value_, ""); }

void JsonDocument::report(std::string_view path, std::string_view message) {
  if (error_) return;
  error_ = Error{path.empty() ? fmt::format("{}: {}", name_, message)
                              : fmt::format("{}: {}: {}", name_, path, message)};
}

void JsonFields::report(std::string_view key, std::string_view message) const {
  document_->report(child(path_, key), message);
}

void JsonFields::unexpected(std::string_view key, const json& found,
                            std::string_view expected) const {
  report(key, fmt::format("found {}, expected {}", shown(found), expected));
}

const json* JsonFields::find(std::string_view key) const {
  if (!value_->is_object()) return nullptr;
  const auto at = value_->find(key);
  return at == value_->end() ? nullptr : &*at;
}

const json* JsonFields::need(std::string_view key, std::string_view expected) const {
  const json* value = find(key);
  if (!value) report(key, fmt::format("is missing, expected {}", expected));
  return value;
}

bool JsonFields::has(std::string_view key) const { return find(key) != nullptr; }

std::vector<std::string> JsonFields::keys() const {
  std::vector<std::string> names;
  if (!value_->is_object()) return names;
  for (const auto& [key, value] : value_->items()) names.push_back(key);
  return names;
}

void JsonFields::only(std::initializer_list<std::string_view> keys) const {
  const std::vector<std::string> known(keys.begin(), keys.end());
  for (const std::string& key : this->keys()) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    report("", fmt::format("unknown field {}{}", in_quotes(key), suggestion(key, known)));
  }
}

double JsonFields::number(std::string_view key, double low, double high) const {
  const std::string expected = fmt::format("a number from {} to {}", low, high);
  const json* value = need(key, expected);
  if (!value) return low;
  if (value->is_number()) {
    const auto number = value->get<double>();
    if (std::isfinite(number) && number >= low && number <= high) return number;
  }
  unexpected(key, *value, expected);
  return low;
}

double JsonFields::number(std::string_view key, double low, double high, double fallback) const {
  return has(key) ? number(key, low, high) : fallback;
}

int JsonFields::integer(std::string_view key, int low, int high) const {
  const std::string expected = fmt::format("a whole number from {} to {}", low, high);
  const json* value = need(key, expected);
  if (!value) return low;
  // As a double first: an integer of JSON may be larger than any of ours.
  if (value->is_number_integer()) {
    const auto number = value->get<double>();
    if (number >= low && number <= high) return value->get<int>();
  }
  unexpected(key, *value, expected);
  return low;
}

bool JsonFields::boolean(std::string_view key, bool fallback) const {
  const json* value = find(key);
  if (!value) return fallback;
  if (value->is_boolean()) return value->get<bool>();
  unexpected(key, *value, "true or false");
  return fallback;
}

std::string JsonFields::text(std::string_view key) const {
  constexpr std::string_view kExpected = "a text of one line";
  const json* value = need(key, kExpected);
  if (!value) return {};
  if (value->is_string()) {
    const auto& text = value->get_ref<const std::string&>();
    if (!text.empty() && one_line(text)) return text;
  }
  unexpected(key, *value, kExpected);
  return {};
}

std::string JsonFields::text(std::string_view key, std::string_view fallback) const {
  return has(key) ? text(key) : std::string(fallback);
}

void JsonFields::each_item(std::string_view key, std::string_view expected,
                           const ItemBody& body) const {
  const json* list = need(key, expected);
  if (!list) return;
  if (!list->is_array()) return unexpected(key, *list, expected);
  for (std::size_t i = 0; i < list->size(); ++i) body((*list)[i], fmt::format("{}[{}]", key, i));
}

std::vector<std::string> JsonFields::texts(std::string_view key) const {
  std::vector<std::string> out;
  if (!has(key)) return out;
  each_item(key, "a list of texts", [&](const json& item, const std::string& at) {
    const auto* text = item.get_ptr<const std::string*>();
    if (!text || text->empty() || !one_line(*text))
      return unexpected(at, item, "a text of one line");
    out.push_back(*text);
  });
  return out;
}

std::vector<double> JsonFields::numbers(std::string_view key, double low, double high) const {
  std::vector<double> out;
  each_item(key, "a list of numbers", [&](const json& item, const std::string& at) {
    const double number = item.is_number() ? item.get<double>() : NAN;
    if (!(number >= low && number <= high)) {
      return unexpected(at, item, fmt::format("a number from {} to {}", low, high));
    }
    out.push_back(number);
  });
  return out;
}

std::vector<int> JsonFields::integers(std::string_view key, int low, int high, bool nulls) const {
  std::vector<int> out;
  each_item(key, "a list of whole numbers", [&](const json& item, const std::string& at) {
    if (nulls && item.is_null()) return out.push_back(-1);
    const double number = item.is_number_integer() ? item.get<double>() : NAN;
    if (!(number >= low && number <= high)) {
      return unexpected(at, item, fmt::format("a whole number from {} to {}", low, high));
    }
    out.push_back(item.get<int>());
  });
  return out;
}

JsonFields JsonFields::object(std::string_view key) const {
  static const json kEmpty = json::object();
  const json* value = need(key, "an object");
  if (value && !value->is_object()) unexpected(key, *value, "an object");
  const bool good = value && value->is_object();
  return JsonFields(document_, good ? value : &kEmpty, child(path_, key));
}

void JsonFields::each(std::string_view key, const std::function<void(JsonFields)>& body) const {
  each_item(key, "a list of objects", [&](const json& item, const std::string& at) {
    if (!item.is_object()) return unexpected(at, item, "an object");
    body(JsonFields(document_, &item, child(path_, at)));
  });
}

}  // namespace smartmig
