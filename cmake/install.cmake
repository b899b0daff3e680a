# What `cmake --install` and the .deb put on a machine: the program, its manual pages and completions (both printed by the program
# itself, so that they never lag behind it), the systemd unit, the configuration, alert rules and the licence.
include(GNUInstallDirs)

set(pages ${CMAKE_BINARY_DIR}/pages)
configure_file(packaging/deb/changelog.in changelog @ONLY)
add_custom_command(
  OUTPUT ${pages}/made
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${pages}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${pages}/man ${pages}/completions
  COMMAND smartmig help --man-pages ${pages}/man
  COMMAND sh -c "gzip -9n pages/man/*.1 && gzip -9nc changelog >pages/changelog.gz"
  COMMAND sh -c "\"$1\" completion bash >pages/completions/smartmig && \"$1\" completion zsh >pages/completions/_smartmig && \"$1\" completion fish >pages/completions/smartmig.fish" sh $<TARGET_FILE:smartmig>
  COMMAND ${CMAKE_COMMAND} -E touch pages/made
  DEPENDS smartmig packaging/deb/changelog.in
  WORKING_DIRECTORY ${CMAKE_BINARY_DIR}
  VERBATIM)
# Builds with sanitizers are not installed, and need no pages.
set(always "")
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  set(always ALL)
endif()
add_custom_target(pages ${always} DEPENDS ${pages}/made)

install(TARGETS smartmig RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${pages}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${pages}/completions/smartmig DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${pages}/completions/_smartmig DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
install(FILES ${pages}/completions/smartmig.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(FILES packaging/alerts.yml packaging/grafana.json DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES packaging/copyright ${pages}/changelog.gz DESTINATION ${CMAKE_INSTALL_DOCDIR})

# The unit names the folders that it was installed to. A configuration that is there already is left as it is.
install(CODE "
  set(bindir \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}\")
  set(sysconfdir \"\${CMAKE_INSTALL_PREFIX}/etc\")
  if(CMAKE_INSTALL_PREFIX STREQUAL \"/usr\")
    set(sysconfdir /etc)
  endif()
  set(unit \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/lib/systemd/system/smartmig.service\")
  message(STATUS \"Installing: \${unit}\")
  configure_file(\"${CMAKE_SOURCE_DIR}/packaging/smartmig.service.in\" \"\${unit}\" @ONLY)
  set(configuration \"\$ENV{DESTDIR}\${sysconfdir}/smartmig/smartmig.toml\")
  if(EXISTS \"\${configuration}\")
    message(STATUS \"Left as it is: \${configuration}\")
  else()
    file(INSTALL \"${CMAKE_SOURCE_DIR}/packaging/smartmig.toml\" DESTINATION \"\${sysconfdir}/smartmig\")  # Puts DESTDIR before it.
  endif()")

# `cpack` in the build folder makes the .deb (script/package).
set(CPACK_GENERATOR DEB)
set(CPACK_SET_DESTDIR ON)
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_CONTACT "The smartmig authors <smartmig@example.org>")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "adduser, init-system-helpers (>= 1.54)")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "decide how MIG GPUs are cut and which job runs where
smartmig decides how a fleet of NVIDIA MIG GPUs is partitioned over time and
which job runs on which slice, to save energy and finish jobs on time. It
simulates policies on generated workloads and on traces, proves lower bounds,
learns policies, and runs them live on a simulated fleet.

The program needs an x86-64-v3 processor (2013 or later).")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA
    "${CMAKE_SOURCE_DIR}/packaging/deb/conffiles;${CMAKE_SOURCE_DIR}/packaging/deb/postinst;${CMAKE_SOURCE_DIR}/packaging/deb/prerm;${CMAKE_SOURCE_DIR}/packaging/deb/postrm")
include(CPack)
