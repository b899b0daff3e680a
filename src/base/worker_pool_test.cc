#include "base/worker_pool.h"

#include <gtest/gtest.h>

#include <numeric>

namespace smartmig {
namespace {

TEST(WorkerPool, RunsEveryIndexOnceInEveryRound) {
  for (const int threads : {1, 2, 5}) {
    WorkerPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (const std::size_t count : {0, 1, 2, 7, 1000}) {
      for (int round = 0; round < 50; ++round) {
        std::vector<int> runs(count, 0);
        pool.run(count, [&](std::size_t i) { ++runs[i]; });
        EXPECT_EQ(runs, std::vector<int>(count, 1));
      }
    }
  }
}

TEST(WorkerPool, ReturnsOnlyWhenAllIsDone) {
  WorkerPool pool(3);
  std::vector<std::size_t> values(200);
  for (std::size_t round = 0; round < 500; ++round) {
    pool.run(values.size(), [&](std::size_t i) { values[i] = round + i; });
    EXPECT_EQ(std::accumulate(values.begin(), values.end(), std::size_t{0}),
              200 * round + 199 * 200 / 2);
  }
}

}  // namespace
}  // namespace smartmig
