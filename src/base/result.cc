#include "base/result.h"

#include <cstdio>
#include <cstdlib>

namespace smartmig {

void check_failed(const char* file, int line, const char* what) {
  std::fprintf(stderr, "smartmig: bug: %s:%d: %s does not hold\n", file, line, what);
  std::abort();
}

}  // namespace smartmig
