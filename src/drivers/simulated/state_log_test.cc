#include "drivers/simulated/state_log.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/file.h"

namespace smartmig {
namespace {

class StateLogTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "state_log_XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    dir_ = name;
    path_ = dir_ + "/log";
  }
  void TearDown() override { std::filesystem::remove_all(dir_); }
  std::vector<std::string> records() {
    auto log = StateLog::open(path_);
    EXPECT_TRUE(log) << log.error().message;
    return log ? log->take_records() : std::vector<std::string>{};
  }

  std::string dir_;
  std::string path_;
};

TEST_F(StateLogTest, KeepsWhatWasAppendedAndDropsATornEndWhereverItIsTorn) {
  {
    auto log = *StateLog::open(path_);
    for (const char* text : {"one", "two", "three"}) ASSERT_TRUE(log.append(text));
  }
  const std::string whole = *read_file(path_);
  const std::string two = whole.substr(0, whole.find("three") - 9);
  for (std::size_t size = two.size(); size < whole.size(); ++size) {
    std::ofstream(path_, std::ios::trunc) << whole.substr(0, size);
    EXPECT_EQ(records(), (std::vector<std::string>{"one", "two"})) << size;
    EXPECT_EQ(std::filesystem::file_size(path_), two.size());
  }
  auto log = *StateLog::open(path_);
  ASSERT_TRUE(log.append("four"));
  EXPECT_EQ(records(), (std::vector<std::string>{"one", "two", "four"}));
}

TEST_F(StateLogTest, RefusesARecordDamagedBeforeTheLast) {
  {
    auto log = *StateLog::open(path_);
    for (const char* text : {"one", "two", "three"}) ASSERT_TRUE(log.append(text));
  }
  std::string bytes = *read_file(path_);
  bytes[bytes.find("two")] = 'T';
  std::ofstream(path_, std::ios::trunc) << bytes;
  const auto log = StateLog::open(path_);
  ASSERT_FALSE(log);
  EXPECT_NE(log.error().message.find(":2: the record is damaged"), std::string::npos)
      << log.error().message;
}

TEST_F(StateLogTest, StartsAgainFromOneRecord) {
  auto log = *StateLog::open(path_);
  for (const char* text : {"one", "two"}) ASSERT_TRUE(log.append(text));
  ASSERT_TRUE(log.restart("both"));
  ASSERT_TRUE(log.append("three"));
  EXPECT_EQ(records(), (std::vector<std::string>{"both", "three"}));
  EXPECT_EQ(log.size(), std::filesystem::file_size(path_));
  EXPECT_LT(log.first_size(), log.size());
}

}  // namespace
}  // namespace smartmig
