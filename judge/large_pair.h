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

/// A pair is read for the scale of the expected side, if its tolerance follows that; for all
/// metrics; and for KL divergence.
enum class Pass : std::uint8_t { scale, metrics, divergence };

/// Results of a pass over one chunk; the fields of other passes are empty.
struct PassMeasures {
  Pass pass = Pass::metrics;
  Magnitudes magnitudes;
  ChunkMeasures metrics;
  KlSums divergence;
};

/// Measures a chunk for a pass. The scale needs only the expected side.
PassMeasures measure_pass(Pass pass, const PairChunk& chunk, const KlScales& scales,
                          BlockScratch& scratch);

/// A pair of more than one chunk, between reading its first chunk and measuring its last.
struct LargePair {
  TensorPair pair;
  PairRules rules;
  ChunkMeasures measures;
  KlSums second_pass;
  KlScales scales;
  Magnitudes magnitudes;
  Pass pass = Pass::metrics;  ///< that it is in
  std::int64_t next = 0;      ///< first element that is in no part yet
  std::int64_t end = 0;       ///< of this pass
  std::int64_t merged = 0;    ///< elements of this pass that are joined
  PassMeasures of_hole;       ///< of a whole chunk of zeros on both sides, wherever in this pass
  bool has_hole = false;

  void begin(TensorPair of);
  void begin_pass(Pass next_pass);
  /// Joins the results of this pass for the next chunk. The order of chunks affects the result.
  void merge(const PassMeasures& found);
  /// Joins a whole chunk that is a hole.
  void merge_hole(BlockScratch& scratch);
  /// The next pass, after all chunks are joined; empty if `measures` are complete.
  std::optional<Pass> end_pass(bool wants_kl);
};

/// True if a whole chunk is zeros on both sides without stored blocks in the files. False if that
/// is not known.
bool is_hole(const TensorPair& pair, ElementRange range);

/// Errors: throws Error if elements are of no known type.
PairRules rules_of(const TensorPair& pair);

/// Measures of a pair that was measured, and of one that could not be.
PairMeasures measures_of(ChunkMeasures&& found);
PairMeasures failed_measures(std::string error);

// Measures as bytes for another process of the same program, and back, every bit as it was.
template <class V>
void each_field(V& v, FieldsOf<PairMeasures> auto& measures) {
  v.fields(measures.sums, measures.booleans, measures.error, measures.is_done, measures.stats);
}

template <class V>
void each_field(V& v, FieldsOf<ChunkMeasures> auto& measures) {
  v.fields(measures.sums, measures.booleans, measures.stats);
}

template <class V>
void each_field(V& v, FieldsOf<PassMeasures> auto& found) {
  v.fields(found.pass);
  if (found.pass == Pass::scale) v.fields(found.magnitudes);
  if (found.pass == Pass::metrics) v.fields(found.metrics);
  if (found.pass == Pass::divergence) v.fields(found.divergence);
}

}  // namespace opbench
