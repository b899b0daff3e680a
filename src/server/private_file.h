// Files that hold secrets: tokens and the key of a certificate. A file that others could read is
// refused instead of read.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace smartmig {

enum class ReadableBy : std::uint8_t {
  kOwner,  // This user's, mode 0600.
  kGroup,  // This user's or root's; its group may read it, as Debian's ssl-cert does: 0640 at most.
};

// The text of a plain file of at most 1 MiB that no other user can read. The error is one line that
// says what to change.
Result<std::string> read_private_file(const std::string& path, ReadableBy readable_by);

}  // namespace smartmig
