#include "nn/safetensors.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "base/file.h"
#include "base/sha256.h"
#include "base/text.h"

namespace smartmig {
namespace {

static_assert(std::endian::native == std::endian::little, "values are copied as they lie");

std::string shape_text(std::span<const std::int64_t> shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

std::string_view type_name(const Tensor& tensor) {
  static constexpr std::string_view kNames[] = {"F32", "F64", "I64"};
  return kNames[tensor.values.index()];
}

template <class T>
Result<std::span<const T>> find(const TensorFile& content, std::string_view name,
                                std::span<const std::int64_t> shape, std::string_view file) {
  const auto found = content.tensors.find(std::string(name));
  if (found == content.tensors.end())
    return fail("{}: tensor {} is missing", file, in_quotes(name));
  const Tensor& tensor = found->second;
  const auto* values = std::get_if<std::vector<T>>(&tensor.values);
  Tensor expected;
  expected.values = std::vector<T>();
  if (!values ||
      !std::equal(shape.begin(), shape.end(), tensor.shape.begin(), tensor.shape.end())) {
    return fail("{}: tensor {} is {} {}, expected {} {}", file, in_quotes(name), type_name(tensor),
                shape_text(tensor.shape), type_name(expected), shape_text(shape));
  }
  return std::span<const T>(*values);
}

template <class T>
Tensor make_tensor(std::span<const T> values, std::vector<std::int64_t> shape) {
  if (shape.empty()) shape.push_back(static_cast<std::int64_t>(values.size()));
  std::int64_t count = 1;
  for (std::int64_t extent : shape) count *= extent;
  SM_CHECK(count == static_cast<std::int64_t>(values.size()));
  return {std::move(shape), std::vector<T>(values.begin(), values.end())};
}

}  // namespace

void TensorFile::put(std::string name, std::span<const float> values,
                     std::vector<std::int64_t> shape) {
  tensors[std::move(name)] = make_tensor(values, std::move(shape));
}

void TensorFile::put(std::string name, std::span<const double> values) {
  tensors[std::move(name)] = make_tensor(values, {});
}

void TensorFile::put(std::string name, std::span<const std::int64_t> values) {
  tensors[std::move(name)] = make_tensor(values, {});
}

Result<std::span<const float>> TensorFile::floats(std::string_view name,
                                                  std::span<const std::int64_t> shape,
                                                  std::string_view file) const {
  return find<float>(*this, name, shape, file);
}

Result<std::span<const double>> TensorFile::doubles(std::string_view name, std::int64_t count,
                                                    std::string_view file) const {
  return find<double>(*this, name, {&count, 1}, file);
}

Result<std::span<const std::int64_t>> TensorFile::integers(std::string_view name,
                                                           std::int64_t count,
                                                           std::string_view file) const {
  return find<std::int64_t>(*this, name, {&count, 1}, file);
}

Result<std::string> TensorFile::text(std::string_view key, std::string_view file) const {
  const auto found = metadata.find(std::string(key));
  if (found == metadata.end()) return fail("{}: metadata {} is missing", file, in_quotes(key));
  return found->second;
}

std::string safetensors_digest(std::string_view bytes, std::size_t at) {
  Sha256 hash;
  hash.add(bytes.substr(0, at));
  hash.add(std::string(64, '0'));
  hash.add(bytes.substr(at + 64));
  return hash.hex();
}

Result<void> write_safetensors(const std::string& path, const TensorFile& content) {
  const auto bytes = encode_safetensors(content, path);
  if (!bytes) return pass_on(bytes);
  return write_file(path, *bytes);
}

Result<TensorFile> read_safetensors(const std::string& path) {
  const auto bytes = read_file(path);
  if (!bytes) return pass_on(bytes);
  return decode_safetensors(*bytes, path);
}

}  // namespace smartmig
