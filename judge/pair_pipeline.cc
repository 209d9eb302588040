#include "judge/pair_pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <new>
#include <utility>

#include "tensor/error.h"

namespace opbench {
namespace {

// What makes a token worth its trip: some ten microseconds of work, less than the cache holds.
constexpr std::size_t kTokenBytes = std::size_t{512} << 10;
constexpr std::size_t kTokenPairs = 256;

std::size_t aligned(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

std::size_t side_bytes(const PairSide& side, std::int64_t count) {
  return aligned(static_cast<std::size_t>(count) * size_of(side.stored));
}

std::size_t pair_bytes(const TensorPair& pair, std::int64_t count) {
  return side_bytes(pair.actual, count) + side_bytes(pair.expected, count);
}

bool is_for_scale(const Piece& piece) {
  return piece.large != nullptr && piece.large->pass == Pass::scale;
}

// What is read of it, without the padding between both sides.
std::int64_t payload(const Piece& piece) {
  const std::size_t actual = is_for_scale(piece) ? 0 : size_of(piece.rules.actual.stored);
  return piece.count * static_cast<std::int64_t>(actual + size_of(piece.rules.expected.stored));
}

PairChunk chunk_of(const Token& token, const Piece& piece) {
  const auto* bytes = static_cast<const std::byte*>(token.buffer.data());
  return {&piece.rules, piece.first, piece.count, bytes + piece.actual_at,
          bytes + piece.expected_at};
}

// Runs `work`; why it failed, if it did.
template <class Work>
std::string error_of(Work work) {
  try {
    work();
  } catch (const std::bad_alloc&) {
    return "not enough memory";
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

// Of a piece that has an error.
PairMeasures outcome(Piece& piece) {
  return piece.is_cut_off ? PairMeasures{} : failed_measures(std::move(piece.error));
}

void check(const TensorPair& pair) {
  assert(pair.count >= 0);
  if (pair.actual.stored == StoredType::none || pair.expected.stored == StoredType::none) {
    throw Error("elements of no known type cannot be measured");
  }
}

}  // namespace

PairPipeline::PairPipeline(std::size_t count, const std::function<TensorPair(std::size_t)>& pair,
                           const MeasureOptions& options, const MeasureHooks& hooks,
                           const PairSink& done)
    : count_(count), pair_(pair), options_(options), hooks_(hooks), done_(done) {}

// oneTBB orders what one stage writes before what the next one reads, but the thread sanitizer does
// not see that. A lock between them costs some nanoseconds a token.
void PairPipeline::hand_over() const { const std::lock_guard lock(mutex_); }

void PairPipeline::add_part(LargePair part, ChunkSink chunks) {
  const std::size_t index = part.index;
  reading_ = &large_.emplace(index, std::move(part)).first->second;
  chunks_ = std::move(chunks);
}

bool PairPipeline::has_work() const {
  hand_over();
  return reading_ != nullptr || !again_.empty() || (!is_stopped_ && next_index_ < count_);
}

Token* PairPipeline::read() {
  hand_over();
  if (hooks_.stop && hooks_.stop()) is_stopped_ = true;
  const bool is_chunk = next_large();
  if (!is_chunk && !fetch()) return nullptr;
  Token& token = take_token();
  if (is_chunk)
    read_chunk(token);
  else
    read_small(token);
  for (const Piece& piece : token.pieces) bytes_read_ += payload(piece);
  if (hooks_.progress) hooks_.progress(token.pieces.back().index, bytes_read_);
  hand_over();
  return &token;
}

// Makes sure that pair next_index_ is at hand; false if there is none or it is not to be begun.
bool PairPipeline::fetch() {
  if (is_stopped_ || next_index_ == count_) return false;
  if (is_fetched_) return true;
  fetch_error_ = error_of([&] {
    fetched_ = pair_(next_index_);
    check(fetched_);
  });
  if (!fetch_error_.empty()) fetched_ = {};
  is_fetched_ = true;
  return true;
}

// True if the next token is a chunk of a large pair, which `reading_` then is. Further passes come
// first: what they read was read not long ago.
bool PairPipeline::next_large() {
  if (reading_ != nullptr) return true;
  {
    const std::lock_guard lock(mutex_);
    if (!again_.empty()) {
      reading_ = again_.back();
      again_.pop_back();
      return true;
    }
  }
  if (!fetch() || fetched_.count <= kMeasureChunk) return false;
  start_large();
  return true;
}

void PairPipeline::start_large() {
  const std::lock_guard lock(mutex_);
  LargePair& large = large_[next_index_];
  large.index = next_index_;
  large.begin(std::move(fetched_));
  reading_ = &large;
  is_fetched_ = false;
  ++next_index_;
}

void PairPipeline::read_chunk(Token& token) {
  LargePair& large = *reading_;
  const std::int64_t count = std::min(kMeasureChunk, large.end - large.next);
  read_piece(token, large.pair,
             {.index = large.index,
              .rules = large.rules,
              .first = large.next,
              .count = count,
              .large = &large});
  large.next += count;
  if (large.next == large.end || !token.pieces.back().error.empty()) reading_ = nullptr;
}

void PairPipeline::read_small(Token& token) {
  do {
    if (fetch_error_.empty()) {
      read_piece(token, fetched_,
                 {.index = next_index_, .rules = rules_of(fetched_), .count = fetched_.count});
    } else {
      token.pieces.push_back({.index = next_index_, .error = fetch_error_});
    }
    is_fetched_ = false;
    ++next_index_;
  } while (token.pieces.size() < kTokenPairs && fetch() && fetched_.count <= kMeasureChunk &&
           token.used + pair_bytes(fetched_, fetched_.count) <= kTokenBytes);
}

void PairPipeline::read_piece(Token& token, const TensorPair& pair, Piece piece) {
  piece.is_hole = piece.large != nullptr && !chunks_ && is_hole(pair, {piece.first, piece.count});
  piece.error = error_of([&] {
    if (piece.is_hole) return;
    // Only an empty token grows: it holds what fits one already.
    const std::size_t bytes = token.used + pair_bytes(pair, piece.count);
    if (token.buffer.size() < bytes) {
      token.buffer = Buffer();
      token.buffer = Buffer(std::max(bytes, kTokenBytes));
    }
    piece.actual_at = token.used;
    piece.expected_at = token.used + side_bytes(pair.actual, piece.count);
    auto* to = static_cast<std::byte*>(token.buffer.data());
    if (!is_for_scale(piece)) pair.actual.read({piece.first, piece.count}, to + piece.actual_at);
    pair.expected.read({piece.first, piece.count}, to + piece.expected_at);
    token.used = bytes;
  });
  if (!piece.error.empty()) {
    piece.count = 0;
    piece.is_cut_off = hooks_.stop && hooks_.stop();
  }
  token.pieces.push_back(std::move(piece));
}

void PairPipeline::measure(Token& token) {
  hand_over();
  for (Piece& piece : token.pieces) {
    if (!piece.error.empty()) continue;
    if (piece.large != nullptr)
      measure_large(token, piece);
    else
      piece.found = measure_small(token, piece);
  }
  hand_over();
}

void PairPipeline::measure_large(Token& token, const Piece& piece) const {
  const LargePair& large = *piece.large;
  if (piece.is_hole) return;
  token.measures = measure_pass(large.pass, chunk_of(token, piece), large.scales, token.scratch);
}

PairMeasures PairPipeline::measure_small(Token& token, const Piece& piece) const {
  PairChunk chunk = chunk_of(token, piece);
  PairRules rules = piece.rules;
  chunk.rules = &rules;
  if (rules.tolerance.follows_scale) {
    Magnitudes magnitudes;
    magnitudes.add(rules.expected, chunk.expected, chunk.count, true);
    set_scale(rules, magnitudes.scale());
  }
  ChunkMeasures found = measure_chunk(chunk, token.scratch);
  if (options_.wants_kl && has_no_divergence(found.sums))
    set_kl(found.sums, no_divergence());
  else if (options_.wants_kl)
    set_kl(found.sums, measure_chunk_kl(chunk, kl_scales(found.sums), token.scratch));
  return measures_of(std::move(found));
}

void PairPipeline::merge(Token& token) {
  hand_over();
  for (Piece& piece : token.pieces) {
    if (piece.large == nullptr) {
      done_(piece.index, piece.error.empty() ? std::move(piece.found) : outcome(piece));
      continue;
    }
    LargePair& large = *piece.large;
    if (!piece.error.empty()) {
      finish(large, outcome(piece));
      continue;
    }
    if (chunks_) {
      chunks_(token.measures);
      continue;
    }
    if (piece.is_hole) {
      large.merge_hole(token.scratch);
    } else {
      large.merge(token.measures);
    }
    large.merged += piece.count;
    if (large.merged == large.end) finish_pass(large);
  }
  token.pieces.clear();
  token.used = 0;
  const std::lock_guard lock(mutex_);
  free_tokens_.push_back(&token);
}

void PairPipeline::finish_pass(LargePair& large) {
  if (const auto pass = large.end_pass(options_.wants_kl)) return start_pass(large, *pass);
  finish(large, measures_of(std::move(large.measures)));
}

void PairPipeline::start_pass(LargePair& large, Pass pass) {
  large.begin_pass(pass);
  const std::lock_guard lock(mutex_);
  again_.push_back(&large);
}

void PairPipeline::finish(LargePair& large, PairMeasures found) {
  const std::size_t index = large.index;
  done_(index, std::move(found));
  const std::lock_guard lock(mutex_);
  large_.erase(index);
}

Token& PairPipeline::take_token() {
  const std::lock_guard lock(mutex_);
  if (free_tokens_.empty()) {
    tokens_.push_back(std::make_unique<Token>());
    return *tokens_.back();
  }
  Token& token = *free_tokens_.back();
  free_tokens_.pop_back();
  return token;
}

}  // namespace opbench
