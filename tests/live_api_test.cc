// The HTTP interface over a controller and a fleet that are really there: what they say in all the
// states that a fleet gets into is what web/openapi.json promises.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "live_fixture.h"
#include "server/controller_backend.h"
#include "server/test_openapi.h"

namespace smartmig {
namespace {

using nlohmann::json;

class LiveApi : public testing::Test {
 protected:
  LiveApi() : rig_("LiveApi") {
    rig_.start_fleet("4xA100-40GB", 500);
    rig_.tell_fleet(R"("op":"foreign-create","gpu":1,"slot":0)");
    ControllerOptions options = rig_.options("static:7,3-3,4-3,7/cedf");
    options.retry_first_s = 1e6;
    options.call_timeout_s = 1;
    auto started = rig_.start_controller(options);
    if (!started) throw std::runtime_error(started.error().message);
    controller_ = std::move(*started);
    backend_ = std::make_unique<ControllerBackend>(*controller_, rig_.state_dir());
    ServerOptions server;
    server.port = 0;
    server_ = std::make_unique<Server>(std::move(server), *backend_);
    if (const auto ready = server_->start(); !ready)
      throw std::runtime_error(ready.error().message);
  }

  Reply call(const std::string& method, const std::string& path, const std::string& body = "") {
    httplib::Client client("127.0.0.1", server_->port());
    client.set_url_encode(false);
    return TestSite::call_by(client, method, path, body);
  }
  json get(const std::string& path) { return call("GET", "/api/v1" + path).json(); }
  void post(const std::string& path, const std::string& body = "{}") {
    const Reply reply = call("POST", "/api/v1" + path, body);
    EXPECT_LT(reply.status, 300) << path << ": " << reply.body;
  }
  JobNumber submit(double work_s, const std::string& more = "") {
    const Reply reply =
        call("POST", "/api/v1/jobs",
             fmt::format(R"({{"profile":"bert-training","work_s":{},"deadline_s":{}{}}})", work_s,
                         10 * work_s, more));
    EXPECT_EQ(reply.status, 201) << reply.body;
    return std::stoll(reply.json().at("id").get<std::string>());
  }
  bool comes_to(const std::string& path, const std::string& state) {
    return wait_until([&] { return get(path).value("state", "") == state; });
  }

  // Of all that it can be asked about.
  std::vector<std::string> paths_of(const Operation& operation, JobNumber last_job) {
    const auto at = operation.pattern.find("{id}");
    if (at == std::string::npos) return {operation.pattern};
    std::vector<std::string> ids;
    if (operation.pattern.find("gpu") != std::string::npos) {
      ids = {"0", "1", "2", "3"};
    } else if (operation.pattern.find("job") != std::string::npos) {
      for (JobNumber job = 1; job <= last_job; ++job) ids.push_back(std::to_string(job));
    } else if (operation.pattern.find("decisions") != std::string::npos) {
      const json decisions = get("/decisions");
      for (const json& decision : decisions.at("decisions"))
        ids.push_back(decision.at("id").get<std::string>());
    } else {
      ids = {"report.css"};
    }
    std::vector<std::string> paths;
    for (const std::string& id : ids)
      paths.push_back(std::string(operation.pattern).replace(at, 4, id));
    return paths;
  }

  LiveRig rig_;
  std::unique_ptr<Controller> controller_;
  std::unique_ptr<ControllerBackend> backend_;
  std::unique_ptr<Server> server_;  // Goes first.
};

// Every operation that only reads, of every job, GPU and decision.
TEST_F(LiveApi, ReadsAsTheDocumentPromisesInEveryState) {
  const JobNumber first = submit(5, R"(,"key":"first","command":["train","--fast"])");
  ASSERT_TRUE(comes_to(fmt::format("/jobs/{}", first), "done"));
  rig_.tell_fleet(R"("op":"behave","fail_at":0.5,"times":1)");
  ASSERT_TRUE(comes_to(fmt::format("/jobs/{}", submit(5)), "failed"));
  rig_.tell_fleet(R"("op":"inject","call":"destroy","gpu":3,"code":"no-permission","times":1000)");
  post("/apply", R"({"layouts":{"3":"3-3"}})");
  ASSERT_TRUE(comes_to("/gpus/3", "fenced"));
  const JobNumber running = submit(1e6, R"(,"max_runtime_s":1e7)");
  ASSERT_TRUE(comes_to(fmt::format("/jobs/{}", running), "running"));
  for (int i = 0; i < 8; ++i) submit(1e6);
  const JobNumber last = submit(1e6);
  ASSERT_TRUE(comes_to(fmt::format("/jobs/{}", last), "queued"));
  EXPECT_EQ(call("DELETE", fmt::format("/api/v1/jobs/{}", last)).status, 200);
  post("/gpus/0/cordon");
  rig_.tell_fleet(R"("op":"behave","ignore_stop_s":1e6,"times":1000)");
  post("/gpus/2/drain");
  post("/power-cap", R"({"watts":1500})");

  std::set<std::string> gpu_states, job_states;
  const json fleet = get("/fleet"), jobs = get("/jobs");
  for (const json& gpu : fleet.at("gpus")) gpu_states.insert(gpu.at("state"));
  for (const json& job : jobs.at("jobs")) job_states.insert(job.at("state"));
  EXPECT_EQ(gpu_states, (std::set<std::string>{"cordoned", "draining", "fenced", "up"}));
  for (const char* state : {"cancelled", "done", "failed", "queued", "running"})
    EXPECT_TRUE(job_states.contains(state)) << state;

  int reads = 0;
  for (const Operation& operation : operations()) {
    if (operation.method != "GET" || is_stream(operation)) continue;
    for (const std::string& path : paths_of(operation, last)) {
      SCOPED_TRACE(path);
      const Reply reply = call("GET", path);
      EXPECT_EQ(reply.status, 200) << reply.body;
      expect_documented(operation, reply);
      ++reads;
    }
  }
  EXPECT_GT(reads, 50);
}

// Every operation that changes something, rehearsed and done.
TEST_F(LiveApi, ChangesAsTheDocumentPromises) {
  const std::map<std::string, std::string> bodies = {
      {"/api/v1/jobs", R"({"profile":"bert-training","work_s":60,"deadline_s":900})"},
      {"/api/v1/apply", R"({"layouts":{"0":"4-2-1"}})"},
      {"/api/v1/rollback", R"({"gpu":"0"})"},
      {"/api/v1/power-cap", R"({"watts":2000})"}};
  int changes = 0;
  for (const Operation& operation : operations()) {
    if (operation.method == "GET" || operation.pattern == "/session") continue;
    const auto body = bodies.find(operation.pattern);
    for (const char* rehearsed : {"?dry_run=true", ""}) {
      std::string path = operation.pattern;
      const JobNumber job = submit(1e6);
      if (const auto at = path.find("{id}"); at != std::string::npos)
        path.replace(at, 4, path.find("gpus") != std::string::npos ? "0" : std::to_string(job));
      path += rehearsed;
      SCOPED_TRACE(operation.method + " " + path);
      const bool deletes = operation.method == "DELETE";
      const Reply reply = call(operation.method, path,
                               deletes                ? ""
                               : body == bodies.end() ? "{}"
                                                      : body->second);
      EXPECT_LT(reply.status, 300) << reply.body;
      expect_documented(operation, reply);
      ++changes;
    }
  }
  EXPECT_GT(changes, 20);
}

}  // namespace
}  // namespace smartmig
