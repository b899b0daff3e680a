#include "base/sha256.h"

#include <gtest/gtest.h>

namespace smartmig {
namespace {

// The vectors of FIPS 180-4's examples.
TEST(Sha256, AgreesWithThePublishedVectors) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_hex(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, DoesNotDependOnHowTheBytesCome) {
  std::string text;
  for (int i = 0; i < 300; ++i) text.push_back(static_cast<char>(i));
  for (const std::size_t part : {1u, 7u, 63u, 64u, 65u}) {
    Sha256 sum;
    for (std::size_t i = 0; i < text.size(); i += part)
      sum.add(std::string_view(text).substr(i, part));
    EXPECT_EQ(sum.hex(), sha256_hex(text)) << part;
  }
  Sha256 number;
  number.add(std::int64_t{-2});
  EXPECT_EQ(number.hex(), sha256_hex("\xfe\xff\xff\xff\xff\xff\xff\xff"));
}

}  // namespace
}  // namespace smartmig
