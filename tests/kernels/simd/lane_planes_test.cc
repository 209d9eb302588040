#include "kernels/simd/lane_planes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "kernels/simd/cube.h"
#include "tensor/buffer.h"
#include "tensor/elements.h"
#include "tests/support.h"

namespace opbench {
namespace {

constexpr std::int64_t kPlanes = 5, kBlocks = 2;
constexpr std::int64_t kPlaces[] = {0, 1, 2, 3, 4, 5, 7, 49, 127, 128, 129, 131, 260};
constexpr DType kTypes[] = {DType::fp32, DType::fp16, DType::bf16};

// Planes of numbers that every dtype holds, from -2 to 2 in eighths.
struct Planes {
  LanePlanes planes;
  Buffer stored;
  std::vector<float> values;

  Planes(DType dtype, std::int64_t places, std::uint64_t seed)
      : planes{dtype, places, 1, kPlanes - 1, kBlocks},
        stored(static_cast<std::size_t>(kPlanes * places * kCube) * size_of(dtype)) {
    for (const std::uint8_t byte :
         noise(static_cast<std::size_t>(kPlanes * places * kCube), seed)) {
      values.push_back((float(byte % 33) - 16) / 8);
    }
    store_floats(dtype, values.data(), static_cast<std::int64_t>(values.size()), stored.data());
  }

