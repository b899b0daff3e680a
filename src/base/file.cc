#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

namespace smartmig {
namespace {

bool is_gzip(std::string_view bytes) {
  return bytes.size() >= 2 && bytes[0] == '\x1f' && bytes[1] == '\x8b';
}

tl::unexpected<Error> too_large(std::string_view name, std::size_t limit) {
  return fail("{0}: found more than {1} bytes, expected at most {1}", name, limit);
}

}  // namespace

std::string gzip(std::string_view bytes) {
  z_stream stream{};
  // 15 + 16: the largest window, with a gzip header. No name and no time in it: the same bytes
  // every time.
  SM_CHECK(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  // zlib counts what is available in 32 bits, so a large text goes in and out by pieces.
  constexpr std::size_t kPiece = std::size_t{1} << 30;
  int status = Z_OK;
  while (status == Z_OK) {
    const std::size_t left = bytes.size() - stream.total_in;
    stream.avail_in = static_cast<uInt>(std::min(left, kPiece));
    stream.avail_out = static_cast<uInt>(std::min(out.size() - stream.total_out, kPiece));
    status = deflate(&stream, left <= kPiece ? Z_FINISH : Z_NO_FLUSH);
  }
  SM_CHECK(status == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

Result<std::string> gunzip(std::string bytes, std::string_view name, const FileLimits& limits) {
  if (bytes.size() > limits.bytes) return too_large(name, limits.bytes);
  if (!is_gzip(bytes)) return bytes;
  const std::size_t by_ratio = std::max(bytes.size() * limits.ratio, limits.any_ratio_bytes);
  z_stream stream{};
  SM_CHECK(inflateInit2(&stream, 15 + 16) == Z_OK);
  const auto end = std::unique_ptr<z_stream, int (*)(z_stream*)>(&stream, inflateEnd);
  std::string out;
  std::string chunk(std::size_t{1} << 18, '\0');
  std::size_t offset = 0;
  int status = Z_OK;
  while (offset < bytes.size() || status == Z_OK) {
    const std::size_t piece = std::min<std::size_t>(bytes.size() - offset, std::size_t{1} << 20);
    stream.next_in = reinterpret_cast<Bytef*>(bytes.data() + offset);
    stream.avail_in = static_cast<uInt>(piece);
    if (status == Z_STREAM_END) {
      // A gzip file may be several members on end.
      if (!is_gzip(std::string_view(bytes).substr(offset))) break;
      SM_CHECK(inflateReset(&stream) == Z_OK);
    }
    stream.next_out = reinterpret_cast<Bytef*>(chunk.data());
    stream.avail_out = static_cast<uInt>(chunk.size());
    status = inflate(&stream, Z_NO_FLUSH);
    const std::size_t got = chunk.size() - stream.avail_out;
    out.append(chunk.data(), got);
    offset += piece - stream.avail_in;
    if (out.size() > limits.bytes) return too_large(name, limits.bytes);
    if (out.size() > by_ratio) {
      return fail("{}: gzip unpacks to over {} bytes and over {} times its size, expected less",
                  name, limits.any_ratio_bytes, limits.ratio);
    }
    if (status == Z_BUF_ERROR || (status == Z_OK && offset == bytes.size() && got == 0)) {
      return fail("{}: gzip is truncated", name);
    }
    if (status != Z_OK && status != Z_STREAM_END) return fail("{}: gzip is damaged", name);
  }
  return out;
}

Result<std::string> read_file(const std::string& path, const FileLimits& limits) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return fail("{}: cannot be read: {}", path, std::strerror(errno));
  struct stat info {};
  if (fstat(fd, &info) == 0 && S_ISDIR(info.st_mode)) {
    ::close(fd);
    return fail("{}: is a folder, expected a file", path);
  }
  std::string bytes;
  std::size_t size = 0;
  // The size is a hint: a pipe has none, and a file may grow while it is read.
  const std::size_t most = limits.bytes + 1;  // One more tells a file that is too large.
  bytes.resize(std::min(static_cast<std::size_t>(std::max<off_t>(info.st_size, 0)) + 4096, most));
  for (;;) {
    const ssize_t got = ::read(fd, bytes.data() + size, bytes.size() - size);
    if (got < 0) {
      const int error = errno;
      ::close(fd);
      return fail("{}: cannot be read: {}", path, std::strerror(error));
    }
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
    if (size == most) break;
    if (size == bytes.size()) bytes.resize(std::min(bytes.size() * 2, most));
  }
  ::close(fd);
  bytes.resize(size);
  return gunzip(std::move(bytes), path, limits);
}

Result<void> write_file(const std::string& path, std::string_view bytes) {
  std::string packed;
  if (path.ends_with(".gz")) {
    packed = gzip(bytes);
    bytes = packed;
  }
  const std::string aside = fmt::format("{}.tmp{}", path, ::getpid());
  const int fd = ::open(aside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return fail("{}: cannot be written: {}", path, std::strerror(errno));
  bool good = true;
  int error = 0;
  for (std::size_t done = 0; done < bytes.size() && good;) {
    const ssize_t put = ::write(fd, bytes.data() + done, bytes.size() - done);
    good = put > 0;
    if (good) done += static_cast<std::size_t>(put);
    if (!good) error = errno;
  }
  if (::close(fd) != 0 && good) good = false, error = errno;
  if (good && ::rename(aside.c_str(), path.c_str()) != 0) good = false, error = errno;
  if (!good) {
    ::unlink(aside.c_str());
    return fail("{}: cannot be written: {}", path, std::strerror(error));
  }
  return {};
}

Result<void> make_writable_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return fail("{}: cannot be made: {}", path, error.message());
  if (!std::filesystem::is_directory(path)) return fail("{}: is not a folder", path);
  const std::string probe = fmt::format("{}/.probe{}", path, ::getpid());
  const int fd = ::open(probe.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0) return fail("{}: cannot be written: {}", path, std::strerror(errno));
  ::close(fd);
  ::unlink(probe.c_str());
  return {};
}

}  // namespace smartmig
