// Which GPUs of a fleet a list is asked for, so that ten thousand can be looked at a page at a
// time.
#pragma once

#include <cstddef>
#include <string>

#include "server/backend.h"
#include "server/query.h"

namespace smartmig {

struct GpuFilter {
  std::size_t from = 0;       // Index of the first.
  std::size_t limit = 0;      // At most so many; 0: all.
  std::string state, layout;  // As in GpuView; empty: any.
  // The index, or kShortestFind or more characters of the UUID of the GPU or one of its slices, in
  // lower case; empty: any.
  std::string find;
  bool held = false;  // Only those with a layout that an operator holds.

  static constexpr std::size_t kShortestFind = 4;

  // Parameters from, limit, state, layout, find and held of a query that knows them.
  static GpuFilter read(Query& query);

  bool takes(const GpuView& gpu) const;
};

}  // namespace smartmig
