# smartmig_room(NAME USES targets...): one layer of src/ as a static library smartmig_NAME, and its
# *_test.cc files, which stand beside the code, as one test program NAME_test.
function(smartmig_room name)
  cmake_parse_arguments(ROOM "" "" "USES" ${ARGN})
  set(dir ${CMAKE_SOURCE_DIR}/src/${name})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${dir}/*.cc)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  if(sources)
    add_library(smartmig_${name} STATIC ${sources})
    target_include_directories(smartmig_${name} PUBLIC ${CMAKE_SOURCE_DIR}/src)
    target_link_libraries(smartmig_${name} PUBLIC ${ROOM_USES})
  else()
    add_library(smartmig_${name} INTERFACE)
    target_include_directories(smartmig_${name} INTERFACE ${CMAKE_SOURCE_DIR}/src)
    target_link_libraries(smartmig_${name} INTERFACE ${ROOM_USES})
  endif()
  # Nothing here loops for long, and much of it is templates that take long to optimise. The controller and its server
  # have to answer in milliseconds for fleets of thousands of GPUs, so a release build optimises them fully.
  if(name MATCHES "^(report|cli|drivers)$")
    target_compile_options(smartmig_${name} PRIVATE $<IF:$<CONFIG:Release>,-O1,-O0>)
  elseif(name MATCHES "^(control|server)$")
    target_compile_options(smartmig_${name} PRIVATE $<$<NOT:$<CONFIG:Release>>:-O0>)
  endif()
  # The last room to be compiled: in small pieces, so that all cores have work until the end.
  if(name STREQUAL "cli")
    set_target_properties(smartmig_cli PROPERTIES UNITY_BUILD_BATCH_SIZE 12)
  endif()
  if(SMARTMIG_TESTS AND tests AND (NOT SMARTMIG_TESTS_OF OR name IN_LIST SMARTMIG_TESTS_OF))
    set(loops "")
    if(name STREQUAL "bound")
      set(loops LOOPS)
    endif()
    smartmig_test(${name}_test ${name} ${loops} SOURCES ${tests} USES smartmig_${name})
  endif()
endfunction()

# For programs without loops of their own.
set(quick_to_build $<$<CONFIG:Release>:-O1> $<$<CONFIG:RelWithDebInfo>:-O0>)

# smartmig_test(PROGRAM PREFIX [LOOPS] SOURCES files... USES targets...): a test program, whose tests ctest knows as
# PREFIX.Suite.Test. Tests call what is optimised and do little themselves, so that they are compiled quickly; LOOPS says
# that these have long loops of their own.
function(smartmig_test program prefix)
  cmake_parse_arguments(TEST "LOOPS" "" "SOURCES;USES" ${ARGN})
  add_executable(${program} ${TEST_SOURCES})
  target_link_libraries(${program} PRIVATE ${TEST_USES} GTest::gtest_main)
  if(NOT TEST_LOOPS)
    target_compile_options(${program} PRIVATE ${quick_to_build})
  endif()
  gtest_discover_tests(${program} TEST_PREFIX ${prefix}. DISCOVERY_TIMEOUT 60)
endfunction()
