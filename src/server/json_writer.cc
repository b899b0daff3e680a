#include "server/json_writer.h"

#include <charconv>
#include <cmath>

namespace smartmig {
namespace {

// Bytes of the UTF-8 character that begins at `i`; 0 where there is none.
std::size_t character_bytes(std::string_view text, std::size_t i) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned char lead = byte(i);
  const std::size_t size = lead < 0x80   ? 1
                           : lead < 0xc2 ? 0
                           : lead < 0xe0 ? 2
                           : lead < 0xf0 ? 3
                           : lead < 0xf5 ? 4
                                         : 0;
  if (size < 2) return size;
  if (i + size > text.size()) return 0;
  for (std::size_t k = 1; k < size; ++k)
    if ((byte(i + k) & 0xc0) != 0x80) return 0;
  const unsigned char second = byte(i + 1);
  // Overlong forms, surrogates, and what is beyond Unicode.
  if ((lead == 0xe0 && second < 0xa0) || (lead == 0xed && second > 0x9f) ||
      (lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second > 0x8f))
    return 0;
  return size;
}

bool is_plain(char c) { return c >= 0x20 && c != '"' && c != '\\' && c != 0x7f; }

}  // namespace

void JsonWriter::key(std::string_view name) {
  comma();
  out_ += '"';
  out_ += name;
  out_ += "\":";
}

void JsonWriter::write_text(std::string_view text) {
  out_ += '"';
  for (std::size_t i = 0; i < text.size();) {
    std::size_t plain = i;
    while (plain < text.size() && is_plain(text[plain])) ++plain;
    out_.append(text, i, plain - i);
    i = plain;
    if (i == text.size()) break;
    const char c = text[i];
    if (c == '"' || c == '\\') {
      out_ += '\\';
      out_ += c;
      ++i;
    } else if ((c >= 0 && c < 0x20) || c == 0x7f) {
      fmt::format_to(std::back_inserter(out_), "\\u{:04x}", static_cast<int>(c));
      ++i;
    } else {
      const std::size_t size = character_bytes(text, i);
      if (size == 0) out_ += '?';
      out_.append(text, i, size);
      i += size == 0 ? 1 : size;
    }
  }
  out_ += '"';
}

void JsonWriter::write_integer(std::int64_t number) {
  char digits[24];
  out_.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

// The shortest text that reads back as the same number; JSON has no infinity.
void JsonWriter::write_number(double number) {
  if (!std::isfinite(number)) {
    out_ += "null";
    return;
  }
  char digits[32];
  out_.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

void JsonWriter::write_seconds(TimeUs us) {
  if (us < 0) {
    out_ += '-';
    us = -us;
  }
  write(us / 1'000'000);
  TimeUs rest = us % 1'000'000;
  if (rest == 0) return;
  char digits[7] = {'.'};
  int size = 7;
  for (int i = 6; i > 0; --i, rest /= 10) digits[i] = static_cast<char>('0' + rest % 10);
  while (digits[size - 1] == '0') --size;
  out_.append(digits, static_cast<std::size_t>(size));
}

}  // namespace smartmig
