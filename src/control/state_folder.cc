#include "control/state_folder.h"

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace smartmig {

Result<void> check_state_folder(const std::string& path) {
  struct stat folder {};
  if (stat(path.c_str(), &folder) != 0) {
    if (errno == ENOENT) return {};
    return fail("{}: cannot be read: {}", path, std::strerror(errno));
  }
  if (!S_ISDIR(folder.st_mode)) return fail("{}: is not a folder, expected the state folder", path);
  if (folder.st_uid != geteuid())
    return fail(
        "{}: belongs to the user with the id {}, expected the one that runs smartmig, {} (chown "
        "it, or run as its owner)",
        path, folder.st_uid, geteuid());
  if ((folder.st_mode & 022) != 0)
    return fail("{}: has mode {:04o}, so that others can write it, expected 0700 (chmod 700 {})",
                path, folder.st_mode & 07777, path);
  return {};
}

Result<void> check_state_folder_writable(const std::string& path) {
  struct statvfs disk {};
  if (statvfs(path.c_str(), &disk) == 0 && (disk.f_flag & ST_RDONLY) != 0)
    return fail("{} is on a file system that is mounted read-only: remount it", path);
  struct stat folder {};
  if (stat(path.c_str(), &folder) != 0) return fail("{}: {}", path, std::strerror(errno));
  // Root can write in spite of the mode, but not every user that serves is root.
  if ((folder.st_mode & S_IWUSR) == 0 || (folder.st_mode & S_IXUSR) == 0)
    return fail("{} has mode {:04o} and is read-only: chmod 700 it", path, folder.st_mode & 07777);
  if (access(path.c_str(), W_OK | X_OK) != 0)
    return fail("{} cannot be written by this user: {}", path, std::strerror(errno));
  return {};
}

}  // namespace smartmig
