// Sums are computed by hand from x = {1, 2, 3, 4}, y = {1, 2, 3, 5}.
#include "compare/msaccucmp/msaccucmp_metrics.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "tensor/error.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

PairMeasures four_elements() {
  PairMeasures measures;
  MsaccucmpSums& s = measures.sums;
  s.count = 4;
  s.xx = 30, s.yy = 39, s.xy = 34;
  s.diff_sq = 1, s.diff_abs = 1, s.max_diff = 1;
  s.rel = 0.2, s.max_rel = 0.2;
  s.x_min = 1, s.x_max = 4, s.y_min = 1, s.y_max = 5;
  s.x_mean = 2.5, s.y_mean = 2.75;
  s.x_spread = 5, s.y_spread = 8.75;
  return measures;
}

MetricCell cell(Metric metric, const PairMeasures& measures, Dims shape = {4}) {
  return metric_cell(metric, {measures, false, std::move(shape), "/A/1/input/x", "/B/1/input/x"});
}

std::string text(Metric metric, const PairMeasures& measures) {
  EXPECT_EQ(cell(metric, measures).reason, "");
  return cell(metric, measures).text;
}

TEST(MsaccucmpMetrics, FourElementsByHand) {
  const PairMeasures m = four_elements();
  EXPECT_EQ(text(Metric::cosine_similarity, m), "0.993999");  // 34/sqrt(30*39)
  EXPECT_EQ(text(Metric::max_absolute_error, m), "1.000000");
  EXPECT_EQ(text(Metric::accumulated_relative_error, m), "0.200000");
  EXPECT_EQ(text(Metric::relative_euclidean_distance, m), "0.160128");  // 1/sqrt(39)
  EXPECT_EQ(text(Metric::standard_deviation, m), "(2.500;1.118),(2.750;1.479)");
  EXPECT_EQ(text(Metric::mean_absolute_error, m), "0.250000");
  EXPECT_EQ(text(Metric::root_mean_square_error, m), "0.500000");
  EXPECT_EQ(text(Metric::max_relative_error, m), "0.200000");
  EXPECT_EQ(text(Metric::mean_relative_error, m), "0.050000");
}

// N(x) = {2^-23, 1/3, 2/3, 1} and N(y) = {2^-23, 1/4, 1/2, 1}. The divergence is the sum of
// p*log(p/q).
TEST(MsaccucmpMetrics, KullbackLeiblerOfScaledValues) {
  PairMeasures m = four_elements();
  const double tiny = std::ldexp(1, -23);
  const double nx[] = {tiny, 1 / 3., 2 / 3., 1}, ny[] = {tiny, 1 / 4., 1 / 2., 1};
  double wanted = 0;
  for (int i = 0; i < 4; ++i) {
    m.sums.kl_x += nx[i], m.sums.kl_y += ny[i];
    m.sums.kl_log += nx[i] * std::log(nx[i] / ny[i]);
  }
  for (int i = 0; i < 4; ++i) {
    const double p = nx[i] / m.sums.kl_x, q = ny[i] / m.sums.kl_y;
    wanted += p * std::log(p / q);
  }
  EXPECT_NEAR(std::stod(text(Metric::kullback_leibler_divergence, m)), wanted, 5e-7);
}

TEST(MsaccucmpMetrics, AllZeroTensors) {
  PairMeasures m = four_elements();
  m.sums.xx = m.sums.yy = m.sums.xy = 0;
  EXPECT_EQ(text(Metric::cosine_similarity, m), "1.0");
  EXPECT_EQ(text(Metric::relative_euclidean_distance, m), "0.000000");
  m.sums.yy = 39;
  EXPECT_EQ(cell(Metric::cosine_similarity, m).text, "NaN");
  EXPECT_EQ(cell(Metric::cosine_similarity, m).reason,
            "Cannot compare by Cosine Similarity. All the data is zero in /A/1/input/x.");
  std::swap(m.sums.xx, m.sums.yy);
  EXPECT_THAT(cell(Metric::cosine_similarity, m).reason, HasSubstr("zero in /B/1/input/x."));
}

