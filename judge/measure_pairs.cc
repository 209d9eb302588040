#include "judge/measure_pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "judge/pair_parts.h"
#include "tensor/buffer.h"
#include "tensor/error.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

/// Elements of a pair that are in memory.
struct Piece {
  TensorPair pair = {};
  PairRules rules = {};
  ElementRange range = {};
  std::size_t actual_at = 0, expected_at = 0;  ///< bytes from the start of the buffer
  std::string error = {};                      ///< why it could not be read or measured
};

/// A thread's part and its memory.
struct Token {
  PairPart part;
  std::vector<Piece> pieces;
  std::size_t bytes = 0;  ///< of all pieces
  Buffer buffer;
  BlockScratch scratch;
};

// Memory of a thread: a chunk of 8-byte elements of both sides, and its scratch.
constexpr std::int64_t kTokenBytes = 2 * 8 * kMeasureChunk + std::int64_t{sizeof(Token)};

// Errors: throws Error if there is too little memory for one thread.
std::int64_t workers_for(const MeasureOptions& options) {
  if (options.memory_bytes < kTokenBytes) {
    throw Error(fmt::format("{} bytes of memory: comparing needs at least {}", options.memory_bytes,
                            kTokenBytes));
  }
  return std::min<std::int64_t>(options.memory_bytes / kTokenBytes, thread_count());
}

// Runs `work`, unless the piece has failed before.
template <class Work>
void attempt(Piece& piece, Work work) {
  if (!piece.error.empty()) return;
  try {
    work();
  } catch (const std::bad_alloc&) {
    piece.error = "not enough memory";
  } catch (const std::exception& error) {
    piece.error = error.what();
  }
}

std::size_t side_bytes(const PairSide& side, std::int64_t count) {
  return (static_cast<std::size_t>(count) * size_of(side.stored) + 63) / 64 * 64;
}

void place(Token& token, const PairParts::FindPair& find, std::size_t index, Piece& piece) {
  const PairPart& part = token.part;
  piece.pair = find(index);
  piece.rules = rules_of(piece.pair);
  if (piece.rules.tolerance.follows_scale && part.is_large() && part.pass != Pass::scale) {
    set_scale(piece.rules, part.scale);
  }
  piece.range = part.is_large() ? part.range : ElementRange{0, piece.pair.count};
  piece.actual_at = token.bytes;
  piece.expected_at = piece.actual_at + side_bytes(piece.pair.actual, piece.range.count);
  token.bytes = piece.expected_at + side_bytes(piece.pair.expected, piece.range.count);
}

void read(Token& token, const Piece& piece) {
  if (token.buffer.size() < token.bytes) {
    token.buffer = Buffer();
    token.buffer = Buffer(std::max(token.bytes, std::size_t{1} << 20));
  }
  auto* const to = static_cast<std::byte*>(token.buffer.data());
  const bool needs_actual = !token.part.is_large() || token.part.pass != Pass::scale;
  if (needs_actual) piece.pair.actual.read(piece.range, to + piece.actual_at);
  piece.pair.expected.read(piece.range, to + piece.expected_at);
}

PairChunk chunk_of(const Token& token, const Piece& piece) {
  const auto* const bytes = static_cast<const std::byte*>(token.buffer.data());
  return {&piece.rules, piece.range.first, piece.range.count, bytes + piece.actual_at,
          bytes + piece.expected_at};
}

PairMeasures measure_small(Token& token, Piece& piece, bool wants_kl) {
  const PairChunk chunk = chunk_of(token, piece);
  if (piece.rules.tolerance.follows_scale) {
    Magnitudes magnitudes;
    magnitudes.add(piece.rules.expected, chunk.expected, chunk.count, true);
    set_scale(piece.rules, magnitudes.scale());
  }
  ChunkMeasures found = measure_chunk(chunk, token.scratch);
  if (wants_kl && has_no_divergence(found.sums))
    set_kl(found.sums, no_divergence());
  else if (wants_kl)
    set_kl(found.sums, measure_chunk_kl(chunk, kl_scales(found.sums), token.scratch));
  return measures_of(std::move(found));
}

PartMeasures measure(Token& token, bool wants_kl) {
  PartMeasures found;
  for (Piece& piece : token.pieces) {
    if (token.part.is_large()) {
      attempt(piece, [&] {
        found.chunks = pack_all(measure_pass(token.part.pass, chunk_of(token, piece),
                                             token.part.scales, token.scratch));
      });
      found.error = std::move(piece.error);
      continue;
    }
    PairMeasures& measures = found.pairs.emplace_back();
    attempt(piece, [&] { measures = measure_small(token, piece, wants_kl); });
    if (!piece.error.empty()) measures = failed_measures(std::move(piece.error));
  }
  return found;
}

/// Threads that measure parts of a chunk at most: they read one after the other, in the order of
/// the parts, and measure side by side.
class Workers {
 public:
  using Next = std::function<std::optional<PairPart>()>;
  using Take = std::function<void(const PairPart& part, PartMeasures&& found)>;

