// What others read: the metrics page and mig-parted's configuration.
#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "base/text.h"
#include "server/export_yaml.h"
#include "server/fake_backend.h"
#include "server/fragmentation.h"
#include "server/metrics_page.h"

namespace smartmig {
namespace {

std::string page_of(const FakeBackend& backend, int most_gpus = 1000) {
  return metrics_page(*backend.look(), backend.counters(), true, most_gpus);
}

bool has_line(const std::string& page, const std::string& line) {
  return page.find("\n" + line + "\n") != std::string::npos;
}

TEST(MetricsPage, IsInPrometheusForm) {
  const std::string page = page_of(FakeBackend());
  const std::regex sample(
      R"(smartmig_[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? -?[0-9.e+-]+)");
  std::set<std::string> families, series;
  std::string family;
  ASSERT_TRUE(page.ends_with('\n'));
  for (const std::string_view view :
       split(std::string_view(page).substr(0, page.size() - 1), '\n')) {
    const std::string line(view);
    if (line.starts_with("# HELP ")) {
      family = line.substr(7, line.find(' ', 7) - 7);
      EXPECT_TRUE(families.insert(family).second) << line;  // A family stands in one piece.
    } else if (line.starts_with("# TYPE ")) {
      EXPECT_EQ(line.substr(7, family.size() + 1), family + " ");
      const bool total = family.ends_with("_total");
      EXPECT_EQ(total, line.ends_with(" counter")) << line;
    } else {
      EXPECT_TRUE(std::regex_match(line, sample)) << line;
      EXPECT_TRUE(line.starts_with(family)) << line;
      EXPECT_TRUE(series.insert(line.substr(0, line.rfind(' '))).second) << line;
    }
  }
  EXPECT_GT(families.size(), 30u);
}

TEST(MetricsPage, HasFleetAndGpus) {
  FakeBackend backend;
  backend.counters_.submitted = 7;
  const std::string page = page_of(backend);
  const std::string gpu = backend.fleet_.gpus[1].uuid;
  EXPECT_TRUE(has_line(page, "smartmig_jobs_submitted_total 7"));
  EXPECT_TRUE(has_line(page, "smartmig_gpus{state=\"fenced\"} 1"));
  EXPECT_TRUE(has_line(page, "smartmig_gpus{state=\"lost\"} 0"));
  EXPECT_TRUE(has_line(page, "smartmig_gpu_state{gpu=\"" + gpu + "\",state=\"fenced\"} 1"));
  EXPECT_TRUE(has_line(page, "smartmig_gpu_power_watts{gpu=\"" + gpu + "\"} 131.25"));
  EXPECT_TRUE(has_line(page, "smartmig_gpu_slices{gpu=\"" + gpu + "\"} 3"));
  EXPECT_TRUE(has_line(page, "smartmig_gpu_busy_slices{gpu=\"" + gpu + "\"} 1"));
  EXPECT_TRUE(has_line(page, "smartmig_gpus_left_out 0"));
}

TEST(MetricsPage, LeavesOutGpusBeyondTheNumber) {
  FakeBackend backend;
  const std::string page = page_of(backend, 1);
  EXPECT_NE(page.find(backend.fleet_.gpus[0].uuid), std::string::npos);
  EXPECT_EQ(page.find(backend.fleet_.gpus[1].uuid), std::string::npos);
  EXPECT_TRUE(has_line(page, "smartmig_gpus_left_out 1"));
}

TEST(MetricsPage, BucketsAreCumulativeAndInSeconds) {
  const std::string page = page_of(FakeBackend());
  EXPECT_TRUE(has_line(page, "smartmig_decision_seconds_bucket{le=\"0.0001\"} 1"));
  EXPECT_TRUE(has_line(page, "smartmig_decision_seconds_bucket{le=\"0.05\"} 9"));
  EXPECT_TRUE(has_line(page, "smartmig_decision_seconds_bucket{le=\"+Inf\"} 13"));
  EXPECT_TRUE(has_line(page, "smartmig_decision_seconds_count 13"));
}

// Of GPU 0 three compute slices are free of jobs (2g idle, 1g foreign: its own is not); GPU 1 is
// fenced and does not count. Beside 4g at 0 and 1g at 6 there is room at 4 and 5: a 2g or two 1g.
TEST(Fragmentation, IsTheShareThatAProfileCannotUse) {
  const FakeBackend backend;
  std::map<std::string, double> shares;
  for (const auto& item : fragmentation(backend.fleet_)) shares[item.profile] = item.share;
  EXPECT_EQ(shares,
            (std::map<std::string, double>{
                {"1g.5gb", 0}, {"2g.10gb", 0}, {"3g.20gb", 1}, {"4g.20gb", 1}, {"7g.40gb", 1}}));
}

TEST(ExportYaml, GroupsGpusOfTheSameSlices) {
  FakeBackend backend;
  backend.fleet_.gpus.push_back(FakeBackend::example_gpu(2));
  backend.fleet_.gpus[1].slices[2].state = "destroying";
  backend.fleet_.gpus.push_back(FakeBackend::example_gpu(3));
  backend.fleet_.gpus[3].slices.clear();
  backend.fleet_.gpus.push_back(FakeBackend::example_gpu(4));
  backend.fleet_.gpus[4].state = "lost";
  EXPECT_EQ(export_yaml(backend.fleet_),
            "version: v1\n"
            "mig-configs:\n"
            "  smartmig:\n"
            "    - devices: [3]\n"
            "      mig-enabled: true\n"
            "      mig-devices: {}\n"
            "    - devices: [0, 2]\n"
            "      mig-enabled: true\n"
            "      mig-devices:\n"
            "        \"1g.5gb\": 1\n"
            "        \"2g.10gb\": 1\n"
            "        \"4g.20gb\": 1\n"
            "    - devices: [1]\n"
            "      mig-enabled: true\n"
            "      mig-devices:\n"
            "        \"2g.10gb\": 1\n"
            "        \"4g.20gb\": 1\n");
  EXPECT_EQ(export_yaml(FleetView{}), "version: v1\nmig-configs:\n  smartmig: []\n");
}

}  // namespace
}  // namespace smartmig
