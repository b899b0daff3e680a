// The best schedule of a tiny instance, exactly: jobs may be preempted and GPUs cut anew at any
// moment and at no cost. Every order of releases and ends is tried; within one, how long each
// combination of jobs and slices lasts between two of them is a linear program, whose optimum Clp
// finds. For the tests of the bounds only: three jobs on one or two GPUs.
#pragma once

#include "bound/problem.h"

namespace smartmig {

double exact_optimum(const BoundInput& input, const Weights& weights);

}  // namespace smartmig
