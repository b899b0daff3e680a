#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/json_fields.h"
#include "base/text.h"
#include "nn/safetensors.h"

namespace smartmig {
namespace {

using nlohmann::json;

// A header describes a few dozen tensors; the format's own limit is 100 MB.
constexpr std::uint64_t kLargestHeader = 1 << 20;
constexpr std::string_view kDigest = "digest";

// Where one tensor lies in the data.
struct Place {
  std::string name;
  std::string type;
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

std::optional<std::uint64_t> natural(const json& value) {
  if (!value.is_number_unsigned()) return {};
  const auto number = value.get<std::uint64_t>();
  // Sums and products of a few of these stay far from 2^64.
  if (number > (std::uint64_t{1} << 40)) return {};
  return number;
}

Result<json> parse_header(std::string_view text, std::string_view name) {
  std::string repeated;
  json header = parse_json(text, &repeated);
  if (!repeated.empty()) return fail("{}: header has {} twice", name, in_quotes(repeated));
  if (!header.is_object()) return fail("{}: header is not a JSON object", name);
  return header;
}

Result<void> read_metadata(const json& header, std::string_view name, TensorFile& out) {
  const auto found = header.find("__metadata__");
  if (found == header.end() || !found->is_object()) {
    return fail("{}: header has no __metadata__, expected one with a digest", name);
  }
  for (const auto& [key, value] : found->items()) {
    if (!value.is_string()) {
      return fail("{}: metadata {} is no string", name, in_quotes(key));
    }
    out.metadata[key] = value.get<std::string>();
  }
  return {};
}

// The digest covers every byte of the file but itself; it is taken out of the metadata.
Result<void> check_digest(std::string_view bytes, std::string_view header, std::string_view name,
                          TensorFile& out) {
  const auto found = out.metadata.find(std::string(kDigest));
  if (found == out.metadata.end()) return fail("{}: metadata has no digest", name);
  const std::string digest = found->second;
  out.metadata.erase(found);
  const bool hex =
      digest.size() == 64 && digest.find_first_not_of("0123456789abcdef") == std::string::npos;
  const std::string quoted = '"' + digest + '"';
  const std::size_t at = header.find(quoted);
  if (!hex || at == std::string_view::npos || header.find(quoted, at + 1) != std::string::npos) {
    return fail("{}: digest is {}, expected 64 hexadecimal digits found once", name,
                in_quotes(digest));
  }
  const std::string expected = safetensors_digest(bytes, 8 + at + 1);
  if (digest == expected) return {};
  return fail("{}: was changed: its digest is {}..., its content's {}...", name,
              digest.substr(0, 12), expected.substr(0, 12));
}

Result<Place> read_place(const std::string& tensor, const json& value, std::string_view name) {
  const auto wrong = [&](std::string_view field, std::string_view expected) {
    return fail("{}: tensor {}: {}: expected {}", name, in_quotes(tensor), field, expected);
  };
  if (!value.is_object() || value.size() != 3 || !value.contains("dtype") ||
      !value.contains("shape") || !value.contains("data_offsets")) {
    return wrong("fields", "dtype, shape and data_offsets");
  }
  Place place;
  place.name = tensor;
  if (value["dtype"] != "F32" && value["dtype"] != "F64" && value["dtype"] != "I64") {
    return wrong("dtype", "F32, F64 or I64");
  }
  place.type = value["dtype"].get<std::string>();
  const json& shape = value["shape"];
  if (!shape.is_array() || shape.size() > 8) return wrong("shape", "at most 8 whole numbers");
  std::uint64_t count = 1;
  for (const json& extent : shape) {
    const auto number = natural(extent);
    if (!number) return wrong("shape", "whole numbers up to 2^40");
    place.shape.push_back(static_cast<std::int64_t>(*number));
    // Cut off where no file reaches, so that the product does not wrap.
    count = *number && count > (std::uint64_t{1} << 40) / *number ? std::uint64_t{1} << 50
                                                                  : count * *number;
  }
  const json& offsets = value["data_offsets"];
  if (!offsets.is_array() || offsets.size() != 2 || !natural(offsets[0]) || !natural(offsets[1])) {
    return wrong("data_offsets", "two whole numbers");
  }
  place.begin = *natural(offsets[0]);
  place.end = *natural(offsets[1]);
  const std::uint64_t size = count * (place.type == "F32" ? 4 : 8);
  if (place.end < place.begin || place.end - place.begin != size) {
    return wrong("data_offsets", fmt::format("{} bytes as its shape says, found {} to {}", size,
                                             place.begin, place.end));
  }
  return place;
}

template <class T>
Result<Tensor> copy_values(const Place& place, std::string_view data, std::string_view name) {
  std::vector<T> values((place.end - place.begin) / sizeof(T));
  if (!values.empty()) {
    std::memcpy(values.data(), data.data() + place.begin, place.end - place.begin);
  }
  for (T value : values) {
    if (!std::isfinite(static_cast<double>(value))) {
      return fail("{}: tensor {} has a value that is not finite", name, in_quotes(place.name));
    }
  }
  return Tensor{place.shape, std::move(values)};
}

// Each tensor begins where the one before it ends, and the last ends with the file.
Result<void> check_cover(std::vector<Place>& places, std::uint64_t size, std::string_view name) {
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  std::uint64_t covered = 0;
  for (const Place& place : places) {
    if (place.begin != covered) {
      return fail("{}: tensor {} begins at byte {} of the data, expected {}", name,
                  in_quotes(place.name), place.begin, covered);
    }
    covered = place.end;
  }
  if (covered != size) {
    return fail("{}: has {} bytes of data, expected the {} of its tensors", name, size, covered);
  }
  return {};
}

Result<void> read_tensors(const json& header, std::string_view data, std::string_view name,
                          TensorFile& out) {
  std::vector<Place> places;
  for (const auto& [key, value] : header.items()) {
    if (key == "__metadata__") continue;
    auto place = read_place(key, value, name);
    if (!place) return pass_on(place);
    places.push_back(std::move(*place));
  }
  if (auto covered = check_cover(places, data.size(), name); !covered) return covered;
  for (const Place& place : places) {
    auto tensor = place.type == "F32"   ? copy_values<float>(place, data, name)
                  : place.type == "F64" ? copy_values<double>(place, data, name)
                                        : copy_values<std::int64_t>(place, data, name);
    if (!tensor) return pass_on(tensor);
    out.tensors.emplace(place.name, std::move(*tensor));
  }
  return {};
}

}  // namespace

Result<TensorFile> decode_safetensors(std::string_view bytes, std::string_view name) {
  std::uint64_t size = 0;
  if (bytes.size() < 8) return fail("{}: has {} bytes, expected at least 8", name, bytes.size());
  std::memcpy(&size, bytes.data(), 8);
  const std::uint64_t most = std::min<std::uint64_t>(bytes.size() - 8, kLargestHeader);
  if (size > most) {
    return fail("{}: header of {} bytes, expected at most {}", name, size, most);
  }
  const std::string_view text = bytes.substr(8, size);
  const auto header = parse_header(text, name);
  if (!header) return pass_on(header);
  TensorFile out;
  if (auto read = read_metadata(*header, name, out); !read) return pass_on(read);
  if (auto same = check_digest(bytes, text, name, out); !same) return pass_on(same);
  if (auto read = read_tensors(*header, bytes.substr(8 + size), name, out); !read) {
    return pass_on(read);
  }
  return out;
}

}  // namespace smartmig
