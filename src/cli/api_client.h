// Asks a running controller over its HTTP interface. Errors are one line: what the server said, or
// why it could not be asked.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <tl/expected.hpp>

#include "base/result.h"
#include "cli/cli11.h"

namespace smartmig {

struct ApiOptions {
  std::string server;      // "http://127.0.0.1:8080"
  std::string token_file;  // Its last word is the token; empty: none is sent.
  std::string ca_file;     // Of the certificate to trust; empty: the system's.
};

// --server, --token-file and --ca, with defaults from the environment.
void add_api_options(CLI::App& app, ApiOptions& options);

struct ApiAnswer {
  int status = 0;
  std::string body;
};

struct ApiError {
  std::string message;  // One line.
  int status = 0;       // That of the server's refusal; 0: it could not be asked.
};
template <class T>
using ApiResult = tl::expected<T, ApiError>;
// Says what is wrong; answers the exit status: 2 where the request was at fault, else 1.
int failed(const ApiError& error);

class ApiClient {
 public:
  explicit ApiClient(const ApiOptions& options) : options_(options) {}

  // `path` from the root ("/api/v1/fleet"); `body` is sent where it is not empty. An answer that
  // refuses is an error with what the server said.
  ApiResult<ApiAnswer> ask(const std::string& method, const std::string& path,
                           const std::string& body = {}) const;
  ApiResult<nlohmann::json> ask_json(const std::string& method, const std::string& path,
                                     const std::string& body = {}) const;

 private:
  ApiOptions options_;
};

// For a part of a path or a query.
std::string percent_encoded(std::string_view text);

}  // namespace smartmig
