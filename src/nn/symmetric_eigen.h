// Eigenvalues and vectors of a small symmetric matrix.
#pragma once

#include <cstddef>
#include <span>

namespace smartmig {

// `matrix` is n x n; only its lower half is read. Values ascend; row i of `vectors`, row-major, is
// the unit vector of value i. Work grows with n^3: about 10 ms for n = 200.
void symmetric_eigen(std::size_t n, std::span<const double> matrix, std::span<double> values,
                     std::span<double> vectors);

}  // namespace smartmig
