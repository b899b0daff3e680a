// The best schedule of a tiny instance, exactly: jobs may be preempted and GPUs cut anew at any
// moment and at no cost. Every order of releases and ends is tried; within one, how long each
// combination of jobs and slices lasts between two of them is a linear program, whose optimum Clp
// finds. For the tests of the bounds only: three jobs on one or two GPUs.
//
// On a trace, GPUs without a job are charged up to the last submit only, which has to be that of
// the last job. A GPU that is idle for a while after it and then has a job again is charged for the
// pause as well, so this optimum is never above that of the rule, and equal to it where there is no
// such pause (on one GPU no best schedule has one: nothing more is released). A bound that is not
// above it holds.
#pragma once

#include "bound/problem.h"

namespace smartmig {

double exact_optimum(const BoundInput& input, const Weights& weights);

}  // namespace smartmig
