// Source of the expected texts: print(array) of numpy 1.24.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <sstream>

#include "harness/report/shown_tensor.h"

namespace opbench {
namespace {

/// Elements in their order, and the number of elements that were read.
struct Elements {
  std::vector<Number> numbers;
  std::int64_t reads = 0;

  ReadShownNumbers reader() {
    return [this](ElementRange range) {
      reads += range.count;
      const auto first = numbers.begin() + range.first;
      return std::vector<Number>(first, first + range.count);
    };
  }
};

Elements counted(std::int64_t count, const std::function<Number(std::int64_t)>& value) {
  Elements elements;
  for (std::int64_t i = 0; i < count; ++i) elements.numbers.push_back(value(i));
  return elements;
}

TEST(ArrayText, SmallArraysAreAsNumpyPrintsThem) {
  const struct {
    Dims shape;
    StoredType type;
    std::vector<double> values;
    const char* text;
  } kCases[] = {
      {Dims{}, StoredType::f32, {3.5}, "3.5"},
      {Dims{0, 3}, StoredType::f32, {}, "[]"},
      {Dims{2, 3, 4},
       StoredType::f32,
       {0.0,  1.0,  2.0,  3.0,  4.0,  5.0,  6.0,  7.0,  8.0,  9.0,  10.0, 11.0,
        12.0, 13.0, 14.0, 15.0, 16.0, 17.0, 18.0, 19.0, 20.0, 21.0, 22.0, 23.0},
       "[[[ 0.  1.  2.  3.]\n  [ 4.  5.  6.  7.]\n  [ 8.  9. 10. 11.]]\n\n [[12. 13. 14. 15.]\n  "
       "[16. 17. 18. 19.]\n  [20. 21. 22. 23.]]]"},
      {Dims{4},
       StoredType::f32,
       {1.0, 2.5, -3.25, 0.3333333432674408},
       "[ 1.          2.5        -3.25        0.33333334]"},
      {Dims{3}, StoredType::f32, {1.0000000116860974e-07, 1.0, 2.0}, "[1.e-07 1.e+00 2.e+00]"},
      {Dims{4}, StoredType::f32, {NAN, 1.5, -INFINITY, INFINITY}, "[ nan  1.5 -inf  inf]"},
      {Dims{2}, StoredType::f32, {NAN, INFINITY}, "[nan inf]"},
      {Dims{3}, StoredType::f32, {NAN, 1.0, 100.0}, "[ nan   1. 100.]"},
      {Dims{2}, StoredType::f32, {99999992.0, 25000000.0}, "[99999992. 25000000.]"},
      {Dims{3},
       StoredType::f16,
       {0.333251953125, 6.097555160522461e-05, 1.5},
       "[3.333e-01 6.098e-05 1.500e+00]"},
      {Dims{2}, StoredType::f16, {65504.0, 60000.0}, "[65504. 60000.]"},
      {Dims{2}, StoredType::f16, {65504.0, 1.5}, "[6.55e+04 1.50e+00]"},
      {Dims{2}, StoredType::f64, {100000000.0, 2.0}, "[1.e+08 2.e+00]"},
      {Dims{3},
       StoredType::f64,
       {0.3333333333333333, -0.0, 0.001},
       "[ 0.33333333 -0.          0.001     ]"},
  };
  for (const auto& c : kCases) {
    SCOPED_TRACE(c.text);
    Elements elements;
    elements.numbers.assign(c.values.begin(), c.values.end());
    EXPECT_EQ(array_text(c.shape, c.type, elements.reader()), c.text);
  }
}

TEST(ArrayText, LinesAreWrappedAt75Columns) {
  Elements elements = counted(40, [](std::int64_t i) { return double(float(i) / 3.0f); });
  EXPECT_EQ(array_text({40}, StoredType::f32, elements.reader()),
            R"([ 0.          0.33333334  0.6666667   1.          1.3333334   1.6666666
  2.          2.3333333   2.6666667   3.          3.3333333   3.6666667
  4.          4.3333335   4.6666665   5.          5.3333335   5.6666665
  6.          6.3333335   6.6666665   7.          7.3333335   7.6666665
  8.          8.333333    8.666667    9.          9.333333    9.666667
 10.         10.333333   10.666667   11.         11.333333   11.666667
 12.         12.333333   12.666667   13.        ])");
}

TEST(ArrayText, LargeArraysAreSummarisedAndReadNoMore) {
  Elements floats = counted(40'000, [](std::int64_t i) { return double(float(i) / 8.0f); });
  EXPECT_EQ(array_text({20, 2000}, StoredType::f32, floats.reader()),
            R"([[0.000000e+00 1.250000e-01 2.500000e-01 ... 2.496250e+02 2.497500e+02
  2.498750e+02]
 [2.500000e+02 2.501250e+02 2.502500e+02 ... 4.996250e+02 4.997500e+02
  4.998750e+02]
 [5.000000e+02 5.001250e+02 5.002500e+02 ... 7.496250e+02 7.497500e+02
  7.498750e+02]
 ...
 [4.250000e+03 4.250125e+03 4.250250e+03 ... 4.499625e+03 4.499750e+03
  4.499875e+03]
 [4.500000e+03 4.500125e+03 4.500250e+03 ... 4.749625e+03 4.749750e+03
  4.749875e+03]
 [4.750000e+03 4.750125e+03 4.750250e+03 ... 4.999625e+03 4.999750e+03
  4.999875e+03]])");
  EXPECT_EQ(floats.reads, 36);
  Elements whole = counted(3000, [](std::int64_t i) { return i - 1500; });
  EXPECT_EQ(array_text({3, 1000}, StoredType::i64, whole.reader()),
            R"([[-1500 -1499 -1498 ...  -503  -502  -501]
 [ -500  -499  -498 ...   497   498   499]
 [  500   501   502 ...  1497  1498  1499]])");
  EXPECT_EQ(whole.reads, 18);
}

TEST(ArrayText, OneThousandElementsAreNotYetSummarised) {
  Elements elements = counted(1001, [](std::int64_t i) { return i; });
  EXPECT_EQ(array_text({1001}, StoredType::i64, elements.reader()),
            "[   0    1    2 ...  998  999 1000]");
  EXPECT_EQ(array_text({1000}, StoredType::i64, elements.reader()).find("..."), std::string::npos);
}

TEST(ArrayText, BooleansAreAlignedAndAlone) {
  Elements elements = counted(4, [](std::int64_t i) { return Number(i == 0 || i == 3); });
  EXPECT_EQ(array_text({2, 2}, StoredType::boolean, elements.reader()),
            "[[ True False]\n [False  True]]");
}

// numpy would print 6^5 elements of the first array and 2^32 of the second.
TEST(ArrayText, ManyAxesStayShort) {
  Elements five = counted(7 * 7 * 7 * 7 * 7, [](std::int64_t i) { return i; });
  const std::string text = array_text({7, 7, 7, 7, 7}, StoredType::i64, five.reader());
  EXPECT_EQ(text.substr(0, 34), "[[[[[    0 ...     6]\n    ...\n    ");
  EXPECT_EQ(five.reads, 32);
  Elements many = counted(1 << 11, [](std::int64_t i) { return i; });
  EXPECT_EQ(array_text(Dims(11, 2), StoredType::i64, many.reader()),
            "[   0    1    2 ... 2045 2046 2047]");
}

}  // namespace
}  // namespace opbench
