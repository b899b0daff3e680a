#include "cli/help.h"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

#include "cli/completion.h"
#include "cli/man_page.h"

namespace smartmig {
namespace {

// An app with one command of its own.
class HelpTest : public testing::Test {
 protected:
  HelpTest() {
    use_our_help(app_);
    command_ = app_.add_subcommand("submit", "Submit a job");
    command_->add_option("--work", work_, "Time on a whole GPU (default: 60)")
        ->option_text("SECONDS");
    command_->add_flag("--dry-run", dry_run_, "Change nothing")->group("Output");
    command_->add_option("JOB", job_, "The job's id")->required();
    command_->footer("A note.");
    add_examples(*command_, {{"Submit one", "smartmig submit --work 10 7"}});
  }
  CommandPage page() const {
    const auto pages = pages_with_examples();
    return pages.back();
  }
  std::vector<CommandPage> pages_with_examples() const {
    ExampleTable table;
    table[command_] = {{"Submit one", "smartmig submit --work 10 7"}};
    return all_pages(app_, table);
  }
  CLI::App app_{"Decide.", "smartmig"};
  CLI::App* command_ = nullptr;
  double work_ = 0;
  bool dry_run_ = false;
  std::string job_;
};

TEST_F(HelpTest, ShowsHeadingsValuesNotesAndExamples) {
  const std::string expected =
      "Submit a job\n\n"
      "Usage: smartmig submit [OPTIONS] JOB\n\n"
      "Arguments:\n"
      "  JOB                         The job's id\n\n"
      "Options:\n"
      "  --work SECONDS              Time on a whole GPU (default: 60)\n"
      "  -h, --help                  Print this help message and exit\n\n"
      "Output:\n"
      "  --dry-run                   Change nothing\n\n"
      "A note.\n\n"
      "Examples:\n"
      "  Submit one:\n"
      "    smartmig submit --work 10 7\n";
  EXPECT_EQ(help_text(page()), expected);
  EXPECT_EQ(command_->help(), expected);
}

TEST_F(HelpTest, WrapsLongTextsBesideTheirOption) {
  command_->get_option("--work")->description(std::string(60, 'a') + ' ' + std::string(60, 'b'));
  const std::string text = help_text(page());
  EXPECT_NE(text.find(std::string(60, 'a') + '\n' + std::string(30, ' ') + std::string(60, 'b')),
            std::string::npos)
      << text;
}

TEST_F(HelpTest, PutsCommandsUnderTheHeadingOfTheirKind) {
  app_.add_subcommand("odd", "Something new");
  group_commands(app_);
  const std::string text = app_.help();
  EXPECT_NE(text.find("Jobs of the live controller:\n  submit"), std::string::npos) << text;
  EXPECT_NE(text.find("Other commands:\n  odd"), std::string::npos) << text;
}

TEST_F(HelpTest, MakesAManPageThatTroffReadsAsText) {
  command_->footer(".TH is a macro, \\n is not\n'quoted");
  const std::string text = man_page(page(), "1.0");
  EXPECT_NE(text.find(".TH SMARTMIG\\-SUBMIT 1 \"\" \"smartmig 1.0\""), std::string::npos) << text;
  EXPECT_NE(text.find("\\&.TH is a macro, \\en is not\n\\&'quoted"), std::string::npos) << text;
  EXPECT_NE(text.find(".BI \"\\-\\-work \" \"SECONDS\""), std::string::npos) << text;
}

TEST_F(HelpTest, CompletesWhatTheParserKnows) {
  const auto pages = pages_with_examples();
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const auto script = completion_script(pages, shell);
    ASSERT_TRUE(script) << shell;
    EXPECT_NE(script->find("submit"), std::string::npos) << shell;
    EXPECT_NE(script->find("dry-run"), std::string::npos) << shell;
  }
  const auto refused = completion_script(pages, "csh");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "completion: found 'csh', expected bash, zsh or fish");
}

}  // namespace
}  // namespace smartmig