// msaccucmp calls a tensor a scalar if the sum of its extents equals their number.
TEST(MsaccucmpMetrics, WhatItCallsAScalar) {
  const PairMeasures m = four_elements();
  for (const Dims& shape : {Dims{}, Dims{1}, Dims{1, 1, 1}, Dims{0, 2}, Dims{2, 0}}) {
    EXPECT_EQ(cell(Metric::cosine_similarity, m, shape).text, "1.000000");
    EXPECT_EQ(cell(Metric::cosine_similarity, m, shape).reason, "This tensor is scalar.");
  }
  EXPECT_EQ(cell(Metric::cosine_similarity, m, {0, 3}).reason, "");
}

TEST(MsaccucmpMetrics, EmptyTensors) {
  const PairMeasures empty;
  for (const Metric metric : {Metric::max_absolute_error, Metric::kullback_leibler_divergence,
                              Metric::max_relative_error}) {
    EXPECT_EQ(cell(metric, empty, {0}).text, "NaN");
    EXPECT_EQ(cell(metric, empty, {0}).reason,
              "Failed to execute 'compare' in '" + std::string(name(metric)) +
                  "'. zero-size array to reduction operation maximum which has no identity");
  }
  EXPECT_EQ(cell(Metric::cosine_similarity, empty, {0}).text, "1.0");
  EXPECT_EQ(text(Metric::accumulated_relative_error, empty), "0.000000");
  EXPECT_EQ(text(Metric::standard_deviation, empty), "(nan;nan),(nan;nan)");
  EXPECT_EQ(text(Metric::mean_absolute_error, empty), "nan");
}

TEST(MsaccucmpMetrics, ValuesBeyondFloat32AreShownAsTheyAre) {
  PairMeasures m = four_elements();
  m.sums.max_diff = 6e38;
  EXPECT_EQ(text(Metric::max_absolute_error, m).substr(0, 5), "60000");
  m.sums.max_diff = std::numeric_limits<double>::infinity();
  EXPECT_EQ(text(Metric::max_absolute_error, m), "inf");
  m.sums.max_diff = -std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(text(Metric::max_absolute_error, m), "nan");
}

TEST(MsaccucmpMetrics, Booleans) {
  PairMeasures m;
  m.booleans = {4, 2, 1, 1};
  const auto of = [&](Metric metric) {
    return metric_cell(metric, {m, true, {4}, "/A/1/input/x", "/A/1/input/x"});
  };
  EXPECT_EQ(of(Metric::cosine_similarity).text, "0.707107");
  EXPECT_EQ(of(Metric::mean_absolute_error).reason,
            "Algorithm MeanAbsoluteError does not support Boolean types.");
  EXPECT_THAT(of(Metric::relative_euclidean_distance).reason,
              HasSubstr("numpy boolean subtract, the `-` operator, is not supported"));
  m.booleans = {4, 2, 0, 0};
  EXPECT_EQ(of(Metric::relative_euclidean_distance).text, "0.000000");
}

TEST(MsaccucmpMetrics, ListsOfAlgorithms) {
  EXPECT_THAT(parse_metrics("all"), SizeIs(kMetricCount));
  EXPECT_THAT(parse_metrics("ALL"), SizeIs(kMetricCount));
  EXPECT_THAT(parse_metrics("3,0,MeanAbsoluteError,3"),
              ElementsAre(Metric::relative_euclidean_distance, Metric::cosine_similarity,
                          Metric::mean_absolute_error));
  for (const char* bad : {"", "10", "-1", "0,", ",", "cosine", "0 1", "0x1"}) {
    EXPECT_THROW(parse_metrics(bad), Error) << bad;
  }
}

}  // namespace
}  // namespace opbench
