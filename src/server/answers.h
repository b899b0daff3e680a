// What handlers share: answers of the usual shapes, and the numbers in paths.
#pragma once

#include <optional>
#include <string_view>

#include "server/json_writer.h"
#include "server/routes.h"

namespace smartmig {

// A page of a list ends early here: commands of jobs and reasons of decisions may be long. Less
// than a JournalReader reads at once.
inline constexpr std::size_t kPageBytes = 8 << 20;

template <class Body>
HttpResponse json_response(const Body& write, int status = 200) {
  HttpResponse response;
  response.status = status;
  JsonWriter json(response.body);
  json.begin_object();
  write(json);
  json.end_object();
  response.body += '\n';
  return response;
}

inline HttpResponse lines_response(const std::vector<std::string>& lines) {
  return json_response([&](JsonWriter& json) {
    json.begin_array("lines");
    for (const std::string& line : lines) json.value(line);
    json.end_array();
  });
}

// The journal cannot be read: not what was asked for is at fault, but this machine.
inline Refusal journal_refusal(const Error& error) { return Refusal{500, error.message, ""}; }

inline Refusal not_found(std::string_view what, std::string_view id) {
  return Refusal{404, fmt::format("no {} {}", what, id), "id"};
}

// A job's or decision's number; nothing where the text is none, or has zeros before it: what is at
// one address is at no other.
std::optional<std::int64_t> parse_id(std::string_view text);

}  // namespace smartmig
