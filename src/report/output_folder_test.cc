#include "report/output_folder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/file.h"

namespace smartmig {
namespace {

namespace fs = std::filesystem;

class OutputFolderTest : public testing::Test {
 protected:
  OutputFolderTest() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    root_ = fs::temp_directory_path() / fmt::format("{}{}", test->name(), ::getpid());
    fs::create_directories(root_);
  }
  ~OutputFolderTest() override { fs::remove_all(root_); }

  // Everything below the root, as relative paths in order.
  std::vector<std::string> all() const {
    std::vector<std::string> paths;
    for (const auto& entry : fs::recursive_directory_iterator(root_))
      paths.push_back(fs::relative(entry.path(), root_).string());
    std::sort(paths.begin(), paths.end());
    return paths;
  }
  std::string at(const char* name) const { return (root_ / name).string(); }

  fs::path root_;
};
using Paths = std::vector<std::string>;

TEST_F(OutputFolderTest, WritesAllFilesAndNothingElse) {
  auto folder = OutputFolder::open(at("a/b"));
  ASSERT_TRUE(folder) << folder.error().message;
  const OutputFile files[] = {{"one.csv", "1"}, {"two.csv", "2"}};
  ASSERT_TRUE(folder->write(files));
  EXPECT_EQ(all(), (Paths{"a", "a/b", "a/b/one.csv", "a/b/two.csv"}));
  EXPECT_EQ(*read_file(at("a/b/two.csv")), "2");
}

TEST_F(OutputFolderTest, LeavesNoFolderBehindWhereNothingWasWritten) {
  { ASSERT_TRUE(OutputFolder::open(at("a/b/c/"))); }
  EXPECT_EQ(all(), Paths{});
  fs::create_directory(root_ / "there");
  { ASSERT_TRUE(OutputFolder::open(at("there"))); }
  EXPECT_EQ(all(), Paths{"there"});
}

TEST_F(OutputFolderTest, LeavesOldFilesAsTheyWereWhereOneCannotBeWritten) {
  ASSERT_TRUE(write_file(at("one.csv"), "old"));
  fs::create_directory(root_ / "two.csv");
  auto folder = OutputFolder::open(root_.string());
  ASSERT_TRUE(folder);
  const OutputFile files[] = {{"one.csv", "new"}, {"two.csv", "2"}};
  const auto written = folder->write(files);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().message, at("two.csv") + ": is a folder, expected a file or nothing");
  EXPECT_EQ(all(), (Paths{"one.csv", "two.csv"}));
  EXPECT_EQ(*read_file(at("one.csv")), "old");
}

TEST_F(OutputFolderTest, RefusesAFolderBelowAFile) {
  ASSERT_TRUE(write_file(at("file"), ""));
  EXPECT_FALSE(OutputFolder::open(at("file/x")));
  EXPECT_FALSE(OutputFolder::open(at("file")));
  EXPECT_EQ(all(), Paths{"file"});
}

}  // namespace
}  // namespace smartmig
