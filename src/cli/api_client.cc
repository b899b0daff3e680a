#include "cli/api_client.h"

#include <curl/curl.h>
#include <sys/stat.h>
#include <CLI/CLI.hpp>

#include <cstdlib>
#include <memory>

#include "base/file.h"
#include "base/json_fields.h"
#include "base/text.h"
#include "cli/cli.h"

namespace smartmig {
namespace {

constexpr std::size_t kMostBytes = std::size_t{256} << 20;
constexpr long kConnectSeconds = 5;
constexpr long kSeconds = 60;

std::size_t append(char* bytes, std::size_t size, std::size_t count, void* to) {
  auto* text = static_cast<std::string*>(to);
  if (text->size() + size * count > kMostBytes) return 0;
  text->append(bytes, size * count);
  return size * count;
}

std::string from_environment(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : otherwise;
}

// The token never stands in arguments, where other users could see it.
Result<std::string> read_token(const std::string& path) {
  struct stat file {};
  if (stat(path.c_str(), &file) == 0 && (file.st_mode & 077) != 0)
    return fail("{}: others can read it; chmod 600 it", path);
  const auto text = read_file(path, kDocumentLimits);
  if (!text) return pass_on(text);
  const std::string_view line = trim(split(trim(*text), '\n').front());
  const std::string_view token = line.substr(line.find_last_of(" \t") + 1);
  if (token.empty()) return fail("{}: has no token", path);
  return std::string(token);
}

std::string what_it_said(const ApiAnswer& answer) {
  const nlohmann::json body = parse_json(answer.body);
  if (!body.is_object() || !body.contains("error") || !body["error"].is_string())
    return fmt::format("the server answered {}", answer.status);
  std::string text = body["error"];
  if (body.contains("field") && body["field"].is_string() &&
      !body["field"].get<std::string>().empty())
    text = fmt::format("{}: {}", body["field"].get<std::string>(), text);
  return text;
}

}  // namespace

void add_api_options(CLI::App& app, ApiOptions& options) {
  options.server = from_environment("SMARTMIG_SERVER", "http://127.0.0.1:8080");
  options.token_file = from_environment("SMARTMIG_TOKEN_FILE", "");
  app.add_option(
         "--server", options.server,
         "Address of the controller (default: $SMARTMIG_SERVER, else http://127.0.0.1:8080)")
      ->group("Connection");
  app.add_option("--token-file", options.token_file,
                 "A file of mode 0600 with the token (default: $SMARTMIG_TOKEN_FILE, else none)")
      ->group("Connection");
  app.add_option("--ca", options.ca_file,
                 "A file with the certificate to trust (default: the system's)")
      ->group("Connection");
}

std::string percent_encoded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_' || c == '~';
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

int failed(const ApiError& error) {
  const bool asked_wrongly = error.status == 400 || error.status == 404 || error.status == 413;
  return asked_wrongly ? bad_input(error.message) : failed(error.message);
}

ApiResult<ApiAnswer> ApiClient::ask(const std::string& method, const std::string& path,
                                    const std::string& body) const {
  const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl(curl_easy_init(),
                                                                 curl_easy_cleanup);
  if (!curl) return tl::unexpected(ApiError{"libcurl cannot be used"});
  curl_slist* raw = nullptr;
  if (!body.empty()) raw = curl_slist_append(raw, "Content-Type: application/json");
  if (!options_.token_file.empty()) {
    const auto token = read_token(options_.token_file);
    if (!token) return tl::unexpected(ApiError{token.error().message});
    raw = curl_slist_append(raw, ("Authorization: Bearer " + *token).c_str());
  }
  const std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> headers(raw,
                                                                            curl_slist_free_all);
  ApiAnswer answer;
  const std::string url = options_.server + path;
  curl_easy_setopt(curl.get(), CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl.get(), CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl.get(), CURLOPT_CUSTOMREQUEST, method.c_str());
  curl_easy_setopt(curl.get(), CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(curl.get(), CURLOPT_NOPROXY, "*");
  curl_easy_setopt(curl.get(), CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
  curl_easy_setopt(curl.get(), CURLOPT_TIMEOUT, kSeconds);
  curl_easy_setopt(curl.get(), CURLOPT_WRITEFUNCTION, append);
  curl_easy_setopt(curl.get(), CURLOPT_WRITEDATA, &answer.body);
  if (!options_.ca_file.empty())
    curl_easy_setopt(curl.get(), CURLOPT_CAINFO, options_.ca_file.c_str());
  if (!body.empty()) {
    curl_easy_setopt(curl.get(), CURLOPT_POSTFIELDS, body.c_str());
    curl_easy_setopt(curl.get(), CURLOPT_POSTFIELDSIZE, static_cast<long>(body.size()));
  }
  if (const CURLcode code = curl_easy_perform(curl.get()); code != CURLE_OK)
    return tl::unexpected(ApiError{fmt::format("{}: {}; is `smartmig serve` running there?",
                                               options_.server, curl_easy_strerror(code))});
  long status = 0;
  curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &status);
  answer.status = static_cast<int>(status);
  if (status == 401)
    return tl::unexpected(ApiError{
        options_.token_file.empty()
            ? fmt::format("{} asks for a token: name a file with it by --token-file",
                          options_.server)
            : fmt::format("{}: the token is none of {}", options_.token_file, options_.server),
        answer.status});
  if (status >= 400) return tl::unexpected(ApiError{what_it_said(answer), answer.status});
  return answer;
}

ApiResult<nlohmann::json> ApiClient::ask_json(const std::string& method, const std::string& path,
                                              const std::string& body) const {
  const auto answer = ask(method, path, body);
  if (!answer) return tl::unexpected(answer.error());
  nlohmann::json parsed = parse_json(answer->body);
  if (parsed.is_discarded())
    return tl::unexpected(
        ApiError{fmt::format("{}{}: the answer is no JSON", options_.server, path)});
  return parsed;
}

}  // namespace smartmig
