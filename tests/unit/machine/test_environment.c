/* SPDX-License-Identifier: Apache-2.0 */
/* Which environment variables get into a result: those of a list, whatever others are called. */

#include "machine/environment.h"
#include "testing.h"

TEST(what_steers_a_runtime_is_recorded)
{
    static const char *const names[] = {
        "CUDA_VISIBLE_DEVICES",
        "CUDA_LAUNCH_BLOCKING",
        "NVIDIA_VISIBLE_DEVICES",
        "HIP_VISIBLE_DEVICES",
        "ROCR_VISIBLE_DEVICES",
        "HSA_ENABLE_SDMA",
        "HSA_XNACK",
        "GPU_MAX_HW_QUEUES",
        "AMD_SERIALIZE_COPY",
        "ROC_P2P_SDMA_SIZE",
        "XFERBENCH_HIP_LIBRARY",
        "ROCM_PATH",
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_true(xb_environment_is_recorded(names[i]));
    assert_true(xb_environment_is_recorded("CUDA_VISIBLE_DEVICES=1,0"));
    assert_true(xb_environment_is_recorded("HIP_VISIBLE_DEVICES="));
}

TEST(what_only_looks_like_it_is_not)
{
    static const char *const names[] = {
        "NVIDIA_APIKEY=s3cret",
        "NVIDIA_API_KEY=s3cret",
        "HIP_password=s3cret",
        "AMD_AUTH=s3cret",
        "ROCM_LOGIN=s3cret",
        "CUDA_PROXY=http://me:s3cret@proxy",
        "https_proxy=http://a:b@c",
        "GPU_OWNER=me",
        "S3CRET_VISIBLE_DEVICES=s3cret",
        "XFERBENCH_HIP_PASS=s3cret",
        "HSA_s3cret=1",
        "CUDA_HOME=/home/me",
        "LD_PRELOAD=/home/me/x.so",
        "AWS_SESSION_TOKEN=s3cret",
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_false(xb_environment_is_recorded(names[i]));
}

TEST(a_name_counts_whole_and_as_it_is_written)
{
    static const char *const names[] = {
        "",
        "=",
        "CUDA",
        "CUDA_VISIBLE_DEVICE=0",
        "CUDA_VISIBLE_DEVICES2=0",
        "cuda_visible_devices=0",
        "XCUDA_VISIBLE_DEVICES=0",
        "=CUDA_VISIBLE_DEVICES",
        " CUDA_VISIBLE_DEVICES=0",
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_false(xb_environment_is_recorded(names[i]));
}
