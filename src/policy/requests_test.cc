#include "policy/requests.h"

#include <gtest/gtest.h>

#include "policy/on_demand.h"
#include "policy/situation.h"
#include "workload/catalogue.h"

namespace smartmig {
namespace {

// The compute sizes that jobs ask for on such a fleet, in their order.
std::vector<int> sizes_asked(const std::string& rule, const std::string& fleet_spec,
                             const std::vector<Job>& jobs) {
  const std::string layouts = fleet_spec == "A100-40GB" ? "7" : "4";
  Situation situation(fleet_spec, layouts, jobs, "none/edf");
  situation.arrive(0, static_cast<JobIndex>(jobs.size()) - 1);
  const RequestReader reader(Requests::parse(rule).value(), situation.fleet);
  std::vector<int> sizes;
  for (JobIndex job = 0; job < jobs.size(); ++job) {
    const View view = situation.view();
    const KindSet kinds = view.kinds(job);
    const RequestReader::Request request = reader.read(view, job, kinds);
    sizes.push_back(request.size < 0 ? 0 : kSizes[request.size]);
  }
  return sizes;
}

using AskedSizes = std::vector<int>;

TEST(Requests, TakeTheSmallestSizeThatIsOnTime) {
  const std::array<double, kSizeCount> times = {70, 35, 24, 18, 10};
  EXPECT_EQ(sizes_asked("on-time", "A100-40GB",
                        {make_job(times, 70), make_job(times, 69), make_job(times, 18),
                         make_job(times, 17), make_job(times, 9)}),
            (AskedSizes{1, 2, 4, 7, 7}));
  Job believed_twice_as_long = make_job(times, 40);
  believed_twice_as_long.estimate_us = to_us(20);
  EXPECT_EQ(sizes_asked("on-time", "A100-40GB", {believed_twice_as_long}), (AskedSizes{4}));
}

TEST(Requests, TakeTheSmallestSizeWithTheShareThatWasAsked) {
  const std::pair<std::int32_t, int> cases[] = {{0, 7},      {1, 1},      {142857, 1}, {150000, 2},
                                                {285714, 2}, {428571, 3}, {500000, 4}, {571429, 4},
                                                {571440, 7}, {1000000, 7}};
  std::vector<Job> jobs;
  AskedSizes sizes;
  for (const auto& [share, size] : cases) {
    jobs.push_back(flat_job(10, 100));
    jobs.back().request_millionths = share;
    sizes.push_back(size);
  }
  EXPECT_EQ(sizes_asked("asked", "A100-40GB", jobs), sizes);
  for (int& size : sizes) size = size == 3 || size == 7 ? 4 : size;  // What an A30 has.
  EXPECT_EQ(sizes_asked("asked", "A30", jobs), sizes);
}

TEST(Requests, GoByTheSpeedProfileAndElseAskForTheLargest) {
  std::vector<Job> jobs(2, flat_job(10, 100));
  jobs[0].profile = Catalogue::shipped().find("bert-training").value();
  EXPECT_EQ(sizes_asked("bert-training=3+bert-inference=1", "A100-40GB", jobs), (AskedSizes{3, 7}));
}

TEST(Requests, TakeTheNextLargerSizeWhereTheJobDoesNotRun) {
  Job no_small = make_job({0, 0, 20, 20, 20}, 100);
  Job no_large = make_job({20, 20, 0, 0, 0}, 100);
  Job much_memory = flat_job(20, 100);
  much_memory.memory_mib = 19'000;  // From 3g.20gb on.
  EXPECT_EQ(sizes_asked("on-time", "A100-40GB", {no_small, no_large, much_memory}),
            (AskedSizes{3, 1, 3}));
  EXPECT_EQ(sizes_asked("bert-training=3", "A100-40GB", {no_large}), (AskedSizes{2}));
}

std::string on_demand_error(std::string_view words) {
  const auto rules = OnDemandRules::parse(words);
  return rules ? "no error" : rules.error().message;
}

TEST(Requests, SayWhatIsWrong) {
  EXPECT_EQ(on_demand_error("on-time,pack,strict,keep"), "no error");
  EXPECT_EQ(on_demand_error("ontime"),
            "policy on-demand: found 'ontime', expected asked, on-time or NAME=SIZE+NAME=SIZE...");
  EXPECT_EQ(on_demand_error("bert-training=5"),
            "policy on-demand: bert-training: found '5', expected one of the sizes 1, 2, 3, 4, 7");
  EXPECT_EQ(on_demand_error("bert-training=1+bert-training=2"),
            "policy on-demand: bert-training is named twice");
  EXPECT_NE(on_demand_error("bert-trainin=1").find("did you mean 'bert-training'"),
            std::string::npos);
  for (const char* words :
       {"asked,fast", "asked,room,pack", "asked,skip,strict", "asked,keep,keep"})
    EXPECT_NE(on_demand_error(words).find("each at most once"), std::string::npos) << words;
}

}  // namespace
}  // namespace smartmig
