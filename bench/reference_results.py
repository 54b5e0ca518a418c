#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: reference_results.py [FOLDER]

Prints docs/reference-results.md: what the files in FOLDER (bench/results) say about each model of GPU and
each machine. Every number is a median of a file, or a median or range over files.

Each folder in FOLDER is a machine. A file counts if xferbench wrote it with the settings of a bare run, and no
variable was set that steers the runtime.
"""
import collections
import glob
import json
import math
import os
import statistics
import sys

from summary import figures_of

HERE = os.path.dirname(os.path.realpath(__file__))
RESULTS = os.path.join(HERE, "results")

# Every container with a GPU has these, and no figure here depends on them.
HARMLESS = {"CUDA_HOME", "CUDA_VERSION", "NVIDIA_DRIVER_CAPABILITIES", "NVIDIA_PRODUCT_NAME",
            "NVIDIA_REQUIRE_CUDA", "NVIDIA_VISIBLE_DEVICES"}
# The defaults of the parameters that cases have, as the program's option rows state them.
DEFAULTS = {"host-offset": 0, "device-offset": 0, "ring-chunk": 0, "ring-slots": 4, "threads": 0, "by": "engine",
            "passes": 1, "chunk": 8 * 2**20, "streams": 2, "buffers": 4, "kernel-time": "auto", "piece": 4096,
            "layout": "scattered", "pitch": 8192, "call-pieces": 4096, "blocks": 0, "steps": 8, "encode-chunk": 0,
            "gpu-time": "1ms", "job-out": 2**20, "io": "cached", "readers": 0, "batch-files": 0, "target": "kept",
            "touched": 100, "touch-order": "sequential", "gpu-memory": "kept", "call": "async", "in-place": "mapped",
            "read-by": "threads"}
GENERATIONS = {2.5: 1, 5: 2, 8: 3, 16: 4, 32: 5, 64: 6}  # of PCIe, by GT/s a lane
GIB, MIB, KIB = 2**30, 2**20, 2**10
GPUS_ENOUGH = 5  # of fewer the page says so: they may all be on one busy host

# One figure that everybody can measure again. `sizes`: the sizes that count. A machine's largest one is shown.
Reference = collections.namedtuple(
    "Reference", "words mode variants direction sizes figure unit peer at_once")
# One median from one file, for a device or a pair.
Value = collections.namedtuple("Value", "value share file gpus processes date noisy")
Machine = collections.namedtuple(
    "Machine", "folder gpu link backend runtime driver cpu cpus numa_nodes system")
UNITS = {"GB/s": 1e-9, "us": 1e6, "ns": 1e9}


def copies(words, mode, variants, direction, peer=False, at_once=False):
    return Reference(words, mode, variants, direction, (GIB, 512 * MIB), "bandwidth", "GB/s", peer, at_once)


def latency(words, mode, variants, direction, figure, unit, size, peer=False):
    return Reference(words, mode, variants, direction, (size,), figure, unit, peer, False)


REFERENCES = (
    copies("pinned, host to device", "pinned", ("registered",), "h2d"),
    copies("pinned, device to host", "pinned", ("registered",), "d2h"),
    copies("pinned, both ways at once, the sum", "pinned", ("registered",), "bidir"),
    copies("pinned, all GPUs at once, host to device, the sum", "pinned", ("registered",), "h2d", at_once=True),
    copies("pinned, all GPUs at once, device to host, the sum", "pinned", ("registered",), "d2h", at_once=True),
    copies("pageable, by the driver, host to device", "pageable", ("driver",), "h2d"),
    copies("pageable, by the driver, device to host", "pageable", ("driver",), "d2h"),
    copies("pageable, through a ring (`--staging ring`), host to device", "pageable", ("ring",), "h2d"),
    copies("pageable, through a ring (`--staging ring`), device to host", "pageable", ("ring",), "d2h"),
    copies("zero-copy, a kernel reads host memory", "zero-copy", ("sequential",), "h2d"),
    copies("zero-copy, a kernel writes host memory", "zero-copy", ("sequential",), "d2h"),
    copies("managed, by faults, host to device", "managed", ("fault",), "h2d"),
    copies("managed, prefetched, host to device", "managed", ("prefetch",), "h2d"),
    copies("local, a copy within the GPU's memory", "local", ("engine",), "d2d"),
    copies("peer, from one GPU to another", "peer", ("direct-read",), "d2d", peer=True),
    copies("peer, both ways at once, the sum", "peer", ("direct-read",), "bidir", peer=True),
    latency("latency, pinned, host to device", "pinned", ("registered",), "h2d", "latency_host", "us", 4),
    latency("latency, pinned, device to host", "pinned", ("registered",), "d2h", "latency_host", "us", 4),
    latency("one load from the host's memory", "loads", ("sequential",), "h2d", "load_latency", "ns", 2 * MIB),
    latency("one load from the GPU's memory", "loads", ("sequential",), "d2d", "load_latency", "ns", 2 * MIB),
    latency("one load from another GPU's memory", "peer-loads", ("sequential",), "d2d", "load_latency", "ns",
            2 * MIB, peer=True),
)


def read_documents(folder):
    """The path and content of each file that xferbench wrote, undisturbed."""
    for path in sorted(glob.glob(os.path.join(folder, "*", "*.json"))):
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
        if not str(document.get("schema", "")).startswith("xferbench."):
            continue
        if set(document["environment"]) - HARMLESS or document.get("interrupted"):
            continue
        if document["backend"]["name"] == "host":
            continue  # it is no GPU
        yield path, document


def link_words(speed, width):
    if not speed or not width:
        return "PCIe link not read"
    generation = "Gen%d" % GENERATIONS[speed] if speed in GENERATIONS else "%g GT/s" % speed
    return "PCIe %s x%d" % (generation, width)


def machine_of(path, document, gpu, link):
    host, backend = document["host"], document["backend"]
    return Machine(os.path.basename(os.path.dirname(path)), gpu, link, backend["name"],
                   backend["runtime_version"], backend["driver_version"], host["cpu_model"],
                   host["logical_cpus"], host["numa_nodes"], host["os"])


def is_reference(reference, row):
    parameters = row["parameters"]
    return (row["status"] == "ok" and row["verified"] is not False and row["mode"] == reference.mode
            and row["variant"] in reference.variants and row["direction"] == reference.direction
            and row["bytes"] in reference.sizes and row["simultaneous"] == reference.at_once
            and (row["peer"] is not None) == reference.peer
            and (row["device"] is None) == reference.at_once  # a sum, or one device's
            and all(DEFAULTS.get(name) == value for name, value in parameters.items())
            and reference.figure in figures_of(row))


def is_noisy(row):
    """Whether xferbench called it noisy. In a file of several processes a warning is an object, with a count."""
    return any("noisy" in (warning if isinstance(warning, str) else warning["text"]) for warning in row["warnings"])


def gpus_of(row, devices):
    """The UUIDs of its GPUs; a sum has them all."""
    indices = devices if row["device"] is None else {row["device"], row["peer"]} - {None}
    return frozenset(devices[index]["uuid"] for index in indices)


def add_rows(path, document, found):
    """found: machine -> reference -> size -> values."""
    processes = len(document.get("processes", [None]))
    devices = {device["index"]: device for device in document["devices"]}
    for row in document["results"]:
        device = devices[row["device"]] if row["device"] is not None else document["devices"][0]
        link = device["link"] or {}
        machine = machine_of(path, document, device["name"],
                             link_words(link.get("speed_gts"), link.get("width")))
        for reference in REFERENCES:
            if is_reference(reference, row):
                figures = figures_of(row)
                figure = figures[reference.figure]
                share = figures.get("share_of_ceiling", {}).get("median")
                for median in figure.get("medians", [figure["median"]]):  # of a file of several processes
                    if median is not None:
                        found[machine][reference][row["bytes"]].append(
                            Value(median * UNITS[reference.unit], share, path, gpus_of(row, devices), processes,
                                  document["timestamp"][:10], is_noisy(row)))


def add_link(path, document, found):
    """What `xferbench link` measured, if it found nothing wrong and knew the link's ceiling."""
    for device in document["devices"]:
        verdict = device["verdict"]
        if verdict["level"] != "OK" or not verdict["ceiling"]:
            continue
        attempt = device["attempts"][verdict["attempt"]]
        ceiling = verdict["ceiling"]
        machine = machine_of(path, document, device["name"], link_words(ceiling["speed_gts"], ceiling["width"]))
        for way, words in (("h2d", "host to device"), ("d2h", "device to host")):
            reference = Reference("`xferbench link`, " + words, "link", (), way, (), "bandwidth", "GB/s",
                                  peer=False, at_once=False)
            value = Value(attempt[way + "_bytes_per_second"] * 1e-9, verdict[way + "_share"], path,
                          frozenset((device["uuid"],)), 1, document["timestamp"][:10], False)
            found[machine][reference][document["config"]["size"]].append(value)


