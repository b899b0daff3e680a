// Runs body(i) for i in 0..count-1 on a number of threads. Which thread runs which i is not
// defined, so a body writes only to what belongs to its i; then the result is the same on any
// number of threads.
#pragma once

#include <cstddef>
#include <functional>

namespace smartmig {

// threads <= 0 means one for each core. Returns when all are done.
void parallel_for(std::size_t count, int threads, const std::function<void(std::size_t)>& body);

// What threads <= 0 stands for; at least 1.
int core_count();

}  // namespace smartmig
