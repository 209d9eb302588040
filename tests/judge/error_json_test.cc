#include "judge/error_json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

namespace opbench {
namespace {

using Json = nlohmann::ordered_json;

TEST(ErrorJson, HasTheCountsFromTheFirstBucketToTheLastThatHoldAny) {
  ErrorHistogram histogram;
  histogram.exact = 7;
  // Bucket b begins at 2^(b - 1 + kLowest): 2^-3 and 2^0.
  histogram.counts.add(static_cast<std::size_t>(-3 + 1 - ErrorHistogram::kLowest), 2);
  histogram.counts.add(static_cast<std::size_t>(1 - ErrorHistogram::kLowest), 1);
  Json value;
  add_histogram(&histogram, value);
  EXPECT_EQ(value, Json::parse(R"({"histogram_exact": 7, "histogram_first_exponent": -3,
                                   "histogram": [2, 0, 0, 1]})"));
}

TEST(ErrorJson, HasNoExponentWithoutAnErrorAndNothingUnmeasured) {
  ErrorHistogram histogram;
  histogram.exact = 3;
  Json equal, unmeasured;
  add_histogram(&histogram, equal);
  add_histogram(nullptr, unmeasured);
  EXPECT_EQ(equal, Json::parse(R"({"histogram_exact": 3, "histogram_first_exponent": null,
                                   "histogram": []})"));
  EXPECT_EQ(unmeasured, Json::parse(R"({"histogram_exact": null, "histogram_first_exponent": null,
                                        "histogram": []})"));
}

TEST(ErrorJson, HasTheMapInTwoDigitsAndNullForNaN) {
  const std::vector<double> actual = {1, 2.125, NAN, 4}, expected = {1, 2, 3, 4};
  const Json value = error_map_value(error_map(actual, expected, {2, 2}));
  EXPECT_EQ(value, Json::parse(R"({"shape": "2x2", "row_step": 1, "column_step": 1,
      "errors": [[0.0, 0.12], [null, 0.0]],
      "axes": [{"by_remainder": [0.12, null], "last": null, "before_last": 0.12},
               {"by_remainder": [null, 0.12], "last": 0.12, "before_last": null}]})"));
}

}  // namespace
}  // namespace opbench
