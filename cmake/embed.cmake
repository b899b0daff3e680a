# smartmig_embed(TARGET DIRS...): compiles the data files, pages, styles and scripts of DIRS into TARGET, so that the program
# finds them wherever it is installed. base/shipped.h reads them by name, without the folder.
function(smartmig_embed target)
  set(files "")
  foreach(dir ${ARGN})
    foreach(ending json safetensors css js html svg)
      file(GLOB found CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${dir}/*.${ending})
      list(APPEND files ${found})
    endforeach()
  endforeach()
  set(out ${CMAKE_BINARY_DIR}/shipped_data.cc)
  add_custom_command(
    OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DOUT=${out} "-DFILES=${files}" -P ${CMAKE_SOURCE_DIR}/cmake/embed_script.cmake
    DEPENDS ${files} ${CMAKE_SOURCE_DIR}/cmake/embed_script.cmake
    VERBATIM)
  target_sources(${target} PRIVATE ${out})
endfunction()
