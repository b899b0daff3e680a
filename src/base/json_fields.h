// Reads JSON written by people: every field is checked for presence, type and range, and unknown
// fields are errors, so that a misspelt name is not silently a default. The first thing wrong is
// kept; from then on every getter answers a harmless default, so a reader is written straight
// through and asks for the error once at the end.
//
//   JsonDocument document("boards.json");
//   if (auto bad = document.parse(text)) return ...;
//   JsonFields root = document.root();
//   root.only({"name", "boards"});
//   root.each("boards", [&](JsonFields board) { ... board.integer("memory_gb", 1, 1024) ... });
//   if (document.error()) ...
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace smartmig {

class JsonFields;

enum class JsonComments : std::uint8_t { kRefused, kAllowed };

// A JSON text. Discarded where it is none, where an object has a field twice (`repeated_field` then
// gets its name), or where it is nested deeper than anything we read.
nlohmann::json parse_json(std::string_view text, std::string* repeated_field = nullptr,
                          JsonComments comments = JsonComments::kRefused);

// One JSON text and the first error found in it. Must outlive the JsonFields made from it.
class JsonDocument {
 public:
  explicit JsonDocument(std::string name) : name_(std::move(name)) {}
  JsonDocument(const JsonDocument&) = delete;
  JsonDocument& operator=(const JsonDocument&) = delete;

  // False where the text is not a JSON object; error() then has line and column.
  bool parse(std::string_view text);
  JsonFields root();

  const std::optional<Error>& error() const { return error_; }
  // Keeps the error if it is the first: "boards.json: boards[2].idle_w: MESSAGE".
  void report(std::string_view path, std::string_view message);

 private:
  std::string name_;
  nlohmann::json value_;
  std::optional<Error> error_;
};

// One object of a document.
class JsonFields {
 public:
  // Every field but these is an error.
  void only(std::initializer_list<std::string_view> keys) const;
  bool has(std::string_view key) const;
  std::vector<std::string> keys() const;

  double number(std::string_view key, double low, double high) const;
  double number(std::string_view key, double low, double high, double fallback) const;
  int integer(std::string_view key, int low, int high) const;
  bool boolean(std::string_view key, bool fallback) const;
  std::string text(std::string_view key) const;  // Not empty, one line.
  std::string text(std::string_view key, std::string_view fallback) const;
  std::vector<std::string> texts(std::string_view key) const;  // Absent: none.
  std::vector<double> numbers(std::string_view key, double low, double high) const;
  // null stands for -1 where `nulls` is set.
  std::vector<int> integers(std::string_view key, int low, int high, bool nulls = false) const;
  JsonFields object(std::string_view key) const;  // Absent is an error, and the result empty.
  void each(std::string_view key, const std::function<void(JsonFields)>& body) const;

  // An error about a field, or with "" about the object.
  void report(std::string_view key, std::string_view message) const;

 private:
  friend class JsonDocument;
  JsonFields(JsonDocument* document, const nlohmann::json* value, std::string path)
      : document_(document), value_(value), path_(std::move(path)) {}
  const nlohmann::json* find(std::string_view key) const;
  // The field if it is there; else reports that it is missing.
  const nlohmann::json* need(std::string_view key, std::string_view expected) const;
  void unexpected(std::string_view key, const nlohmann::json& found,
                  std::string_view expected) const;
  // The field as a list, each item handed to body(item, "key[i]"); a field that is no list is
  // reported.
  using ItemBody = std::function<void(const nlohmann::json&, const std::string&)>;
  void each_item(std::string_view key, std::string_view expected, const ItemBody& body) const;

  JsonDocument* document_;
  const nlohmann::json* value_;
  std::string path_;
};

}  // namespace smartmig
