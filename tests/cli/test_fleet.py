#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`fleet`: which GPUs of many nodes are not like the others. usage: test_fleet.py BUILD_FOLDER [UNITTEST_ARGUMENT...]"""

import copy
import csv
import fcntl
import io
import json
import os
import re
import signal
import struct
import termios

import harness
from harness import SOURCE, Case, Terminal

FORMATS = ("table", "json", "csv", "prometheus", "nodelist")
SLOW = 0.5  # of the others' bandwidth

with open(os.path.join(SOURCE, "bench", "results", "h200", "link-1.json"), encoding="utf-8") as measured:
    PATTERN = json.load(measured)
PATTERN["timestamp"] = "2001-11-21T05:18:16Z"  # which is past on every machine


def document(number, scale=1.0):
    """What link measured on one node, as if that were node `number`: its bandwidths differ by less than
    0.1 %, and by `scale`."""
    made = copy.deepcopy(PATTERN)
    made["host"]["hostname"] = f"gpu{number:03}"
    device = made["devices"][0]
    device["uuid"] = f"GPU-00000000-0000-0000-0000-{number:012}"
    for attempt in device["attempts"]:
        for key in ("h2d_bytes_per_second", "d2h_bytes_per_second"):
            attempt[key] *= scale * (1 + 0.0002 * (number % 5 - 2))
    return made


