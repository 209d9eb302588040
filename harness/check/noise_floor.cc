#include "harness/check/noise_floor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "harness/check/stages.h"
#include "harness/record/samples.h"

namespace opbench::check {
namespace {

constexpr std::size_t kCases = 3, kAttempts = 6, kLeastRounds = 6;
constexpr double kShareOfBudget = 0.25;
constexpr int kTries = 4;
// The median of A/A rounds strays by more standard errors than this about once in 400 times.
constexpr double kErrorsOfFloor = 3;

/// One build against itself.
class NullComparison {
 public:
  NullComparison(Peer& base, Peer& null, const OpenRequest& how, const Budget& budget)
      : run_(base, null), how_(how), budget_(budget) {}

  /// The smallest change that the verdict's rounds of this case can show; none where nothing could
  /// be timed.
  std::optional<double> floor_of(const ComparedCase& compared) {
    try {
      ComparedVariant variant;
      if (!open(compared, variant)) return std::nullopt;
      take_rounds(variant);
      if (variant.item.is_unfinished) throw ChildLost(variant.item.evidence);
      run_.close();
      const std::vector<double> ratios = log_ratios(variant.times.screening);
      if (!variant.is_open || ratios.size() < kLeastRounds) return std::nullopt;
      const double error = median_standard_error(ratios, kVerdictRounds);
      return std::expm1(std::max(kErrorsOfFloor * error, std::fabs(median_of(ratios))));
    } catch (const ChildLost& lost) {
      lost_.push_back(fmt::format("a worker was lost while noise was measured with {}: {}",
                                  compared.spec.id, lost.what()));
    } catch (const PeerError&) {  // says so again when the case has its turn
    }
    return std::nullopt;
  }

  /// A worker that is lost here need not be lost again when its case has its turn.
  std::vector<std::string> lost() { return std::move(lost_); }

 private:
  // Those before the budget ends count: long calls have few.
  void take_rounds(ComparedVariant& variant) {
    constexpr int kInTurn = 2;
    for (int taken = 0; taken < kScreeningRounds && variant.is_open; taken += kInTurn) {
      if (!run_.measure({&variant}, &PairedTimes::screening, kInTurn, budget_)) return;
    }
  }

  // The first variant that can be timed.
  bool open(const ComparedCase& compared, ComparedVariant& variant) {
    const OpenRequest request = base_request(compared, how_);
    const OpenReply reply = run_.open_base(request);
    run_.open_current(request);
    const auto ready = std::find_if(
        reply.variants.begin(), reply.variants.end(),
        [](const OpenedVariant& opened) { return opened.status == Status::unverified; });
    if (ready == reply.variants.end()) return false;
    variant.item.variant = ready->name;
    variant.is_open = true;
    return true;
  }

  PairedRun run_;
  const OpenRequest& how_;
  const Budget& budget_;
  std::vector<std::string> lost_;
};

// None where nothing could be timed, or the budget ended first.
std::optional<double> typical_floor(NullComparison& comparison,
                                    const std::vector<const ComparedCase*>& known,
                                    const Budget& budget, const BeforeCase& before) {
  const std::size_t attempts = std::min(known.size(), kAttempts);
  std::vector<double> floors;
  for (std::size_t i = 0; i < attempts && floors.size() < kCases && !budget.is_spent(); ++i) {
    // From the front and from the middle in turn, so that the first that work are spread out.
    const std::size_t turn = i / 2 + (i % 2 == 0 ? 0 : (attempts + 1) / 2);
    const ComparedCase& compared = *known[turn * known.size() / attempts];
    before(i, attempts, compared);
    if (const auto floor = comparison.floor_of(compared)) floors.push_back(*floor);
  }
  if (floors.empty()) return std::nullopt;
  return median_of(floors);
}

}  // namespace

NoiseFloor measure_noise_floor(Peer& base, Peer& null, const std::vector<ComparedCase>& cases,
                               OpenRequest how, const Budget& budget, const BeforeCase& before) {
  std::vector<const ComparedCase*> known;
  for (const ComparedCase& compared : cases) {
    if (compared.base) known.push_back(&compared);
  }
  how.verify = false;
  const double now_s = budget.now_s();
  const Budget share{budget.now_s, now_s + kShareOfBudget * (budget.end_s - now_s)};
  NullComparison comparison(base, null, how, share);
  std::optional<double> floor = typical_floor(comparison, known, share, before);
  for (int i = 1; i < kTries && floor > kLargestNoiseFloor; ++i) {
    base.restart();
    null.restart();
    const std::optional<double> again = typical_floor(comparison, known, share, before);
    if (!again) break;
    floor = again;
  }
  null.restart();
  return {floor, comparison.lost()};
}

}  // namespace opbench::check
