#include "fleet/job_queue.h"

#include <gtest/gtest.h>

#include <set>

#include "base/random.h"

namespace smartmig {
namespace {

using QueueModel = std::set<std::pair<std::int64_t, JobIndex>>;

// Walks the whole queue beside the model.
void expect_same(const JobQueue& queue, const QueueModel& model) {
  ASSERT_EQ(queue.size(), model.size());
  ASSERT_EQ(queue.empty(), model.empty());
  auto cursor = queue.begin();
  for (const auto& [key, job] : model) {
    ASSERT_FALSE(JobQueue::at_end(cursor)) << "the queue ends before job " << job;
    ASSERT_EQ(JobQueue::at(cursor).key, key);
    ASSERT_EQ(JobQueue::at(cursor).job, job);
    queue.advance(cursor);
  }
  ASSERT_TRUE(JobQueue::at_end(cursor)) << "the queue goes on after its last job";
}

void insert(JobQueue& queue, QueueModel& model, std::int64_t key, JobIndex job) {
  queue.insert({key, job});
  ASSERT_TRUE(model.insert({key, job}).second);
}

TEST(JobQueue, AgreesWithStdSetOverLongRandomSequences) {
  // The size about which the queue varies: below a chunk of 128, at it, and over many.
  for (const std::size_t size : {1u, 63u, 64u, 65u, 127u, 128u, 129u, 4096u, 4097u}) {
    for (const std::uint64_t keys : {std::uint64_t{3}, std::uint64_t{1'000'000}}) {
      SCOPED_TRACE(testing::Message() << size << " jobs, " << keys << " keys");
      JobQueue queue;
      QueueModel model;
      Random random(1, "job queue", size * 2 + keys % 2);
      JobIndex next = 0;
      for (int step = 0; step < 20'000 && !testing::Test::HasFatalFailure(); ++step) {
        if (model.empty() || (model.size() < 2 * size && random.below(2))) {
          insert(queue, model, static_cast<std::int64_t>(random.below(keys)) - 1, next++);
        } else {
          auto victim = model.begin();
          if (random.below(2)) {
            victim = model.lower_bound({static_cast<std::int64_t>(random.below(keys)), 0});
            if (victim == model.end()) --victim;
          }
          queue.erase({victim->first, victim->second});
          model.erase(victim);
        }
        if (step % 500 == 0 || size <= 65) expect_same(queue, model);
      }
      expect_same(queue, model);
    }
  }
}

TEST(JobQueue, HoldsAHundredThousandInAnyOrderOfArrival) {
  for (const char* order : {"ascending", "descending", "mixed"}) {
    SCOPED_TRACE(order);
    JobQueue queue;
    QueueModel model;
    Random random(3, order);
    for (JobIndex job = 0; job < 100'000; ++job) {
      const std::int64_t key = *order == 'a'   ? job
                               : *order == 'd' ? -static_cast<std::int64_t>(job)
                                               : static_cast<std::int64_t>(random.below(1000));
      insert(queue, model, key, job);
    }
    expect_same(queue, model);
    while (!model.empty()) {
      ASSERT_EQ(JobQueue::at(queue.begin()).job, model.begin()->second);
      queue.erase({model.begin()->first, model.begin()->second});
      model.erase(model.begin());
    }
    EXPECT_TRUE(JobQueue::at_end(queue.begin()));
  }
}

TEST(JobQueue, PutsTheLowerJobFirstAmongEqualKeys) {
  JobQueue queue;
  for (const JobIndex job : {5u, 1u, 3u}) queue.insert({7, job});
  std::vector<JobIndex> jobs;
  for (auto at = queue.begin(); !JobQueue::at_end(at); queue.advance(at))
    jobs.push_back(JobQueue::at(at).job);
  EXPECT_EQ(jobs, (std::vector<JobIndex>{1, 3, 5}));
}

TEST(JobQueue, TakesAJobBackInFrontOfThoseThatAreLeft) {
  JobQueue queue;
  QueueModel model;
  for (JobIndex job = 0; job < 128; ++job) insert(queue, model, job, job);
  for (JobIndex job = 0; job < 100; ++job) queue.erase({job, job}), model.erase({job, job});
  // The chunk is full at its end and has room at its front.
  insert(queue, model, 99, 99);
  insert(queue, model, 500, 500);
  expect_same(queue, model);
}

TEST(JobQueue, CopiesAreIndependent) {
  JobQueue queue;
  QueueModel model;
  for (JobIndex job = 0; job < 1000; ++job) insert(queue, model, job % 10, job);
  JobQueue copy = queue;
  for (JobIndex job = 0; job < 1000; job += 2) copy.erase({job % 10, job});
  expect_same(queue, model);
  EXPECT_EQ(copy.size(), 500u);
}

TEST(JobQueueDeathTest, RefusesToEraseWhatIsNotThere) {
  JobQueue queue;
  queue.insert({1, 1});
  EXPECT_DEATH(queue.erase({1, 2}), "job_queue");
}

}  // namespace
}  // namespace smartmig
