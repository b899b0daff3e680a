// Time of the large pages of the live interface, through a socket of this machine: one JSON object
// out.
//   bench_server GPUS CALLS
// A fleet of GPUS A100-40GB, three slices each, behind a server on a free port; metrics with series
// for every GPU.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include "server/fake_backend.h"
#include "server/server.h"

namespace smartmig {
namespace {

// The bytes of the whole answer; the server closes after it.
std::size_t fetch(int port, const char* path) {
  const int client = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(port));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  SM_CHECK(connect(client, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0);
  const std::string request =
      fmt::format("GET {} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", path);
  SM_CHECK(send(client, request.data(), request.size(), 0) == static_cast<ssize_t>(request.size()));
  std::vector<char> buffer(1 << 20);
  std::size_t size = 0;
  for (ssize_t got; (got = recv(client, buffer.data(), buffer.size(), 0)) > 0;)
    size += static_cast<std::size_t>(got);
  close(client);
  return size;
}

std::string measured(int port, const char* path, int calls) {
  std::vector<double> ms;
  std::size_t bytes = 0;
  for (int i = 0; i < calls; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    bytes = fetch(port, path);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    ms.push_back(took.count());
  }
  std::sort(ms.begin(), ms.end());
  return fmt::format(R"({{"bytes": {}, "median_ms": {:.2f}, "most_ms": {:.2f}}})", bytes,
                     ms[ms.size() / 2], ms.back());
}

int run(int gpus, int calls) {
  FakeBackend backend;
  backend.fleet_.gpus.clear();
  for (int i = 0; i < gpus; ++i) backend.fleet_.gpus.push_back(FakeBackend::example_gpu(i));
  ServerOptions options;
  options.port = 0;
  options.metrics_gpus = gpus;
  Server server(options, backend);
  if (const auto started = server.start(); !started) {
    fmt::print(stderr, "{}\n", started.error().message);
    return 1;
  }
  fmt::print("{{\"gpus\": {}, \"calls\": {}, \"fleet\": {}, \"metrics\": {}}}\n", gpus, calls,
             measured(server.port(), "/api/v1/fleet", calls),
             measured(server.port(), "/metrics", calls));
  return 0;
}

}  // namespace
}  // namespace smartmig

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "bench_server GPUS CALLS\n");
    return 2;
  }
  return smartmig::run(std::atoi(argv[1]), std::atoi(argv[2]));
}