class Fleet(Case):
    def write_nodes(self, numbers=range(1, 9), slow=(), folder="results"):
        os.makedirs(self.path(folder), exist_ok=True)
        for number in numbers:
            self.write_json(f"{folder}/n{number}.json", document(number, SLOW if number in slow else 1.0))
        return folder

    def lines_of(self, numbers=range(1, 9), slow=()):
        return "".join(json.dumps(document(n, SLOW if n in slow else 1.0)) + "\n" for n in numbers)

    def findings(self, code, *arguments, **options):
        outcome = self.assert_ends(code, "fleet", *arguments, "--format", "json", **options)
        return self.load_text(outcome.out)["findings"]

    # ---- the verdict ----

    def test_one_slow_gpu_is_found(self):
        folder = self.write_nodes(slow=(3,))
        out = self.assert_ends(1, "fleet", folder).out
        self.assertTrue(out.startswith("1 of 8 nodes is slow: gpu003, up to 50.0 % below the others.\n"), out)
        self.assertIn("--format nodelist", out.split("\n\n")[0])
        self.assertRegex(out, r"(?m)^gpu003 .* link (h2d|d2h) .* -50\.0 % .* \+1  slow$")
        found = self.findings(1, folder)
        self.assertEqual({(one["node"], one["code"], one["is_to_drain"]) for one in found}, {("gpu003", "slow", True)})
        self.assertEqual({one["figure"] for one in found}, {"link h2d", "link d2h"})
        for one in found:
            self.assertAlmostEqual(one["deviation"], -0.5, places=2)
            self.assertEqual(one["gpu"]["uuid"], "GPU-00000000-0000-0000-0000-000000000003")
        self.assertEqual(self.assert_ends(1, "fleet", folder, "--format", "nodelist").out, "gpu003\n")

    def test_a_fast_gpu_drains_no_node(self):
        self.write_nodes()
        self.write_json("results/n8.json", document(8, 1.5))
        self.assertEqual({one["code"] for one in self.findings(1, "results")}, {"fast"})
        self.assertEqual(self.assert_ends(1, "fleet", "results", "--format", "nodelist").out, "")

    def test_equal_gpus(self):
        out = self.assert_succeeds("fleet", self.write_nodes()).out
        self.assertTrue(out.startswith("All 8 GPUs on 8 nodes are like their siblings.\n"), out)
        self.assertEqual(self.findings(0, "results"), [])
        for form, lines in (("nodelist", 0), ("csv", 1)):
            out = self.assert_succeeds("fleet", "results", "--format", form).out
            self.assertEqual(len(out.splitlines()), lines)

    def test_too_few(self):
        folder = self.write_nodes(range(1, 4))
        for form in FORMATS:
            with self.subTest(form=form):
                self.assert_ends(3, "fleet", folder, "--format", form)
        self.assertTrue(self.assert_ends(3, "fleet", folder).out.startswith("Too few siblings: nothing was judged.\n"))

    def test_nothing_that_can_be_read(self):
        self.write("broken.json", "{")
        self.write("empty.json", "")
        for arguments in (("broken.json",), ("broken.json", "empty.json"), ("not-there.json",), (".",)):
            with self.subTest(arguments=arguments):
                out = self.assert_ends(2, "fleet", *arguments).out
                self.assertTrue(out.startswith("No file could be read: nothing was judged.\n"), out)
                self.assertIn(arguments[0] if arguments[0] != "." else "broken.json", out)
                outcome = self.assert_ends(2, "fleet", *arguments, "--format", "nodelist")
                self.assertEqual(outcome.out, "")
                self.assertIn("left out", outcome.err)

    def test_what_is_broken_is_left_out_and_told(self):
        folder = self.write_nodes(slow=(2,))
        self.write(f"{folder}/broken.json", '{"schema": "xferbench.link", ')
        self.write(f"{folder}/other.json", "[1, 2]")
        self.write(f"{folder}/notes.txt", "not read")
        self.assertEqual({one["node"] for one in self.findings(1, folder)}, {"gpu002"})
        out = self.assert_ends(1, "fleet", folder).out
        self.assertIn("\nLeft out: 2 files\n", out)
        self.assertIn("broken.json", out)
        self.assertNotIn("notes.txt", out)

    def test_what_could_not_be_read_is_not_good(self):
        folder = self.write_nodes()
        self.assert_succeeds("fleet", folder)
        out = self.assert_ends(1, "fleet", folder, "not-there.json").out
        self.assertTrue(out.startswith("All 8 GPUs on 8 nodes are like their siblings.\n1 file could not be read (below).\n"), out)
        self.assertEqual(self.load_text(self.assert_ends(1, "fleet", folder, "gone", "--format", "json").out)["exit_code"], 1)

    # ---- where documents come from ----

    def test_files_folders_and_standard_input_are_the_same(self):
        folder = self.write_nodes(slow=(4,))
        lines = self.lines_of(slow=(4,))
        self.write("all.jsonl", lines)
        pretty = "".join(json.dumps(json.loads(line), indent=1) + "\n" for line in lines.splitlines())
        self.write("pretty.json", pretty)
        wanted = self.assert_ends(1, "fleet", folder, "--format", "csv").out
        files = [f"{folder}/{name}" for name in sorted(os.listdir(self.path(folder)))]
        for arguments in (files, ["all.jsonl"], ["pretty.json"]):
            self.assertEqual(self.assert_ends(1, "fleet", *arguments, "--format", "csv").out, wanted)
        with open(self.path("all.jsonl"), "rb") as stream:
            self.assertEqual(self.assert_ends(1, "fleet", "-", "--format", "csv", stdin=stream).out, wanted)

    def test_lines_with_labels_are_left_out(self):
        """As srun --label writes them: each line of 8 tasks in pieces, those of all tasks mixed."""
        lines = self.lines_of().splitlines()
        pieces = [f"{task}: {line[at : at + 1024]}\n" for at in range(0, max(map(len, lines)), 1024)
                  for task, line in enumerate(lines) if line[at:]]
        self.write("labelled", "".join(pieces))
        told = self.load_text(self.assert_ends(2, "fleet", "labelled", "--format", "json").out)
        self.assertEqual((told["nodes"], told["left_out_count"]), (0, 1))
        outcome = self.assert_ends(2, "fleet", "labelled")
        said = " ".join(outcome.out.split())
        self.assert_words(said, ("(--json %h.json)", "(--json-lines)", "neither cuts nor labels"), outcome)

    def test_a_broken_document_may_be_a_missing_nodes(self):
        folder = self.write_nodes()
        expected = ("--expect-hosts", "gpu[001-009]")
        found = self.findings(1, folder, *expected)
        self.assertEqual([(one["code"], one["unsure"], one["is_to_drain"]) for one in found], [("missing", False, True)])
        self.assertEqual(self.assert_ends(1, "fleet", folder, *expected, "--format", "nodelist").out, "gpu009\n")
        # What is whole, and of no node, changes nothing.
        self.write_json(f"{folder}/list.json", {"schema": "xferbench.list"})
        self.assertEqual(self.assert_ends(1, "fleet", folder, *expected, "--format", "nodelist").out, "gpu009\n")
        self.write(f"{folder}/n9.json", json.dumps(document(9))[:1000])
        found = self.findings(1, folder, *expected)
        self.assertEqual([(one["code"], one["unsure"], one["is_to_drain"]) for one in found], [("missing", True, False)])
        outcome = self.assert_ends(1, "fleet", folder, *expected, "--format", "nodelist")
        self.assertEqual(outcome.out, "")
        self.assertIn("missing nodes are not listed", outcome.err)
        self.assertIn("Missing nodes may have written the files", self.assert_ends(1, "fleet", folder, *expected).out)

    def test_a_finding_of_a_node_and_one_of_a_gpu(self):
        """The first of the two is about no GPU: nobody counts those beside it."""
        for number, code in ((1, "XB-DEVICE-MISSING"), (2, "XB-LINK-WIDTH")):
            made = document(number)
            made["devices"][0]["verdict"]["level"] = "CRITICAL"
            made["devices"][0]["verdict"]["reasons"] = [{"code": code, "level": "CRITICAL", "text": "odd"}]
            self.write_json(f"n{number}.json", made)
        out = " ".join(self.assert_ends(1, "fleet", "n1.json", "n2.json").out.split())
        self.assertIn("2 of 2 nodes failed their own link tests", out)

    def test_a_whole_fleet_is_not_drained(self):
        """One deadline that is too short, one folder that is empty: a script must not take all nodes away."""
        for folder in ("results", "empty", "foreign"):
            os.makedirs(self.path(folder))
        for number in range(1, 9):
            made = document(number)
            made["devices"][0]["verdict"]["level"] = "CRITICAL"
            made["devices"][0]["verdict"]["reasons"] = [{"code": "XB-LINK-X", "level": "CRITICAL", "text": "odd"}]
            self.write_json(f"results/n{number}.json", made)
        outcome = self.assert_ends(1, "fleet", "results", "--format", "nodelist")
        self.assertEqual(outcome.out, "")
        self.assertIn("findings drain no node", outcome.err)
        self.assertIn("8 of 8 nodes failed their own link tests, too many for single faults: look for one cause", " ".join(self.assert_ends(1, "fleet", "results").out.split()))
        self.write_json("foreign/list.json", {"schema": "xferbench.list"})
        for folder in ("empty", "foreign", "not-there"):
            outcome = self.assert_ends(2, "fleet", folder, "--expect-hosts", "gpu[1-3]", "--format", "nodelist")
            self.assertEqual(outcome.out, "")
            self.assertIn("expected nodes are not listed: 3, but none of them is there", outcome.err)
            out = self.assert_ends(2, "fleet", folder, "--expect-hosts", "gpu[1-3]").out
            self.assertRegex(out, "^No file could be read: nothing was judged.\n\nLeft out: 1 file\n")
        # A file of names that is misspelt is a name.
        outcome = self.assert_ends(1, "fleet", "results", "--expect-hosts", "hostz", "--format", "nodelist")
        self.assertEqual(outcome.out, "")
        self.assertIn("expected nodes are not listed: 1, but none of them is there", outcome.err)
        out = self.assert_ends(1, "fleet", "results", "--expect-hosts", "hostz").out
        self.assertIn("None of the expected nodes is there: are the names and the folder right? The first file is of gpu001\n", out)

    def test_what_was_cut_short_is_not_drained(self):
        """A deadline or a signal is hardly the node's fault. The list may be all that a script looks at."""
        folder = self.write_nodes()
        made = document(9)
        made["cut"] = made["devices"][0]["cut"] = True
        self.write_json(f"{folder}/n9.json", made)
        found = self.findings(1, folder)
        self.assertEqual({(one["node"], one["code"], one["is_to_drain"]) for one in found}, {("gpu009", "cut-short", False)})
        outcome = self.assert_ends(1, "fleet", folder, "--format", "nodelist")
        self.assertEqual(outcome.out, "")
        self.assertIn("findings of cut-short and link-warning list no node: 2; measure those nodes again", outcome.err)

    def test_a_warning_is_not_drained(self):
        """A neighbour's copies are enough for one. What is CRITICAL is drained."""
        folder = self.write_nodes()
        for level, drained, answer in (
            ("WARNING", "", "1 of 8 nodes has a warning from its own link test: gpu003. Drain: no node."),
            ("UNKNOWN", "", "1 of 8 nodes has a warning from its own link test: gpu003. Drain: no node."),
            ("CRITICAL", "gpu003\n", "1 of 8 nodes failed its own link test: gpu003. Drain: gpu003 (for"),
        ):
            made = document(3)
            made["devices"][0]["verdict"]["level"] = level
            made["devices"][0]["verdict"]["reasons"] = [{"code": "XB-LINK-X", "level": level, "text": "odd"}]
            self.write_json(f"{folder}/n3.json", made)
            self.assertEqual(self.assert_ends(1, "fleet", folder, "--format", "nodelist").out, drained)
            self.assertIn(answer, " ".join(self.assert_ends(1, "fleet", folder).out.split()))

    def test_documents_that_are_there_twice(self):
        """Of one node the newest counts, wherever it comes from."""
        self.write_nodes()
        again = document(5, SLOW)
        again["timestamp"] = "2001-11-21T05:18:15Z"  # older
        self.write_json("results/older.json", again)
        self.assertEqual(self.findings(0, "results"), [])
        again["timestamp"] = "2001-11-22T00:00:00Z"
        self.write_json("results/newer.json", again)
        self.assertEqual({one["node"] for one in self.findings(1, "results")}, {"gpu005"})
        told = self.load_text(self.assert_ends(1, "fleet", "results", "--format", "json").out)
        self.assertEqual((told["nodes"], told["gpus"]), (8, 8))
        self.assertGreater(told["duplicates"], 0)

    def test_a_document_of_the_future(self):
        """It does not hide one that could have been written, but it is better than none."""
        self.write_nodes()
        ahead = document(5, SLOW)
        ahead["timestamp"] = "9998-01-01T00:00:00Z"
        self.write_json("results/z.json", ahead)
        told = self.load_text(self.assert_succeeds("fleet", "results", "--format", "json").out)
        self.assertIn("1 of 9 files have a date more than a day ahead, and count as the oldest (first: results/z.json)", told["notes"][0])
        self.assertEqual(told["sources"][8]["timestamp"], ahead["timestamp"])
        os.remove(self.path("results/n5.json"))
        self.assertEqual({one["node"] for one in self.findings(1, "results")}, {"gpu005"})

    def test_equal_uuids(self):
        """Cloned machines; and a document that claims the GPU of another node."""
        self.write_nodes()
        for number, liar in ((1, None), (3, 7), (3, 2)):
            for node in range(1, 9):
                made = document(node, SLOW if node == 3 else 1.0)
                if liar in (None, node):
                    made["devices"][0]["uuid"] = document(number)["devices"][0]["uuid"]
                self.write_json(f"results/n{node}.json", made)
            with self.subTest(liar=liar):
                self.assertEqual(self.assert_ends(1, "fleet", "results", "--format", "nodelist").out, "gpu003\n")
                told = self.load_text(self.assert_ends(1, "fleet", "results", "--format", "json").out)
                self.assertEqual((told["gpus"], told["duplicates"]), (8, 0))
                self.assertIn("1 UUID names several GPUs (first: on gpu00", " ".join(told["notes"]))

    def test_json_beside_the_table(self):
        folder = self.write_nodes()
        table = self.assert_succeeds("fleet", folder).out
        self.assertEqual(self.assert_succeeds("fleet", folder, "--json", "out.json").out, table)
        texts = [self.read("out.json")]
        texts += [self.assert_succeeds("fleet", folder, *how).out for how in (("--json", "-"), ("--format", "json"))]
        documents = [self.load_text(text) | {"timestamp": None} for text in texts]
        self.assertEqual(documents, documents[:1] * 3)
        self.assert_usage(("--json", "is read"), "fleet", "out.json", "--json", "out.json")

    def test_its_own_documents_are_left_out(self):
        folder = self.write_nodes()
        self.assert_succeeds("fleet", folder, "--format", "json", "--output", f"{folder}/fleet.json")
        self.load(folder, "fleet.json")
        told = self.load_text(self.assert_succeeds("fleet", folder, "--format", "json").out)
        self.assertEqual((told["left_out_count"], told["nodes"]), (1, 8))
        outcome = self.run_program("show", f"{folder}/fleet.json")
        self.assertNotEqual(outcome.code, 0)
        self.assertIn("judgement of many nodes", outcome.err)

    # ---- nodes that are missing ----

    def test_nodes_that_are_expected(self):
        self.write_nodes()
        self.write("hosts", "# the rack\ngpu[001-004]\ngpu005,gpu006\ngpu007\ngpu[008-010]\n")
        for taken, text in (("expression", "gpu[001-010]"), ("file", "hosts"), ("file", "./hosts")):
            with self.subTest(text=text):
                outcome = self.assert_ends(1, "fleet", "results", "--format", "nodelist", "--expect-hosts", text)
                self.assertEqual(outcome.out, "gpu[009-010]\n")
                self.assertIn(f"--expect-hosts: 10 nodes of the {taken} {text}\n", outcome.err)
        out = self.assert_ends(1, "fleet", "results", "--expect-hosts", "gpu[001-010]").out
        self.assertTrue(out.startswith("2 of 10 nodes have no result file: gpu[009-010].\n"), out)
        self.assert_succeeds("fleet", "results", "--expect-hosts", "gpu[001-008]")
        # A file of that name is there, but a comma makes it a node's.
        outcome = self.assert_ends(1, "fleet", "results", "--format", "nodelist", "--expect-hosts", "hosts,gpu001")
        self.assertEqual(outcome.out, "hosts\n")

    def test_the_node_list_has_the_names_that_were_expected(self):
        """A scheduler that knows gpu003 refuses a list with gpu003.cluster in it."""
        self.write_nodes()
        slow = document(3, SLOW)
        slow["host"]["hostname"] = "gpu003.cluster"
        self.write_json("results/n3.json", slow)
        for expected, listed in (("gpu[001-008]", "gpu003"), ("gpu[001-002]", "gpu003.cluster"),
                                 ("gpu[001-008].cluster", "gpu003.cluster"),
                                 ("gpu003,gpu003.cluster", "gpu003.cluster,gpu003")):
            with self.subTest(expected=expected):
                outcome = self.assert_ends(1, "fleet", "results", "--format", "nodelist", "--expect-hosts", expected)
                self.assertEqual(outcome.out, listed + "\n")
        slow["host"]["node"] = "n3"  # found by its host name
        self.write_json("results/n3.json", slow)
        outcome = self.assert_ends(1, "fleet", "results", "--format", "nodelist", "--expect-hosts", "gpu[001-008]")
        self.assertEqual(outcome.out, "gpu003\n")

    def test_expected_nodes_that_are_nonsense(self):
        self.write_nodes()
        self.write("bad", "gpu1\ngpu[2\n")
        for words, text in (
            (("taken as names of hosts", "character 4", "not closed"), "gpu[1-2"),
            (("taken as names of hosts", "more than 1000000 names"), "gpu[1-2000000]"),
            (("taken as a file", "'bad', line 2", "not closed"), "bad"),
            (("taken as a file", "no/such"), "no/such"),
        ):
            with self.subTest(text=text):
                self.assert_usage(words, "fleet", "results", "--expect-hosts", text)

    # ---- formats ----

    def test_formats_say_the_same(self):
        folder = self.write_nodes(slow=(3, 6))
        found = self.findings(1, folder)
        rows = list(csv.DictReader(io.StringIO(self.assert_ends(1, "fleet", folder, "--format", "csv").out)))
        for key in ("node", "code", "figure"):
            self.assertEqual([row[key] for row in rows], [one[key] for one in found])
        self.assertEqual([float(row["deviation"]) for row in rows], [one["deviation"] for one in found])
        metrics = self.assert_ends(1, "fleet", folder, "--format", "prometheus").out
        self.assertIn(f'\nxferbench_fleet_findings{{code="slow"}} {len(found)}\n', metrics)
        self.assertEqual(len(re.findall(r"(?m)^xferbench_fleet_deviation_ratio\{", metrics)), len(found))
        self.assertEqual(self.assert_ends(1, "fleet", folder, "--format", "nodelist").out, "gpu[003,006]\n")

    def test_names_that_could_break_a_format(self):
        folder = self.write_nodes()
        nasty = document(9, SLOW)
        nasty["host"]["hostname"] = 'a"b,c\n\x1b[31m\x7f\x9b::error::[1-3]$(x)'
        self.write_json(f"{folder}/n9.json", nasty)
        for form in FORMATS:
            with self.subTest(form=form):
                outcome = self.assert_ends(1, "fleet", folder, "--format", form)
                self.assertNotRegex(outcome.out + outcome.err, "[\x1b\x7f\x9b]")
                self.assertNotIn("::error", outcome.err)
                if form == "nodelist":
                    self.assertEqual(outcome.out, "")
                    self.assertIn("is no valid host name", outcome.err)
        rows = list(csv.DictReader(io.StringIO(self.assert_ends(1, "fleet", folder, "--format", "csv").out)))
        self.assertTrue(all(row["node"].startswith('a"b,c\\n') for row in rows))

    def test_a_terminal_gets_its_width(self):
        folder = self.write_nodes(slow=(3,))
        for columns in (40, 80, 132):
            terminal = Terminal()
            self.set_width(terminal, columns)
            own = {"terminal": terminal, "stdout": terminal.slave, "environment": {"LC_ALL": "C.UTF-8"}}
            outcome = self.assert_ended(1, self.start("fleet", folder, "--verbose", **own))
            text = re.sub("\x1b\\[[0-9;]*[mK]", "", outcome.err)
            lines = [line.split("\r")[-1] for line in text.replace("\r\n", "\n").split("\n")]
            self.assertLessEqual(max(len(line) for line in lines), columns, text)
            self.assertIn("\u2588", text)  # a full block
            self.assertIn("1 of 8 nodes is slow: gpu003, up to 50.0 % below the others.", " ".join(text.split()))

    def test_missing_nodes_take_no_room(self):
        folder = self.write_nodes(slow=(3,))
        out = self.assert_ends(1, "fleet", folder, "--expect-hosts", "gpu[001-010]").out
        self.assertIn("\n2 of 10 nodes have no result file: gpu[009-010].\nDrain: gpu[003,009-010] (for", out)
        self.assertEqual(re.findall(r"(?m)^gpu\d+(?= .*\d GB/s)", out), ["gpu003"])
        out = self.assert_ends(1, "fleet", folder, "--expect-hosts", "gpu[001-010]", "--verbose").out
        self.assertEqual(re.findall(r"(?m)^gpu\d+", out), ["gpu009", "gpu010", "gpu003"])

    @staticmethod
    def set_width(terminal, columns):
        fcntl.ioctl(terminal.slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))

    # ---- the command line ----

    def test_without_operands(self):
        outcome = self.assert_usage(("'-' for standard input", "\n  xferbench fleet results/\n"), "fleet")
        self.assertEqual(outcome.err.count("\n"), 4)

    def test_options_that_are_wrong(self):
        self.write_nodes()
        for words, *arguments in (
            (("--format",), "--format", "xml"),
            (("--format takes one word",), "--format", "json,csv"),
            (("--alpha", "not a share"), "--alpha", "2"),
            (("--alpha", "not a share"), "--alpha", "x"),
        ):
            with self.subTest(arguments=arguments):
                self.assert_usage(words, "fleet", "results", *arguments)

    def test_the_output_takes_no_document_s_place(self):
        folder = self.write_nodes()
        before = self.read(folder, "n3.json")
        for output in (f"{folder}/n3.json", f"./{folder}/../{folder}/n3.json"):
            self.assert_usage(("--output", "is read"), "fleet", folder, "--format", "json", "--output", output)
        self.assertEqual(self.read(folder, "n3.json"), before)
        self.assert_succeeds("fleet", folder, "--format", "csv", "--output", "fleet.csv")
        self.assertTrue(self.read("fleet.csv").startswith("node,code,"))

    def test_the_list_of_nodes_is_not_written_over(self):
        folder = self.write_nodes()
        self.write("hosts", "gpu[001-008]\n")
        self.assert_usage(("--output", "--expect-hosts"), "fleet", folder, "--expect-hosts", "hosts", "--output", "hosts")
        self.assertEqual(self.read("hosts"), "gpu[001-008]\n")

    def test_a_file_that_its_owner_still_holds(self):
        """A lease, as servers of NFS and Samba take for their clients: opening waits until it is given back."""
        folder = self.write_nodes()
        holder = os.open(self.path(f"{folder}/n3.json"), os.O_RDWR)
        self.addCleanup(os.close, holder)
        given_back = []

        def give_back(*_):
            given_back.append(True)
            fcntl.fcntl(holder, fcntl.F_SETLEASE, fcntl.F_UNLCK)

        self.addCleanup(signal.signal, signal.SIGIO, signal.signal(signal.SIGIO, give_back))
        try:
            fcntl.fcntl(holder, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        except OSError as refused:
            self.skipTest(f"no leases here: {refused}")
        out = self.assert_succeeds("fleet", folder).out
        self.assertTrue(out.startswith("All 8 GPUs on 8 nodes are like their siblings.\n"), out)
        self.assertEqual(given_back, [True])

    def test_an_output_that_cannot_be_written(self):
        self.write_nodes()
        self.assert_usage(("no/such",), "fleet", "results", "--output", "no/such/fleet.csv")
        full = self.device_node("/dev/full", 7)
        for form in ("table", "json", "csv", "prometheus"):
            self.assert_fails(2, ("No space left",), "fleet", "results", "--format", form, "--output", full)

    def test_one_output_that_fails_leaves_the_other(self):
        folder = self.write_nodes()
        table = self.assert_succeeds("fleet", folder).out
        full = self.device_node("/dev/full", 7)
        done = self.assert_ends(2, "fleet", folder, "--json", full)
        self.assertEqual(done.out, table)
        self.assertIn("No space left", done.err)
        done = self.assert_ends(2, "fleet", folder, "--output", full, "--json", "out.json")
        self.assertIn("No space left", done.err)
        self.assertEqual(self.load_text(self.read("out.json"))["gpus"], 8)

    def test_a_signal_ends_reading(self):
        """Standard input that never ends: nothing is written, and the exit code tells the signal."""
        reading, writing = os.pipe()
        process = self.start("fleet", "-", "--output", "out.txt", stdin=reading)
        os.close(reading)
        with os.fdopen(writing, "wb", buffering=0) as stream:
            # More than a pipe holds: when all is written, the program is reading.
            stream.write((self.lines_of() * 20).encode())
            process.send_signal(signal.SIGINT)
            self.assert_ended(128 + signal.SIGINT, process)
        self.assert_folder_has()

    def test_a_signal_ends_waiting_for_a_pipe(self):
        """A FIFO that nobody opens for writing; one whose writer says nothing more; and one with names of hosts."""
        os.mkfifo(self.path("pipe"))
        silent = self.start("fleet", "pipe")
        harness.wait_until(lambda: self.catches(silent, signal.SIGTERM))
        silent.send_signal(signal.SIGTERM)
        self.assert_ended(128 + signal.SIGTERM, silent)
        begun = self.start("fleet", "pipe")
        with open(self.path("pipe"), "wb", buffering=0) as stream:
            stream.write((self.lines_of() * 20).encode())
            begun.send_signal(signal.SIGTERM)
            self.assert_ended(128 + signal.SIGTERM, begun)
        names = self.start("fleet", "pipe", "--expect-hosts", "./pipe")
        with open(self.path("pipe"), "wb", buffering=0):  # once it is open there, the program waits for it
            names.send_signal(signal.SIGTERM)
            self.assert_ended(-signal.SIGTERM, names)

    def catches(self, process, number):
        """Whether the program has a handler for the signal by now."""
        with open(f"/proc/{process.pid}/status", encoding="ascii") as file:
            caught = int(re.search(r"SigCgt:\s*(\w+)", file.read())[1], 16)
        return bool(caught >> (number - 1) & 1)

    def test_a_pipe_with_a_name(self):
        os.mkfifo(self.path("pipe"))
        process = self.start("fleet", "pipe", "--format", "nodelist")
        with open(self.path("pipe"), "wb", buffering=0) as stream:
            stream.write(self.lines_of(slow=(4,)).encode())
        out, _ = process.communicate(timeout=harness.GUARD_S)
        self.assertEqual((process.returncode, out), (1, b"gpu004\n"))


if __name__ == "__main__":
    harness.main()
