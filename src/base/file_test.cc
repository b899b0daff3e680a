#include "base/file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/random.h"

namespace smartmig {
namespace {

namespace fs = std::filesystem;

class File : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "smartmig-file-test-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::size_t entries() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  std::string raw(const std::string& name) const {
    std::ifstream in(folder_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  fs::path folder_;
};

// Text that does not pack to almost nothing.
std::string noise(std::size_t size) {
  Random random(7, "noise");
  std::string out;
  while (out.size() < size) out += fmt::format("{},", random.bits());
  return out;
}

TEST_F(File, WritesAndReadsTheSameBytes) {
  for (const std::string& bytes : {std::string(), std::string("a\0b\r\n", 5), noise(3 << 20)}) {
    for (const char* name : {"plain.csv", "packed.csv.gz"}) {
      ASSERT_TRUE(write_file(path(name), bytes).has_value());
      const auto read = read_file(path(name));
      ASSERT_TRUE(read.has_value()) << read.error().message;
      EXPECT_TRUE(*read == bytes);
    }
  }
  EXPECT_EQ(entries(), 2u);  // Nothing is left beside them.
}

TEST_F(File, PacksToTheSameBytesEveryTime) {
  ASSERT_TRUE(write_file(path("a.gz"), "same").has_value());
  ASSERT_TRUE(write_file(path("b.gz"), "same").has_value());
  EXPECT_EQ(raw("a.gz"), raw("b.gz"));
  EXPECT_TRUE(raw("a.gz").starts_with("\x1f\x8b"));
}

TEST_F(File, ReadsMembersOnEndAndKnowsGzipByItsBytes) {
  ASSERT_TRUE(write_file(path("a.gz"), "one,").has_value());
  ASSERT_TRUE(write_file(path("b.gz"), "two").has_value());
  ASSERT_TRUE(write_file(path("both.csv"), raw("a.gz") + raw("b.gz")).has_value());
  EXPECT_EQ(read_file(path("both.csv")), "one,two");
  std::ofstream(path("plain.gz")) << "not packed";
  EXPECT_EQ(read_file(path("plain.gz")), "not packed");
}

TEST_F(File, RefusesEveryTruncationOfAGzip) {
  ASSERT_TRUE(write_file(path("a.gz"), noise(300)).has_value());
  const std::string whole = raw("a.gz");
  for (std::size_t size = 2; size < whole.size(); ++size) {
    const auto read = gunzip(whole.substr(0, size), "a.gz");
    ASSERT_FALSE(read.has_value()) << size;
    ASSERT_EQ(read.error().message, "a.gz: gzip is truncated") << size;
  }
}

TEST_F(File, RefusesALongTruncatedGzip) {
  ASSERT_TRUE(write_file(path("a.gz"), noise(6 << 20)).has_value());
  const std::string whole = raw("a.gz");
  ASSERT_GT(whole.size(), std::size_t{2} << 20);  // More than one piece of input.
  for (std::size_t size :
       {whole.size() - 1, whole.size() - 9, std::size_t{1} << 20, (std::size_t{1} << 20) + 1}) {
    EXPECT_EQ(gunzip(whole.substr(0, size), "a.gz").error().message, "a.gz: gzip is truncated");
  }
}

TEST_F(File, RefusesADamagedGzip) {
  ASSERT_TRUE(write_file(path("a.gz"), noise(300)).has_value());
  std::string bytes = raw("a.gz");
  bytes[bytes.size() - 6] ^= 1;  // In the checksum.
  EXPECT_EQ(gunzip(bytes, "a.gz").error().message, "a.gz: gzip is damaged");
}

TEST_F(File, SaysWhyAFileCannotBeRead) {
  EXPECT_EQ(read_file(path("absent")).error().message,
            path("absent") + ": cannot be read: No such file or directory");
  EXPECT_EQ(read_file(folder_.string()).error().message,
            folder_.string() + ": is a folder, expected a file");
}

TEST_F(File, LeavesTheOldFileAndNothingElseWhereWritingFails) {
  fs::create_directory(folder_ / "target");
  ASSERT_TRUE(write_file(path("target/inside"), "x").has_value());
  const auto written = write_file(path("target"), "new");  // A folder cannot be replaced by a file.
  ASSERT_FALSE(written.has_value());
  EXPECT_EQ(entries(), 1u);
  EXPECT_EQ(read_file(path("target/inside")), "x");
  EXPECT_FALSE(write_file(path("absent/file"), "new").has_value());
  EXPECT_EQ(entries(), 1u);
}

TEST_F(File, MakesAFolderOrSaysWhyNot) {
  EXPECT_TRUE(make_writable_folder(path("a/b")).has_value());
  EXPECT_TRUE(make_writable_folder(path("a/b")).has_value());
  EXPECT_TRUE(fs::is_empty(folder_ / "a/b"));
  ASSERT_TRUE(write_file(path("file"), "x").has_value());
  EXPECT_FALSE(make_writable_folder(path("file")).has_value());
  EXPECT_FALSE(make_writable_folder(path("file/below")).has_value());
  EXPECT_FALSE(make_writable_folder("/proc/smartmig").has_value());
}

TEST_F(File, RefusesAGzipThatUnpacksToVeryManyTimesItsSize) {
  const std::string bomb = gzip(std::string(1 << 20, '0'));
  ASSERT_GT(std::size_t{1} << 20, bomb.size() * 100);
  FileLimits limits;
  EXPECT_TRUE(gunzip(bomb, "b.gz", limits));  // Small enough for any ratio.
  limits.any_ratio_bytes = 1000;
  const auto refused = gunzip(bomb, "b.gz", limits);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "b.gz: gzip unpacks to over 1000 bytes and over 100 times its size, expected less");
  EXPECT_TRUE(gunzip(gzip(noise(300'000)), "n.gz", limits));
}

TEST_F(File, RefusesMoreBytesThanTheLimit) {
  FileLimits limits;
  limits.bytes = 100;
  EXPECT_EQ(gunzip(gzip(noise(200)), "n.gz", limits).error().message,
            "n.gz: found more than 100 bytes, expected at most 100");
  std::ofstream(path("plain")) << std::string(101, 'x');
  EXPECT_EQ(read_file(path("plain"), limits).error().message,
            path("plain") + ": found more than 100 bytes, expected at most 100");
  std::ofstream(path("fits")) << std::string(100, 'x');
  EXPECT_TRUE(read_file(path("fits"), limits));
  // What has no size and no end is read no further than the limit.
  EXPECT_EQ(read_file("/dev/zero", limits).error().message,
            "/dev/zero: found more than 100 bytes, expected at most 100");
}

}  // namespace
}  // namespace smartmig
