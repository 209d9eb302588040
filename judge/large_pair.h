#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "judge/magnitudes.h"
#include "judge/measure_chunk.h"
#include "judge/measure_pairs.h"
#include "text/packed.h"

namespace opbench {

/// What a pair is read for: the scale of what is expected, if its tolerance follows that; all
/// metrics; and KL divergence.
enum class Pass : std::uint8_t { scale, metrics, divergence };

/// What a pass found in one chunk; the others are empty.
struct PassMeasures {
  Magnitudes magnitudes;
  ChunkMeasures metrics;
  KlSums divergence;
};

/// Measures a chunk for a pass; for its scale only the expected side is read.
PassMeasures measure_pass(Pass pass, const PairChunk& chunk, const KlScales& scales,
                          BlockScratch& scratch);

/// A pair of more than one chunk, from its first chunk read to its last one measured.
struct LargePair {
  std::size_t index = 0;
  TensorPair pair;
  PairRules rules;
  ChunkMeasures measures;
  KlSums second_pass;
  KlScales scales;
  Magnitudes magnitudes;
  Pass pass = Pass::metrics;  ///< that it is in
  std::int64_t next = 0;      ///< the reader's: first element that is not read yet
  std::int64_t end = 0;       ///< that this pass goes to
  std::int64_t merged = 0;    ///< the merger's: elements of this pass that are measured
  PassMeasures of_hole;       ///< of a whole chunk of zeros on both sides, wherever in this pass
  bool has_hole = false;

  void begin(TensorPair of);
  void begin_pass(Pass next_pass);
  /// Joins what this pass found in the next chunk: in their order, which is part of the result.
  void merge(const PassMeasures& found);
  /// Joins a whole chunk that is a hole.
  void merge_hole(BlockScratch& scratch);
  /// Once all chunks are joined: the pass that is next; none if `measures` are complete.
  std::optional<Pass> end_pass(bool wants_kl);
};

/// True if a whole chunk is zeros on both sides that no file has blocks for; false where that
/// cannot be told.
bool is_hole(const TensorPair& pair, ElementRange range);

PairRules rules_of(const TensorPair& pair);

/// Of a pair that was measured, and of one that could not be.
PairMeasures measures_of(ChunkMeasures&& found);
PairMeasures failed_measures(std::string error);

// Measures as bytes for another process of the same program, and back, every bit as it was.
void pack(Packer& packer, const PairMeasures& measures);
PairMeasures unpack_pair_measures(Unpacker& packed);

void pack(Packer& packer, Pass pass, const PassMeasures& found);
PassMeasures unpack_pass_measures(Unpacker& packed, Pass pass);

}  // namespace opbench
