// While one lives, numbers too small for full precision count as zero on this thread: a gradient
// that fades out would otherwise run a hundred times slower near its end. What was set before
// returns with the end of the scope. The functions of this room that do arithmetic hold one.
#pragma once

#if defined(__SSE__)
#include <immintrin.h>
#endif

namespace smartmig {

class FlushDenormals {
 public:
#if defined(__SSE__)
  // Bits 15 and 6 of MXCSR: results to zero, operands to zero.
  FlushDenormals() : before_(_mm_getcsr()) { _mm_setcsr(before_ | 0x8040u); }
  ~FlushDenormals() { _mm_setcsr(before_); }
#else
  FlushDenormals() = default;
#endif
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

#if defined(__SSE__)
 private:
  unsigned before_;
#endif
};

}  // namespace smartmig
