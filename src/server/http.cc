#include "server/http.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "server/json_writer.h"

namespace smartmig {
namespace {

tl::unexpected<Refusal> refuse(int status, std::string error) {
  return tl::unexpected<Refusal>(Refusal{status, std::move(error), ""});
}

// Of a method or a header's name (RFC 9110, "token").
bool is_token(std::string_view text) {
  static constexpr std::string_view kOthers = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           kOthers.find(c) != std::string_view::npos;
  });
}

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7f;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string_view trim_blanks(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// The next line without its end; nothing where no CR LF is left.
std::optional<std::string_view> take_line(std::string_view& text) {
  const auto end = text.find("\r\n");
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end + 2);
  return line;
}

Answer<void> read_target(std::string_view target, HttpRequest& request) {
  if (target.size() > kMaxTargetBytes) return refuse(414, "the path and query are too long");
  const auto visible = [](char c) { return c > 0x20 && c < 0x7f && c != '#'; };
  if (!target.starts_with('/') || !std::all_of(target.begin(), target.end(), visible))
    return refuse(400, "the request's target is no path, expected /...");
  const auto question = target.find('?');
  request.path = target.substr(0, question);
  for (const std::string_view piece : split(std::string_view(request.path).substr(1), '/')) {
    auto segment = percent_decoded(piece, false);
    if (!segment) return refuse(400, "the path has a bad escape");
    request.segments.push_back(std::move(*segment));
  }
  if (question == std::string_view::npos) return {};
  auto query = parse_query(target.substr(question + 1));
  if (!query) return refuse(400, "the query has a bad escape");
  request.query = std::move(*query);
  return {};
}

Answer<void> read_request_line(std::string_view line, HttpRequest& request) {
  const auto pieces = split(line, ' ');
  if (pieces.size() != 3 || !is_token(pieces[0]) || !pieces[2].starts_with("HTTP/"))
    return refuse(400, "the first line is no request, expected METHOD PATH HTTP/1.1");
  // HTTP/1.0 has neither a Host, by which a request is known to be for us, nor a body whose length
  // every reader agrees about.
  if (pieces[2] != "HTTP/1.1")
    return refuse(505, fmt::format("found {}, expected HTTP/1.1", in_quotes(pieces[2])));
  request.method = pieces[0];
  return read_target(pieces[1], request);
}

// Headers that say who asks, of whom, and how long the body is: a second one could be read by
// somebody else instead of the first.
bool stands_once(std::string_view name) {
  constexpr std::array<std::string_view, 7> kNames = {
      "host",         "origin", "authorization",    "content-length",
      "content-type", "cookie", "transfer-encoding"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

Answer<void> read_header(std::string_view line, HttpRequest& request) {
  const auto colon = line.find(':');
  if (colon == std::string_view::npos || !is_token(line.substr(0, colon)))
    return refuse(400, "a header is no NAME: VALUE");
  if (request.headers.size() >= kMaxHeaders) return refuse(431, "too many headers");
  std::string name = lower_case(line.substr(0, colon));
  const std::string_view value = trim_blanks(line.substr(colon + 1));
  if (std::any_of(value.begin(), value.end(), [](char c) { return is_control(c) && c != '\t'; }))
    return refuse(400, "a header has a control character");
  if (stands_once(name) && request.has_header(name))
    return refuse(400, fmt::format("the header {} stands twice", name));
  request.headers.emplace_back(std::move(name), value);
  return {};
}

Answer<void> read_body_headers(HttpRequest& request) {
  if (request.has_header("transfer-encoding"))
    return refuse(411, "expected Content-Length; Transfer-Encoding is not supported");
  if (!request.has_header("content-length")) {
    if (request.method == "POST")
      return refuse(411, "a POST has no Content-Length, expected one (0 for an empty body)");
    return {};
  }
  const std::string_view text = request.header("content-length");
  const bool digits =
      !text.empty() && text.size() <= 12 &&
      std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!digits) return refuse(400, "Content-Length is no number");
  request.content_length = static_cast<std::size_t>(*parse_integer(text));
  if (request.content_length > kMaxBodyBytes)
    return refuse(413, fmt::format("a body may have {} bytes", kMaxBodyBytes));
  return {};
}

void read_connection(HttpRequest& request) {
  const std::string value = lower_case(request.header("connection"));
  for (const std::string_view word : split(value, ',')) {
    if (trim_blanks(word) == "close") request.keep_alive = false;
    if (trim_blanks(word) == "keep-alive") request.keep_alive = true;
  }
  request.expects_continue = lower_case(request.header("expect")) == "100-continue";
}

}  // namespace

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

