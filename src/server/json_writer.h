// JSON as text by appending, without a tree: a fleet of ten thousand GPUs is ten megabytes. The
// caller keeps begins and ends in balance; commas are written here.
//
//   JsonWriter json(out);
//   json.begin_object();
//   json.field("id", "7");
//   json.begin_array("lines");
//   json.value("a line");
//   json.end_array();
//   json.end_object();
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/units.h"

namespace smartmig {

class JsonWriter {
 public:
  explicit JsonWriter(std::string& out) : out_(out) {}

  void begin_object() { open('{'); }
  void begin_object(std::string_view name) { key(name), open_after_key('{'); }
  void end_object() { close('}'); }
  void begin_array() { open('['); }
  void begin_array(std::string_view name) { key(name), open_after_key('['); }
  void end_array() { close(']'); }

  template <class T>
  void value(const T& what) {
    comma();
    write(what);
  }
  template <class T>
  void field(std::string_view name, const T& what) {
    key(name);
    write(what);
  }
  void null(std::string_view name) { key(name), out_ += "null"; }
  // A time on the fleet's clock, in seconds to the microsecond; null before its beginning.
  void time(std::string_view name, TimeUs us) {
    if (us < 0) return null(name);
    key(name);
    write_seconds(us);
  }
  void seconds(std::string_view name, TimeUs us) { key(name), write_seconds(us); }
  // A number that stands for a thing, as a text; null where it is 0.
  void id(std::string_view name, std::int64_t number) {
    if (number == 0) return null(name);
    key(name);
    out_ += '"';
    write(number);
    out_ += '"';
  }
  // An empty text as null.
  void text_or_null(std::string_view name, std::string_view text) {
    if (text.empty()) return null(name);
    field(name, text);
  }
  // Text that is JSON already.
  void raw(std::string_view name, std::string_view json) { key(name), out_ += json; }

 private:
  void comma() {
    if (!first_) out_ += ',';
    first_ = false;
  }
  void key(std::string_view name);  // Names are ours and need no escape.
  void open(char bracket) {
    comma();
    open_after_key(bracket);
  }
  void open_after_key(char bracket) {
    out_ += bracket;
    first_ = true;
  }
  void close(char bracket) {
    out_ += bracket;
    first_ = false;
  }

  template <class T>
  void write(const T& what) {
    if constexpr (std::same_as<T, bool>) {
      out_ += what ? "true" : "false";
    } else if constexpr (std::integral<T>) {
      write_integer(static_cast<std::int64_t>(what));
    } else if constexpr (std::floating_point<T>) {
      write_number(what);
    } else {
      write_text(what);
    }
  }
  void write_integer(std::int64_t number);
  void write_number(double number);
  void write_seconds(TimeUs us);
  // Bytes that are not UTF-8 become '?', so that a reader never fails on what a driver said.
  void write_text(std::string_view text);

  std::string& out_;
  bool first_ = true;
};

}  // namespace smartmig
