// What can go wrong with the host of a live controller, for this process alone: a wall clock that
// somebody sets, and a disk that is full.
#pragma once

#include <chrono>

namespace smartmig {

// Sets this process's wall clock so far from the host's; 0: back. Other clocks stay as they are.
void set_wall_clock(std::chrono::seconds from_the_host);

// While one lives, SQLite finds no room in any file.
class FullDisk {
 public:
  FullDisk();
  ~FullDisk();
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;
};

}  // namespace smartmig
