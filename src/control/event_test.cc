#include "control/event.h"

#include <gtest/gtest.h>

#include <tuple>

#include "base/random.h"
#include "control/job_request.h"

namespace smartmig {
namespace {

Job random_work(Random& random) {
  JobRequest request;
  request.profile = random.below(2) == 0 ? "bert-training" : "resnet50-inference";
  request.work_s = random.uniform(1, 1e6);
  request.deadline_s = random.uniform(0, 1e6);
  request.memory_mib = static_cast<std::int32_t>(random.below(80'000));
  if (random.below(2) == 0) request.preemptible = random.below(2) == 0;
  if (random.below(2) == 0) request.checkpoint_s = random.uniform(0, 100);
  if (random.below(2) == 0) request.restore_s = random.uniform(0, 100);
  return to_job(request, static_cast<TimeUs>(random.below(1'000'000'000'000)));
}

Snapshot random_snapshot(Random& random) {
  Snapshot snapshot;
  snapshot.setup.fleet = "2xA100-40GB";
  snapshot.setup.policy = "static:\"7\",4-3/cedf";  // Quotes are no trouble.
  snapshot.setup.energy_weight = random.uniform();
  snapshot.setup.seed = random.bits() >> 1;
  snapshot.setup.limits = {random.uniform(0, 100), random.uniform(0, 1e6)};
  snapshot.version = "1.2";
  snapshot.frozen = random.below(2) == 0;
  snapshot.goes_on = random.below(2) == 0;
  for (JobNumber number = 1; number <= 3; ++number) {
    snapshot.jobs.push_back({number, random_work(random), random.uniform()});
    snapshot.runs.push_back({number, static_cast<GpuIndex>(random.below(2)),
                             static_cast<std::uint8_t>(random.below(18)),
                             static_cast<TimeUs>(random.below(1000)), 2000, random.below(2) == 0});
  }
  for (int i = 0; i < 2; ++i) {
    Snapshot::GpuStand gpu;
    gpu.present = random.bits();
    gpu.foreign = random.bits();
    gpu.target = random.bits();
    gpu.closed = random.below(2) == 0;
    gpu.fresh = random.below(2) == 0;
    snapshot.gpus.push_back(gpu);
  }
  return snapshot;
}

Event random_event(Event::Kind kind, Random& random) {
  Event event;
  event.kind = kind;
  event.at_us = static_cast<TimeUs>(random.below(1'000'000'000'000'000));
  event.job = static_cast<JobNumber>(random.below(1'000'000'000'000));
  event.gpu = static_cast<GpuIndex>(random.below(100'000));
  event.left = random.uniform();
  event.slots = random.bits();
  event.gone = random.bits();
  event.foreign = random.bits();
  event.work = random_work(random);
  event.limits = {random.uniform(0, 100), random.uniform(0, 1e6)};
  event.snapshot = random_snapshot(random);
  return event;
}

TEST(EventRows, OfEveryKindComeBackAsTheyWent) {
  Random random(1, "event rows");
  for (int kind = 0; kind <= static_cast<int>(Event::Kind::kRound); ++kind) {
    for (int i = 0; i < 50; ++i) {
      const Event event = random_event(static_cast<Event::Kind>(kind), random);
      const EventRow row = to_row(event);
      const auto back = parse_event(row);
      ASSERT_TRUE(back.has_value()) << back.error().message;
      EXPECT_EQ(back->kind, event.kind);
      EXPECT_EQ(back->at_us, event.at_us);
      // Its parts are compared by their own text, which has every field to the last bit.
      const EventRow again = to_row(*back);
      EXPECT_EQ(again.kind, row.kind);
      EXPECT_EQ(again.body, row.body);
    }
  }
}

TEST(EventRows, KeepWhatTheirKindIsAbout) {
  Random random(2, "event rows");
  using Kind = Event::Kind;
  const auto back = [&](Kind kind, auto&& about) {
    const Event event = random_event(kind, random);
    const auto parsed = parse_event(to_row(event));
    return parsed.has_value() && about(*parsed) == about(event);
  };
  for (const Kind kind :
       {Kind::kSubmit, Kind::kEnded, Kind::kGone, Kind::kSaved, Kind::kLost, Kind::kSaving})
    EXPECT_TRUE(back(kind, [](const Event& event) { return event.job; })) << to_string(kind);
  for (const Kind kind :
       {Kind::kStepDone, Kind::kStepFailed, Kind::kRead, Kind::kClose, Kind::kOpen, Kind::kLayout})
    EXPECT_TRUE(back(kind, [](const Event& event) { return event.gpu; })) << to_string(kind);
  EXPECT_TRUE(back(Kind::kSaved, [](const Event& event) { return event.left; }));
  EXPECT_TRUE(back(Kind::kLayout, [](const Event& event) { return event.slots; }));
  EXPECT_TRUE(back(Kind::kRead, [](const Event& event) {
    return std::tuple(event.slots, event.gone, event.foreign);
  }));
  EXPECT_TRUE(back(Kind::kLimits, [](const Event& event) {
    return std::pair(event.limits.changes_per_gpu_hour, event.limits.power_cap_w);
  }));
  EXPECT_TRUE(back(Kind::kSubmit, [](const Event& event) {
    const Job& job = event.work;
    return std::tuple(job.submit_us, job.deadline_us, job.time_us, job.memory_mib,
                      job.checkpoint_ms, job.restore_ms, job.kind, job.preemptible, job.profile);
  }));
  EXPECT_TRUE(back(Kind::kBegin, [](const Event& event) {
    const Snapshot& snapshot = event.snapshot;
    return std::tuple(snapshot.setup.policy, snapshot.setup.seed, snapshot.frozen, snapshot.goes_on,
                      snapshot.jobs.at(2).left, snapshot.gpus.at(1).target,
                      snapshot.gpus.at(1).closed, snapshot.runs.at(1).slot);
  }));
}

TEST(EventRows, ThatAreNotOursAreRefusedInOneLine) {
  const auto refused = [](const std::string& kind, const std::string& body) {
    const auto event = parse_event({7, 0, kind, body});
    return event ? std::string("taken") : event.error().message;
  };
  EXPECT_EQ(refused("danced", "{}"), "event 7: kind 'danced' is not known");
  EXPECT_EQ(refused("round", "[]"), "event 7: its body is no JSON object");
  EXPECT_EQ(refused("round", "{"), "event 7: its body is no JSON object");
  for (const char* kind : {"begin", "submit", "ended", "saved", "read", "layout", "limits"}) {
    const std::string line = refused(kind, "{}");
    EXPECT_NE(line.find("event 7 ("), std::string::npos) << line;
    EXPECT_EQ(line.find('\n'), std::string::npos) << line;
  }
}

}  // namespace
}  // namespace smartmig
