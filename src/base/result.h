// Result<T>: a value, or one line that tells the user what is wrong and what to change.
// What a user can cause returns a Result; what only a bug can cause is an SM_CHECK.
#pragma once

#include <fmt/core.h>

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace smartmig {

struct Error {
  std::string
      message;  // One line, no trailing stop, names the file, line and field where there are any.
};

template <class T>
using Result = tl::expected<T, Error>;

// return fail("{}: no such board", name);
template <class... Args>
tl::unexpected<Error> fail(fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected<Error>(Error{fmt::format(format, std::forward<Args>(args)...)});
}

// Hands on the error of another Result, whatever its type.
template <class T>
tl::unexpected<Error> pass_on(const Result<T>& failed) {
  return tl::unexpected<Error>(failed.error());
}

// Prints where and what, then aborts. Behind SM_CHECK.
[[noreturn]] void check_failed(const char* file, int line, const char* what);

}  // namespace smartmig

// On in every build: a broken invariant must not turn into a wrong number.
#define SM_CHECK(condition) \
  (static_cast<bool>(condition) ? void() : ::smartmig::check_failed(__FILE__, __LINE__, #condition))
