#include "nn/safetensors.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "nn/network_file.h"

namespace smartmig {
namespace {

TensorFile sample() {
  TensorFile file;
  file.metadata["kind"] = "mean-field";
  file.metadata["note"] = "quoted \"text\"";
  file.put("b", std::vector<float>{1, 2, 3, 4, 5, -0.0F}, {2, 3});
  file.put("a", std::vector<double>{0.1, 1e300});
  file.put("count", std::vector<std::int64_t>{-7, std::numeric_limits<std::int64_t>::max()});
  file.put("none", std::vector<float>{});
  return file;
}

// A file with this header and data, whose digest is right: what is wrong is the rest.
std::string with_header(std::string header, std::string_view data) {
  const std::size_t at = header.find("DIGEST");
  if (at != std::string::npos) header.replace(at, 6, std::string(64, '0'));
  const auto size = static_cast<std::uint64_t>(header.size());
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &size, 8);
  bytes += header;
  bytes += data;
  if (at != std::string::npos) bytes.replace(8 + at, 64, safetensors_digest(bytes, 8 + at));
  return bytes;
}

std::string refused(std::string header, std::string_view data) {
  const auto file = decode_safetensors(with_header(std::move(header), data), "x.safetensors");
  return file ? "accepted" : file.error().message;
}

constexpr const char* kMeta = R"({"__metadata__":{"digest":"DIGEST"})";
const std::string kEight(8, '\0');

std::string tensor(std::string_view name, std::string_view type, std::string_view shape,
                   std::string_view offsets) {
  return fmt::format(R"(,"{}":{{"dtype":"{}","shape":{},"data_offsets":{}}})", name, type, shape,
                     offsets);
}

TEST(Safetensors, ReadsBackWhatItWrote) {
  const TensorFile file = sample();
  const auto bytes = encode_safetensors(file, "x");
  ASSERT_TRUE(bytes);
  const auto back = decode_safetensors(*bytes, "x");
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->metadata, file.metadata);
  ASSERT_EQ(back->tensors.size(), file.tensors.size());
  for (const auto& [name, expected] : file.tensors) {
    EXPECT_EQ(back->tensors.at(name).shape, expected.shape);
    EXPECT_EQ(back->tensors.at(name).values, expected.values);
  }
  EXPECT_EQ(*encode_safetensors(*back, "x"), *bytes);
}

TEST(Safetensors, RefusesAChangeOfAnyByte) {
  const std::string bytes = *encode_safetensors(sample(), "x");
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (int flip : {1, 0x20, 0x80}) {
      std::string changed = bytes;
      changed[at] = static_cast<char>(changed[at] ^ flip);
      const auto file = decode_safetensors(changed, "x");
      ASSERT_FALSE(file) << "byte " << at << " xor " << flip;
      EXPECT_EQ(file.error().message.find('\n'), std::string::npos);
    }
  }
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(decode_safetensors(bytes.substr(0, size), "x")) << "cut to " << size;
  }
  EXPECT_FALSE(decode_safetensors(bytes + '\0', "x"));
}

TEST(Safetensors, AcceptsAHeaderThatAnotherProgramWrote) {
  EXPECT_EQ(refused(kMeta + tensor("t", "F32", "[2]", "[0, 8]") + "  }   ", kEight), "accepted");
}

TEST(Safetensors, SaysWhatIsWrongWithTheHeader) {
  EXPECT_EQ(decode_safetensors("abc", "f").error().message, "f: has 3 bytes, expected at least 8");
  EXPECT_EQ(decode_safetensors(std::string(8, '\xff') + "{}", "f").error().message,
            "f: header of 18446744073709551615 bytes, expected at most 2");
  EXPECT_EQ(refused("[]", ""), "x.safetensors: header is not a JSON object");
  EXPECT_EQ(refused("{}", ""),
            "x.safetensors: header has no __metadata__, expected one with a digest");
  EXPECT_EQ(refused(R"({"__metadata__":{"kind":"a"}})", ""),
            "x.safetensors: metadata has no digest");
  EXPECT_EQ(refused(R"({"__metadata__":{"digest":"DIGEST","n":3}})", ""),
            "x.safetensors: metadata 'n' is no string");
  EXPECT_EQ(refused(R"({"__metadata__":{"digest":"DIGEST","k":"a","k":"b"}})", ""),
            "x.safetensors: header has 'k' twice");
  EXPECT_EQ(refused(std::string(kMeta) + "/* hidden */}", ""),
            "x.safetensors: header is not a JSON object");
}

