#include "nn/symmetric_eigen.h"

#include <Eigen/Eigenvalues>

#include "base/result.h"

namespace smartmig {

void symmetric_eigen(std::size_t n, std::span<const double> matrix, std::span<double> values,
                     std::span<double> vectors) {
  SM_CHECK(matrix.size() == n * n && values.size() == n && vectors.size() == n * n);
  const auto size = static_cast<Eigen::Index>(n);
  // A copy of Eigen's own lies aligned, so that all runs round alike (nn/eigen.h).
  Eigen::MatrixXd copy(size, size);
  for (Eigen::Index i = 0; i < size; ++i) {
    for (Eigen::Index j = 0; j <= i; ++j) copy(i, j) = copy(j, i) = matrix[i * n + j];
  }
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(copy);
  SM_CHECK(solver.info() == Eigen::Success);
  for (Eigen::Index i = 0; i < size; ++i) {
    values[i] = solver.eigenvalues()[i];
    for (Eigen::Index k = 0; k < size; ++k) vectors[i * n + k] = solver.eigenvectors()(k, i);
  }
}

}  // namespace smartmig
