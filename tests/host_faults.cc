#include "host_faults.h"

#include <sqlite3.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <mutex>

namespace {

std::atomic<long> wall_shift_s = 0;
std::atomic<bool> disk_is_full = false;

timespec real_clock(clockid_t clock) {
  timespec now{};
  syscall(SYS_clock_gettime, clock, &now);
  if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) now.tv_sec += wall_shift_s;
  return now;
}

ssize_t write_if_room(int file, const void* bytes, size_t size) {
  if (!disk_is_full) return ::write(file, bytes, size);
  errno = ENOSPC;
  return -1;
}

ssize_t write_at_if_room(int file, const void* bytes, size_t size, off_t at) {
  if (!disk_is_full) return ::pwrite(file, bytes, size, at);
  errno = ENOSPC;
  return -1;
}

// SQLite lets the calls of its default file system be replaced by name.
void replace_writes() {
  sqlite3_vfs* files = sqlite3_vfs_find(nullptr);
  const auto replace = [files](const char* name, auto* function) {
    files->xSetSystemCall(files, name, reinterpret_cast<sqlite3_syscall_ptr>(function));
  };
  replace("write", write_if_room);
  replace("pwrite", write_at_if_room);
  replace("pwrite64", write_at_if_room);
}

}  // namespace

// The program's own definitions come before those of the C library, also for the libraries it uses.
extern "C" {

int clock_gettime(clockid_t clock, timespec* now) noexcept {
  *now = real_clock(clock);
  return 0;
}

time_t time(time_t* now) noexcept {
  const time_t seconds = real_clock(CLOCK_REALTIME).tv_sec;
  if (now != nullptr) *now = seconds;
  return seconds;
}

int gettimeofday(timeval* now, void*) noexcept {
  const timespec time = real_clock(CLOCK_REALTIME);
  *now = {time.tv_sec, time.tv_nsec / 1000};
  return 0;
}

}  // extern "C"

namespace smartmig {

ShiftedWallClock::ShiftedWallClock(std::chrono::seconds from_the_host) {
  wall_shift_s = from_the_host.count();
}

ShiftedWallClock::~ShiftedWallClock() { wall_shift_s = 0; }

FullDisk::FullDisk() {
  static std::once_flag replaced;
  std::call_once(replaced, replace_writes);
  disk_is_full = true;
}

FullDisk::~FullDisk() { disk_is_full = false; }

}  // namespace smartmig
