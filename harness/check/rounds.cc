#include "harness/check/rounds.h"

#include <algorithm>
#include <array>

#include "harness/check/paired_times.h"
#include "harness/check/same_code.h"

namespace opbench::check {
namespace {

void refuse_first_call(ComparedVariant& variant) {
  variant.is_open = false;
  variant.item.verdict = ChangeVerdict::incomparable;
  variant.item.evidence = "the baseline is older and cannot time first calls";
}

}  // namespace

template <class Action>
void Rounds::guarded(ComparedCase& compared, Action action) {
  PairedRun run(base_, current_);
  try {
    action(run);
  } catch (const ChildLost& lost) {
    compared.fail(lost.what());
  } catch (const WorkerError& error) {
    compared.fail(error.what());
  }
}

void Rounds::screen(ComparedCase& compared) {
  guarded(compared, [&](PairedRun& run) {
    run.set_pair(pairs_++);
    OpenRequest how = how_;
    how.sample_seconds *= kScreeningShare;
    open_in_both(compared, run, how, accuracy_);
    settle_same_code(compared, base_, current_);
    if (!take_screening_rounds(compared, run)) {
      for (ComparedVariant* variant : compared.open_variants()) variant->leave_unmeasured();
    }
    run.close();
  });
}

// Returns false if the budget ended first.
bool Rounds::take_screening_rounds(ComparedCase& compared, PairedRun& run) {
  constexpr int kFirst = kScreeningRounds / kScreeningPairs;
  constexpr double kLongOpening = 1;
  int pairs = kScreeningPairs, rounds = kFirst;
  for (int i = 0; i < pairs; ++i) {
    if (compared.open_variants().empty()) return true;
    const double before = budget_.now_s();
    if (i > 0) open_in_fresh_processes(compared, run, true);
    if (i == 1 && budget_.now_s() - before > kLongOpening) {
      pairs = kLeastScreeningPairs;
      rounds = (kScreeningRounds - kFirst) / (pairs - 1);
    }
    if (!run.measure(compared.open_variants(), &PairedTimes::screening, rounds, budget_)) {
      return false;
    }
  }
  return true;
}

void Rounds::measure(ComparedCase& compared, StageMember stage) {
  guarded(compared, [&](PairedRun& run) {
    run.set_null(&null_);
    for (int i = 0; i < kPairsOfProcesses; ++i) {
      const std::vector<ComparedVariant*> open = compared.open_variants();
      if (open.empty()) return;
      null_.restart();
      open_in_fresh_processes(compared, run, false);
      if (!run.measure(open, stage, kRoundsPerPair, budget_)) return;
    }
  });
}

void Rounds::take_first_calls(const ComparedCase& compared, ComparedVariant& variant,
                              StageMember stage, int pairs) {
  const bool has_null = stage != &PairedTimes::screening;
  try {
    for (int i = 0; i < pairs && variant.is_open && !budget_.is_spent(); ++i) {
      take_first_call(compared, variant, stage, has_null);
    }
  } catch (const ChildLost& lost) {
    variant.fail(lost.what(), false);
  } catch (const WorkerError& error) {
    variant.fail(error.what(), false);
  }
}

// Runs one process after the other, from its start to its call, in all orders in turn, because the
// order affects the state of the machine.
void Rounds::take_first_call(const ComparedCase& compared, ComparedVariant& variant,
                             StageMember stage, bool has_null) {
  enum Process { null, base, current };
  const int turn = pairs_++;
  std::array order = {null, base, current};
  for (int i = 0; i < turn % 6; ++i) std::next_permutation(order.begin(), order.end());
  std::array<Sampled, 3> sampled;
  for (const Process process : order) {
    if (process == null && !has_null) continue;
    WorkerClient& worker = process == null ? null_ : process == base ? base_ : current_;
    OpenRequest request =
        process == current ? current_request(compared, how_) : base_request(compared, how_);
    request.verify = false;  // already done
    request.first_call = true;
    request.layout = static_cast<std::uint64_t>(turn) + 1;
    request.variants = {variant.item.variant};
    worker.restart();
    if (!worker.open(request).first_call) return refuse_first_call(variant);
    sampled[process] = worker.sample(variant.item.variant);
    worker.restart();
  }
  PairedTimes::Stage& times = variant.times.*stage;
  times.add(sampled[base].us, sampled[current].us, turn);
  if (has_null) times.null_us.push_back(sampled[null].us);
  const bool is_base_wrong = !results_error(sampled[base], variant.base_results).empty() ||
                             !results_error(sampled[null], variant.base_results).empty();
  const std::string wrong = results_error(sampled[current], variant.current_results);
  if (!wrong.empty() && !is_base_wrong) variant.fail(wrong, true);
}

void Rounds::open_in_fresh_processes(const ComparedCase& compared, PairedRun& run,
                                     bool is_screening) {
  base_.restart();
  current_.restart();
  run.set_pair(pairs_++);
  OpenRequest base = base_request(compared, how_), current = current_request(compared, how_);
  for (OpenRequest* request : {&base, &current}) {
    request->verify = false;  // already done
    if (is_screening) request->sample_seconds *= kScreeningShare;
    request->variants.clear();
    for (const ComparedVariant& variant : compared.variants) {
      if (variant.is_open) request->variants.push_back(variant.item.variant);
    }
  }
  run.open_base(base);
  run.open_current(current);
}

}  // namespace opbench::check
