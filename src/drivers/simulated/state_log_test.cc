#include "drivers/simulated/state_log.h"

#include <gtest/gtest.h>
#include <zlib.h>

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

TEST_F(StateLogTest, NoticesAMissingADoubledAndAMovedRecord) {
  {
    auto log = *StateLog::open(path_);
    for (const char* text : {"one", "two", "three", "four"}) ASSERT_TRUE(log.append(text));
  }
  std::vector<std::string> lines;
  std::ifstream in(path_);
  for (std::string line; std::getline(in, line);) lines.push_back(line + "\n");
  ASSERT_EQ(lines.size(), 4u);
  const auto message_of = [&](std::initializer_list<int> order) {
    std::ofstream out(path_, std::ios::trunc);
    for (const int line : order) out << lines[static_cast<std::size_t>(line)];
    out.close();
    const auto log = StateLog::open(path_);
    return log ? std::string() : log.error().message;
  };
  for (const auto& order : {std::initializer_list<int>{1, 2, 3},
                            {0, 2, 3},
                            {0, 1, 3},
                            {0, 1, 1, 2, 3},
                            {0, 2, 1, 3},
                            {0, 2},
                            {0, 3}}) {
    EXPECT_NE(message_of(order).find("or one before it is missing"), std::string::npos)
        << order.size() << " lines: " << message_of(order);
  }
  EXPECT_EQ(message_of({0, 1, 2, 3}), "");
  EXPECT_EQ(message_of({0, 1}), "") << "what was done last may be lost";
}

// As a fleet left it that was killed by a program before lines were chained.
TEST_F(StateLogTest, ReadsAFileWhoseChecksumsCoverOneLineEach) {
  const auto line = [](const std::string& text) {
    return fmt::format("{:08x} {}\n",
                       crc32_z(0, reinterpret_cast<const Bytef*>(text.data()), text.size()), text);
  };
  std::ofstream(path_) << line("one") << line("two") << line("three");
  EXPECT_EQ(records(), (std::vector<std::string>{"one", "two", "three"}));
  {
    auto log = *StateLog::open(path_);
    ASSERT_TRUE(log.append("four"));
  }
  EXPECT_EQ(records(), (std::vector<std::string>{"one", "two", "three", "four"}));
  {
    auto log = *StateLog::open(path_);
    ASSERT_TRUE(log.restart("all"));
    ASSERT_TRUE(log.append("five"));
  }
  EXPECT_EQ(records(), (std::vector<std::string>{"all", "five"}));
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
