#include "drivers/simulated/fleet_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <thread>

#include "base/file.h"
#include "base/text.h"
#include "drivers/simulated/fleet_server.h"

extern char** environ;

namespace smartmig {
namespace {

using std::chrono::milliseconds;

constexpr auto kPause = milliseconds(5);
constexpr auto kPatience = std::chrono::seconds(60);

Result<Descriptor> open_lock(const std::string& state) {
  const std::string path = state + "/fleet.lock";
  Descriptor lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock) return fail("{}: {}", path, std::strerror(errno));
  return lock;
}

// SIGTERM and SIGINT as something to read, for as long as it lives.
class StopSignals {
 public:
  StopSignals() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigprocmask(SIG_BLOCK, &set, &before_);
    file_ = Descriptor(::signalfd(-1, &set, SFD_CLOEXEC));
  }
  ~StopSignals() { sigprocmask(SIG_SETMASK, &before_, nullptr); }
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  const Descriptor& file() const { return file_; }

 private:
  sigset_t before_{};
  Descriptor file_;
};

// Its output goes to the folder's log; it hears none of our terminal's signals.
Result<pid_t> spawn(const std::string& state, const std::vector<std::string>& arguments) {
  std::vector<char*> argv;
  std::string program = "smartmig";
  argv.push_back(program.data());
  std::vector<std::string> texts = arguments;
  for (std::string& text : texts) argv.push_back(text.data());
  argv.push_back(nullptr);
  const std::string log = state + "/fleet.log";
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&files, 1, 2);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  pid_t process = 0;
  const int error =
      ::posix_spawn(&process, "/proc/self/exe", &files, &attributes, argv.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) return fail("the simulated fleet cannot be started: {}", std::strerror(error));
  return process;
}

std::string last_words(const std::string& state) {
  const auto text = read_file(state + "/fleet.log");
  if (!text || trim(*text).empty()) return "it said nothing";
  return std::string(split(trim(*text), '\n').back());
}

}  // namespace

std::optional<pid_t> simulated_fleet_process(const std::string& state) {
  const auto socket = connect_to(state);
  if (!socket) return std::nullopt;
  ucred peer{};
  socklen_t size = sizeof(peer);
  if (::getsockopt(socket->get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return std::nullopt;
  return peer.pid;
}

Result<void> run_simulated_fleet(const FleetProcessOptions& options) {
  if (auto made = make_writable_folder(options.state); !made) return made;
  const auto lock = open_lock(options.state);
  if (!lock) return pass_on(lock);
  if (::flock(lock->get(), LOCK_EX | LOCK_NB) != 0)
    return fail("{}: another process serves this fleet", options.state);
  auto store = FleetStore::open(options.state + "/fleet.state", options.fleet, options.speed,
                                monotonic_ns());
  if (!store) return pass_on(store);
  const auto listener = listen_in(options.state);
  if (!listener) return pass_on(listener);
  const StopSignals signals;
  FleetService service(std::move(*store), options.shares);
  if (auto served = FleetServer(service, *listener, signals.file()).run(); !served) return served;
  service.store().advance(monotonic_ns());
  return service.store().compact();
}

Result<pid_t> start_simulated_fleet(const std::string& state,
                                    const std::vector<std::string>& arguments) {
  if (auto made = make_writable_folder(state); !made) return pass_on(made);
  if (const auto process = simulated_fleet_process(state)) return *process;
  const auto process = spawn(state, arguments);
  if (!process) return process;
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (std::chrono::steady_clock::now() < until) {
    if (const auto serving = simulated_fleet_process(state)) return *serving;
    if (::waitpid(*process, nullptr, WNOHANG) == *process)
      return fail("the simulated fleet of {} did not start: {}", state, last_words(state));
    std::this_thread::sleep_for(kPause);
  }
  return fail("the simulated fleet of {} does not answer", state);
}

Result<void> stop_simulated_fleet(const std::string& state) {
  const auto process = simulated_fleet_process(state);
  if (!process) return {};
  const auto lock = open_lock(state);
  if (!lock) return pass_on(lock);
  if (::kill(*process, SIGTERM) != 0 && errno != ESRCH)
    return fail("the simulated fleet of {}: {}", state, std::strerror(errno));
  const auto until = std::chrono::steady_clock::now() + kPatience;
  // Whoever serves has the lock as long as it lives.
  while (::flock(lock->get(), LOCK_EX | LOCK_NB) != 0) {
    if (std::chrono::steady_clock::now() > until)
      return fail("the simulated fleet of {} does not end", state);
    std::this_thread::sleep_for(kPause);
  }
  // Not left to the end of the descriptor: a process that another thread is just spawning has a
  // copy of it until it runs its own program.
  ::flock(lock->get(), LOCK_UN);
  ::waitpid(*process, nullptr, WNOHANG);  // Where it was our child.
  return {};
}

}  // namespace smartmig
