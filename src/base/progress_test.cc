#include "base/progress.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

namespace smartmig {
namespace {

using std::chrono::milliseconds;

// What is printed while `work` runs: lines are looked at until one has `awaited`.
std::string printed(ProgressPace pace, std::size_t total, std::size_t steps,
                    const std::string& awaited, Progress::Shown shown = Progress::Shown::kCount) {
  std::FILE* file = std::tmpfile();
  pace.out = file;
  std::string text;
  {
    Progress progress("study", total, shown, pace);
    for (std::size_t i = 0; i < steps; ++i) progress.step();
    // Long enough for a busy machine.
    for (int round = 0; round < 3000 && text.find(awaited) == std::string::npos; ++round) {
      std::this_thread::sleep_for(milliseconds(10));
      char bytes[4096];
      text.assign(bytes, static_cast<std::size_t>(pread(fileno(file), bytes, sizeof bytes, 0)));
    }
  }
  std::fclose(file);
  return text;
}

ProgressPace quick(bool redraw) {
  ProgressPace pace;
  pace.redraw = redraw;
  pace.first = pace.again = pace.longest = milliseconds(5);
  return pace;
}

TEST(Progress, PrintsLinesOffATerminalAlsoWhileAStepLasts) {
  const std::string text = printed(quick(false), 4, 0, "s\nstudy: 0 of 4");
  EXPECT_EQ(text.find('\r'), std::string::npos) << text;
  EXPECT_TRUE(text.starts_with("study: 0 of 4, 0 s\n")) << text;
}

TEST(Progress, SaysHowMuchIsLeft) {
  const std::string text = printed(quick(false), 4, 2, "left\n");
  EXPECT_NE(text.find("study: 2 of 4, about "), std::string::npos) << text;
}

TEST(Progress, ShowsSharesWhereStepsMeanNothing) {
  const std::string text = printed(quick(false), 200, 50, "left\n", Progress::Shown::kPercent);
  EXPECT_NE(text.find("study: 25 %, about "), std::string::npos) << text;
}

TEST(Progress, SaysHowLongWorkOfUnknownSizeHasLasted) {
  EXPECT_TRUE(printed(quick(false), 0, 0, "\n").starts_with("study, 0 s\n"));
}

TEST(Progress, DrawsOverItsLineOnATerminal) {
  const std::string text = printed(quick(true), 4, 1, "left");
  EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  EXPECT_TRUE(text.starts_with("\r\033[K")) << text;
}

TEST(Progress, SaysNothingOfShortWork) {
  std::FILE* file = std::tmpfile();
  ProgressPace pace;
  pace.out = file;
  { Progress progress("study", 1, Progress::Shown::kCount, pace); }
  std::fseek(file, 0, SEEK_END);
  EXPECT_EQ(std::ftell(file), 0);
  std::fclose(file);
}

TEST(Progress, ObeysTheEnvironment) {
  setenv("SMARTMIG_PROGRESS", "0.25", 1);
  EXPECT_EQ(usual_pace().first, milliseconds(250));
  EXPECT_EQ(usual_pace().again, milliseconds(250));
  setenv("SMARTMIG_PROGRESS", "off", 1);
  EXPECT_FALSE(usual_pace().on);
  unsetenv("SMARTMIG_PROGRESS");
  EXPECT_TRUE(usual_pace().on);
}

}  // namespace
}  // namespace smartmig
