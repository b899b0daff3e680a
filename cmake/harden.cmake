# What makes a release build harder to attack: a fault in memory is noticed or cannot be used to run other code.
# bench/RESULTS.md has the speed with and without; tests/hardening.py looks at the program. Builds with sanitizers look for the
# same faults in their own way, and builds without optimisation cannot be fortified.
option(SMARTMIG_HARDEN "Harden release builds: stack protector, fortified calls, full RELRO, PIE, control-flow protection" ON)
if(NOT SMARTMIG_HARDEN)
  return()
endif()

include(CheckCXXCompilerFlag)
include(CheckCXXSourceCompiles)
include(CheckPIESupported)
check_pie_supported(LANGUAGES CXX)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

foreach(flag -fstack-protector-strong -fstack-clash-protection -fcf-protection=full)
  string(MAKE_C_IDENTIFIER "SMARTMIG_HAS${flag}" known)
  check_cxx_compiler_flag(${flag} ${known})
  if(${known})
    add_compile_options($<$<CONFIG:Release>:${flag}>)
  endif()
endforeach()

# Level 3 follows sizes that are known only when the program runs; GCC 12 and glibc 2.35 are the first that have it. Where the
# library lacks it, level 2.
set(CMAKE_REQUIRED_FLAGS "-O2 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3")
check_cxx_source_compiles("
#include <features.h>
#if __USE_FORTIFY_LEVEL < 3
#error level 3 is not there
#endif
int main() { return 0; }" SMARTMIG_HAS_FORTIFY_3)
unset(CMAKE_REQUIRED_FLAGS)
add_compile_options($<$<CONFIG:Release>:-U_FORTIFY_SOURCE> $<$<CONFIG:Release>:-D_FORTIFY_SOURCE=$<IF:$<BOOL:${SMARTMIG_HAS_FORTIFY_3}>,3,2>>)
add_link_options($<$<CONFIG:Release>:LINKER:-z,relro,-z,now,-z,noexecstack>)
