// Eigen as this room's source files use it. Never from a header that another room may include: its
// types differ with the instruction set they are compiled for.
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
using ArrayView = Eigen::Map<Eigen::ArrayXf>;
using ConstArrayView = Eigen::Map<const Eigen::ArrayXf>;

}  // namespace smartmig
