#include "harness/plan/case.h"

#include <gmock/gmock.h>

#include "tensor/error.h"

namespace opbench {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(CaseId, RoundTrips) {
  for (const char* id : {
           "softplus[128x64x128x128,fp16,NC1HWC0,beta=1,threshold=20]",
           "softplus[7,fp32,ND,beta=-0.5,threshold=3.25,backward]",
           "relu[2x3x4x5,bf16,NCHW,data=uniform(-1,1),seed=18446744073709551615]",
           "relu_grad[2x3,2x3,fp32,ND]",
           "mean_grad[scalar,2x3x4x5,fp32,NC1HWC0]",
           "add[2x3x4,scalar:fp16,fp32,ND]",
       }) {
    EXPECT_EQ(case_id(parse_case_id(id)), id);
  }
}

TEST(CaseId, OfACall) {
  for (const char* id : {
           "softplus[128x64x7x7,fp16,NC1HWC0,beta=0.5,threshold=20]",
           "index_select[2x6x4x4,5:int32,bf16,NCHW,axis=1,negative_index=false]",
           "add[2x3x4,scalar:fp16,fp32,ND]",
           "conv2d[1x8x6x6,16x4x3x3,16,fp16,NC1HWC0,stride=[2],padding=[1],dilation=[1],groups=2]",
       }) {
    EXPECT_EQ(case_id(case_of(problem_of(parse_case_id(id)))), id);
  }
}

// Ids of stored results, from before their operators gained attributes.
TEST(CaseId, KeysOfOlderIdsStayWhatTheyWere) {
  for (const char* id : {
           "max_pool2d[1x64x112x112,fp16,NC1HWC0,kernel_size=[3],stride=[2],padding=[1]]",
           "cross_entropy[32x1000,32,fp32,ND,backward]",
           "cross_entropy_grad[scalar,32x1000,32,fp16,ND]",
           "sgd[64,64,64,fp32,ND,weight_decay=0.0001,nesterov=true]",
           "index_select[2x116x28x28,58,fp16,NCHW]",
           "index_add[5x3,5,5x3,fp32,ND,alpha=2]",
           "add[2x3,2x3,fp32,ND]",
           "batch_norm[2x4,4,4,4,4,fp32,ND,training=false]",
       }) {
    EXPECT_EQ(case_key(parse_case_id(id)), id);
  }
}

TEST(CaseId, FillsInWhatIsLeftOut) {
  EXPECT_EQ(case_id(parse_case_id("softplus[2x3x4x5,half]")),
            "softplus[2x3x4x5,fp16,NCHW,beta=1,threshold=20]");
  EXPECT_EQ(case_id(parse_case_id("softplus[2x3,fp32,beta=2]")),
            "softplus[2x3,fp32,ND,beta=2,threshold=20]");
}

TEST(CaseId, PlainFormatsFollowTheRank) {
  EXPECT_EQ(case_id(parse_case_id("relu[2x3,fp32,NCHW]")), "relu[2x3,fp32,ND]");
  EXPECT_EQ(case_id(parse_case_id("relu[2x3x4x5x6,fp32,NCHW]")), "relu[2x3x4x5x6,fp32,NCDHW]");
}

TEST(CaseId, ErrorsShowTheBadPart) {
  const auto parsing = [](const char* id) { return [id] { parse_case_id(id); }; };
  EXPECT_THAT(parsing("softplus"), ThrowsMessage<Error>(HasSubstr("is not of the form operator[")));
  EXPECT_THAT(parsing("softmax9[2]"),
              ThrowsMessage<Error>(HasSubstr("unknown operator 'softmax9'")));
  EXPECT_THAT(parsing("relu[2x3,fp23]"), ThrowsMessage<Error>(HasSubstr("fp23")));
  EXPECT_THAT(parsing("relu[2x-3,fp32]"), ThrowsMessage<Error>(HasSubstr("2x-3")));
  EXPECT_THAT(parsing("relu[2,seed=-1]"), ThrowsMessage<Error>(HasSubstr("seed '-1'")));
  EXPECT_THAT(parsing("relu[2,beta=1]"),
              ThrowsMessage<Error>(HasSubstr("unknown attribute 'beta'")));
  EXPECT_THAT(parsing("relu[9999999999x9999999999,fp32]"),
              ThrowsMessage<Error>(HasSubstr("9999999999x9999999999")));
}

TEST(CaseSeed, IsOwnOrDerivedFromTheId) {
  const Case a = parse_case_id("relu[2x3,fp32]"), b = parse_case_id("relu[3x2,fp32]");
  EXPECT_EQ(seed_of(a), seed_of(parse_case_id("relu[2x3,float32,ND]")));
  EXPECT_NE(seed_of(a), seed_of(b));
  EXPECT_EQ(seed_of(parse_case_id("relu[2x3,fp32,seed=7]")), 7u);
  // An attribute at its default, and so a new attribute, does not change the seed.
  EXPECT_EQ(seed_of(parse_case_id("softplus[64,fp32,ND,beta=1,threshold=20]")),
            text_hash("softplus[64,fp32,ND]"));
  EXPECT_NE(seed_of(parse_case_id("softplus[64,fp32,beta=2]")), text_hash("softplus[64,fp32,ND]"));
}

}  // namespace opbench
