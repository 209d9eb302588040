#include "text/packed.h"

#include <gtest/gtest.h>

#include "tensor/error.h"

namespace opbench {

/// A type with user-defined fields.
struct PackedPart {
  std::string name;
  std::vector<std::int64_t> numbers;
  std::optional<double> share;
  std::map<std::string, std::string> names;

  bool operator==(const PackedPart&) const = default;
};

template <class V>
void each_field(V& v, FieldsOf<PackedPart> auto& part) {
  v.fields(part.name, part.numbers, part.share, part.names);
}

namespace {

TEST(Packed, GivesBackWhatWasAddedAndRefusesMore) {
  Packer packer;
  packer.add(7);
  packer.add(std::string("text"));
  packer.add(0.5L);
  const std::string text = packer.take();
  Unpacker unpacker(text);
  EXPECT_EQ(unpacker.get<int>(), 7);
  EXPECT_EQ(unpacker.get_text(), "text");
  EXPECT_EQ(unpacker.get<long double>(), 0.5L);
  EXPECT_TRUE(unpacker.is_empty());
  EXPECT_THROW(unpacker.get<int>(), RunError);
}

TEST(Packed, OneListOfFieldsServesBothDirections) {
  const std::vector<PackedPart> parts = {{"a", {1, -2}, 0.5, {{"from", "to"}}}, {"", {}, {}, {}}};
  const std::string text = pack_all(parts, true);
  Unpacker unpacker(text);
  std::vector<PackedPart> back(3);
  bool is_true = false;
  unpacker.fields(back, is_true);
  EXPECT_EQ(back, parts);
  EXPECT_TRUE(is_true && unpacker.is_empty());
  for (std::size_t length = 0; length < text.size(); ++length) {
    Unpacker cut(std::string_view(text).substr(0, length));
    EXPECT_THROW(cut.fields(back, is_true), RunError) << length;
  }
}

TEST(Packed, AnAbsurdLengthIsRefusedAndNotAllocated) {
  const std::string text = pack_all(std::uint64_t{1} << 62, 7);
  EXPECT_THROW(Unpacker(text).get_text(), RunError);
  EXPECT_THROW(Unpacker(text).get<std::vector<double>>(), RunError);
  EXPECT_THROW((Unpacker(text).get<std::map<std::string, std::string>>()), RunError);
}

}  // namespace
}  // namespace opbench
