#include "cli/service_manager.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace smartmig {
namespace {

// A socket on which a service manager would listen.
class ServiceManagerTest : public testing::Test {
 protected:
  ServiceManagerTest() {
    folder_ = (std::filesystem::temp_directory_path() / "smartmig-notify-XXXXXX").string();
    EXPECT_NE(mkdtemp(folder_.data()), nullptr);
    listen_at(folder_ + "/notify");
  }
  ~ServiceManagerTest() override {
    close(socket_);
    std::filesystem::remove_all(folder_);
  }

  // At a path or, with '@', under an abstract name.
  void listen_at(const std::string& path) {
    if (socket_ >= 0) close(socket_);
    socket_ = socket(AF_UNIX, SOCK_DGRAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.data(), path.size());
    if (path[0] == '@') address.sun_path[0] = '\0';
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
    ASSERT_EQ(bind(socket_, reinterpret_cast<const sockaddr*>(&address), size), 0);
    setenv("NOTIFY_SOCKET", path.c_str(), 1);
  }

  // "" where nothing was sent.
  std::string received() {
    char text[512];
    const ssize_t size = recv(socket_, text, sizeof text, MSG_DONTWAIT);
    return size < 0 ? "" : std::string(text, static_cast<std::size_t>(size));
  }

  std::string folder_;
  int socket_ = -1;
};

TEST_F(ServiceManagerTest, SendsReadinessStatusAndTheEnd) {
  ServiceManager manager = ServiceManager::from_environment();
  ASSERT_TRUE(manager.present());
  manager.ready("8 GPUs\nfrozen");
  EXPECT_EQ(received(), "READY=1\nSTATUS=8 GPUs frozen\nMAINPID=" + std::to_string(getpid()));
  manager.report(true, "8 GPUs frozen");
  EXPECT_EQ(received(), "");  // No watchdog, and nothing new.
  manager.report(true, "9 GPUs");
  EXPECT_EQ(received(), "STATUS=9 GPUs");
  manager.stopping("bye");
  EXPECT_EQ(received(), "STOPPING=1\nSTATUS=bye");
}

TEST_F(ServiceManagerTest, SendsSignsOfLifeOnlyWhileAlive) {
  setenv("WATCHDOG_USEC", "4000000", 1);
  setenv("WATCHDOG_PID", std::to_string(getpid()).c_str(), 1);
  ServiceManager manager = ServiceManager::from_environment();
  EXPECT_EQ(manager.watchdog_pause(), std::chrono::seconds(2));
  manager.report(true, "");
  EXPECT_EQ(received(), "WATCHDOG=1");
  manager.report(false, "");
  EXPECT_EQ(received(), "");
  manager.report(false, "stuck");
  EXPECT_EQ(received(), "STATUS=stuck");
}

TEST_F(ServiceManagerTest, LeavesNothingForProcessesThatItStarts) {
  setenv("WATCHDOG_USEC", "4000000", 1);
  const ServiceManager manager = ServiceManager::from_environment();
  for (const char* name : {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"})
    EXPECT_EQ(std::getenv(name), nullptr) << name;
}

TEST_F(ServiceManagerTest, IgnoresAWatchdogOfAnotherProcess) {
  setenv("WATCHDOG_USEC", "4000000", 1);
  setenv("WATCHDOG_PID", "1", 1);
  EXPECT_FALSE(ServiceManager::from_environment().watchdog_pause());
}

TEST_F(ServiceManagerTest, FindsAbstractNames) {
  listen_at("@smartmig-notify-test-" + std::to_string(getpid()));
  ServiceManager manager = ServiceManager::from_environment();
  manager.stopping("");
  EXPECT_EQ(received(), "STOPPING=1\nSTATUS=");
}

TEST_F(ServiceManagerTest, IsAbsentWithoutASocketThatListens) {
  unsetenv("NOTIFY_SOCKET");
  EXPECT_FALSE(ServiceManager::from_environment().present());
  setenv("NOTIFY_SOCKET", "relative", 1);
  EXPECT_FALSE(ServiceManager::from_environment().present());
  setenv("NOTIFY_SOCKET", (folder_ + "/absent").c_str(), 1);
  ServiceManager manager = ServiceManager::from_environment();
  EXPECT_FALSE(manager.present());
  manager.ready("nothing happens");
}

}  // namespace
}  // namespace smartmig
