#include "nn/safetensors.h"

#include "check.h"
#include "nn/network_file.h"

namespace smartmig {
namespace {

// No change survives the digest, so it is made right first: what lies behind it is looked at too.
std::string with_right_digest(std::string bytes) {
  constexpr std::string_view kKey = "\"digest\":\"";
  const std::size_t at = bytes.find(kKey);
  if (at == std::string::npos || bytes.size() < at + kKey.size() + 64) return bytes;
  const std::size_t digits = at + kKey.size();
  bytes.replace(digits, 64, std::string(64, '0'));
  bytes.replace(digits, 64, safetensors_digest(bytes, digits));
  return bytes;
}

void check_bytes(const std::string& bytes) {
  const auto file = decode_safetensors(bytes, "fuzz");
  check_error(file);
  if (!file) return;
  // What was read can be written and is read back as the same.
  const auto written = encode_safetensors(*file, "fuzz");
  check_error(written);
  const auto again = decode_safetensors(*written, "fuzz");
  SM_CHECK(again && again->tensors.size() == file->tensors.size());
  SM_CHECK(*encode_safetensors(*again, "fuzz") == *written);
  check_error(get_network(*file, "fuzz"));
}

}  // namespace
}  // namespace smartmig

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace smartmig;
  const std::string bytes(as_text(data, size));
  check_bytes(bytes);
  check_bytes(with_right_digest(bytes));
  return 0;
}
