#include <gmock/gmock.h>

#include "harness/plan/case.h"
#include "ops/view_text.h"
#include "tensor/error.h"
#include "tests/evaluate.h"

namespace opbench {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(ParseView, AppliesStepsInOrder) {
  EXPECT_EQ(parse_view("transpose(0,1)", {2, 3}), (StridedView{{3, 2}, {1, 3}, 0}));
  EXPECT_EQ(parse_view("slice(1,1,2,2).select(0,1)", {2, 5}), (StridedView{{2}, {2}, 6}));
  EXPECT_EQ(parse_view("permute(2,0,1)", {2, 3, 4}), (StridedView{{4, 2, 3}, {1, 12, 4}, 0}));
  EXPECT_EQ(parse_view("broadcast(4,3,2)", {3, 1}), (StridedView{{4, 3, 2}, {0, 1, 0}, 0}));
  EXPECT_EQ(parse_view("as_strided([2,2],[1,1],3).transpose(0, 1)", {6}),
            (StridedView{{2, 2}, {1, 1}, 3}));
  EXPECT_EQ(parse_view("as_strided([],[],5)", {6}), (StridedView{{}, {}, 5}));
}

TEST(ParseView, ShowsThePartAndWhatIsAllowed) {
  const auto message_of = [](std::string_view text) -> std::string {
    try {
      parse_view(text, {2, 6});
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(message_of("transpose(0,2)"),
            "contiguous: view 'transpose(0,2)' of input 'x' with shape 2x6, at 'transpose(0,2)': "
            "axis 2 is out of range for shape 2x6; allowed: 0 to 1");
  EXPECT_THAT(message_of(""), HasSubstr("expected '(' before ''"));
  EXPECT_THAT(message_of("flip(0)"), HasSubstr("step 'flip' is unknown; allowed: transpose(a,b)"));
  EXPECT_THAT(message_of("transpose(0)"), HasSubstr("transpose takes 2 numbers, found 1"));
  EXPECT_THAT(message_of("slice(0,1)"), HasSubstr("slice takes 3 to 4 numbers, found 2"));
  EXPECT_THAT(message_of("transpose(0,1"), HasSubstr("expected ')' before ''"));
  EXPECT_THAT(message_of("transpose(0,x)"), HasSubstr("expected a whole number before 'x)'"));
  EXPECT_THAT(message_of("transpose(0,1)."), HasSubstr("expected '('"));
  EXPECT_THAT(message_of("transpose(0,1)select(0,0)"), HasSubstr("expected '.'"));
  EXPECT_THAT(message_of("transpose(0,99999999999999999999)"), HasSubstr("a whole number"));
  EXPECT_THAT(message_of("transpose(0,1).as_strided([1],[1],0)"),
              HasSubstr("step 'as_strided' is unknown"));
}

TEST(ParseView, StaysInsideTheTensor) {
  for (const char* text :
       {"as_strided([13],[1],0)", "as_strided([1],[1],12)", "as_strided([1],[1],-1)",
        "as_strided([2],[-1],1)", "as_strided([2],[9223372036854775807],9)",
        "as_strided([9223372036854775807],[9223372036854775807],0)",
        "as_strided([4294967296,4294967296],[0,0],0)", "as_strided([-1],[1],0)",
        "as_strided([2],[1,1],0)", "slice(1,0,7)", "select(0,2)", "broadcast(3,6)"}) {
    EXPECT_THROW(parse_view(text, {2, 6}), Error) << text;
  }
  EXPECT_NO_THROW(parse_view("as_strided([3,0],[9223372036854775807,1],0)", {2, 6}));
}

TEST(Contiguous, CopiesTheView) {
  EXPECT_THAT(moved_numbers("contiguous", {{2, 3}}), ElementsAre(ElementsAre(0, 3, 1, 4, 2, 5)));
  EXPECT_THAT(moved_numbers("contiguous", {{2, 3}}, {{"view", "slice(1,0,2,2)"}}),
              ElementsAre(ElementsAre(0, 2, 3, 5)));
}

TEST(Contiguous, ReadsWhatTheViewShows) {
  const auto read = [](const Dims& shape, const char* view) {
    const Problem problem = problem_with(find_op("contiguous"), {shape}, {{"view", view}});
    return problem.op->traffic(problem).bytes_read;
  };
  EXPECT_EQ(read({10, 10}, "transpose(0,1)"), 400);
  EXPECT_EQ(read({10, 10}, "slice(0,0,2)"), 80);
  EXPECT_EQ(read({10, 1}, "broadcast(10,50)"), 40) << "once";
  EXPECT_EQ(read({12}, "as_strided([5,8],[1,1],0)"), 48) << "overlapping";
}

TEST(Contiguous, ViewsAreWrittenInCaseIds) {
  const std::string id =
      "contiguous[16x64,fp32,ND,view=transpose(0,1).slice(0,3,10,2).broadcast(4,10,16)]";
  const Case c = parse_case_id(id);
  EXPECT_EQ(case_id(c), id);
  EXPECT_EQ(problem_of(c).outputs[0].shape, (Dims{4, 10, 16}));
  const Case strided = parse_case_id("contiguous[40,fp32,ND,view=as_strided([4,5],[3,2],1)]");
  EXPECT_EQ(problem_of(strided).outputs[0].shape, (Dims{4, 5}));
}

}  // namespace opbench
