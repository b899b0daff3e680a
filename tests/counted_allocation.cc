#include "counted_allocation.h"

#include <cstdlib>
#include <new>

namespace {
long allocations = 0;

void* counted_or_null(std::size_t size) noexcept {
  ++allocations;
  return std::malloc(size);
}
void* counted(std::size_t size) {
  if (void* bytes = counted_or_null(size)) return bytes;
  throw std::bad_alloc();
}
}  // namespace

long smartmig::allocations_so_far() { return allocations; }

void* operator new(std::size_t size) { return counted(size); }
void* operator new[](std::size_t size) { return counted(size); }
// The standard library sorts with these; a sanitizer has its own unless they are replaced too.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return counted_or_null(size);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return counted_or_null(size);
}
void operator delete(void* bytes) noexcept { std::free(bytes); }
void operator delete[](void* bytes) noexcept { std::free(bytes); }
void operator delete(void* bytes, std::size_t) noexcept { std::free(bytes); }
void operator delete[](void* bytes, std::size_t) noexcept { std::free(bytes); }
