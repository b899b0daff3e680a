// HTTP/1.1 as far as the live interface needs it: the head of a request as values, and the head of
// an answer as text. Strict where leniency lets two readers of one request disagree about it: a
// body has a Content-Length and nothing else, a POST always has one, every line ends with CR LF, no
// header is folded, no name has a blank. Nothing here touches a socket.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "control/job_request.h"

namespace smartmig {

// Limits of a request; beyond them it is refused and the connection closed.
inline constexpr std::size_t kMaxHeadBytes = 16 * 1024;
inline constexpr std::size_t kMaxTargetBytes = 4 * 1024;
inline constexpr std::size_t kMaxHeaders = 64;
inline constexpr std::size_t kMaxBodyBytes = 64 * 1024;

using Parameters = std::vector<std::pair<std::string, std::string>>;

struct HttpRequest {
  std::string method;
  std::string path;                   // Still encoded, without the query; starts with '/'.
  std::vector<std::string> segments;  // Of the path, decoded.
  Parameters query;                   // Decoded, in their order.
  Parameters headers;                 // Names in lower case.
  std::string body;
  std::size_t content_length = 0;
  bool keep_alive = true;
  bool expects_continue = false;

  // Empty where there is none. A header that matters here stands once (parse_head sees to that).
  std::string_view header(std::string_view name) const;
  bool has_header(std::string_view name) const;
};

struct HttpResponse {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  Parameters headers = {};  // Beside those that every answer has.
};

// The bytes up to and with the empty line after the headers.
Answer<HttpRequest> parse_head(std::string_view head);

// Where the head of a request ends, in what has come so far.
struct HeadEnd {
  enum class Found : std::uint8_t { kNothing, kEnd, kBareLf };
  Found found = Found::kNothing;
  std::size_t size = 0;  // Of the head with its empty line, where its end was found.
};
// `searched` bytes were looked at before and had neither an end nor an LF without its CR.
HeadEnd find_head_end(std::string_view bytes, std::size_t searched);

// "a=1&b=x%20y"; nothing where an escape is none or a control character is hidden in it.
std::optional<Parameters> parse_query(std::string_view text);
// %41 as A; '+' as a blank where `plus` is set. Nothing as above.
std::optional<std::string> percent_decoded(std::string_view text, bool plus);

// Status line and headers, the empty line included.
std::string head_text(const HttpResponse& response, bool keep_alive);
std::string_view reason_phrase(int status);

// {"error", "field"}
HttpResponse refusal_response(const Refusal& refusal);

std::string lower_case(std::string_view text);

}  // namespace smartmig
