// A live controller under load, as its clients see it: one JSON object out.
//   bench_live PROGRAM POLICY GPUS QUEUED RATE SECONDS STREAMS
// Starts `PROGRAM serve` on a simulated fleet of GPUS A100-40GB in real time, queues QUEUED jobs,
// and once the fleet is full submits RATE jobs a second for SECONDS, while /fleet and /metrics are
// read every second and STREAMS clients listen to the live events. RATE 0: nothing is submitted,
// and the controller's use of a core is what is measured.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "control/journal.h"

namespace smartmig {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kConnections = 100;  // An answer takes as long as the decision under way.
// Whole GPU, one alone; on slices longer. About 1,000 of them end each second on 10,000 GPUs.
constexpr double kWorkS = 20;
constexpr const char* kProfiles[] = {"resnet50-inference", "bert-inference", "resnet50-training"};

double ms_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

// `smartmig serve`, and the simulated fleet it starts; both end with the object.
class Served {
 public:
  Served(const char* program, const char* policy, int gpus) {
    char folder[] = "/tmp/smartmig-bench-XXXXXX";
    SM_CHECK(mkdtemp(folder) != nullptr);
    folder_ = folder;
    const std::string fleet = fmt::format("{}xA100-40GB", gpus);
    int pipe_ends[2];
    SM_CHECK(pipe(pipe_ends) == 0);
    child_ = fork();
    if (child_ == 0) {
      dup2(pipe_ends[1], STDOUT_FILENO);
      // A line for each request, as operators have it.
      SM_CHECK(std::freopen((folder_ + "/serve.log").c_str(), "w", stderr) != nullptr);
      execl(program, program, "serve", "--state", folder_.c_str(), "--fleet", fleet.c_str(),
            "--policy", policy, "--listen", "127.0.0.1:0", "--stop-fleet", nullptr);
      _exit(127);
    }
    close(pipe_ends[1]);
    std::FILE* said = fdopen(pipe_ends[0], "r");
    char line[1000] = "";
    SM_CHECK(std::fgets(line, sizeof line, said) != nullptr);
    const char* port = std::strstr(line, "127.0.0.1:");
    SM_CHECK(port != nullptr);
    port_ = std::atoi(port + std::strlen("127.0.0.1:"));
  }
  ~Served() {
    stop();
    std::filesystem::remove_all(folder_);
  }
  void stop() {
    if (child_ <= 0) return;
    ::kill(child_, SIGTERM);
    waitpid(child_, nullptr, 0);
    child_ = -1;
  }
  int port() const { return port_; }
  const std::string& folder() const { return folder_; }
  // A number of /proc/PID/status in KiB.
  double status_kib(const char* name) const {
    std::ifstream status(fmt::format("/proc/{}/status", child_));
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with(name)) return std::atof(line.c_str() + std::strlen(name) + 1);
    }
    return 0;
  }
  double cpu_s() const {
    std::ifstream stat(fmt::format("/proc/{}/stat", child_));
    std::string text((std::istreambuf_iterator<char>(stat)), {});
    std::istringstream fields(text.substr(text.rfind(')') + 2));
    std::string skipped;
    for (int i = 0; i < 11; ++i) fields >> skipped;
    double user = 0, system = 0;
    fields >> user >> system;
    return (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
  }

 private:
  std::string folder_;
  pid_t child_ = -1;
  int port_ = 0;
};

