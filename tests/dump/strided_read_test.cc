#include "dump/strided_read.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "tests/dump/dump_support.h"

namespace opbench::dump_tests {
namespace {

// Every order of three axes and every range, compared with places computed one by one.
TEST(StridedRead, GivesLogicalOrder) {
  const Dims shape = {2, 3, 4};
  Dims axes = {0, 1, 2};
  do {
    Dims strides(3);
    std::int64_t step = 1;
    for (const std::int64_t axis : axes) {
      strides[static_cast<std::size_t>(axis)] = step;
      step *= shape[static_cast<std::size_t>(axis)];
    }
    const auto read = [](ElementRange places, void* to) {
      for (std::int64_t i = 0; i < places.count; ++i) {
        static_cast<std::int16_t*>(to)[i] = static_cast<std::int16_t>(places.first + i);
      }
    };
    for (std::int64_t first = 0; first <= 24; ++first) {
      for (std::int64_t count = 0; first + count <= 24; ++count) {
        std::vector<std::int16_t> found(static_cast<std::size_t>(count) + 1);
        read_strided(shape, strides, {first, count}, 2, read, found.data());
        for (std::int64_t i = 0; i < count; ++i) {
          const std::int64_t e = first + i;
          const std::int64_t place =
              e / 12 * strides[0] + e / 4 % 3 * strides[1] + e % 4 * strides[2];
          ASSERT_EQ(found[static_cast<std::size_t>(i)], place);
        }
      }
    }
  } while (std::next_permutation(axes.begin(), axes.end()));
}

// Windows of 4 MiB, runs and gaps of all sizes: places are compared with their formula.
TEST(StridedRead, LargeTensorsInPieces) {
  struct Layout {
    Dims shape, strides;
  };
  const Layout layouts[] = {{{3000, 2000}, {1, 3000}},         // a transposed matrix
                            {{2, 2'000'000}, {1, 2}},          // interleaved
                            {{2'000'000, 2}, {1, 2'000'000}},  // a long run for each of two columns
                            {{50, 3, 40'000}, {0, 1, 3}},      // repeated
                            {{1000, 3}, {6000, 2000}},         // elements far apart
                            {{4, 700, 900}, {630'000, 1, 700}}};
  for (const auto& [shape, strides] : layouts) {
    std::int64_t asked = 0;
    const auto read = [&](ElementRange places, void* to) {
      asked += places.count;
      for (std::int64_t i = 0; i < places.count; ++i) {
        static_cast<std::int32_t*>(to)[i] = static_cast<std::int32_t>(places.first + i);
      }
    };
    const std::int64_t count = element_count(shape);
    const ElementRange range{count / 7, count - count / 7 - 1};
    std::vector<std::int32_t> found(static_cast<std::size_t>(range.count));
    read_strided(shape, strides, range, 4, read, found.data());
    const Dims dense = row_major_strides(shape);
    for (std::int64_t i = 0; i < range.count; ++i) {
      std::int64_t place = 0;
      for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        place += (range.first + i) / dense[axis] % shape[axis] * strides[axis];
      }
      ASSERT_EQ(found[static_cast<std::size_t>(i)], place) << to_string(shape) << " " << i;
    }
    EXPECT_LE(asked, 2 * range.count + 4096) << to_string(shape);
  }
}

// Ranges within one panel, across two, and back again, alternating between two tensors.
TEST(StridedRead, PanelsServeAnyRange) {
  DumpEntry a, b;
  a.path = "/a/1/output/a";
  b.path = "/b/1/output/b";
  a.desc = b.desc = describe(DType::fp32, {3000, 2000});  // 24 MB, a panel has 16 MiB
  a.stored = b.stored = StoredType::f32;
  a.attributes.stride = Dims{1, 3000};
  b.attributes.stride = Dims{0, 1};
  PanelReader panels;
  const auto read = [](ElementRange places, void* to) {
    for (std::int64_t i = 0; i < places.count; ++i) {
      static_cast<std::int32_t*>(to)[i] = static_cast<std::int32_t>(places.first + i);
    }
  };
  for (const std::int64_t first : {0, 4'194'300, 4'194'304, 17, 5'999'990}) {
    for (const DumpEntry* entry : {&a, &b}) {
      std::int32_t found[10];
      panels.read(*entry, {first, 10}, read, found);
      for (int i = 0; i < 10; ++i) {
        const std::int64_t e = first + i;
        EXPECT_EQ(found[i], entry == &a ? e / 2000 + e % 2000 * 3000 : e % 2000) << e;
      }
    }
  }
}

TEST(StridedRead, APanelThatFailedIsNotServed) {
  DumpEntry entry;
  entry.path = "/a/1/output/a";
  entry.desc = describe(DType::fp32, {2, 2});
  entry.stored = StoredType::f32;
  entry.attributes.stride = Dims{1, 2};
  PanelReader panels;
  const auto fail = [](ElementRange, void*) { throw Error("damaged"); };
  std::int32_t found[4];
  EXPECT_EQ(error_of([&] { panels.read(entry, {0, 4}, fail, found); }), "damaged");
  EXPECT_EQ(error_of([&] { panels.read(entry, {0, 4}, fail, found); }), "damaged");
}

}  // namespace
}  // namespace opbench::dump_tests
