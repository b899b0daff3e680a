// Eigen as this room's source files use it: matrix products only. Never from a header that another
// room may include: its types differ with the instruction set they are compiled for. And nothing
// element by element: where an array begins decides which of its elements Eigen works on one by one
// and which by vectors, and the two round differently, so that results would change from run to
// run.
#pragma once

// Blocks of a matrix product come from the stack up to this size, not from malloc.
#define EIGEN_STACK_ALLOCATION_LIMIT (1 << 20)
#define EIGEN_DONT_PARALLELIZE
#include <Eigen/Core>

namespace smartmig {

using RowMatrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using MatrixView = Eigen::Map<RowMatrix>;
using ConstMatrixView = Eigen::Map<const RowMatrix>;
using VectorView = Eigen::Map<Eigen::VectorXf>;
using ConstVectorView = Eigen::Map<const Eigen::VectorXf>;

// out += a * b. Tiny products, which Eigen does element by element, are done here.
template <class Out, class A, class B>
void add_product(Out&& out, const A& a, const B& b) {
  constexpr Eigen::Index kTiny = 20;
  if (out.rows() + a.cols() + out.cols() >= kTiny && a.cols() > 0) {
    out.noalias() += a * b;
    return;
  }
  for (Eigen::Index i = 0; i < out.rows(); ++i) {
    for (Eigen::Index j = 0; j < out.cols(); ++j) {
      float sum = 0;
      for (Eigen::Index k = 0; k < a.cols(); ++k) sum += a(i, k) * b(k, j);
      out(i, j) += sum;
    }
  }
}

}  // namespace smartmig
