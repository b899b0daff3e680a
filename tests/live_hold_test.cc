// Layouts that operators set, hold, release and undo on a live fleet, across restarts too.
#include <gtest/gtest.h>

#include <filesystem>

#include "live_desk.h"

namespace smartmig {
namespace {

class LiveHold : public LiveDesk {
 protected:
  Answer<Outcome> apply(const std::string& gpu, const std::string& layout, bool hold,
                        bool dry_run = false, const std::string& who = "alice") {
    Command command;
    command.kind = Command::Kind::kApply;
    command.layouts = {{gpu, layout}};
    command.hold = hold;
    command.dry_run = dry_run;
    return controller_->command(command, who);
  }
  Answer<Outcome> roll_back(const std::string& gpu, bool dry_run = false) {
    Command command;
    command.kind = Command::Kind::kRollback;
    command.gpu = gpu;
    command.dry_run = dry_run;
    return controller_->command(command, "bob");
  }
  static std::string text(const Answer<Outcome>& outcome) {
    if (!outcome) return "refused: " + outcome.error().error;
    std::string all;
    for (const std::string& line : outcome->lines) all += line + "\n";
    return all;
  }
  static bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }
  bool layout_comes_to(const std::string& gpu, const std::string& layout) {
    return wait_until([&] { return controller_->gpu(gpu)->layout == layout; });
  }
  // Jobs come and go, at each of which the policy is asked.
  void give_work(int jobs) {
    for (int i = 0; i < jobs; ++i) ASSERT_TRUE(comes_to(submit(job_of(30, 600)), JobPhase::kDone));
  }
};

TEST_F(LiveHold, ThePolicyUndoesALayoutThatIsNotHeldAndKeepsOneThatIs) {
  start();  // GPU 1 is 3-3 by this policy.
  ASSERT_TRUE(layout_comes_to("1", "3-3"));
  const std::string plain = text(apply("1", "2-2-2-1", false));
  EXPECT_TRUE(has(plain, "goes from 3-3 to 2-2-2-1")) << plain;
  EXPECT_TRUE(has(plain, "the policy may change this layout again")) << plain;
  give_work(2);
  EXPECT_TRUE(layout_comes_to("1", "3-3")) << "the policy's own";

  const std::string held = text(apply("1", "2-2-2-1", true));
  EXPECT_TRUE(has(held, "does not change it until `smartmig unhold 1`")) << held;
  ASSERT_TRUE(layout_comes_to("1", "2-2-2-1"));
  give_work(3);
  EXPECT_EQ(controller_->gpu("1")->layout, "2-2-2-1");
  EXPECT_TRUE(controller_->gpu("1")->held);
  EXPECT_EQ(controller_->gpu("1")->held_by, "alice");
  EXPECT_TRUE(has(controller_->explain_gpu("1")->at(1), "alice has held its layout for"));

  restart();
  EXPECT_TRUE(controller_->gpu("1")->held);
  give_work(3);
  EXPECT_EQ(controller_->gpu("1")->layout, "2-2-2-1");

  EXPECT_TRUE(has(text(tell(Command::Kind::kUnhold, "1")), "was held by alice"));
  EXPECT_FALSE(controller_->gpu("1")->held);
  give_work(1);
  EXPECT_TRUE(layout_comes_to("1", "3-3"));
  EXPECT_TRUE(has(text(tell(Command::Kind::kUnhold, "1")), "is not held"));
  controller_.reset();
  EXPECT_EQ(wrong_journal(rig_.state_dir()), "");
}

TEST_F(LiveHold, JobsRunOnHeldSlicesUnderAJointPolicy) {
  for (const char* policy : {"smartmig", "greedy"}) {
    SCOPED_TRACE(policy);
    options_.setup.policy = policy;
    restart();
    for (const char* gpu : {"0", "1"}) ASSERT_TRUE(apply(gpu, "4-3", true).has_value());
    ASSERT_TRUE(layout_comes_to("0", "4-3"));
    ASSERT_TRUE(layout_comes_to("1", "4-3"));
    std::vector<JobNumber> jobs;
    for (int i = 0; i < 6; ++i) jobs.push_back(submit(job_of(30, 600)));
    for (const JobNumber job : jobs) EXPECT_TRUE(comes_to(job, JobPhase::kDone));
    EXPECT_EQ(controller_->gpu("0")->layout, "4-3");
    EXPECT_EQ(controller_->gpu("1")->layout, "4-3");
  }
  controller_.reset();
  EXPECT_EQ(wrong_journal(rig_.state_dir()), "");
}

TEST_F(LiveHold, ApplySaysWhichJobsItWaitsFor) {
  start();
  ASSERT_TRUE(layout_comes_to("0", "7"));
  const JobNumber job = submit(job_of(3000, 90000));
  ASSERT_TRUE(comes_to(job, JobPhase::kRunning));
  const std::string gpu = std::to_string(gpu_of(fmt::format("{}.1", job)));
  const std::string other = gpu == "0" ? "4-3" : "2-2-2-1";
  const std::string said = text(apply(gpu, other, false, true));
  EXPECT_TRUE(has(said, fmt::format("the change waits for job {} on ", job))) << said;
  EXPECT_TRUE(has(said, " to end, because it runs on slices that go")) << said;
  EXPECT_FALSE(controller_->gpu(gpu)->held) << "a rehearsal changes nothing";
}

TEST_F(LiveHold, AHeldLayoutThatWaitsForAJobIsStillMadeAfterARestart) {
  start();
  ASSERT_TRUE(layout_comes_to("0", "7"));
  JobRequest stays = job_of(3000, 90000);
  stays.preemptible = false;
  const JobNumber job = submit(stays);
  ASSERT_TRUE(comes_to(job, JobPhase::kRunning));
  const std::string gpu = std::to_string(gpu_of(fmt::format("{}.1", job)));
  ASSERT_TRUE(apply(gpu, "1-1-1-1-1-1-1", true).has_value());
  restart();
  EXPECT_EQ(controller_->gpu(gpu)->target, "1-1-1-1-1-1-1");
  EXPECT_TRUE(layout_comes_to(gpu, "1-1-1-1-1-1-1"));
  EXPECT_TRUE(comes_to(job, JobPhase::kDone));
  EXPECT_EQ(row(job).attempt, 1);
}

// Nothing is cut before an operator has looked at the fleet.
TEST_F(LiveHold, AHeldLayoutThatWaitsIsMadeAfterRecoverWhereTheJournalIsDoubted) {
  start();
  ASSERT_TRUE(layout_comes_to("0", "7"));
  JobRequest stays = job_of(1500, 90000);
  stays.preemptible = false;
  const JobNumber job = submit(stays);
  ASSERT_TRUE(comes_to(job, JobPhase::kRunning));
  const std::string gpu = std::to_string(gpu_of(fmt::format("{}.1", job)));
  const std::string before = controller_->gpu(gpu)->layout;
  ASSERT_TRUE(apply(gpu, "1-1-1-1-1-1-1", true).has_value());
  controller_.reset();
  std::filesystem::remove(rig_.state_dir() + "/journal.mark");
  start();
  ASSERT_FALSE(controller_->summary().recovered);
  EXPECT_EQ(controller_->gpu(gpu)->target, before);
  EXPECT_TRUE(comes_to(job, JobPhase::kDone));
  EXPECT_EQ(controller_->gpu(gpu)->layout, before);
  ASSERT_TRUE(tell(Command::Kind::kRecover, "").has_value());
  EXPECT_TRUE(layout_comes_to(gpu, "1-1-1-1-1-1-1"));
}

TEST_F(LiveHold, RollbackNamesWhatItUndoesAndWhoseItWas) {
  options_.setup.policy = "static:7,3-3/cedf";
  start();
  ASSERT_TRUE(layout_comes_to("1", "3-3"));
  ASSERT_TRUE(apply("0", "4-3", true).has_value());
  ASSERT_TRUE(layout_comes_to("0", "4-3"));
  ASSERT_TRUE(apply("1", "2-2-2-1", true, false, "carol").has_value());
  ASSERT_TRUE(layout_comes_to("1", "2-2-2-1"));
  for (const bool after_restart : {false, true}) {
    if (after_restart) restart();
    const std::string would = text(roll_back("", true));
    EXPECT_TRUE(has(would, "undoes the change from 3-3 to 2-2-2-1 by carol by hand ")) << would;
    EXPECT_FALSE(has(would, "4-3 ")) << "the latest change alone: " << would;
    EXPECT_EQ(controller_->gpu("1")->layout, "2-2-2-1");
  }
  const std::string did = text(roll_back(""));
  EXPECT_TRUE(has(did, "by carol by hand ")) << did;
  EXPECT_TRUE(layout_comes_to("1", "3-3"));
  const std::string one = text(roll_back("0", true));
  EXPECT_TRUE(has(one, "undoes the change from 7 to 4-3 by alice by hand ")) << one;
  // A rollback is a change too, and the latest.
  EXPECT_TRUE(
      has(text(roll_back("", true)), "undoes the change from 2-2-2-1 to 3-3 by bob by hand"));
  controller_.reset();
  EXPECT_EQ(wrong_journal(rig_.state_dir()), "");
}

TEST_F(LiveHold, RollbackUndoesThePolicysChangeWhereThatIsTheLatest) {
  options_.setup.policy = "count/cedf";
  start();
  std::vector<JobNumber> jobs;
  for (int i = 0; i < 5; ++i) jobs.push_back(submit(job_of(3000, 90000)));
  ASSERT_TRUE(wait_until([&] { return controller_->counters().layout_changes > 0; }));
  const std::string would = text(roll_back("", true));
  EXPECT_TRUE(has(would, " by the policy count/cedf ")) << would;
}

}  // namespace
}  // namespace smartmig
