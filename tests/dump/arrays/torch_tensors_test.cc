// Objects of torch.save, built value by value.
#include <gmock/gmock.h>

#include "dump/arrays/torch_list.h"
#include "tensor/error.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using testing::ThrowsMessage;

/// Builds a pickle from the inside out. Each call returns the index of its value.
class Object {
 public:
  int text(const std::string& text) { return add(PickleKind::text, {}, text); }
  int number(std::int64_t number) { return add(PickleKind::integer, {}, "", number); }
  int tuple(const std::vector<int>& items) { return add(PickleKind::tuple, items); }
  int dict(const std::vector<int>& items) { return add(PickleKind::dict, items); }
  int numbers(const Dims& values) {
    std::vector<int> items;
    for (const std::int64_t value : values) items.push_back(number(value));
    return tuple(items);
  }
  int storage(const std::string& type, const std::string& key, std::int64_t elements) {
    const int global = add(PickleKind::global, {}, type);
    return add(PickleKind::persistent,
               {tuple({text("storage"), global, text(key), text("cpu"), number(elements)})});
  }
  int call(const std::string& name, const std::vector<int>& arguments) {
    const int global = add(PickleKind::global, {}, name);
    return add(PickleKind::call, {global, tuple(arguments)});
  }
  int tensor(int of, std::int64_t offset, const Dims& size, const Dims& stride) {
    return call("torch._utils._rebuild_tensor_v2",
                {of, number(offset), numbers(size), numbers(stride)});
  }
  ArrayList list(int root) {
    pickle_.root = root;
    return list_tensors(
        pickle_,
        [](const std::string& key) -> std::optional<StoragePlace> {
          if (key != "0") return std::nullopt;
          return StoragePlace{{3, 100, false}, 40};
        },
        "file");
  }
  /// Returns why the only tensor cannot be read.
  std::string problem(int root) { return list(root).entries.at(0).problem; }
  Pickle& pickle() { return pickle_; }

 private:
  int add(PickleKind kind, const std::vector<int>& items, const std::string& text = "",
          std::int64_t number = 0) {
    PickleValue& value = pickle_.values.emplace_back();
    value.kind = kind;
    value.items = items;
    value.text = text;
    value.integer = number;
    return static_cast<int>(pickle_.values.size()) - 1;
  }

  Pickle pickle_;
};

constexpr const char* kFloat = "torch.FloatStorage";

}  // namespace

// Storage "0" is at byte 100 and has 10 elements of 4 bytes. The tensor begins at its third
// element.
TEST(TorchTensors, LieInTheirStorage) {
  Object object;
  const ArrayList list =
      object.list(object.tensor(object.storage(kFloat, "0", 10), 2, {2, 3}, {3, 1}));
  ASSERT_THAT(list.entries, SizeIs(1));
  EXPECT_EQ(list.entries[0].name, "file") << "the object itself";
  EXPECT_EQ(list.entries[0].problem, "");
  EXPECT_EQ(list.entries[0].desc.shape, (Dims{2, 3}));
  EXPECT_EQ(list.places[0].offset, 108);
  EXPECT_EQ(list.places[0].member, 3);
}

// Names are the keys of the path. Values that are not tensors are counted.
TEST(TorchTensors, AreNamedByTheirPlaces) {
  Object object;
  const int one = object.tensor(object.storage(kFloat, "0", 10), 0, {2}, {1});
  const int parameter = object.call("torch._utils._rebuild_parameter", {one});
  const ArrayList list = object.list(object.dict(
      {object.text("model"), object.dict({object.text("w"), one, object.number(7), parameter}),
       object.text("list"), object.tuple({one, object.number(3)}), object.text("epoch"),
       object.number(9)}));
  std::vector<std::string> names;
  for (const DumpEntry& entry : list.entries) names.push_back(entry.name);
  EXPECT_THAT(names, ElementsAre("model/w", "model/7", "list/0"));
  EXPECT_THAT(list.problems,
              ElementsAre("2 values that are not tensors are left out, first list/1: an integer"));
}

