#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "nn/safetensors.h"

namespace smartmig {
namespace {

// What a tensor adds to the header and to the data.
struct Encoded {
  std::string_view type;
  std::string_view bytes;
  bool finite = true;
};

template <class T>
Encoded encode_values(std::string_view type, const std::vector<T>& values) {
  Encoded out{type, {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)}};
  for (T value : values) out.finite = out.finite && std::isfinite(static_cast<double>(value));
  return out;
}

Encoded encode_tensor(const Tensor& tensor) {
  if (const auto* f = std::get_if<std::vector<float>>(&tensor.values)) {
    return encode_values("F32", *f);
  }
  if (const auto* d = std::get_if<std::vector<double>>(&tensor.values)) {
    return encode_values("F64", *d);
  }
  return encode_values("I64", std::get<std::vector<std::int64_t>>(tensor.values));
}

// Wider types first, so that every tensor is aligned to its type; then by name.
std::vector<const std::pair<const std::string, Tensor>*> in_file_order(const TensorFile& content) {
  std::vector<const std::pair<const std::string, Tensor>*> order;
  for (const auto& entry : content.tensors) order.push_back(&entry);
  std::stable_partition(order.begin(), order.end(), [](const auto* entry) {
    return !std::holds_alternative<std::vector<float>>(entry->second.values);
  });
  return order;
}

}  // namespace

Result<std::string> encode_safetensors(const TensorFile& content, std::string_view name) {
  const std::string blank(64, '0');
  // Ordered, so that the metadata comes first for whoever looks at the file.
  nlohmann::ordered_json header;
  auto& metadata = header["__metadata__"] = nlohmann::ordered_json::object();
  SM_CHECK(!content.metadata.contains("digest"));
  metadata["digest"] = blank;
  for (const auto& [key, value] : content.metadata) metadata[key] = value;
  std::string data;
  for (const auto* entry : in_file_order(content)) {
    const Encoded encoded = encode_tensor(entry->second);
    if (!encoded.finite) {
      return fail("{}: tensor {} has a value that is not finite", name, in_quotes(entry->first));
    }
    header[entry->first] = {{"dtype", encoded.type},
                            {"shape", entry->second.shape},
                            {"data_offsets", {data.size(), data.size() + encoded.bytes.size()}}};
    data += encoded.bytes;
  }
  std::string text = header.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  // Blanks up to a multiple of 8, so that the data is aligned where the file is mapped.
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const auto size = static_cast<std::uint64_t>(text.size());
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &size, 8);
  bytes += text;
  bytes += data;
  const std::size_t at = bytes.find(blank);
  bytes.replace(at, 64, safetensors_digest(bytes, at));
  return bytes;
}

}  // namespace smartmig
