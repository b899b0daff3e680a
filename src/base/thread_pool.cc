#include "base/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace smartmig {

int core_count() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

void parallel_for(std::size_t count, int threads, const std::function<void(std::size_t)>& body) {
  const auto wanted = static_cast<std::size_t>(threads > 0 ? threads : core_count());
  const std::size_t workers = std::min(wanted, count);
  if (workers <= 1) {
    for (std::size_t i = 0; i < count; ++i) body(i);
    return;
  }
  std::atomic<std::size_t> next{0};
  std::vector<std::jthread> pool;
  pool.reserve(workers);
  for (std::size_t w = 0; w < workers; ++w) {
    pool.emplace_back([&] {
      for (std::size_t i = next++; i < count; i = next++) body(i);
    });
  }
}

}  // namespace smartmig
