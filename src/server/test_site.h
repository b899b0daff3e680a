// A running server over a fake backend, and clients for it: cpp-httplib's, which shares no code
// with ours, and a bare socket for what no client would send.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "server/fake_backend.h"
#include "server/server.h"

namespace smartmig {

inline constexpr const char* kReadToken = "read-token-0123456789";
inline constexpr const char* kSubmitToken = "submit-token-0123456789";
inline constexpr const char* kOtherSubmitToken = "other-submit-token-0123456789";
inline constexpr const char* kOperateToken = "operate-token-0123456789";

class TempFolder {
 public:
  TempFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "smartmig-server-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~TempFolder() { std::filesystem::remove_all(path_); }
  // Writes it with that mode and answers its path.
  std::string write(const std::string& name, const std::string& text, unsigned mode = 0600) const {
    const std::string file = path_ + "/" + name;
    std::ofstream(file) << text;
    chmod(file.c_str(), mode);
    return file;
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline std::string token_lines() {
  return fmt::format("# who may\nrita read {}\nalice submit {}\nbob submit {}\ncarol operate {}\n",
                     kReadToken, kSubmitToken, kOtherSubmitToken, kOperateToken);
}

struct Reply {
  int status = 0;
  std::string body;
  httplib::Headers headers;
  nlohmann::json json() const { return nlohmann::json::parse(body, nullptr, false); }
  std::string header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? "" : found->second;
  }
  std::string error() const { return json().value("error", ""); }
};

// A plain connection, for bytes as they are.
class RawClient {
 public:
  // `buffer`: size of the kernel's receive buffer in bytes; 0: the kernel's default.
  explicit RawClient(int port, int buffer = 0) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    if (buffer > 0) setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(port));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    timeval patience{10, 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    EXPECT_EQ(connect(socket_, reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
  }
  ~RawClient() { close(); }
  void close() {
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
  }
  bool send(std::string_view bytes) {
    return ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(bytes.size());
  }
  // Until the text is there, or the connection over.
  std::string read_until(std::string_view text) {
    while (text.empty() || got_.find(text) == std::string::npos) {
      char buffer[4096];
      const ssize_t size = recv(socket_, buffer, sizeof buffer, 0);
      at_end_ = size == 0;
      if (size <= 0) break;
      got_.append(buffer, static_cast<std::size_t>(size));
    }
    return got_;
  }
  std::string read_all() { return read_until(""); }
  void forget() { got_.clear(); }
  bool at_end() const { return at_end_; }  // The server has closed.

 private:
  int socket_;
  std::string got_;
  bool at_end_ = false;
};

class TestSite {
 public:
  explicit TestSite(ServerOptions options = {}) { start(std::move(options)); }
  struct WithTokens {};
  explicit TestSite(WithTokens, ServerOptions options = {}) {
    options.token_file = folder_.write("tokens", token_lines());
    start(std::move(options));
  }

  Reply call(const std::string& method, const std::string& path, const std::string& body = "",
             httplib::Headers headers = {}) {
    httplib::Client client("127.0.0.1", port());
    client.set_url_encode(false);
    client.set_read_timeout(60);  // A busy machine, and sanitizers.
    return call_by(client, method, path, body, std::move(headers));
  }
  template <class Client>
  static Reply call_by(Client& client, const std::string& method, const std::string& path,
                       const std::string& body = "", httplib::Headers headers = {}) {
    httplib::Request request;
    request.method = method;
    request.path = path;
    request.body = body;
    if (method == "POST" && !headers.contains("Content-Type"))
      headers.emplace("Content-Type", "application/json");
    request.headers = std::move(headers);
    const auto result = client.send(request);
    if (!result) return {};
    return {result->status, result->body, result->headers};
  }
  static httplib::Headers with(const char* token) {
    return {{"Authorization", std::string("Bearer ") + token}};
  }
  // The answer to bytes that are sent as they are; the server closes.
  std::string raw(std::string_view bytes) {
    RawClient client(port());
    client.send(bytes);
    return client.read_all();
  }

  int port() const { return server->port(); }
  std::vector<std::string> lines() {
    const std::lock_guard lock(mutex_);
    return lines_;
  }
  const TempFolder& folder() const { return folder_; }

  FakeBackend backend;

 private:
  void start(ServerOptions options) {
    options.port = 0;
    options.log = [this](const std::string& line) {
      const std::lock_guard lock(mutex_);
      lines_.push_back(line);
    };
    server = std::make_unique<Server>(std::move(options), backend);
    const auto started = server->start();
    if (!started) throw std::runtime_error(started.error().message);
  }

  TempFolder folder_;
  std::mutex mutex_;
  std::vector<std::string> lines_;

 public:
  std::unique_ptr<Server> server;  // Goes first: it writes to the lines.
};

}  // namespace smartmig
