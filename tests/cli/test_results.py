#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a run says when all goes well: JSON, CSV and table.
usage: test_results.py BUILD_FOLDER [UNITTEST_ARGUMENT...]
"""

import csv
import io
import itertools
import re

import harness
from harness import BIDIR, FEW, HOST, MEASURED, MOVING, ONE, SMALL, figure
from measuring import CSV_LATENCY, NO_PAIRS, Measuring, interval_ranks

RESULT_KEYS = (
    "mode variant direction bytes bytes_moved device peer latency simultaneous parameters status "
    "reason error timer samples_s placements figures stop_reason verified warnings details"
).split()
# Whose rows are told here, whatever others the build has.
KNOWN_MODES = "pageable pinned async double-buffer zero-copy managed peer".split()
CSV_SAME = "mode variant direction status timer stop_reason".split()
# The medians of figures that have a column of their own.
CSV_MEDIANS = {
    "submit_s": "submit_time",
    "wall_s": "wall_time",
    "overlap": "overlap",
    "share_of_alone": "share_of_alone",
    "bandwidth_h2d_bytes_per_second": "bandwidth_h2d",
    "bandwidth_d2h_bytes_per_second": "bandwidth_d2h",
    "setup_time_s": "setup_time",
}
CSV_BANDWIDTH = {"median_bytes_per_second": "median"} | {
    key: key for key in "ci95_low ci95_high min max p5 p95 mad n".split()
}


class Results(Measuring):
    """What a run says when all goes well."""

    def test_keys(self):
        document = self.run_to_json(*SMALL)
        for key in "tool timestamp host backend devices environment config results".split():
            self.assertIn(key, document)
        self.assertEqual(document["schema"], "xferbench.result")
        self.assertEqual(document["schema_version"], 2)
        self.assertIs(document["interrupted"], False)
        self.assertEqual(document["backend"]["name"], "host")
        self.assertEqual(len(document["devices"]), 1)
        for key in "name uuid pci_bdf memory_bytes driver".split():
            self.assertIn(key, document["devices"][0])
        self.assertEqual(sorted(document["results"][0]), sorted(RESULT_KEYS))
        self.assertEqual(document["results"][0]["timer"], "host-clock")

    def test_every_case_has_its_row(self):
        """Without --mode and --direction: every mode, each the ways that it goes by default."""
        outcome = self.assert_succeeds(*HOST, "--size", "4K,1000", *FEW, "--verbose", "--json", "out.json")
        document = self.load("out.json")
        results = [result for result in document["results"] if result["mode"] in KNOWN_MODES]
        cases = [
            (result["mode"], result["variant"], result["bytes"], result["direction"])
            for result in results
        ]
        one_way = ("h2d", "d2h")
        modes = (
            ("pageable", "driver", one_way),
            ("pageable", "ring", one_way),
            ("pinned", "registered", one_way),
            ("async", "registered", one_way),
            ("double-buffer", "registered", ("bidir",)),
            ("zero-copy", "sequential", one_way),
            ("managed", "fault", one_way),
            ("managed", "prefetch", one_way),
        )
        expected = [
            (mode, variant, size, direction)
            for mode, variant, directions in modes
            for size in (4096, 1000)
            for direction in directions
        ]
        # There is no pair here: one row says so for all of them.
        expected.append(("peer", "direct-read", 4096, "d2d"))
        self.assertEqual(cases, expected)
        self.assertEqual({result["mode"] for result in document["results"]}, set(MOVING))
        rows = [row for row in self.rows(outcome.out) if row.split()[0] in KNOWN_MODES]
        self.assertEqual(len(rows), len(cases))
        for row, result, (mode, variant, size, direction) in zip(rows, results, cases):
            text = "4 KiB" if size == 4096 else "1 KB"
            begin = rf"^{mode} +{variant} +{direction} +{text} +"
            if mode in ("managed", "peer"):
                self.assertRegex(row, begin + r"skipped( +-)+$")
                self.assert_skipped(result, NO_PAIRS if mode == "peer" else "'managed'")
            else:
                self.assertRegex(row, begin + r"[0-9.]+ .* 3 +yes$")
                self.assertEqual((result["status"], result["verified"]), ("ok", True), result)
        notes = re.sub(r"\s+", " ", outcome.out)
        self.assert_words(notes, ("lacks the capability 'managed'", NO_PAIRS))

    def test_table_shows_what_the_record_has(self):
        outcome = self.assert_succeeds(*ONE, "-s", "4K", "-n", "7", "--verbose", "--json", "out.json")
        document = self.load("out.json")
        self.assertIn(document["devices"][0]["name"], outcome.out)
        self.assert_words(outcome.out, ("backend host", "link", "NUMA"))
        row = self.rows(outcome.out)[0].split()
        bandwidth = figure(document["results"][0], "bandwidth")
        low, high = row[6].split("-")
        shown = {"median": row[5], "ci95_low": low, "ci95_high": high, "min": row[7], "max": row[8]}
        for key, text in shown.items():
            decimals = len(text.partition(".")[2])
            self.assertEqual(text, f"{bandwidth[key] / 1e9:.{decimals}f}", key)

    def test_numbers_are_numbers(self):
        document, _ = self.run_whatever(0, "--size", "4K", *FEW)
        # Names and lists, which may look like numbers.
        texts = {"device", "unit", "version", "runtime_version", "driver_version", "host_memory_numa_nodes"}

        def walk(value, key, place):
            if isinstance(value, dict):
                for inner, item in value.items():
                    if inner != "environment":
                        walk(item, inner, f"{place}.{inner}")
            elif isinstance(value, list):
                for item in value:
                    walk(item, key, place)
            elif isinstance(value, str) and key not in texts:
                self.assertIsNone(re.fullmatch(r"[-+]?[0-9.]+(e[-+]?[0-9]+)?", value), place)
            if key.endswith(("_s", "_bytes", "bytes", "_samples", "streams")) and key != "mode":
                self.assertNotIsInstance(value, (str, bool), place)

        walk(document, "", "$")
        said = {}
        for result in document["results"]:
            said |= result["details"] | result["parameters"]
        for key in "streams chunk buffers compute_steps passes".split():
            self.assertIn(type(said[key]), (int, float), key)

    def test_statistics(self):
        for samples in (1, 2, 5, 6, 7, 10, 20, 57):
            with self.subTest(samples=samples):
                document = self.run_to_json(*ONE, "-s", "4K", "-t", "1ms", "-n", str(samples))
                (result,) = document["results"]
                self.assertEqual(len(result["samples_s"]), samples)
                self.assertEqual(result["stop_reason"], "fixed")
                self.assert_described(result)

    def test_known_ranks(self):
        """The figures of the literature, so that the test and the program do not err together."""
        self.assertIsNone(interval_ranks(5))
        for n, ranks in ((6, (1, 6)), (10, (2, 9)), (20, (6, 15)), (100, (40, 61))):
            self.assertEqual(interval_ranks(n), ranks)

    def test_stopping_by_itself(self):
        document = self.run_to_json(*HOST, "-m", "pageable,async", "-s", "64K", "-t", "20ms")
        for result in document["results"]:
            self.assertIn(result["stop_reason"], ("converged", "time-limit"))
            self.assertGreaterEqual(len(result["samples_s"]), 6)
            self.assert_described(result)

    def test_host_clock_beside_it(self):
        document = self.run_to_json(*HOST, *MEASURED, "--size", "4K,1M", *FEW)
        for result in document["results"]:
            with self.subTest(mode=result["mode"], bytes=result["bytes"]):
                self.assert_sampled(result, "submit_time", "wall_time")
                submit, wall = figure(result, "submit_time"), figure(result, "wall_time")
                self.assertGreater(submit["median"], 0)
                # Each call returned before its data was there.
                for returned, there in zip(submit["samples"], wall["samples"], strict=True):
                    self.assertGreaterEqual(there, returned)

    def test_config_has_every_option(self):
        help_text = self.assert_succeeds("help", "all").out.partition("---- list ----")[0]
        options = set(re.findall(r"^ +(?:-\w, )?--([a-z-]+)", help_text, re.M))
        self.assertLessEqual({"mode", "size", "samples", "streams", "chunk", "quiet"}, options)
        config = self.run_to_json(
            *(*HOST, "--mode", "pinned,async", "--size", "4K..16K,1KB", "--time-limit", "20ms"),
            *("--chunk", "1.5K", "--direction", "d2h", "--quiet"),
        )["config"]
        self.assertEqual(set(config), options)
        expected = {
            "mode": ["pinned", "async"],
            "size": [4096, 8192, 16384, 1000],
            "direction": ["d2h"],
            "device": ["0"],
            "backend": "host",
            "time-limit": 0.02,
            "samples": None,
            "json": "out.json",
            "csv": None,
            "quiet": True,
            "host-memory": ["registered"],
            "host-offset": [0],
            "device-offset": [0],
            "streams": [2],
            "chunk": [1536],
            "latency": False,
            "simultaneous": False,
            "quick": False,
            "deadline": None,
            "access": ["sequential"],
            "passes": [1],
            "managed": ["fault", "prefetch"],
            "buffers": [4],
            "kernel-time": ["auto"],
            "peer-path": ["direct-read", "direct-write", "staged"],
            "pairs": None,
            "by": ["engine"],
        }
        self.assertEqual({key: config[key] for key in expected}, expected)

    def test_config_has_defaults(self):
        config = self.run_to_json(*ONE, "--size", "4K", "--samples", "3")["config"]
        self.assertEqual(config["samples"], 3)
        self.assertEqual(config["time-limit"], 0.25)
        self.assertEqual(config["device"], ["0"])
        self.assertEqual(config["chunk"], [8 << 20])
        self.assertIs(config["quiet"], False)
        config, _ = self.run_whatever(3, "--mode", "peer", "--samples", "3")
        self.assertEqual(config["config"]["size"], [256 << 20])
        self.assertIsNone(config["config"]["direction"])
        self.assertEqual(config["config"]["mode"], ["peer"])

    def test_short_names(self):
        arguments = ("-bhost", "-mpinned", "-dh2d", "-s4K", "-n3", "-D", "0", "-t1ms")
        document = self.run_to_json(*arguments)
        self.assertEqual(len(document["results"]), 1)
        self.assertEqual(document["config"]["time-limit"], 0.001)

    def test_both_directions(self):
        for words in ("both", "h2d,d2h", "d2h,h2d"):
            document = self.run_to_json(*HOST, "-m", "pinned", "-s", "4K", *FEW, "-d", words)
            directions = [result["direction"] for result in document["results"]]
            self.assertEqual(directions, ["h2d", "d2h"], words)

    def test_every_device(self):
        document = self.run_to_json(*SMALL, "--device", "all")
        self.assertEqual([device["index"] for device in document["devices"]], [0])
        self.assertEqual(document["config"]["device"], ["all"])

    def test_odd_sizes_and_chunks(self):
        """The last chunk is shorter; one byte is a size."""
        arguments = (*HOST, "--size", "1,4097,1000003", *FEW)
        self.run_to_json(*arguments, *MEASURED)
        self.run_to_json(*arguments, "-m", "pinned,async", *BIDIR, "--chunk", "999")
        for chunk, buffers in (("8", "2"), ("4096", "32"), ("1T", "3")):
            with self.subTest(chunk=chunk, buffers=buffers):
                mode = ("-m", "double-buffer", "--chunk", chunk, "--buffers", buffers)
                self.run_to_json(*HOST, "--size", "1,4097,100003", *FEW, *mode)
        for chunk, streams in (("1000", "3"), ("4096", "64"), ("1000003", "1"), ("1T", "2")):
            with self.subTest(chunk=chunk, streams=streams):
                document = self.run_to_json(
                    *(*arguments, "-m", "async", "--chunk", chunk, "--streams", streams)
                )
                expected = {"chunk": 1 << 40 if chunk == "1T" else int(chunk), "streams": int(streams)}
                expected |= {"host-offset": 0, "device-offset": 0}
                for result in document["results"]:
                    self.assertEqual(result["parameters"], expected)

    def test_every_value_is_a_case(self):
        """Lists and ranges of a mode's parameters: each combination stands in JSON and CSV by itself."""
        for mode, options in {
            "async": {"chunk": ("1K..4K", (1024, 2048, 4096)), "streams": ("1,3", (1, 3))},
            "double-buffer": {"chunk": ("8,4K", (8, 4096)), "buffers": ("2..8", (2, 4, 8))},
            "zero-copy": {"passes": ("1..4,3", (1, 2, 4, 3))},
        }.items():
            with self.subTest(mode=mode):
                given = [word for name, (text, _) in options.items() for word in (f"--{name}", text)]
                arguments = (*HOST, "--mode", mode, "--size", "8K", *FEW, *given, "--csv", "out.csv")
                results = self.run_to_json(*arguments)["results"]
                wanted = list(itertools.product(*(values for _, values in options.values())))
                found = [tuple(result["parameters"][name] for name in options) for result in results]
                directions = len({result["direction"] for result in results})
                self.assertEqual(sorted(found), sorted(wanted * directions))
                self.assertEqual({result["status"] for result in results}, {"ok"})
                with open(self.path("out.csv"), encoding="utf-8", newline="") as file:
                    lines = list(csv.DictReader(file, strict=True))
                columns = [tuple(int(line[name]) for name in options) for line in lines]
                self.assertEqual(columns, found)

    def test_environment(self):
        document = self.run_to_json(
            *SMALL,
            environment={
                "CUDA_CACHE_PATH": 'a "quoted" value\\',
                "HIP_LAUNCH_BLOCKING": "",
                "ROCR_VISIBLE_DEVICES": "1,0",
                "ROCM_PATH": "/nowhere",
                "XB_UNRELATED": "no",
                "MY_CUDA_FOO": "no",
                "NVIDIA_API_KEY": "no",
                "CUDA_ACCESS_TOKEN": "no",
            },
        )
        kept = {
            "CUDA_CACHE_PATH": 'a "quoted" value\\',
            "HIP_LAUNCH_BLOCKING": "",
            "ROCR_VISIBLE_DEVICES": "1,0",
            "ROCM_PATH": "/nowhere",
        }
        self.assertEqual(document["environment"], kept)

    def test_environment_that_is_no_text(self):
        document = self.run_to_json(*SMALL, environment={"CUDA_CACHE_PATH": b"a\xffb\n"})
        self.assertEqual(document["environment"]["CUDA_CACHE_PATH"], "a\ufffdb\n")

    def test_json_on_standard_output(self):
        outcome = self.assert_succeeds(*SMALL, "--json", "-")
        self.assertEqual(outcome.err, "")
        self.assert_all_ok(self.load_text(outcome.out))
        self.assert_folder_has("from-stdout.json")

    def test_csv_agrees_with_json(self):
        outcome = self.assert_succeeds(
            *(*HOST, "--mode", "pinned,async", "--host-memory", "alloc,write-combined"),
            *("--size", "4K,64K", "--samples", "7", "--time-limit", "1ms", "-d", "both,bidir"),
            *("--json", "out.json", "--csv", "-"),
        )
        self.assertEqual(outcome.err, "")
        self.assertEqual(outcome.out.count("\r\n"), outcome.out.count("\n"))
        lines = list(csv.DictReader(io.StringIO(outcome.out, newline=""), strict=True))
        results = self.load("out.json")["results"]
        self.assertEqual(len(lines), len(results))
        self.assertEqual({result["status"] for result in results}, {"ok", "skipped"})
        for line, result in zip(lines, results):
            self.assertNotIn(None, line)
            for key in CSV_SAME:
                self.assertEqual(line[key], result[key] or "", key)
            self.assertEqual(line["reason"], result["reason"] or "")
            self.assertEqual(int(line["bytes"]), result["bytes"])
            self.assertEqual(int(line["device"]), result["device"])
            self.assertEqual(line["peer"], "")
            self.assertEqual(line["verified"], {True: "true", None: ""}[result["verified"]])
            self.assertEqual(line["warnings"], "; ".join(result["warnings"]))
            bandwidth = figure(result, "bandwidth") or {}
            for column, key in CSV_BANDWIDTH.items():
                expected = bandwidth.get(key)
                self.assertEqual(float(line[column]) if line[column] else None, expected, column)
            moved = float(line["bytes_moved"]) if line["bytes_moved"] else None
            self.assertEqual(moved, result["bytes_moved"])
            self.assertEqual((line["latency"], line["simultaneous"]), ("false", "false"))
            for key in CSV_LATENCY:
                self.assertEqual(line[key], "", key)
            for column, name in CSV_MEDIANS.items():
                expected = (figure(result, name) or {"median": None})["median"]
                self.assertEqual(float(line[column]) if line[column] else None, expected, column)
            named = ";".join(f"{key}={value}" for key, value in result["parameters"].items())
            self.assertEqual(line["parameters"], named)

    def test_quiet(self):
        outcome = self.assert_succeeds(*SMALL, "--quiet", "--json", "out.json", "--csv", "out.csv")
        self.assertEqual((outcome.out, outcome.err), ("", ""))
        self.assert_all_ok(self.load("out.json"))
        self.assert_folder_has("out.json", "out.csv")

    def test_quiet_leaves_what_was_asked_for(self):
        outcome = self.assert_succeeds(*SMALL, "--quiet", "--json", "-")
        self.assert_all_ok(self.load_text(outcome.out))

    def test_nothing_but_skipped_rows(self):
        outcome = self.run_program(
            *(*HOST, "--mode", "pinned", "--host-memory", "write-combined", "--size", "4K"),
            *(*FEW, "--verbose", "--json", "out.json"),
        )
        self.assertEqual(outcome.code, 3, outcome)
        rows = self.rows(outcome.out)
        self.assertEqual(len(rows), 2)
        for row in rows:
            self.assertRegex(row, r"^pinned +write-combined +(h2d|d2h) +4 KiB +skipped ")
        self.assertIn("lacks the capability 'write-combined'", re.sub(r"\s+", " ", outcome.out))
        results = self.load("out.json")["results"]
        self.assertEqual([result["status"] for result in results], ["skipped", "skipped"])
        for result in results:
            self.assertIn("lacks the capability 'write-combined'", result["reason"])

    def test_some_skipped_rows(self):
        outcome = self.assert_succeeds(
            *(*SMALL, "--host-memory", "alloc,write-combined", "--verbose", "--json", "out.json"),
        )
        self.assertEqual(len(self.rows(outcome.out)), 2)
        results = self.load("out.json")["results"]
        self.assertEqual([result["status"] for result in results], ["ok", "skipped"])


if __name__ == "__main__":
    harness.main()
