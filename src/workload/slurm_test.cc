#include <gtest/gtest.h>

#include "workload/slurm_time.h"
#include "workload/tres.h"

namespace smartmig {
namespace {

TEST(SlurmTime, ReadsDates) {
  EXPECT_EQ(parse_slurm_date("1970-01-02T00:00:01"), kDayUs + kSecondUs);
  EXPECT_EQ(parse_slurm_date("2024-03-01T12:34:56"), 1'709'296'496 * kSecondUs);
  EXPECT_EQ(parse_slurm_date("1709296496"), 1'709'296'496 * kSecondUs);
  for (const char* text :
       {"", "T", "2024-13-01T00:00:00", "2024-02-30T00:00:00", "2024-03-01T24:00:00",
        "2024-03-01 12:00:00", "-5", "99999999999", "2024-03-01T12", "9999-01-01T00:00:00"}) {
    EXPECT_FALSE(parse_slurm_date(text)) << text;
  }
}

TEST(SlurmTime, ReadsElapsedTimes) {
  EXPECT_EQ(parse_slurm_elapsed("00:00:00"), 0);
  EXPECT_EQ(parse_slurm_elapsed("01:02:03"), kHourUs + 2 * kMinuteUs + 3 * kSecondUs);
  EXPECT_EQ(parse_slurm_elapsed("3-01:00:00"), 3 * kDayUs + kHourUs);
  EXPECT_EQ(parse_slurm_elapsed("05:30.250"), 5 * kMinuteUs + 30'250'000);
  for (const char* text :
       {"", "5", "1-", "x-01:00:00", "01:60:00", "00:00:61", "-1:00:00", "1-25:00:00"}) {
    EXPECT_FALSE(parse_slurm_elapsed(text)) << text;
  }
}

TEST(Tres, CountsGpusOnce) {
  EXPECT_EQ(parse_tres("")->count, 0);
  EXPECT_EQ(parse_tres("cpu=8,mem=64G,node=1,gres/gpumem=5G,gres/gpuutil=90")->count, 0);
  EXPECT_EQ(parse_tres("cpu=8,gres/gpu=2")->count, 2);
  EXPECT_EQ(parse_tres("gres/gpu:a100=2,gres/gpu=2")->count, 2);
  EXPECT_EQ(parse_tres("gres/gpu:a100=2,gres/gpu:h100=1")->count, 3);
  EXPECT_FALSE(parse_tres("gres/gpu"));
  EXPECT_FALSE(parse_tres("gres/gpu=-1"));
  EXPECT_FALSE(parse_tres("gres/gpu:a100=two"));
}

TEST(Tres, KnowsMigSlicesByTheirType) {
  for (const char* text :
       {"gres/gpu:1g.5gb=1", "gres/gpu:a100_1g.5gb=1,gres/gpu=1", "gres/gpu:nvidia_a100_1g.5gb=1",
        "gres/gpu:1g.5gb+me=1", "gres/gpu:1g.5gb.me=1"}) {
    const auto gpus = parse_tres(text);
    ASSERT_TRUE(gpus) << text;
    EXPECT_EQ(gpus->count, 1) << text;
    EXPECT_EQ(gpus->mig_slices, 1) << text;
    EXPECT_EQ(gpus->memory_mib, 4864) << text;  // What a 1g.5gb of an A100 shows.
  }
  EXPECT_EQ(parse_tres("gres/gpu:h100_4g.40gb=1")->mig_slices, 4);
  EXPECT_EQ(parse_tres("gres/gpu:1g.5gb=2,gres/gpu:3g.20gb=1")->mig_slices, 0);  // No one size.
  EXPECT_EQ(parse_tres("gres/gpu:1g.5gb=1,gres/gpu=2")->mig_slices, 0);          // One more, whole.
  EXPECT_EQ(parse_tres("gres/gpu:a100=1")->mig_slices, 0);
  EXPECT_EQ(parse_tres("gres/gpu:x11g.80gb=1")->mig_slices, 0);
  EXPECT_TRUE(parse_tres("gres/shard=3")->shards);
}

}  // namespace
}  // namespace smartmig
