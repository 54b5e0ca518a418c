# SPDX-License-Identifier: Apache-2.0
# XB_ABOUT
# NOT RUN: the times are those of xferbench's own copies. Nobody has run these lines.
import torch

in_bytes, out_bytes = XB_IN_BYTES, XB_OUT_BYTES
chunk_bytes = XB_CHUNK_BYTES  # come in at a time, and are computed on
gpu = torch.device("cuda", XB_DEVICE)  # PyTorch calls AMD's GPUs so as well
streams = [torch.cuda.Stream(gpu) for _ in range(XB_STREAMS)]

#if XB_ALLOCATED
# Page-locked once: that takes longer than many copies.
data = torch.zeros(in_bytes, dtype=torch.uint8, pin_memory=True)
result = torch.zeros(out_bytes, dtype=torch.uint8, pin_memory=True)
#else
data = torch.zeros(in_bytes, dtype=torch.uint8)
result = torch.zeros(out_bytes, dtype=torch.uint8)
#endif
#if XB_REGISTERED
# Page-locks both where they lie, once: that takes longer than many copies.
for tensor in (data, result):
    if tensor.numel() > 0:
        torch.cuda.check_error(int(torch.cuda.cudart().cudaHostRegister(tensor.data_ptr(), tensor.numel(), 0)))
#endif
#if XB_COPIED
# Page-locked, between the data and the GPU.
staged_in = torch.empty(in_bytes, dtype=torch.uint8, pin_memory=True)
staged_out = torch.empty(out_bytes, dtype=torch.uint8, pin_memory=True)
#endif
#if XB_RING
# A ring of page-locked memory. CPU threads fill a slot while the GPU copies those before.
slot_bytes = XB_SLOT_BYTES
slots = [torch.empty(slot_bytes, dtype=torch.uint8, pin_memory=True) for _ in range(XB_SLOTS)]
crossed = [torch.cuda.Event() for _ in slots]
#endif
#if XB_BY_HELPERS
torch.set_num_threads(max(XB_HELPERS, 1))  # that copy between host tensors
#endif
gpu_in = torch.empty(in_bytes, dtype=torch.uint8, device=gpu)
gpu_out = torch.empty(out_bytes, dtype=torch.uint8, device=gpu)


def your_kernel(given, made):
    """Put your work on the GPU here: it reads `given` and writes `made`."""


#if XB_RING
def copy_in():
    for i, at in enumerate(range(0, in_bytes, slot_bytes)):
        size, slot, event = min(slot_bytes, in_bytes - at), slots[i % len(slots)], crossed[i % len(slots)]
        event.synchronize()  # the GPU has read what was in this slot
        slot[:size].copy_(data[at : at + size])
        gpu_in[at : at + size].copy_(slot[:size], non_blocking=True)
        event.record()


def copy_out():
    starts = list(range(0, out_bytes, slot_bytes))
    ahead = len(slots) - 1  # slots cross while one is emptied
    for i in range(len(starts) + ahead):
        if i < len(starts):
            size = min(slot_bytes, out_bytes - starts[i])
            slots[i % len(slots)][:size].copy_(gpu_out[starts[i] : starts[i] + size], non_blocking=True)
            crossed[i % len(slots)].record()
        if i >= ahead:
            at, slot = starts[i - ahead], (i - ahead) % len(slots)
            crossed[slot].synchronize()
            result[at : at + slot_bytes].copy_(slots[slot][: min(slot_bytes, out_bytes - at)])


#endif
def run_job():
#if XB_COPIED
    staged_in.copy_(data)
#endif
    for i, at in enumerate(range(0, in_bytes, chunk_bytes)):
        end = min(at + chunk_bytes, in_bytes)
        given = slice(at, end)
        made = slice(out_bytes * at // in_bytes, out_bytes * end // in_bytes)
        with torch.cuda.stream(streams[i % len(streams)]):  # a stream keeps the steps of a chunk in order
#if XB_RING
            copy_in()
#else
            gpu_in[given].copy_(XB_SENT[given], non_blocking=True)
#endif
            your_kernel(gpu_in[given], gpu_out[made])
#if XB_RING
            copy_out()
#else
            XB_RECEIVED[made].copy_(gpu_out[made], non_blocking=True)
#endif
    torch.cuda.synchronize(gpu)
#if XB_COPIED
    result.copy_(staged_out)
#endif


run_job()