TEST(Safetensors, SaysWhatIsWrongWithATensor) {
  const auto one = [](std::string_view type, std::string_view shape, std::string_view offsets) {
    return refused(kMeta + tensor("t", type, shape, offsets) + "}", kEight);
  };
  EXPECT_EQ(one("F16", "[4]", "[0,8]"),
            "x.safetensors: tensor 't': dtype: expected F32, F64 or I64");
  EXPECT_EQ(one("F32", "[-2]", "[0,8]"),
            "x.safetensors: tensor 't': shape: expected whole numbers up to 2^40");
  EXPECT_EQ(one("F32", "[3]", "[0,8]"),
            "x.safetensors: tensor 't': data_offsets: expected 12 bytes as its shape says, found 0 "
            "to 8");
  EXPECT_EQ(one("F32", "[1099511627776,1099511627776,16]", "[0,8]").substr(0, 47),
            "x.safetensors: tensor 't': data_offsets: expect");
  EXPECT_EQ(one("F32", "[2]", "[8,0]"),
            "x.safetensors: tensor 't': data_offsets: expected 8 bytes as its shape says, found 8 "
            "to 0");
  EXPECT_EQ(one("F32", "[1]", "[4,8]"),
            "x.safetensors: tensor 't' begins at byte 4 of the data, expected 0");
  EXPECT_EQ(one("F32", "[1]", "[0,4]"),
            "x.safetensors: has 8 bytes of data, expected the 4 of its tensors");
  EXPECT_EQ(one("F64", "[2]", "[0,16]"),
            "x.safetensors: has 8 bytes of data, expected the 16 of its tensors");
  const std::string overlap =
      kMeta + tensor("t", "F32", "[2]", "[0,8]") + tensor("u", "F32", "[1]", "[4,8]") + "}";
  EXPECT_EQ(refused(overlap, kEight),
            "x.safetensors: tensor 'u' begins at byte 4 of the data, expected 8");
}

TEST(Safetensors, RefusesValuesThatAreNotFinite) {
  TensorFile file;
  file.put("t", std::vector<float>{std::numeric_limits<float>::quiet_NaN()});
  EXPECT_EQ(encode_safetensors(file, "x").error().message,
            "x: tensor 't' has a value that is not finite");
  const float infinite = std::numeric_limits<float>::infinity();
  const std::string data(reinterpret_cast<const char*>(&infinite), 4);
  EXPECT_EQ(refused(kMeta + tensor("t", "F32", "[1]", "[0,4]") + "}", data),
            "x.safetensors: tensor 't' has a value that is not finite");
}

TEST(Safetensors, NamesATensorThatIsAbsentOrOfAnotherShape) {
  const TensorFile file = sample();
  const std::int64_t shape[] = {3, 2};
  EXPECT_EQ(file.floats("b", shape, "f").error().message,
            "f: tensor 'b' is F32 [2, 3], expected F32 [3, 2]");
  EXPECT_EQ(file.doubles("b", 6, "f").error().message,
            "f: tensor 'b' is F32 [2, 3], expected F64 [6]");
  EXPECT_EQ(file.integers("c", 1, "f").error().message, "f: tensor 'c' is missing");
  EXPECT_EQ(file.text("c", "f").error().message, "f: metadata 'c' is missing");
}

TEST(NetworkFile, ReadsBackTheSameNetwork) {
  Random random(1, "file");
  Network network({.inputs = 3, .hidden = {4, 5}, .outputs = 2, .activation = Activation::kRelu});
  network.initialise(random);
  TensorFile file;
  put_network(file, network);
  put_normaliser(file, {{1, 2, 3}, {4, 5, 6}});
  const auto back = get_network(file, "f");
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->shape(), network.shape());
  EXPECT_TRUE(std::equal(back->parameters().begin(), back->parameters().end(),
                         network.parameters().begin(), network.parameters().end()));
  EXPECT_EQ(get_normaliser(file, 3, "f")->scale, (std::vector<float>{4, 5, 6}));
  EXPECT_FALSE(get_normaliser(file, 4, "f"));
}

TEST(NetworkFile, SaysWhatDoesNotFit) {
  Random random(1, "file");
  Network network({.inputs = 3, .hidden = {4}, .outputs = 2});
  TensorFile file;
  put_network(file, network);
  TensorFile wide = file;
  wide.metadata["hidden"] = "40000";
  EXPECT_EQ(get_network(wide, "f").error().message,
            "f: tensor 'hidden.0.weight' is F32 [3, 4], expected F32 [3, 40000]");
  TensorFile odd = file;
  odd.metadata["hidden"] = "4,";
  EXPECT_EQ(get_network(odd, "f").error().message,
            "f: metadata 'hidden' is '4,', expected widths such as 64,64");
  TensorFile other = file;
  other.metadata["activation"] = "gelu";
  EXPECT_EQ(get_network(other, "f").error().message,
            "f: metadata 'activation' is 'gelu', expected tanh or relu");
}

}  // namespace
}  // namespace smartmig
