// Named arrays in a file: safetensors, the format that PyTorch, JAX and NumPy exchange weights in
// (docs/formats/safetensors.md). Reading believes nothing: header, offsets and values are checked,
// and a digest over the whole file refuses one that was changed. Values are finite.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace smartmig {

struct Tensor {
  std::vector<std::int64_t> shape;
  // F32, F64 and I64; as many as the shape says.
  std::variant<std::vector<float>, std::vector<double>, std::vector<std::int64_t>> values;
};

struct TensorFile {
  std::map<std::string, std::string> metadata;  // Without the digest.
  std::map<std::string, Tensor> tensors;

  // One-dimensional unless a shape is given.
  void put(std::string name, std::span<const float> values, std::vector<std::int64_t> shape = {});
  void put(std::string name, std::span<const double> values);
  void put(std::string name, std::span<const std::int64_t> values);

  // The values of a tensor that must be there with this type and shape; `file` is for the error.
  Result<std::span<const float>> floats(std::string_view name, std::span<const std::int64_t> shape,
                                        std::string_view file) const;
  Result<std::span<const double>> doubles(std::string_view name, std::int64_t count,
                                          std::string_view file) const;
  Result<std::span<const std::int64_t>> integers(std::string_view name, std::int64_t count,
                                                 std::string_view file) const;
  Result<std::string> text(std::string_view key, std::string_view file) const;
};

// The bytes of the file, the same for the same content. An error where a value is not finite.
Result<std::string> encode_safetensors(const TensorFile& content, std::string_view name);
Result<TensorFile> decode_safetensors(std::string_view bytes, std::string_view name);

Result<void> write_safetensors(const std::string& path, const TensorFile& content);
Result<TensorFile> read_safetensors(const std::string& path);

// The digest that the bytes of a file should carry: SHA-256 over all of them with the 64 digits of
// the digest, which begin at `at`, as zeros.
std::string safetensors_digest(std::string_view bytes, std::size_t at);

}  // namespace smartmig
