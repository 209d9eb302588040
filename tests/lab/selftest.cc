#include "tests/lab/selftest.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "harness/plan/case_graph.h"
#include "harness/run/example_case.h"
#include "harness/run/unit_runner.h"
#include "workers/interrupt.h"

namespace opbench {
namespace {

/// Three sizes of an operator: small and odd; with a tail after every vector; above a million.
struct Triple {
  const char* variant;
  std::array<const char*, 3> ids;
};

// The quick test uses the first three.
constexpr Triple kTriples[] = {
    {"softplus_v2",
     {"softplus[4095,fp32]", "softplus[3x16x57x57,fp16,NC1HWC0]", "softplus[1048591,fp32]"}},
    {"mat_mul_v2",
     {"matmul[33x17,17x31,fp32,ND]", "matmul[129x64,64x127,fp16,ND]",
      "matmul[1024x16,16x1025,fp32,ND]"}},
    {"concat_d",
     {"concat[15,16,fp32,ND,axis=0]", "concat[7x58x9x9,7x58x9x9,fp16,NCHW,axis=1]",
      "concat[524295,524296,fp32,ND,axis=0]"}},
    {"relu", {"relu[4095,fp16]", "relu[100003,fp32]", "relu[1048591,fp16]"}},
    {"add", {"add[1023,1023,fp32]", "add[100003,100003,bf16]", "add[1048591,1048591,fp32]"}},
    {"softmax_v2",
     {"softmax[17x15,fp32,ND]", "softmax[129x1000,fp16,ND]", "softmax[1049x1000,fp32,ND]"}},
    {"reduce_mean", {"mean[4095,fp32]", "mean[100003,fp16]", "mean[1048591,fp32]"}},
    {"softplus_v2_grad",
     {"softplus_grad[4095,4095,fp32]", "softplus_grad[100003,100003,fp16]",
      "softplus_grad[1048591,1048591,fp32]"}},
    {"gather_v2",
     {"index_select[3x58x5x5,29,fp32,NCHW,axis=1]",
      "index_select[8x116x14x14,116,fp16,NCHW,axis=1]",
      "index_select[16x128x28x28,128,fp32,NCHW,axis=1]"}},
    {"max_pool_with_argmax_v1",
     {"max_pool2d[1x3x9x9,fp32,NC1HWC0]", "max_pool2d[2x16x57x57,fp16,NC1HWC0]",
      "max_pool2d[8x64x112x112,fp32,NC1HWC0]"}},
};
constexpr std::size_t kQuickOperators = 3, kQuickSizes = 2;
constexpr int kSeeds = 20, kQuickSeeds = 2;

struct CaseToCheat {
  std::string id, variant;
};

std::vector<CaseToCheat> cases_to_cheat(bool is_adversarial) {
  const std::size_t operators = is_adversarial ? std::size(kTriples) : kQuickOperators;
  const std::size_t sizes = is_adversarial ? 3 : kQuickSizes;
  std::vector<CaseToCheat> cases;
  for (std::size_t i = 0; i < operators; ++i) {
    for (std::size_t k = 0; k < sizes; ++k) {
      cases.push_back({kTriples[i].ids[k], kTriples[i].variant});
    }
  }
  return cases;
}

class Selftest {
 public:
  using Progress = std::function<void(std::size_t, std::size_t, const std::string&)>;

  Selftest(const SelftestOptions& options, const Progress& progress)
      : options_(options),
        progress_(progress),
        cases_(cases_to_cheat(options.is_adversarial)),
        kernels_(RegisteredKernel::all()) {
    for (const Kernel* kernel : kernels_) {
      if (is_defective(*kernel)) result_.defective.push_back(kernel->key());
    }
    std::erase_if(kernels_, [](const Kernel* kernel) { return is_defective(*kernel); });
    result_.seeds = options.is_adversarial ? kSeeds : kQuickSeeds;
    total_ = cases_.size() * all_cheats().size() +
             kernels_.size() * static_cast<std::size_t>(result_.seeds);
  }

