#include "judge/measure_pairs.h"

#include <fmt/format.h>
#include <tbb/parallel_pipeline.h>

#include <algorithm>

#include "judge/pair_pipeline.h"
#include "tensor/error.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

// What a token takes: a chunk of 8-byte elements of both sides, and what it is measured with.
constexpr std::int64_t kTokenBytes = 2 * 8 * kMeasureChunk + std::int64_t{sizeof(Token)};

// One token for each thread, one to read ahead and one that waits for its turn to be merged.
std::size_t token_count(const MeasureOptions& options) {
  if (options.memory_bytes < kTokenBytes) {
    throw Error(fmt::format("{} bytes of memory: comparing needs at least {}", options.memory_bytes,
                            kTokenBytes));
  }
  return static_cast<std::size_t>(
      std::min<std::int64_t>(options.memory_bytes / kTokenBytes, thread_count() + 2));
}

void run(PairPipeline& pipeline, std::size_t tokens) {
  const auto read = [&](tbb::flow_control& flow) -> Token* {
    Token* const token = pipeline.read();
    if (token == nullptr) flow.stop();
    return token;
  };
  const auto measure = [&](Token* token) {
    pipeline.measure(*token);
    return token;
  };
  tbb::parallel_pipeline(
      tokens, tbb::make_filter<void, Token*>(tbb::filter_mode::serial_in_order, read) &
                  tbb::make_filter<Token*, Token*>(tbb::filter_mode::parallel, measure) &
                  tbb::make_filter<Token*, void>(tbb::filter_mode::serial_in_order,
                                                 [&](Token* token) { pipeline.merge(*token); }));
}

}  // namespace

void measure_pairs(std::size_t count, const std::function<TensorPair(std::size_t)>& pair,
                   const MeasureOptions& options, const MeasureHooks& hooks, const PairSink& done) {
  const std::size_t tokens = token_count(options);
  PairPipeline pipeline(count, pair, options, hooks, done);
  while (pipeline.has_work()) run(pipeline, tokens);
}

}  // namespace opbench
