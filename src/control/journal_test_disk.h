// For tests of the journal: a disk under SQLite that remembers what is durable. While a TestDisk
// lives, SQLite's files are opened through it. Writes reach the file as usual, but nothing is
// really synced; instead the disk keeps, for each file, what it held at its last sync and every
// write since. From that it says what a power loss at this instant could leave. It can also be
// full.
//
// One at a time, for one thread. Names of files are taken to be durable at once: the journal syncs
// its folder itself.
#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "base/random.h"

namespace smartmig {

enum class PowerLoss {
  kDropped,  // Nothing since the last sync is there.
  kPrefix,   // What was written first is, up to some sector of some write.
  kPages,    // Some pages of 4 KiB are new, others as they were.
};

class TestDisk {
 public:
  TestDisk() : real_(sqlite3_vfs_find(nullptr)), shim_(*real_) {
    EXPECT_EQ(present(), nullptr);
    present() = this;
    shim_.zName = "smartmig-test-disk";
    shim_.xOpen = open;
    shim_.xDelete = remove;
    sqlite3_vfs_register(&shim_, 1);
  }
  ~TestDisk() {
    sqlite3_vfs_register(real_, 1);
    sqlite3_vfs_unregister(&shim_);
    present() = nullptr;
  }
  TestDisk(const TestDisk&) = delete;
  TestDisk& operator=(const TestDisk&) = delete;

  // Called after each write, sync and deletion. Files opened meanwhile are not recorded.
  std::function<void()> on_change;
  // So many more writes succeed, then the disk is full; -1: it never is.
  int writes_left = -1;

  // For each file that was recorded, by path, what a power loss now might leave of it.
  std::map<std::string, std::string> after_power_loss(PowerLoss mode, Random& random) const {
    std::map<std::string, std::string> images;
    for (const auto& [path, file] : files_) images[path] = image_of(file, mode, random);
    return images;
  }

 private:
  struct Write {
    std::size_t at = 0;
    std::string bytes;
    bool cut = false;  // The file ends at `at`.
  };
  struct File {
    std::string durable;
    std::vector<Write> since;
  };
  struct Open {
    const sqlite3_io_methods* real = nullptr;
    sqlite3_io_methods ours{};
    std::string path;  // Empty: not recorded.
  };

  static TestDisk*& present() {
    static TestDisk* disk = nullptr;
    return disk;
  }

  static void apply(std::string& bytes, const Write& write) {
    if (write.cut) {
      bytes.resize(write.at);
      return;
    }
    if (bytes.size() < write.at + write.bytes.size()) bytes.resize(write.at + write.bytes.size());
    bytes.replace(write.at, write.bytes.size(), write.bytes);
  }

  static std::string image_of(const File& file, PowerLoss mode, Random& random) {
    std::string image = file.durable;
    if (mode == PowerLoss::kPages) return some_pages(file, random);
    if (mode == PowerLoss::kDropped || file.since.empty()) return image;
    const std::size_t whole = random.below(file.since.size() + 1);
    for (std::size_t i = 0; i < whole; ++i) apply(image, file.since[i]);
    if (whole < file.since.size() && !file.since[whole].cut) {
      // A sector of 512 bytes is written or not.
      Write torn = file.since[whole];
      const std::size_t end = (torn.at + random.below(torn.bytes.size() + 1)) / 512 * 512;
      torn.bytes.resize(std::max(end, torn.at) - torn.at);
      if (!torn.bytes.empty()) apply(image, torn);
    }
    return image;
  }

  static std::string some_pages(const File& file, Random& random) {
    std::string all = file.durable;
    for (const Write& write : file.since) apply(all, write);
    std::string image = file.durable;
    if (random.below(2) == 0) image.resize(all.size());
    for (std::size_t at = 0; at < all.size(); at += 4096) {
      if (random.below(2) != 0) continue;
      const std::size_t size = std::min<std::size_t>(4096, all.size() - at);
      if (image.size() < at + size) image.resize(at + size);
      image.replace(at, size, all, at, size);
    }
    return image;
  }

  void changed() {
    if (!on_change || watching_) return;
    watching_ = true;
    on_change();
    watching_ = false;
  }

  static int open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out) {
    TestDisk& disk = *present();
    const int code = disk.real_->xOpen(disk.real_, name, file, flags, out);
    if (code != SQLITE_OK || !file->pMethods) return code;
    Open& opened = disk.open_[file];
    opened.real = file->pMethods;
    opened.ours = *file->pMethods;
    opened.ours.xClose = close;
    opened.ours.xWrite = write;
    opened.ours.xTruncate = truncate;
    opened.ours.xSync = sync;
    file->pMethods = &opened.ours;
    if (name && !disk.watching_) {
      opened.path = name;
      if (disk.files_.count(name) == 0) {
        std::ifstream in(name, std::ios::binary);
        disk.files_[name].durable = {std::istreambuf_iterator<char>(in), {}};
      }
    }
    return code;
  }

  static int remove(sqlite3_vfs*, const char* name, int) {
    TestDisk& disk = *present();
    const int code = disk.real_->xDelete(disk.real_, name, 0);
    if (code == SQLITE_OK && disk.files_.erase(name) > 0) disk.changed();
    return code;
  }

  static int close(sqlite3_file* file) {
    const sqlite3_io_methods* real = present()->open_[file].real;
    present()->open_.erase(file);
    return real->xClose(file);
  }

  static int write(sqlite3_file* file, const void* bytes, int size, sqlite3_int64 at) {
    TestDisk& disk = *present();
    const Open& opened = disk.open_[file];
    if (!opened.path.empty() && disk.writes_left >= 0 && disk.writes_left-- == 0) {
      disk.writes_left = 0;
      return SQLITE_FULL;
    }
    const int code = opened.real->xWrite(file, bytes, size, at);
    if (code == SQLITE_OK) {
      disk.record(opened, {static_cast<std::size_t>(at),
                           {static_cast<const char*>(bytes), static_cast<std::size_t>(size)}});
    }
    return code;
  }

  static int truncate(sqlite3_file* file, sqlite3_int64 size) {
    const Open& opened = present()->open_[file];
    const int code = opened.real->xTruncate(file, size);
    if (code == SQLITE_OK) present()->record(opened, {static_cast<std::size_t>(size), "", true});
    return code;
  }

  static int sync(sqlite3_file* file, int) {
    const std::string& path = present()->open_[file].path;
    if (path.empty()) return SQLITE_OK;
    File& recorded = present()->files_[path];
    for (const Write& write : recorded.since) apply(recorded.durable, write);
    recorded.since.clear();
    present()->changed();
    return SQLITE_OK;
  }

  void record(const Open& opened, Write write) {
    if (opened.path.empty()) return;
    files_[opened.path].since.push_back(std::move(write));
    changed();
  }

  sqlite3_vfs* real_;
  sqlite3_vfs shim_;
  std::map<sqlite3_file*, Open> open_;
  std::map<std::string, File> files_;
  bool watching_ = false;
};

}  // namespace smartmig
