#include "control/state_folder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace smartmig {
namespace {

class StateFolder : public testing::Test {
 protected:
  StateFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "smartmig-state-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~StateFolder() override {
    chmod(path_.c_str(), 0700);
    std::filesystem::remove_all(path_);
  }
  std::string error_with(unsigned mode) {
    chmod(path_.c_str(), mode);
    const auto checked = check_state_folder(path_);
    return checked ? "" : checked.error().message;
  }
  std::string path_;
};

TEST_F(StateFolder, MayNotBeWrittenByOthers) {
  EXPECT_TRUE(check_state_folder(path_ + "/absent"));
  for (const unsigned mode : {0700u, 0750u, 0755u}) EXPECT_EQ(error_with(mode), "") << mode;
  for (const unsigned mode : {0770u, 0777u, 0720u, 0702u, 01777u})
    EXPECT_EQ(error_with(mode), fmt::format("{}: has mode {:04o}, so that others can write it, "
                                            "expected 0700 (chmod 700 {})",
                                            path_, mode, path_));
  std::ofstream(path_ + "/file") << "x";
  EXPECT_NE(check_state_folder(path_ + "/file").error().message.find("is not a folder"),
            std::string::npos);
}

// Root can give a folder away; another user has "/" for one that is not its own.
TEST_F(StateFolder, MayNotBelongToAnother) {
  const std::string other = geteuid() == 0 ? path_ : "/";
  if (geteuid() == 0) {
    ASSERT_EQ(chown(path_.c_str(), 12345, 12345), 0);
  }
  const auto checked = check_state_folder(other);
  ASSERT_FALSE(checked);
  EXPECT_NE(checked.error().message.find("belongs to the user with the id"), std::string::npos);
  if (geteuid() == 0) {
    ASSERT_EQ(chown(path_.c_str(), 0, 0), 0);
  }
}

TEST_F(StateFolder, IsReadOnlyWhereItsOwnerCannotWrite) {
  EXPECT_TRUE(check_state_folder_writable(path_));
  chmod(path_.c_str(), 0500);
  const auto checked = check_state_folder_writable(path_);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().message, path_ + " has mode 0500 and is read-only: chmod 700 it");
}

}  // namespace
}  // namespace smartmig
