// A large fleet, a page at a time: filters and groups, and the files of the page that shows them.
#include <gtest/gtest.h>

#include <set>

#include "base/shipped.h"
#include "server/fleet_groups.h"
#include "server/test_site.h"
#include "server/web_files.h"

namespace smartmig {
namespace {

using nlohmann::json;

// Indices and `next` of what the query answers.
struct GpuPage {
  std::vector<int> gpus;
  json next;
};

class FleetPages : public testing::Test {
 protected:
  FleetPages() {
    for (int i = 2; i < 250; ++i) site.backend.fleet_.gpus.push_back(FakeBackend::example_gpu(i));
    site.backend.fleet_.gpus[1].state = "up";
    for (const int fenced : {40, 120, 121, 249}) site.backend.fleet_.gpus[fenced].state = "fenced";
    site.backend.fleet_.gpus[7].layout = site.backend.fleet_.gpus[7].target = "7";
  }
  GpuPage page(const std::string& query) {
    const json answer = site.call("GET", "/api/v1/fleet?" + query).json();
    GpuPage out;
    for (const json& gpu : answer.at("gpus")) out.gpus.push_back(gpu.at("index"));
    out.next = answer.at("next");
    return out;
  }

  TestSite site;
};

TEST_F(FleetPages, TurnToTheEndAndNameEachGpuOnce) {
  std::set<int> seen;
  json from = 0;
  int pages = 0;
  for (; !from.is_null(); ++pages) {
    const GpuPage next = page(fmt::format("limit=100&from={}", from.get<int>()));
    EXPECT_LE(next.gpus.size(), 100u);
    for (const int gpu : next.gpus) EXPECT_TRUE(seen.insert(gpu).second) << gpu;
    from = next.next;
  }
  EXPECT_EQ(pages, 3);
  EXPECT_EQ(seen.size(), 250u);
}

TEST_F(FleetPages, EndWithoutANextWhereThePageIsJustFull) {
  EXPECT_EQ(page("limit=250").next, nullptr);
  EXPECT_EQ(page("limit=249").next, 249);
  EXPECT_EQ(page("").gpus.size(), 250u);
  EXPECT_EQ(page("from=250").gpus.size(), 0u);
}

TEST_F(FleetPages, AreFilteredByStateAndLayout) {
  EXPECT_EQ(page("state=fenced").gpus, (std::vector<int>{40, 120, 121, 249}));
  const GpuPage two = page("state=fenced&limit=2");
  EXPECT_EQ(two.gpus, (std::vector<int>{40, 120}));
  EXPECT_EQ(two.next, 121);  // Not 122: what is next is what the filter takes.
  EXPECT_EQ(page("layout=7").gpus, std::vector<int>{7});
  EXPECT_EQ(page("layout=7&state=fenced").gpus, std::vector<int>{});
}

TEST_F(FleetPages, FindAGpuByIndexUuidOrSlice) {
  EXPECT_EQ(page("find=17").gpus, std::vector<int>{17});
  EXPECT_EQ(page("find=gpu-00000011").gpus, std::vector<int>{17});
  EXPECT_EQ(page("find=MIG-00000011-2g").gpus, std::vector<int>{17});
  EXPECT_EQ(page("find=0000001").gpus.size(), 17u);  // 0x1, and 0x10 to 0x1f.
  EXPECT_EQ(page("find=gpu").gpus.size(), 0u) << "too short a part to mean anything";
}

TEST_F(FleetPages, RefuseWhatTheyDoNotKnow) {
  for (const char* query : {"limit=0", "from=-1", "state=broken", "find=a&find=b"})
    EXPECT_EQ(site.call("GET", std::string("/api/v1/fleet?") + query).status, 400) << query;
  EXPECT_EQ(site.call("GET", "/api/v1/fleet/groups?size=0").status, 400);
}

TEST_F(FleetPages, SumsByGroupsAreThoseOfTheGpus) {
  site.backend.fleet_.gpus[3].target = "7";
  const json answer = site.call("GET", "/api/v1/fleet/groups?size=100").json();
  EXPECT_EQ(answer.at("gpus"), 250);
  EXPECT_EQ(answer.at("layouts"), json::parse(R"([{"layout":"4-2-1","gpus":249},
                                                  {"layout":"7","gpus":1}])"));
  ASSERT_EQ(answer.at("groups").size(), 3u);
  const json& first = answer["groups"][0];
  const json& last = answer["groups"][2];
  EXPECT_EQ(first.at("first"), 0);
  EXPECT_EQ(first.at("fenced"), 1);
  EXPECT_EQ(first.at("up"), 99);
  EXPECT_EQ(first.at("changing"), 1);
  EXPECT_EQ(first.at("foreign"), 100);
  EXPECT_EQ(first.at("busy_slices"), 100);
  EXPECT_EQ(first.at("memory_slices"), 800);
  EXPECT_EQ(first.at("busy_memory"), 400);
  EXPECT_EQ(last.at("first"), 200);
  EXPECT_EQ(last.at("gpus"), 50);
  EXPECT_DOUBLE_EQ(last.at("power_w"), 50 * 131.25);
}

TEST(Session, SaysWhetherTokensAreAskedFor) {
  EXPECT_EQ(TestSite().call("GET", "/session").json().at("tokens"), false);
  TestSite site{TestSite::WithTokens{}};
  EXPECT_EQ(site.call("GET", "/session", "", TestSite::with(kReadToken)).json().at("tokens"), true);
}

TEST(WebFiles, AreAllServedWithTheirTypeAndPolicy) {
  TestSite site{TestSite::WithTokens{}};
  for (const WebFile& file : web_files()) {
    const Reply reply = site.call("GET", "/web/" + std::string(file.name));
    EXPECT_EQ(reply.status, 200) << file.name;
    EXPECT_EQ(reply.header("Content-Type"), file.content_type);
    EXPECT_EQ(reply.header("Content-Security-Policy").substr(0, 18), "default-src 'self'");
    EXPECT_EQ(reply.body, shipped_file(file.name));
  }
}

TEST(WebFiles, HaveEveryPartOfTheDashboard) {
  for (const ShippedFile& file : shipped_files()) {
    const bool served = find_web_file(file.name) != nullptr;
    EXPECT_TRUE(served || !file.name.starts_with("dashboard")) << file.name;
  }
}

}  // namespace
}  // namespace smartmig