def read_values(folder):
    found = collections.defaultdict(lambda: collections.defaultdict(lambda: collections.defaultdict(list)))
    for path, document in read_documents(folder):
        if document["schema"] == "xferbench.link":
            add_link(path, document, found)
        elif document["schema"] in ("xferbench.result", "xferbench.processes"):
            add_rows(path, document, found)
    # Files of `link` do not tell the number of NUMA nodes: join them with the machine that is otherwise the same.
    for machine in [machine for machine in found if machine.numa_nodes is None]:
        same = [other for other in found
                if other != machine and other._replace(numa_nodes=None) == machine]
        if len(same) == 1:
            found[same[0]].update(found.pop(machine))
    return found


def chosen(sizes):
    """The size that counts, the largest, and its values."""
    size = max(sizes)
    return size, sizes[size]


def four(value):
    """Four digits."""
    return "%.*f" % (max(0, 3 - math.floor(math.log10(value))), value)


def size_words(size):
    for unit, name in ((GIB, "GiB"), (MIB, "MiB"), (10**6, "MB"), (KIB, "KiB")):
        if size % unit == 0:
            return "%d %s" % (size // unit, name)
    return "%d B" % size


def range_words(values):
    numbers = [value.value for value in values]
    words = "one value" if len(values) == 1 else "%s to %s" % (four(min(numbers)), four(max(numbers)))
    noisy = sum(value.noisy for value in values)
    if not noisy:
        return words
    return words + (", noisy" if len(values) == 1 else ", %d of %d noisy" % (noisy, len(values)))


def share_words(values):
    shares = [100 * value.share for value in values if value.share is not None]
    return "%.1f %%" % statistics.median(shares) if shares else ""


def gpus_among(values):
    return len(frozenset().union(*(value.gpus for value in values)))


def processes_of(values):
    return sum({value.file: value.processes for value in values}.values())


def dates_words(values):
    dates = sorted({value.date for value in values})
    return dates[0] if len(dates) == 1 else "%s to %s" % (dates[0], dates[-1])


def files_words(values):
    files = sorted({value.file for value in values})
    return ", ".join("[%s](../bench/results/%s/%s)" % (
        os.path.basename(path)[:-5], os.path.basename(os.path.dirname(path)), os.path.basename(path))
                     for path in files)


def table(heads, rows):
    lines = [heads, ["---"] * len(heads)] + rows
    return ["| %s |" % " | ".join(line) for line in lines]


def figure_cells(reference, size, values):
    numbers = [value.value for value in values]
    return [reference.words, size_words(size), four(statistics.median(numbers)) + " " + reference.unit,
            range_words(values), share_words(values)]


def in_order(references):
    order = {reference: i for i, reference in enumerate(REFERENCES)}
    return sorted(references, key=lambda reference: order.get(reference, len(order)))


def gpus_words(count):
    return "1 GPU" if count == 1 else "%d GPUs" % count


def machine_section(machine, references):
    every = [value for sizes in references.values() for value in chosen(sizes)[1]]
    nodes = "one NUMA node" if machine.numa_nodes == 1 else "%s NUMA nodes" % (machine.numa_nodes or "unknown")
    lines = ["### %s: %s, %s %s" % (machine.folder, machine.gpu, machine.backend, machine.runtime), "",
             "%s, backend %s, runtime %s, driver %s. %s, %d CPUs, %s, %s. %s in all, by their UUIDs." % (
                 machine.link, machine.backend, machine.runtime, machine.driver, machine.cpu, machine.cpus,
                 nodes, machine.system, gpus_words(gpus_among(every))), ""]
    rows = []
    for reference in in_order(references):
        size, values = chosen(references[reference])
        rows.append(figure_cells(reference, size, values) + [
            str(gpus_among(values)), str(processes_of(values)), dates_words(values),
            files_words(values)])
    heads = ["what", "size", "median", "range", "of the ceiling", "GPUs", "processes", "measured", "files"]
    return lines + table(heads, rows) + [""]


def pooled(machines):
    """Joins the values of several machines, by reference and size."""
    together = collections.defaultdict(lambda: collections.defaultdict(list))
    for references in machines.values():
        for reference, sizes in references.items():
            for size, values in sizes.items():
                together[reference][size] += values
    return together


def answer(gpu, link, machines):
    references = pooled(machines)
    values = {reference.words: chosen(sizes)[1] for reference, sizes in references.items()}
    lines = ["## What should I see on an %s, %s?" % (gpu, link), ""]
    there, back = values.get("pinned, host to device"), values.get("pinned, device to host")
    if there and back:
        lines += ["Pinned memory, one way: **%s GB/s to the GPU, %s GB/s from it**." % (
            four(statistics.median(value.value for value in there)),
            four(statistics.median(value.value for value in back))), ""]
    gpus = gpus_among([value for sizes in references.values() for value in chosen(sizes)[1]])
    if gpus < GPUS_ENOUGH:
        lines += ["From %s only: yours may well give more or less." % gpus_words(gpus), ""]
    rows = []
    for reference in in_order(references):
        size, of_size = chosen(references[reference])
        rows.append(figure_cells(reference, size, of_size) + [str(processes_of(of_size))])
    heads = ["what", "size", "median", "range", "of the ceiling", "processes"]
    return lines + table(heads, rows) + [""]


BEFORE = """# Reference results

What xferbench measured, by model of GPU. GB/s are 10^9 bytes a second. Every number comes from a file in
[bench/results](../bench/results/README.md); `bench/reference_results.py` makes this page from them.
"""

BETWEEN = """**How to read it.** A value is the median that one process measured on one GPU or pair of GPUs; the table has
the median and the range of these values. "Of the ceiling" is their share of what the PCIe link can carry besides the
headers of its packets, if the process could read the link. "Noisy" values had a warning from xferbench: their
samples did not agree. The latency of a copy ends when the host knows that the data is there.
[measurement.md](measurement.md) says how each figure is taken.

**Is yours slower?** `sudo xferbench link` says in a second whether the link is as it should be, and what to do. Then
look for another program on the same GPU or link (`nvidia-smi`), for memory on a far NUMA node
(`xferbench --mode pinned --numa all`), and in a virtual machine for neighbours on the same host. Pageable and
managed memory scatter most: they wait for the CPU. `xferbench compare` tells a change from scatter.

## Each machine

A file counts if xferbench wrote it with the settings of a bare run, and no variable was set that steers the
runtime. If there is no file with 1 GiB, the table has another size.
[bench/results/README.md](../bench/results/README.md) says what else each folder has. Files of the HIP backend
over a library that calls CUDA do not count: they are not AMD's figures.
"""

AFTER = """## Other GPUs

Not measured: nobody has sent files yet of another model, of an AMD GPU or of several NUMA nodes. To send yours,
make a new folder and measure in it on an idle machine, with file names without folders:

    xferbench --mode all --size 1G --device all --processes 3 --json all-1g.json
    xferbench --mode pinned --size 1G --direction bidir --device all --processes 3 --json bidir-1g.json
    xferbench --latency --processes 3 --json latency.json
    xferbench --mode peer --size 1G --processes 3 --json peer-1g.json            # with two GPUs or more
    xferbench --mode pinned --size 512M --simultaneous --json simultaneous.json  # with two GPUs or more
    sudo xferbench link --device all --json link-1.json

Put the files into `bench/results/NAME`, add a line about the machine to bench/results/README.md, and run
`bench/reference_results.py > docs/reference-results.md`. Send that as a change (CONTRIBUTING.md). xferbench itself
sends nothing: it uses no network.

## What is in a file

The figures with all samples, and the conditions: time; host name, system, kernel, CPU model, memory; name, UUID,
PCI address and driver of each GPU; the options of the run, with the names of files; and the variables of [a fixed
list](measurement.md#the-environment), if they are set. It has no user name, no network address and no other
variable. Look into the file before you send it: it is text. You may replace `hostname` and `uuid` by other words,
if different GPUs keep different ones.
"""


def main(arguments):
    if len(arguments) > 1 or arguments[:1] in (["-h"], ["--help"]):
        print(__doc__, file=sys.stderr)
        return 2
    found = read_values(arguments[0] if arguments else RESULTS)
    lines = [BEFORE]
    for gpu, link in sorted({(machine.gpu, machine.link) for machine in found}):
        of_gpu = {machine: references for machine, references in found.items()
                  if (machine.gpu, machine.link) == (gpu, link)}
        lines += answer(gpu, link, of_gpu)
    lines += [BETWEEN]
    for machine in sorted(found, key=str):
        lines += machine_section(machine, found[machine])
    print("\n".join(lines + [AFTER]), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
