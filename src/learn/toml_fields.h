// Reads TOML written by people, as base/json_fields.h reads JSON: every field is checked for type
// and range, and what no getter asked for is an error, so that a misspelt name is not silently a
// default. The first thing wrong is kept; a reader is written straight through and asks once at the
// end. A getter leaves its variable as it is where the field is absent.
//
//   TomlDocument document("recipe.toml");
//   if (document.parse(text)) {
//     document.section("ppo", [&](TomlFields& fields) { fields.number("gamma", gamma, 0, 1); });
//     document.finish();
//   }
//   if (document.error()) ...
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace smartmig {

class TomlFields;

class TomlDocument {
 public:
  explicit TomlDocument(std::string name);
  ~TomlDocument();
  TomlDocument(const TomlDocument&) = delete;
  TomlDocument& operator=(const TomlDocument&) = delete;

  // False where the text is no TOML; error() then has line and column.
  bool parse(std::string_view text);
  // Calls `read` with the section if the text has it; says whether. What it did not ask for is an
  // error.
  bool section(const std::string& name, const std::function<void(TomlFields&)>& read);
  // A section that was not asked for is an error.
  void finish();

  const std::optional<Error>& error() const { return error_; }

 private:
  friend class TomlFields;
  struct Tables;  // The parser's types stay in one file.
  void report(int line, std::string_view field, std::string_view message);

  std::string name_;
  std::unique_ptr<Tables> tables_;
  std::vector<std::string> asked_;
  std::optional<Error> error_;
};

// One section. Names carry the unit where there is one.
class TomlFields {
 public:
  bool has(const std::string& key);  // Counts as asked for.
  bool is_list(const std::string& key);

  void number(const std::string& key, double& out, double low, double high);
  void integer(const std::string& key, int& out, int low, int high);
  void integer(const std::string& key, std::int64_t& out, std::int64_t low, std::int64_t high);
  void integer(const std::string& key, std::uint64_t& out);
  void boolean(const std::string& key, bool& out);
  void text(const std::string& key, std::string& out);
  void texts(const std::string& key, std::vector<std::string>& out);
  void numbers(const std::string& key, std::vector<double>& out, double low, double high);
  void integers(const std::string& key, std::vector<int>& out, int low, int high);

  template <class T>
  void choice(const std::string& key, T& out,
              std::span<const std::pair<std::string_view, T>> choices) {
    std::string word;
    std::vector<std::string> words;
    for (const auto& [name, value] : choices) words.emplace_back(name);
    if (!word_of(key, words, word)) return;
    for (const auto& [name, value] : choices) {
      if (name == word) out = value;
    }
  }

  // An error about a field of this section.
  void report(const std::string& key, std::string_view message);

 private:
  friend class TomlDocument;
  TomlFields(TomlDocument& document, std::string section, const void* table)
      : document_(document), section_(std::move(section)), table_(table) {}
  bool word_of(const std::string& key, std::span<const std::string> words, std::string& out);
  void report_unknown();
  // The field, or null where it is absent.
  const void* find(const std::string& key);
  void unexpected(const std::string& key, std::string_view expected);
  void unexpected(const std::string& key, double low, double high, std::string_view what);

  TomlDocument& document_;
  std::string section_;
  const void* table_;
  std::vector<std::string> asked_;
};

}  // namespace smartmig
