# Writes OUT, a C++ file with the bytes of FILES (names below DIR) in one table. A string literal may be
# too long for a compiler, an array of bytes may not.
set(body "// Made by cmake/embed_script.cmake from data/; do not edit.\n#include \"base/shipped.h\"\n\nnamespace smartmig {\nnamespace {\n")
set(table "")
set(count 0)
foreach(file ${FILES})
  file(READ ${DIR}/${file} hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  string(APPEND body "constexpr unsigned char kFile${count}[] = {${bytes}0};\n")
  string(APPEND table "    {\"${file}\", {reinterpret_cast<const char*>(kFile${count}), sizeof(kFile${count}) - 1}},\n")
  math(EXPR count "${count} + 1")
endforeach()
string(APPEND body "const ShippedFile kFiles[] = {\n${table}    {\"\", {}},\n};\n}  // namespace\n\nstd::span<const ShippedFile> shipped_files() { return {kFiles, ${count}}; }\n\n}  // namespace smartmig\n")
file(WRITE ${OUT} "${body}")
