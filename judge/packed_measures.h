#pragma once

#include "judge/large_pair.h"
#include "text/packed.h"

namespace opbench {

// Measures as bytes for another process of the same program, and back, every bit as it was.
void pack(Packer& packer, const PairMeasures& measures);
PairMeasures unpack_pair_measures(Unpacker& packed);

void pack(Packer& packer, Pass pass, const PassMeasures& found);
PassMeasures unpack_pass_measures(Unpacker& packed, Pass pass);

}  // namespace opbench