// The storage has 10 elements, so 5 remain from element 5 on.
TEST(TorchTensors, ReachBeyondNoStorage) {
  const auto problem = [](std::int64_t elements, std::int64_t offset, const Dims& size) {
    Object object;
    return object.problem(object.tensor(object.storage(kFloat, "0", elements), offset, size, {1}));
  };
  EXPECT_EQ(problem(10, 5, {5}), "");
  EXPECT_THAT(problem(10, 5, {6}), HasSubstr("needs 6 elements of float32, 20 bytes are there"));
  EXPECT_THAT(problem(11, 0, {1}), HasSubstr("11 elements of float32, but 40 bytes are there"));
  EXPECT_THAT(problem(-1, 0, {1}), HasSubstr("storage: -1 elements"));
  EXPECT_THAT(problem(10, 11, {0}), HasSubstr("storage_offset: found 11"));
  EXPECT_THAT(problem(10, -1, {1}), HasSubstr("storage_offset: found -1"));
}

TEST(TorchTensors, SayWhatIsWrongWithThem) {
  const auto problem = [](const std::function<int(Object&)>& make) {
    Object object;
    return object.problem(make(object));
  };
  EXPECT_THAT(problem([](Object& o) { return o.tensor(o.storage(kFloat, "1", 1), 0, {1}, {1}); }),
              HasSubstr("storage '1' is missing"));
  EXPECT_THAT(problem([](Object& o) {
                return o.tensor(o.storage("torch.QInt8Storage", "0", 1), 0, {1}, {1});
              }),
              HasSubstr("not the storage of a tensor with a known type"));
  EXPECT_THAT(problem([](Object& o) { return o.tensor(o.number(1), 0, {1}, {1}); }),
              HasSubstr("storage: found an object that is not"));
  EXPECT_THAT(problem([](Object& o) { return o.tensor(o.storage(kFloat, "0", 9), 0, {1}, {}); }),
              HasSubstr("stride: 0 numbers for 1 extents"));
  EXPECT_THAT(problem([](Object& o) {
                return o.call(
                    "torch._utils._rebuild_tensor",
                    {o.storage(kFloat, "0", 9), o.text("x"), o.numbers({1}), o.numbers({1})});
              }),
              HasSubstr("storage_offset: found an object that is not a number"));
}

// An object that contains itself has endless paths.
TEST(TorchTensors, OfAnObjectThatHoldsItselfAreNone) {
  Object object;
  const int self = object.tuple({});
  object.pickle().values[static_cast<std::size_t>(self)].items = {self};
  EXPECT_THAT([&] { object.list(self); }, ThrowsMessage<Error>(HasSubstr("more than 64 levels")));
}

// 2^25 tensors in 25 nested pairs, from some hundred bytes.
TEST(TorchTensors, OfAnObjectThatIsSharedTooOftenAreNone) {
  Object object;
  int root = object.number(1);
  for (int i = 0; i < 25; ++i) root = object.tuple({root, root});
  EXPECT_THAT([&] { object.list(root); }, ThrowsMessage<Error>(HasSubstr("it is too large")));
}

TEST(TorchTensors, NamesAreThoseThatTensorsNeed) {
  for (const char* name :
       {"torch._utils._rebuild_tensor_v2", "torch.FloatStorage", "torch.bfloat16", "torch.Size",
        "collections.OrderedDict", "torch._utils._rebuild_parameter"}) {
    EXPECT_TRUE(is_torch_name(name)) << name;
  }
  for (const char* name : {"os.system", "builtins.eval", "torch.load", "FloatStorage", "torch.",
                           "torch._utils._rebuild_tensor_v3"}) {
    EXPECT_FALSE(is_torch_name(name)) << name;
  }
  EXPECT_EQ(torch_storage_type("torch.HalfStorage"), StoredType::f16);
  EXPECT_EQ(torch_storage_type("torch.BoolStorage"), StoredType::boolean);
  EXPECT_EQ(torch_storage_type("torch.QInt8Storage"), StoredType::none);
}

}  // namespace opbench
