// What can go wrong with the host of a live controller, for this process alone: a wall clock that
// somebody sets, and a disk that is full.
#pragma once

#include <chrono>

namespace smartmig {

// While one lives, this process's wall clock is so far from the host's. Other clocks stay as they
// are.
class ShiftedWallClock {
 public:
  explicit ShiftedWallClock(std::chrono::seconds from_the_host);
  ~ShiftedWallClock();
  ShiftedWallClock(const ShiftedWallClock&) = delete;
  ShiftedWallClock& operator=(const ShiftedWallClock&) = delete;
};

// While one lives, SQLite finds no room in any file.
class FullDisk {
 public:
  FullDisk();
  ~FullDisk();
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;
};

}  // namespace smartmig
