// What a service tells the manager that started it (systemd with Type=notify), as sd_notify(3)
// does: datagrams to the socket that NOTIFY_SOCKET names. Without such a manager nothing is sent.
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace smartmig {

class ServiceManager {
 public:
  // Reads NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID, and removes them from the environment:
  // they are meant for this process and not for those that it starts. Call it before threads exist.
  static ServiceManager from_environment();

  ServiceManager() = default;
  ~ServiceManager();
  ServiceManager(ServiceManager&& other) noexcept;
  ServiceManager& operator=(ServiceManager&&) = delete;

  bool present() const { return socket_ >= 0; }
  // How often signs of life must be sent: half of what the manager waits; nothing: it does not
  // wait.
  std::optional<std::chrono::microseconds> watchdog_pause() const;

  void ready(const std::string& status);
  // A status is sent where it is not the one sent before. A sign of life is sent if the service is
  // alive and the manager waits for signs.
  void report(bool alive, const std::string& status);
  void stopping(const std::string& status);

 private:
  void send(const std::string& text);

  int socket_ = -1;  // Connected to the manager.
  std::chrono::microseconds watchdog_{0};
  std::string status_;
};

}  // namespace smartmig
