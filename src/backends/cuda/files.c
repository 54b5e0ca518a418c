/* SPDX-License-Identifier: Apache-2.0 */
/* The slots for files, over libcufile. */
#include "cuda.h"
#include "cufile.h"

#include "xferbench/slot_checks.h"

#include <stdlib.h>

struct cuda_file {
    struct xb_file base;
    struct xb_cufile_reads reads;
};

void xb_cuda_set_files(struct xb_device_info *info)
{
    if (xb_cufile_path() != NULL)
        info->capabilities |= XB_CAP_FILE;
    else
        xb_device_withhold(info, XB_CAP_FILE,
                           "libcufile.so.0 is not found, nor in LD_LIBRARY_PATH, CUDA_HOME and "
                           "/usr/local/cuda: install NVIDIA's GPUDirect Storage (libcufile of the "
                           "CUDA Toolkit)");
}

enum xb_status xb_cuda_file_open(struct xb_device *device, int descriptor, struct xb_file **file,
                                 struct xb_error *error)
{
    XB_TRY(xb_gpu_require(device, XB_CAP_FILE, "no libcufile", error));
    XB_TRY(xb_gpu_select(device, error));
    struct cuda_file *opened = calloc(1, sizeof *opened);
    if (opened == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory to open a file");
    opened->base.device = device;
    enum xb_status status = xb_cufile_reads_open(&opened->reads, descriptor, error);
    if (status != XB_OK) {
        free(opened);
        return status;
    }
    *file = &opened->base;
    return XB_OK;
}

void xb_cuda_file_close(struct xb_file *file)
{
    struct xb_error ignored;
    if (file == NULL)
        return;
    (void)!xb_gpu_select(file->device, &ignored);
    xb_cufile_reads_close(&((struct cuda_file *)file)->reads);
    free(file);
}

enum xb_status xb_cuda_file_read(struct xb_file *file, uint64_t file_offset,
                                 struct xb_buffer *buffer, uint64_t offset, uint64_t bytes,
                                 struct xb_error *error)
{
    XB_TRY(xb_file_read_check(file, buffer, offset, bytes, error));
    XB_TRY(xb_gpu_select(file->device, error));
    return xb_cufile_reads_read(&((struct cuda_file *)file)->reads, file_offset,
                                xb_gpu_buffer_address(buffer), buffer->bytes, offset, bytes, error);
}

enum xb_status xb_cuda_file_way(struct xb_file *file, struct xb_file_way *way,
                                struct xb_error *error)
{
    enum xb_status status = xb_gpu_select(file->device, error);
    return status != XB_OK ? status
                           : xb_cufile_reads_way(&((struct cuda_file *)file)->reads, way, error);
}