std::string_view HttpRequest::header(std::string_view name) const {
  for (const auto& [key, value] : headers)
    if (key == name) return value;
  return {};
}

bool HttpRequest::has_header(std::string_view name) const {
  return std::any_of(headers.begin(), headers.end(),
                     [&](const auto& header) { return header.first == name; });
}

HeadEnd find_head_end(std::string_view bytes, std::size_t searched) {
  for (std::size_t at = bytes.find('\n', searched); at != std::string_view::npos;
       at = bytes.find('\n', at + 1)) {
    if (at == 0 || bytes[at - 1] != '\r') return {HeadEnd::Found::kBareLf, 0};
    if (at >= 3 && bytes.substr(at - 3, 3) == "\r\n\r") return {HeadEnd::Found::kEnd, at + 1};
  }
  return {};
}

Answer<HttpRequest> parse_head(std::string_view head) {
  if (head.size() > kMaxHeadBytes) return refuse(431, "the request's head is too large");
  HttpRequest request;
  auto line = take_line(head);
  if (!line) return refuse(400, "the request's first line has no end");
  if (auto done = read_request_line(*line, request); !done) return tl::unexpected(done.error());
  for (line = take_line(head); line && !line->empty(); line = take_line(head))
    if (auto done = read_header(*line, request); !done) return tl::unexpected(done.error());
  if (!line || !head.empty()) return refuse(400, "the request's head has no end");
  if (auto done = read_body_headers(request); !done) return tl::unexpected(done.error());
  read_connection(request);
  return request;
}

std::optional<std::string> percent_decoded(std::string_view text, bool plus) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '%') {
      const int high = i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
      if (high < 0 || low < 0) return std::nullopt;
      c = static_cast<char>(high * 16 + low);
      i += 2;
    } else if (c == '+' && plus) {
      c = ' ';
    }
    if (is_control(c)) return std::nullopt;
    out += c;
  }
  return out;
}

std::optional<Parameters> parse_query(std::string_view text) {
  Parameters out;
  if (text.empty()) return out;
  for (const std::string_view piece : split(text, '&')) {
    const auto equals = piece.find('=');
    auto name = percent_decoded(piece.substr(0, equals), true);
    auto value = equals == std::string_view::npos ? std::optional<std::string>("")
                                                  : percent_decoded(piece.substr(equals + 1), true);
    if (!name || !value) return std::nullopt;
    out.emplace_back(std::move(*name), std::move(*value));
  }
  return out;
}

std::string_view reason_phrase(int status) {
  struct Phrase {
    int status;
    std::string_view text;
  };
  static constexpr Phrase kPhrases[] = {
      {200, "OK"},
      {201, "Created"},
      {204, "No Content"},
      {400, "Bad Request"},
      {401, "Unauthorized"},
      {403, "Forbidden"},
      {404, "Not Found"},
      {405, "Method Not Allowed"},
      {408, "Request Timeout"},
      {409, "Conflict"},
      {411, "Length Required"},
      {413, "Content Too Large"},
      {414, "URI Too Long"},
      {415, "Unsupported Media Type"},
      {429, "Too Many Requests"},
      {431, "Request Header Fields Too Large"},
      {500, "Internal Server Error"},
      {503, "Service Unavailable"},
      {505, "HTTP Version Not Supported"},
  };
  for (const Phrase& phrase : kPhrases)
    if (phrase.status == status) return phrase.text;
  return "Answer";
}

std::string head_text(const HttpResponse& response, bool keep_alive) {
  std::string out =
      fmt::format("HTTP/1.1 {} {}\r\n", response.status, reason_phrase(response.status));
  const auto add = [&](std::string_view name, std::string_view value) {
    fmt::format_to(std::back_inserter(out), "{}: {}\r\n", name, value);
  };
  if (response.status != 204) {
    add("Content-Type", response.content_type);
    add("Content-Length", std::to_string(response.body.size()));
  }
  // Whatever a browser makes of an answer, it is neither kept, guessed at, framed nor sent on.
  add("Cache-Control", "no-store");
  add("X-Content-Type-Options", "nosniff");
  add("X-Frame-Options", "DENY");
  add("Referrer-Policy", "no-referrer");
  add("Cross-Origin-Resource-Policy", "same-origin");
  add("Connection", keep_alive ? "keep-alive" : "close");
  for (const auto& [name, value] : response.headers) add(name, value);
  out += "\r\n";
  return out;
}

HttpResponse refusal_response(const Refusal& refusal) {
  HttpResponse response;
  response.status = refusal.status;
  JsonWriter json(response.body);
  json.begin_object();
  json.field("error", refusal.error);
  json.field("field", refusal.field);
  json.end_object();
  return response;
}

}  // namespace smartmig