// One connection that stays open.
class Connection {
 public:
  explicit Connection(int port) : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(port));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int yes = 1;
    setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    SM_CHECK(connect(socket_, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0);
  }
  ~Connection() { close(socket_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  int fd() const { return socket_; }

  void send_all(const std::string& bytes) const {
    SM_CHECK(send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
             static_cast<ssize_t>(bytes.size()));
  }
  const std::string& get(const std::string& path) {
    send_all(fmt::format("GET {} HTTP/1.1\r\nHost: localhost\r\n\r\n", path));
    return answer();
  }
  const std::string& post(const std::string& path, const std::string& body) {
    send_all(
        fmt::format("POST {} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                    "Content-Length: {}\r\n\r\n{}",
                    path, body.size(), body));
    return answer();
  }

 private:
  // Status line, headers and body. The thread's memory: what is new to a process is slow.
  const std::string& answer() {
    thread_local std::string text;
    thread_local std::vector<char> buffer(1 << 18);
    text.clear();
    std::size_t whole = std::string::npos;
    while (text.size() < whole) {
      const ssize_t got = recv(socket_, buffer.data(), buffer.size(), 0);
      SM_CHECK(got > 0);
      text.append(buffer.data(), static_cast<std::size_t>(got));
      const std::size_t head = text.find("\r\n\r\n");
      if (whole != std::string::npos || head == std::string::npos) continue;
      const std::size_t length = text.find("Content-Length: ");
      SM_CHECK(length < head);
      whole = head + 4 + static_cast<std::size_t>(std::atoll(text.c_str() + length + 16));
      text.reserve(whole);
    }
    return text;
  }
  int socket_;
};

// Submits `count` jobs over many connections, `rate` a second or (0) as fast as they are taken.
// Answers the milliseconds each took.
std::vector<double> submit(int port, int count, double rate, const std::string& name) {
  std::atomic<int> next = 0;
  std::mutex mutex;
  std::vector<double> all_ms;
  const auto begin = Clock::now();
  std::vector<std::thread> clients;
  for (int c = 0; c < kConnections; ++c) {
    clients.emplace_back([&, c] {
      Connection connection(port);
      Random random(static_cast<std::uint64_t>(c), name);
      std::vector<double> ms;
      for (int i; (i = next++) < count;) {
        auto due = begin;
        if (rate > 0) {
          due += std::chrono::nanoseconds(static_cast<std::int64_t>(1e9 * i / rate));
          std::this_thread::sleep_until(due);
        } else {
          due = Clock::now();
        }
        const std::string& answer = connection.post(
            "/api/v1/jobs",
            fmt::format(R"({{"profile":"{}","work_s":{:.2f},"deadline_s":{:.2f},"key":"{}-{}"}})",
                        kProfiles[random.below(std::size(kProfiles))],
                        kWorkS * (0.5 + random.uniform()), 60 + 600 * random.uniform(), name, i));
        SM_CHECK(answer.starts_with("HTTP/1.1 201"));
        ms.push_back(ms_since(due));  // From when it was to be sent: a late one counts in full.
      }
      const std::lock_guard lock(mutex);
      all_ms.insert(all_ms.end(), ms.begin(), ms.end());
    });
  }
  for (std::thread& client : clients) client.join();
  return all_ms;
}

double percentile(std::vector<double>& values, double p) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[std::min(values.size() - 1,
                         static_cast<std::size_t>(p * static_cast<double>(values.size())))];
}

double ms_of_page(int port, const char* path) {
  const auto begin = Clock::now();
  (void)Connection(port).get(path);  // The server closes those that are long idle.
  return ms_since(begin);
}

// Cumulative counts of decisions by milliseconds, from the metrics page.
std::vector<std::pair<double, double>> decisions_by_ms(const std::string& page) {
  std::vector<std::pair<double, double>> found;
  const std::string name = "smartmig_decision_seconds_bucket{le=\"";
  for (std::size_t at = 0; (at = page.find(name, at)) != std::string::npos; ++at) {
    const char* bound = page.c_str() + at + name.size();
    const double ms = *bound == '+' ? 1e9 : 1000 * std::atof(bound);
    found.emplace_back(ms, std::atof(std::strchr(bound, ' ')));
  }
  return found;
}

