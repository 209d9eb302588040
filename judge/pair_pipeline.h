#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "judge/large_pair.h"
#include "tensor/buffer.h"

namespace opbench {

/// Elements of a pair in a token: all of them, or a chunk of a large pair.
struct Piece {
  std::size_t index = 0;
  PairRules rules = {};
  std::int64_t first = 0, count = 0;
  std::size_t actual_at = 0, expected_at = 0;  ///< bytes from the start of the token's buffer
  LargePair* large = nullptr;
  PairMeasures found = {};  ///< of a small pair
  std::string error = {};   ///< why it could not be read
  bool is_cut_off = false;  ///< because the run was stopped
  bool is_hole = false;     ///< a chunk that was not read
};

/// What goes through the pipeline: one chunk of a large pair, or as many small pairs as make the
/// trip worth it.
struct Token {
  Buffer buffer;
  std::size_t used = 0;  ///< bytes of it
  std::vector<Piece> pieces;
  PassMeasures measures;  ///< of a chunk
  BlockScratch scratch;
};

/// Takes what a pass found in a chunk; in their order.
using ChunkSink = std::function<void(const PassMeasures& found)>;

/// The stages that measure_pairs and measure_part run: read and merge one at a time and in order,
/// measure beside them. A large pair's next pass is read once the one before is merged, so that the
/// reader may run out of work while there is some to come: run the pipeline until `has_work` is
/// false.
class PairPipeline {
 public:
  PairPipeline(std::size_t count, const std::function<TensorPair(std::size_t)>& pair,
               const MeasureOptions& options, const MeasureHooks& hooks, const PairSink& done);

  /// Reads a large pair from its `next` element to its `end` in the pass that it is in. What is
  /// found goes to `chunks` and is not joined; only an error goes to `done`.
  void add_part(LargePair part, ChunkSink chunks);

  bool has_work() const;
  /// The next token; null if there is none for now.
  Token* read();
  void measure(Token& token);
  void merge(Token& token);

 private:
  bool fetch();
  bool next_large();
  void start_large();
  void read_chunk(Token& token);
  void read_small(Token& token);
  void read_piece(Token& token, const TensorPair& pair, Piece piece);
  void measure_large(Token& token, const Piece& piece) const;
  PairMeasures measure_small(Token& token, const Piece& piece) const;
  void finish_pass(LargePair& large);
  void start_pass(LargePair& large, Pass pass);
  void finish(LargePair& large, PairMeasures found);
  Token& take_token();
  void hand_over() const;

  std::size_t count_;
  const std::function<TensorPair(std::size_t)>& pair_;
  const MeasureOptions& options_;
  const MeasureHooks& hooks_;
  const PairSink& done_;
  ChunkSink chunks_;  ///< of a part

  // The reader's.
  std::size_t next_index_ = 0;
  TensorPair fetched_;       ///< pair next_index_, if is_fetched_
  std::string fetch_error_;  ///< why it is not to be had
  bool is_fetched_ = false, is_stopped_ = false;
  LargePair* reading_ = nullptr;
  std::int64_t bytes_read_ = 0;

  // Shared between the stages.
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Token>> tokens_;
  std::vector<Token*> free_tokens_;
  std::vector<LargePair*> again_;           ///< to be read once more
  std::map<std::size_t, LargePair> large_;  ///< by their index
};

}  // namespace opbench
