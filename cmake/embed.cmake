# smartmig_embed(TARGET DIR): compiles every JSON and safetensors file of DIR into TARGET, so that the program finds its
# shipped defaults wherever it is installed. base/shipped.h reads them by name.
function(smartmig_embed target dir)
  file(GLOB files CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/${dir} ${CMAKE_SOURCE_DIR}/${dir}/*.json
       ${CMAKE_SOURCE_DIR}/${dir}/*.safetensors)
  set(out ${CMAKE_BINARY_DIR}/shipped_data.cc)
  set(absolute "")
  foreach(file ${files})
    list(APPEND absolute ${CMAKE_SOURCE_DIR}/${dir}/${file})
  endforeach()
  add_custom_command(
    OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DOUT=${out} -DDIR=${CMAKE_SOURCE_DIR}/${dir} "-DFILES=${files}"
            -P ${CMAKE_SOURCE_DIR}/cmake/embed_script.cmake
    DEPENDS ${absolute} ${CMAKE_SOURCE_DIR}/cmake/embed_script.cmake
    VERBATIM)
  target_sources(${target} PRIVATE ${out})
endfunction()
