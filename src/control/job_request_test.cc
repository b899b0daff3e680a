#include "control/job_request.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/random.h"

namespace smartmig {
namespace {

constexpr const char* kPlain = R"({"profile":"bert-training","work_s":60,"deadline_s":600})";

// The field and what is said of it.
std::string refusal_of(const std::string& text) {
  const auto request = parse_job_request(text);
  if (request) return "taken";
  EXPECT_EQ(request.error().status, 400);
  EXPECT_EQ(request.error().error.find('\n'), std::string::npos);
  return request.error().field + ": " + request.error().error;
}
std::string with(const std::string& field) {
  std::string text = kPlain;
  return text.insert(text.size() - 1, "," + field);
}

TEST(JobRequests, AreReadWithEveryField) {
  const auto request = parse_job_request(
      R"({"profile":"bert-inference","work_s":1.5,"deadline_s":0,"key":"k","name":"n ü",
          "memory_mib":4096,"command":["run","--fast",""],"preemptible":false,"checkpoint_s":2,
          "restore_s":0,"max_runtime_s":9.25})");
  ASSERT_TRUE(request.has_value()) << request.error().error;
  EXPECT_EQ(request->profile, "bert-inference");
  EXPECT_EQ(request->work_s, 1.5);
  EXPECT_EQ(request->deadline_s, 0);
  EXPECT_EQ(request->key, "k");
  EXPECT_EQ(request->name, "n ü");
  EXPECT_EQ(request->memory_mib, 4096);
  EXPECT_EQ(request->command, (std::vector<std::string>{"run", "--fast", ""}));
  EXPECT_EQ(request->preemptible, false);
  EXPECT_EQ(request->checkpoint_s, 2);
  EXPECT_EQ(request->restore_s, 0);
  EXPECT_EQ(request->max_runtime_s, 9.25);
}

TEST(JobRequests, SayWhichFieldIsWrong) {
  EXPECT_EQ(refusal_of("{"), ": expected a JSON object with profile, work_s and deadline_s");
  EXPECT_EQ(refusal_of("[1]"), ": expected a JSON object with profile, work_s and deadline_s");
  EXPECT_EQ(refusal_of(R"({"work_s":1,"deadline_s":1})"), "profile: is missing");
  EXPECT_EQ(refusal_of(with(R"("work_s":60)")), "work_s: stands twice, expected it once");
  EXPECT_EQ(refusal_of(std::string(kPlain) + "// fast"),
            ": expected a JSON object with profile, work_s and deadline_s");
  EXPECT_EQ(refusal_of(with(R"("memory_mib":1.5)")),
            "memory_mib: found 1.5, expected a whole number from 0 to 16777216");
  EXPECT_EQ(refusal_of(with(R"("memory_mib":4096.0)")), "taken");
  EXPECT_EQ(refusal_of(R"({"profile":"bert-training","deadline_s":1})"), "work_s: is missing");
  EXPECT_EQ(refusal_of(R"({"profile":"bert-training","work_s":1})"), "deadline_s: is missing");
  EXPECT_EQ(refusal_of(R"({"profile":"bert-training","work_s":0,"deadline_s":1})"),
            "work_s: found 0, expected a number from 1e-06 to 1e+08");
  EXPECT_EQ(refusal_of(R"({"profile":"bert-training","work_s":"60","deadline_s":1})"),
            "work_s: found \"60\", expected a number from 1e-06 to 1e+08");
  EXPECT_EQ(refusal_of(R"({"profile":"bert-training","work_s":1,"deadline_s":-1})"),
            "deadline_s: found -1, expected a number from 0 to 1e+08");
  EXPECT_TRUE(refusal_of(with(R"("colour":"red")")).starts_with("colour: is not a field of a job"));
  EXPECT_NE(refusal_of(with(R"("keys":"x")")).find("key"), std::string::npos);
  EXPECT_TRUE(
      refusal_of(R"({"profile":"bert","work_s":1,"deadline_s":1})").starts_with("profile: "));
}

TEST(JobRequests, AreBounded) {
  EXPECT_EQ(refusal_of(with("\"key\":\"" + std::string(kMaxKeyCharacters, 'k') + '"')), "taken");
  EXPECT_TRUE(refusal_of(with("\"key\":\"" + std::string(kMaxKeyCharacters + 1, 'k') + '"'))
                  .starts_with("key: found \"kkk"));
  EXPECT_TRUE(refusal_of(with(R"("key":"")")).starts_with("key: "));
  EXPECT_TRUE(refusal_of(with(R"("key":"a\nb")")).starts_with("key: "));
  EXPECT_TRUE(refusal_of(with("\"name\":\"" + std::string(kMaxNameCharacters + 1, 'n') + '"'))
                  .starts_with("name: "));
  EXPECT_TRUE(refusal_of(with("\"command\":[\"" + std::string(kMaxCommandBytes, 'c') + "\"]"))
                  .starts_with("command: "));
  EXPECT_TRUE(refusal_of(with(R"("command":["a\u0000b"])")).starts_with("command: "));
  EXPECT_TRUE(refusal_of(with(R"("command":"ls")")).starts_with("command: "));
  EXPECT_TRUE(refusal_of(with(R"("memory_mib":-1)")).starts_with("memory_mib: "));
  EXPECT_TRUE(refusal_of(with(R"("max_runtime_s":1e9)")).starts_with("max_runtime_s: "));
  EXPECT_TRUE(refusal_of(with(R"("preemptible":1)")).starts_with("preemptible: "));
}

// What a key is compared by: the same for the same request, whatever the order and the spaces.
TEST(JobRequests, HaveOneTextEach) {
  const auto a =
      parse_job_request(R"({"work_s":60,  "deadline_s":600, "profile":"bert-training"})");
  const auto b = parse_job_request(kPlain);
  EXPECT_EQ(to_json_text(*a), to_json_text(*b));
  Random random(3, "job requests");
  std::string last;
  for (int i = 0; i < 200; ++i) {
    JobRequest request = *b;
    request.work_s = random.uniform(0.001, 1e8);
    request.deadline_s = random.uniform(0, 1e8);
    request.memory_mib = static_cast<std::int32_t>(random.below(1 << 24));
    if (random.below(2) == 0) request.key = fmt::format("key \"{}\"", i);
    if (random.below(2) == 0) request.command = {"a", "\\", fmt::format("{}", i)};
    if (random.below(2) == 0) request.preemptible = random.below(2) == 0;
    if (random.below(2) == 0) request.checkpoint_s = random.uniform(0, 1e6);
    if (random.below(2) == 0) request.max_runtime_s = random.uniform(0.001, 1e8);
    const std::string text = to_json_text(request);
    const auto again = parse_job_request(text);
    ASSERT_TRUE(again.has_value()) << text << ": " << again.error().error;
    EXPECT_EQ(to_json_text(*again), text);
    EXPECT_EQ(again->work_s, request.work_s);
    EXPECT_EQ(again->deadline_s, request.deadline_s);
    EXPECT_EQ(again->key, request.key);
    EXPECT_EQ(again->memory_mib, request.memory_mib);
    EXPECT_EQ(again->command, request.command);
    EXPECT_EQ(again->preemptible, request.preemptible);
    EXPECT_EQ(again->checkpoint_s, request.checkpoint_s);
    EXPECT_EQ(again->max_runtime_s, request.max_runtime_s);
    EXPECT_NE(text, last);
    last = text;
  }
}

TEST(JobRequests, BecomeJobsOfTheirProfile) {
  const auto request = parse_job_request(with(R"("checkpoint_s":2.5,"preemptible":true)"));
  const Job job = to_job(*request, to_us(100));
  EXPECT_EQ(job.submit_us, to_us(100));
  EXPECT_EQ(job.deadline_us, to_us(700));
  EXPECT_EQ(job.kind, JobKind::kTraining);
  EXPECT_EQ(job.time_us[kSizeCount - 1], to_us(60));  // On a whole GPU.
  EXPECT_GT(job.time_us[0], job.time_us[kSizeCount - 1]);
  EXPECT_EQ(job.checkpoint_ms, 2500);
  EXPECT_EQ(job.preemptible, Preemptible::kYes);
}

}  // namespace
}  // namespace smartmig
