#include "judge/measure_pairs.h"

#include <fmt/format.h>
#include <tbb/parallel_pipeline.h>

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

#include "judge/pair_parts.h"
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

/// Some chunks of a large pair, in one of its passes.
struct LargePart {
  explicit LargePart(Unpacker& packed)
      : index(packed.get<std::uint64_t>()),
        pass(packed.get<Pass>()),
        first(packed.get<std::int64_t>()),
        count(packed.get<std::int64_t>()),
        scale(packed.get<double>()),
        scales(packed.get<KlScales>()) {}

  std::uint64_t index;
  Pass pass;
  std::int64_t first, count;
  double scale;  ///< of what is expected, once that is known
  KlScales scales;
};

LargePair large_pair(const LargePart& part, TensorPair pair) {
  LargePair large;
  large.index = static_cast<std::size_t>(part.index);
  large.begin(std::move(pair));
  large.begin_pass(part.pass);
  large.next = part.first;
  large.end = part.first + part.count;
  large.scales = part.scales;
  if (large.rules.tolerance.follows_scale && part.pass != Pass::scale) {
    set_scale(large.rules, part.scale);
  }
  return large;
}

// Numbers of each chunk, packed. Errors: throws Error that says why the part cannot be measured.
std::string measure_large(const LargePart& part, const PairParts::FindPair& find,
                          const MeasureOptions& options) {
  const std::size_t tokens = token_count(options);
  const MeasureHooks hooks;
  std::string error;
  const PairSink done = [&](std::size_t, PairMeasures&& found) { error = std::move(found.error); };
  Packer packer;
  PairPipeline pipeline(0, find, options, hooks, done);
  pipeline.add_part(large_pair(part, find(static_cast<std::size_t>(part.index))),
                    [&](const PassMeasures& chunk) { pack(packer, part.pass, chunk); });
  run(pipeline, tokens);
  if (!error.empty()) throw Error(error);
  return packer.take();
}

std::string large_result(const LargePart& part, const PairParts::FindPair& find,
                         const MeasureOptions& options) {
  std::string error, measures;
  try {
    measures = measure_large(part, find, options);
  } catch (const std::bad_alloc&) {
    error = "not enough memory";
  } catch (const Error& failure) {
    error = failure.what();
  }
  Packer packer;
  packer.add(false);
  packer.add(part.index);
  packer.add(part.first);
  packer.add(part.count);
  packer.add(error);
  packer.add(measures);
  return packer.take();
}

std::string small_result(Unpacker& packed, const PairParts::FindPair& find,
                         const MeasureOptions& options) {
  std::vector<std::size_t> pairs;
  while (!packed.is_empty()) pairs.push_back(static_cast<std::size_t>(packed.get<std::uint64_t>()));
  Packer packer;
  packer.add(true);
  measure_pairs(
      pairs.size(), [&](std::size_t i) { return find(pairs[i]); }, options, {},
      [&](std::size_t i, PairMeasures&& found) {
        packer.add(static_cast<std::uint64_t>(pairs[i]));
        pack(packer, found);
      });
  return packer.take();
}

}  // namespace

std::string measure_part(std::string_view part, const PairParts::FindPair& find,
                         const MeasureOptions& options) {
  Unpacker packed(part);
  if (packed.get<bool>()) return small_result(packed, find, options);
  return large_result(LargePart(packed), find, options);
}

void measure_pairs(std::size_t count, const std::function<TensorPair(std::size_t)>& pair,
                   const MeasureOptions& options, const MeasureHooks& hooks, const PairSink& done) {
  const std::size_t tokens = token_count(options);
  PairPipeline pipeline(count, pair, options, hooks, done);
  while (pipeline.has_work()) run(pipeline, tokens);
}

}  // namespace opbench
