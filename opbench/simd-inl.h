// Loops over fp32, fp16 and bf16 memory in Highway vectors, for kernels that are compiled once for
// every instruction set. Included after <hwy/foreach_target.h>, so it has no guard of its own; see
// kernels/simd/simd-inl.h. Needs the target hwy::hwy.
#include "kernels/simd/simd-inl.h"