int run(char** argv) {
  Served served(argv[1], argv[2], std::atoi(argv[3]));
  const int queued = std::atoi(argv[4]), rate = std::atoi(argv[5]), seconds = std::atoi(argv[6]);
  const int streams = std::atoi(argv[7]);
  std::vector<double> filled = submit(served.port(), queued, 0, "fill");
  // Until every slice has a job, and the first cut of the fleet is over.
  std::this_thread::sleep_for(std::chrono::seconds(queued > 0 ? 30 : 5));

  std::atomic<bool> over = false;
  std::atomic<long> heard = 0;
  std::thread listener([&] {
    std::vector<std::unique_ptr<Connection>> open;
    std::vector<pollfd> polled;
    for (int i = 0; i < streams; ++i) {
      open.push_back(std::make_unique<Connection>(served.port()));
      open.back()->send_all("GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
      polled.push_back({open.back()->fd(), POLLIN, 0});
    }
    std::vector<char> buffer(1 << 16);
    while (!over) {
      if (poll(polled.data(), polled.size(), 100) <= 0) continue;
      for (const pollfd& one : polled) {
        if (one.revents & POLLIN) heard += recv(one.fd, buffer.data(), buffer.size(), 0);
      }
    }
  });
  std::vector<double> fleet_ms, metrics_ms;
  std::thread reader([&] {
    for (int tenths = 0; !over && rate > 0; ++tenths) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      if (tenths % 10 != 0) continue;
      fleet_ms.push_back(ms_of_page(served.port(), "/api/v1/fleet"));
      metrics_ms.push_back(ms_of_page(served.port(), "/metrics"));
    }
  });
  const auto before = decisions_by_ms(Connection(served.port()).get("/metrics"));
  const double cpu_before = served.cpu_s();
  const auto begin = Clock::now();
  std::vector<double> submit_ms;
  if (rate > 0) {
    submit_ms = submit(served.port(), rate * seconds, rate, "load");
  } else {
    std::this_thread::sleep_for(std::chrono::seconds(seconds));
  }
  const double wall_s = ms_since(begin) / 1000;
  const double cpu_s = served.cpu_s() - cpu_before;
  auto after = decisions_by_ms(Connection(served.port()).get("/metrics"));
  const double peak_mib = served.status_kib("VmHWM") / 1024;
  over = true;
  listener.join();
  reader.join();
  served.stop();

  double decisions = 0, within_50 = 0, p99_ms = 0;
  if (!after.empty() && !before.empty()) {
    for (std::size_t i = 0; i < after.size(); ++i) after[i].second -= before[i].second;
    decisions = after.back().second;
    for (const auto& [ms, count] : after) {
      if (ms <= 50) within_50 = count;
      if (p99_ms == 0 && count >= 0.99 * decisions) p99_ms = ms;
    }
  }
  // None lost, none doubled: the journal has every accepted job once.
  auto journal = JournalReader::open(served.folder());
  SM_CHECK(journal.has_value());
  std::set<std::string> keys;
  std::int64_t jobs = 0;
  for (std::int64_t last = 0;;) {
    const auto page = journal->jobs(std::nullopt, last, 10'000);
    SM_CHECK(page.has_value());
    if (page->empty()) break;
    for (const JobRow& row : *page) keys.insert(row.key);
    jobs += static_cast<std::int64_t>(page->size());
    last = page->back().number;
  }
  const auto sent = static_cast<std::int64_t>(filled.size() + submit_ms.size());
  fmt::print(
      R"({{"decisions": {}, "within_50_ms": {:.4f}, "p99_at_most_ms": {:g}, "submitted": {}, )"
      R"("lost": {}, "doubled": {}, "submit_median_ms": {:.2f}, "submit_p99_ms": {:.2f}, )"
      R"("fleet_most_ms": {:.1f}, "metrics_most_ms": {:.1f}, "peak_mib": {:.0f}, )"
      R"("core_share": {:.4f}, "events_heard_mb": {:.1f}}})"
      "\n",
      decisions, decisions > 0 ? within_50 / decisions : 1, p99_ms, sent,
      sent - static_cast<std::int64_t>(keys.size()), jobs - static_cast<std::int64_t>(keys.size()),
      percentile(submit_ms, .5), percentile(submit_ms, .99), percentile(fleet_ms, 1),
      percentile(metrics_ms, 1), peak_mib, cpu_s / wall_s, static_cast<double>(heard) / 1e6);
  return 0;
}

}  // namespace
}  // namespace smartmig

int main(int argc, char** argv) {
  if (argc != 8) {
    fmt::print(stderr, "bench_live PROGRAM POLICY GPUS QUEUED RATE SECONDS STREAMS\n");
    return 2;
  }
  return smartmig::run(argv);
}