  /// `next` may have further parts once results were taken.
  Workers(const PairParts::FindPair& find, const MeasureOptions& options, const MeasureHooks& hooks,
          Next next, Take take)
      : find_(find),
        options_(options),
        hooks_(hooks),
        next_(std::move(next)),
        take_(std::move(take)) {}

  void run() {
    parallel_blocks(workers_for(options_), [&](std::int64_t) { work(); });
  }

 private:
  void work() {
    try {
      const auto token = std::make_unique<Token>();
      while (read_next(*token)) {
        PartMeasures found = measure(*token, options_.wants_kl);
        const std::lock_guard lock(mutex_);
        --open_;
        changed_.notify_one();  // only the thread that is to read waits
        take_(token->part, std::move(found));
      }
    } catch (...) {
      cut_off();  // no other thread waits for this part
      throw;
    }
  }

  // False if there is no more work.
  bool read_next(Token& token) {
    const std::lock_guard reading(reading_);
    std::optional<PairPart> part = next_part();
    if (!part) return false;
    token.part = std::move(*part);
    token.pieces.assign(token.part.pairs.size(), {});
    token.bytes = 0;
    for (std::size_t i = 0; i < token.pieces.size(); ++i) {
      attempt(token.pieces[i], [&] { place(token, find_, token.part.pairs[i], token.pieces[i]); });
    }
    for (Piece& piece : token.pieces) {
      attempt(piece, [&] { read(token, piece); });
      if (!piece.error.empty() && hooks_.stop && hooks_.stop()) return cut_off();
    }
    bytes_read_ += token.part.bytes;
    if (hooks_.progress) hooks_.progress(token.part.pairs.back(), bytes_read_);
    return true;
  }

  std::optional<PairPart> next_part() {
    std::unique_lock lock(mutex_);
    std::optional<PairPart> part;
    while (!is_cut_off_ && !(part = next_()) && open_ > 0) changed_.wait(lock);
    if (part) ++open_;
    return part;
  }

  // Ends the work of all threads, as after a read that failed because the run was stopped.
  bool cut_off() {
    const std::lock_guard lock(mutex_);
    is_cut_off_ = true;
    changed_.notify_one();
    return false;
  }

  const PairParts::FindPair& find_;
  const MeasureOptions& options_;
  const MeasureHooks& hooks_;
  const Next next_;
  const Take take_;

  std::mutex reading_;
  std::int64_t bytes_read_ = 0;

  std::mutex mutex_;  // of all below, `next_` and `take_`; taken after `reading_`
  std::condition_variable changed_;
  std::size_t open_ = 0;  ///< parts without results
  bool is_cut_off_ = false;
};

// Chunks of a large pair, side by side.
PartMeasures measure_chunks(const PairPart& part, const PairParts::FindPair& find,
                            const MeasureOptions& options) {
  std::int64_t done = 0;
  const auto next = [&]() -> std::optional<PairPart> {
    if (done == part.range.count) return std::nullopt;
    PairPart chunk = part;
    chunk.range = {part.range.first + done, std::min(kMeasureChunk, part.range.count - done)};
    done += chunk.range.count;
    return chunk;
  };
  std::map<std::int64_t, PartMeasures> chunks;  // by first element
  const auto take = [&](const PairPart& chunk, PartMeasures&& found) {
    if (!found.error.empty()) done = part.range.count;
    chunks[chunk.range.first] = std::move(found);
  };
  Workers(find, options, {}, next, take).run();
  PartMeasures all;
  for (auto& [first, found] : chunks) {
    if (all.error.empty()) all.error = std::move(found.error);
    all.chunks += found.chunks;
  }
  return all;
}

}  // namespace

std::string measure_part(std::string_view text, const PairParts::FindPair& find,
                         const MeasureOptions& options) {
  const auto part = Unpacker(text).get<PairPart>();
  if (part.is_large()) return pack_all(part, measure_chunks(part, find, options));
  PartMeasures found;
  found.pairs.resize(part.pairs.size());
  measure_pairs(
      part.pairs.size(), [&](std::size_t i) { return find(part.pairs[i]); }, options, {},
      [&](std::size_t i, PairMeasures&& measures) { found.pairs[i] = std::move(measures); });
  return pack_all(part, found);
}

void measure_pairs(std::size_t count, const std::function<TensorPair(std::size_t)>& pair,
                   const MeasureOptions& options, const MeasureHooks& hooks, const PairSink& done) {
  PairParts parts(count, pair, options, kThreadPart, done);
  MeasureHooks with_holes = hooks;
  if (hooks.progress) {
    with_holes.progress = [&](std::size_t index, std::int64_t bytes) {
      hooks.progress(index, bytes + parts.hole_bytes());
    };
  }
  Workers(
      pair, options, with_holes, [&] { return parts.next(!(hooks.stop && hooks.stop())); },
      [&](const PairPart& part, PartMeasures&& found) { parts.take(part, std::move(found)); })
      .run();
}

}  // namespace opbench