  float value(std::int64_t plane, std::int64_t place, std::int64_t lane) const {
    return values[static_cast<std::size_t>((plane * planes.places + place) * kCube + lane)];
  }
  std::vector<float> read(const Buffer& from) const {
    std::vector<float> result(values.size());
    load_floats(planes.dtype, from.data(), static_cast<std::int64_t>(result.size()), result.data());
    return result;
  }
};

template <class Test>
void for_all_planes(Test test) {
  for (const DType dtype : kTypes) {
    for (const std::int64_t places : kPlaces) {
      on_every_isa([&] { test(dtype, places); });
    }
  }
}

}  // namespace

// Multiples of 1/64 below 2^10 are exact in fp32 in every order.
TEST(LanePlanes, SumsOfSquaresAndProductsAreExact) {
  for_all_planes([](DType dtype, std::int64_t places) {
    const Planes x(dtype, places, 1), dy(dtype, places, 2);
    std::vector<float> mean;
    for (std::int64_t i = 0; i < kBlocks * kCube; ++i) mean.push_back(float(i % 7) / 4);
    std::vector<LanePair> squares(kPlanes), products(kPlanes);
    sum_and_squares(x.planes, x.stored.data(), squares.data());
    sum_and_products(x.planes, dy.stored.data(), x.stored.data(), mean.data(), products.data());
    for (std::int64_t plane = 0; plane < kPlanes; ++plane) {
      for (std::int64_t lane = 0; lane < kCube; ++lane) {
        double sum = 0, square = 0, dsum = 0, product = 0;
        const double middle =
            double(mean[static_cast<std::size_t>(plane % kBlocks * kCube + lane)]);
        for (std::int64_t i = 0; i < places && plane > 0 && plane < kPlanes - 1; ++i) {
          const double a = double(x.value(plane, i, lane)), b = double(dy.value(plane, i, lane));
          sum += a, square += a * a, dsum += b, product += b * (a - middle);
        }
        const auto at = static_cast<std::size_t>(plane);
        EXPECT_EQ(double(squares[at].first[lane]), sum) << places << " " << plane << " " << lane;
        EXPECT_EQ(double(squares[at].second[lane]), square) << places << " " << plane;
        EXPECT_EQ(double(products[at].first[lane]), dsum) << places << " " << plane;
        EXPECT_EQ(double(products[at].second[lane]), product) << places << " " << plane;
      }
    }
  });
}

// The header promises an order of additions. These sums depend on the order.
TEST(LanePlanes, SumsHaveOneOrder) {
  on_every_isa([] {
    for (const std::int64_t places : kPlaces) {
      std::vector<float> x(static_cast<std::size_t>(places * kCube));
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1 / float(3 + i * 7 % 1009);
      LanePair sums[1];
      sum_and_squares({DType::fp32, places, 0, 1, 1}, x.data(), sums);
      for (std::size_t lane = 0; lane < 16; ++lane) {
        float chains[4] = {}, squares[4] = {};
        for (std::size_t i = 0; i < static_cast<std::size_t>(places); ++i) {
          const float value = x[i * 16 + lane];
          chains[i % 4] += value, squares[i % 4] += value * value;
        }
        EXPECT_EQ(sums[0].first[lane], (chains[0] + chains[2]) + (chains[1] + chains[3]));
        EXPECT_EQ(sums[0].second[lane], (squares[0] + squares[2]) + (squares[1] + squares[3]));
      }
    }
  });
}

TEST(LanePlanes, SumsOfLanesHaveOneOrder) {
  constexpr float kScale = 1 / 7.0f;
  for_all_planes([&](DType dtype, std::int64_t places) {
    const Planes x(dtype, places, 5);
    for (const float scale : {1.0f, kScale}) {
      std::vector<float> sums(static_cast<std::size_t>((kPlanes - 2) * kCube), 9.0f);
      sum_of_lanes(x.planes, scale, x.stored.data(), sums.data());
      for (std::size_t at = 0; at < sums.size(); ++at) {
        const auto plane = static_cast<std::int64_t>(at) / kCube + 1,
                   lane = static_cast<std::int64_t>(at) % kCube;
        float chains[4] = {};
        for (std::int64_t i = 0; i < places; ++i) {
          const float term = scale * x.value(plane, i, lane);
          chains[i % 4] += term;
        }
        EXPECT_EQ(sums[at], (chains[0] + chains[2]) + (chains[1] + chains[3])) << places;
      }
    }
  });
}

TEST(LanePlanes, ScalesTheGivenPlanesOnly) {
  for_all_planes([](DType dtype, std::int64_t places) {
    const Planes x(dtype, places, 3), z(dtype, places, 4);
    LaneScales scales[kBlocks];
    for (std::int64_t i = 0; i < kBlocks * kCube; ++i) {
      LaneScales& of = scales[i / kCube];
      of.a[i % kCube] = float(i % 5) / 2, of.b[i % kCube] = float(i % 3) - 1;
      of.c[i % kCube] = float(i % 4) / 8;
    }
    for (const bool stream : {false, true}) {
      for (const bool has_z : {false, true}) {
        const Buffer y(x.stored.size());
        scale_lanes(x.planes, stream, scales, x.stored.data(), has_z ? z.stored.data() : nullptr,
                    y.data());
        const std::vector<float> found = x.read(y);
        for (std::size_t i = 0; i < found.size(); ++i) {
          const auto plane = static_cast<std::int64_t>(i) / (places * kCube);
          const LaneScales& of = scales[plane % kBlocks];
          const std::size_t lane = i % 16;
          float exact =
              of.a[lane] * x.values[i] + of.c[lane] + (has_z ? of.b[lane] * z.values[i] : 0);
          if (plane == 0 || plane == kPlanes - 1) exact = 0;
          ASSERT_EQ(found[i], exact) << name(dtype) << " " << places << " " << i;
        }
        EXPECT_TRUE(y.guards_intact());
      }
    }
  });
}

TEST(LanePlanes, DrainsWhatItRounds) {
  on_every_isa([] {
    for (const DType dtype : kTypes) {
      for (const std::size_t count : kLengths) {
        for (const std::int64_t first : {0, 1, 3}) {
          for (const bool stream : {false, true}) {
            std::vector<float> values(count), found(count);
            for (std::size_t i = 0; i < count; ++i) values[i] = 0.1f * float(i % 97) - 4;
            std::vector<float> expected(count), from = values;
            const auto size = static_cast<std::int64_t>(count);
            const Buffer rounded(count * size_of(dtype)), to((count + 3) * size_of(dtype));
            store_floats(dtype, values.data(), size, rounded.data());
            load_floats(dtype, rounded.data(), size, expected.data());
            drain_floats(dtype, stream, from.data(), size, at(to.data(), dtype, first));
            load_floats(dtype, at(to.data(), dtype, first), size, found.data());
            EXPECT_EQ(found, expected) << name(dtype) << " " << count << " " << first;
            EXPECT_EQ(from, std::vector<float>(count)) << name(dtype) << " " << count;
            EXPECT_TRUE(to.guards_intact());
          }
        }
      }
    }
  });
}

}  // namespace opbench