  SelftestResult run() {
    for (const CaseToCheat& c : cases_) result_.cases.push_back(c.id);
    for (const Cheat& cheat : all_cheats()) {
      CheatRow row{&cheat, 0, 0, {}, {}};
      for (const CaseToCheat& c : cases_) try_cheat(cheat, c, row);
      result_.cheats.push_back(std::move(row));
    }
    for (const Kernel* kernel : kernels_) run_honest(*kernel);
    result_.was_interrupted = interrupted();
    return std::move(result_);
  }

 private:
  void try_cheat(const Cheat& cheat, const CaseToCheat& c, CheatRow& row) {
    step(fmt::format("{} in {}", cheat.name, c.id));
    if (interrupted()) return;
    PlannedCase planned = plan_one(c.id, c.variant);
    const Problem& problem = planned.graph.nodes[0].problem;
    if (cheat.cheats_on != nullptr && !cheat.cheats_on(problem)) return;
    const Record record =
        run_planted(std::move(planned), cheat.wrap, short_run(cheat.seconds), options_.threads);
    ++row.tried;
    const std::string check = caught_by(record);
    if (check.empty()) {
      row.missed.push_back(fmt::format("{}: {}", c.id, name(record.status)));
    } else {
      ++row.caught;
      ++row.by[check];
    }
  }

  void run_honest(const Kernel& kernel) {
    const std::optional<Case> example = example_case(kernel);
    if (example) ++result_.variants;
    for (int seed = 1; seed <= result_.seeds; ++seed) {
      step(fmt::format("{}, seed {}", kernel.key(), seed));
      if (interrupted() || !example) continue;
      Case c = *example;
      c.data.has_seed = true;
      c.data.seed = static_cast<std::uint64_t>(seed);
      judge_honest(kernel, c);
    }
  }

  void judge_honest(const Kernel& kernel, const Case& c) {
    PlannedCase planned{c, build_graph(c), {}};
    planned.variants = {select_kernels(planned.graph, kernel)};
    RunOptions quick = short_run();
    quick.seconds_per_case = 0.0005;
    quick.repetitions = 1;
    PhaseTimes times;
    const Record record =
        run_work_unit(std::move(planned), quick, options_.threads, {}, times).at(0);
    ++result_.honest_runs;
    constexpr Status kFine[] = {Status::passed, Status::mistrusted, Status::xfailed};
    if (std::find(std::begin(kFine), std::end(kFine), record.status) != std::end(kFine)) return;
    result_.accusations.push_back(
        {record.case_id, record.variant, std::string(name(record.status)), record.reason});
  }

  void step(const std::string& what) {
    if (progress_) progress_(done_, total_, what);
    ++done_;
  }

  const SelftestOptions& options_;
  const Progress& progress_;
  std::vector<CaseToCheat> cases_;
  std::vector<const Kernel*> kernels_;
  std::size_t done_ = 0, total_ = 0;
  SelftestResult result_;
};

}  // namespace

bool SelftestResult::is_all_well() const {
  return accusations.empty() && std::all_of(cheats.begin(), cheats.end(), [](const CheatRow& row) {
           return row.tried > 0 && row.caught == row.tried;
         });
}

std::string caught_by(const Record& record) {
  if (record.status == Status::errored) return "exception";
  if (record.status != Status::failed) return {};
  const auto has = [&](std::string_view words) {
    return record.reason.find(words) != std::string::npos;
  };
  if (has("wrote outside")) return "guard zones";
  if (has("changed its input") || has("changed given tensors")) return "input";
  if (has("a timed call left")) return "skipped call";
  if (has("in a timed call:")) return "timed result";
  if (has("gives other bits")) return "repetition";
  return "verification";
}

SelftestResult run_selftest(const SelftestOptions& options, const Selftest::Progress& progress) {
  return Selftest(options, progress).run();
}

}  // namespace opbench
