#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `xferbench compare` does with files and options that are wrong: it says what and where, ends with
2 and writes nothing to standard output, in bounded memory and without waiting for anybody.
usage: test_compare_input.py BUILD_FOLDER [UNITTEST_ARGUMENT...]
"""

import json
import os
import resource
import socket
import unittest

import harness
from harness import SOURCE, Case, is_sanitized, merged

# Large is what takes memory, which is bounded where no sanitizer takes more.
LARGE = (1 if is_sanitized() else 60) << 20  # bytes of a text; 64 MiB may be in a file
RESULTS = os.path.join(SOURCE, "bench/results/h200")
MEMORY = 1 << 30
WHERE_MEMORY_IS_BOUNDED = "its use of memory is bounded where no sanitizer takes more"
USAGE = 2


def limit_memory():
    if not is_sanitized():  # a sanitizer reserves more addresses than there is memory
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def good():
    with open(os.path.join(RESULTS, "pinned-1g.json"), encoding="utf-8") as file:
        return json.load(file)


def with_value(path, value, document=None):
    """The good document with another value at a path; no value takes the key away."""
    document = good() if document is None else document
    item = document
    for key in path[:-1]:
        item = item[key]
    if value is None:
        del item[path[-1]]
    else:
        item[path[-1]] = value
    return document


def text_with(path, raw):
    """The same with something that the json module would not write as it is."""
    return json.dumps(with_value(path, "@")).replace('"@"', raw)


def compact(document):
    return json.dumps(document, separators=(",", ":"))


BANDWIDTH = ("results", 0, "figures", 0)
PLACE = "results[0].figures[0]"


def bad_contents():
    """Name of the file, its bytes, and what the message must tell of the place and of what is wrong there."""
    text = json.dumps(good())
    lines = json.dumps(good(), indent=1)
    twice = with_value(("results",), good()["results"][:1] * 2)
    halved = with_value(("config", "chunk"), 1)
    ones = [1.0] * good()["results"][0]["figures"][0]["n"]
    yield from (
        ("empty.json", "", "line 1, column 1", "it was cut, or is empty"),
        ("truncated.json", text[: text.index('"results"') + 13], "line 1, column ", "the file ends here"),
        ("cut-in-text.json", text[:4], "line 1, column 2", "does not end: the file was cut"),
        ("truncated-lines.json", lines[: lines.index('"results"')], "line ", "the file ends here"),
        ("not-json.json", "hello\n", "line 1, column 1", "this is not JSON"),
        ("more.json", text + text, f"line 1, column {len(text) + 1}", "this is not JSON"),
        ("other.json", '{"name": "x", "version": "1.0.0"}', "schema: ", "not a result file of xferbench"),
        ("link.json", '{"schema": "xferbench.link", "schema_version": 1}', "schema: ", '"xferbench.link"'),
        ("array.json", "[]", "", "not a result file of xferbench"),
        ("older.json", with_value(("schema_version",), 1), "schema_version: ", "from before xferbench 0.1.0"),
        ("newer.json", with_value(("schema_version",), 3), "schema_version: ", "newer xferbench"),
        ("newer-merged.json", with_value(("schema_version",), 3, merged([good()])), "schema_version: ", "newer"),
        (
            "newer-within.json",
            merged([good(), with_value(("schema_version",), 3)]),
            "processes[1].document.schema_version: ",
            "newer",
        ),
        ("nan.json", text_with((*BANDWIDTH, "median"), "NaN"), "line 1, column ", "this is not JSON"),
        ("infinite.json", text_with((*BANDWIDTH, "median"), "1e999"), f"{PLACE}.median: ", "too large to hold"),
        ("absurd.json", with_value((*BANDWIDTH, "median"), 1e300), f"{PLACE}.median: ", "at most 1e+15"),
        ("negative.json", with_value((*BANDWIDTH, "median"), -5.0), f"{PLACE}.median: ", "above 0"),
        ("zero.json", with_value((*BANDWIDTH, "median"), 0), f"{PLACE}.median: ", "above 0"),
        ("text.json", with_value((*BANDWIDTH, "median"), "5"), f"{PLACE}.median: ", "must be a number"),
        ("samples.json", with_value((*BANDWIDTH, "samples"), ones), f"{PLACE}.samples: ", "do not give the"),
        ("size.json", with_value(("results", 0, "bytes"), -1), "results[0].bytes: ", "whole number from 1"),
        ("device.json", with_value(("results", 0, "device"), 1e9), "results[0].device: ", "from 0 to 1023"),
        ("missing.json", with_value(("results", 0, "mode"), None), "results[0].mode: ", "is missing"),
        ("unverified.json", with_value(("results", 0, "verified"), False), "results[0].verified: ", "not true"),
        ("key-twice.json", text[:-1] + ', "schema": "xferbench.result"}', "schema: ", "is there twice"),
        ("case-twice.json", twice, "results[1] of process 0", "a case that it has already"),
        ("options.json", merged([good(), halved]), "processes[1].document: measured under other conditions: ", "chunk is another one"),
        ("processes.json", merged([]), "asked: ", "from 1 to 100"),
        ("failed.json", merged([None, None]), "processes: ", "none of them has results"),
        ("deep.json", "[" * 10000, "line 1, column 33", "deeper than 32 levels"),
        ("deep-objects.json", '{"a":' * 10000 + "1" + "}" * 10000, "line 1, column ", "deeper than 32 levels"),
        ("deep-within.json", text_with(("config", "chunk"), "[" * 10000 + "]" * 10000), "line 1, ", "deeper"),
        ("nul.json", text.replace("pinned", "pin\0ned", 1), "line 1, column ", "NUL"),
        ("escaped-nul.json", text.replace('"pinned"', '"pin\\u0000ned"', 1), "line 1, column ", "NUL"),
        ("zeros.json", b"\0" * 4096, "line 1, column 1", "NUL"),
        ("binary.json", bytes(range(255, 0, -1)) * 16, "line 1, column ", "a control character within a text"),
        ("text-large.json", '{"a": "' + "x" * LARGE + '"}', "schema: ", "not a result file of xferbench"),
        ("text-large-cut.json", '{"a": "' + "x" * LARGE, "line 1, column 7", "does not end"),
        ("key-large.json", '{"' + "x" * LARGE + '": 1}', "schema: ", "not a result file of xferbench"),
        ("lines-large.json", "\n" * LARGE + "x", f"line {LARGE + 1}, column 1", "not JSON"),
        ("escapes.json", '{"schema": "\\u001b]0;owned\\u0007"}', "schema: ", '"?]0;owned?"'),
    )


class CompareInput(Case):
    def setUp(self):
        super().setUp()
        self.good = self.put("good.json", good())

    def put(self, name, content):
        if isinstance(content, dict):
            content = json.dumps(content)
        with open(self.path(name), "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
        return name  # without the folder, whose name may be longer than messages have room for

    def run_compare(self, *arguments, **options):
        return self.run_program("compare", *arguments, preexec_fn=limit_memory, **options)

    def assert_refused(self, done, *words):
        self.assertEqual(done.code, USAGE, (done.out[-2000:], done.err[-2000:]))
        self.assertEqual(done.out, "")
        self.assertTrue(done.err.startswith("xferbench: "), done.err)
        self.assertEqual(done.err.count("\n"), 1, done.err)
        self.assertLess(len(done.err), 1024)
        for word in words:
            self.assertIn(word, done.err)

    def refuse(self, path, *words):
        """As the one and as the other."""
        self.assert_refused(self.run_compare(path, self.good), *words)
        self.refuse_second(path, *words)

    def refuse_second(self, path, *words):
        """As the other, when the one is in memory already: what is large is tried only so."""
        self.assert_refused(self.run_compare(self.good, path), *words)

    # ---- files ----

    def test_good_files_are_compared(self):
        """What the other tests change is read as it is."""
        for content in (good(), merged([good()]), merged([good(), None, good()])):
            done = self.run_compare(self.good, self.put("other.json", content))
            self.assertIn(done.code, (0, 1, 3), done.err)  # a process that failed counts

    def test_contents_that_are_wrong(self):
        for name, content, place, what in bad_contents():
            with self.subTest(name=name):
                path = self.put(name, content)
                refuse = self.refuse if len(content) < 1 << 20 else self.refuse_second
                refuse(path, f"xferbench: {path}: {place}", what)
                os.unlink(self.path(path))

    def test_nothing_is_written_in_any_format(self):
        bad = self.put("bad.json", '{"schema": "other"}')
        for form in ("table", "json", "markdown", "github", "junit", "benchmark-action"):
            with self.subTest(form=form):
                self.assert_refused(self.run_compare(self.good, bad, "--format", form), bad)
                done = self.run_compare(self.good, bad, "--format", form, "--output", "out")
                self.assert_refused(done, bad)
                self.assertFalse(os.path.exists(self.path("out")))

    def test_large_text_in_a_good_file(self):
        path = self.put("notes.json", good() | {"notes": "x" * LARGE})
        self.assertIn(self.run_compare(self.good, path).code, (0, 3))

    def test_files_too_large(self):
        """A text of 1 GB, of which nothing is read; and one byte more than is."""
        path = self.put("large.json", '{"schema": "')
        os.truncate(self.path(path), 1 << 30)
        self.refuse(path, path, "larger than 64 MiB")
        os.truncate(self.path(path), (64 << 20) + 1)
        self.refuse(path, path, "larger than 64 MiB")
        os.truncate(self.path(path), 64 << 20)
        self.refuse(path, path, "line 1, column 13: a character is NUL")

    @unittest.skipIf(is_sanitized(), WHERE_MEMORY_IS_BOUNDED)
    def test_what_is_too_much(self):
        path = self.put("many.json", "[" + "1," * 5_000_000 + "1]")
        self.refuse_second(path, "line 1, column ", "more than 4194304 values")

    @unittest.skipIf(is_sanitized(), WHERE_MEMORY_IS_BOUNDED)
    def test_what_takes_most_memory(self):
        """As many values as are allowed, with a key each."""
        members = ",".join(f'"{i:x}":0' for i in range(4_000_000))
        path = self.put("members.json", '{"a":{' + members + "}}")
        self.refuse_second(path, path)

    @unittest.skipIf(is_sanitized(), WHERE_MEMORY_IS_BOUNDED)
    def test_cases_of_processes(self):
        """Few bytes each, and a row in every process for every case of any: gigabytes."""
        row = good()["results"][0] | {"status": "skipped", "verified": None, "timer": None, "stop_reason": None}
        row |= {"bytes": "@", "samples_s": [], "figures": [], "warnings": [], "reason": None, "bytes_moved": None,
                "details": {}}
        begin, end = compact(row).split('"@"')
        document = compact(good() | {"results": ["@"], "environment": {}})
        pieces = compact(merged(["@@"] * 12)).replace('"@@"', document).split('"@"')
        text = pieces[0]
        for i, piece in enumerate(pieces[1:]):
            text += ",".join(f"{begin}{1 + i * 10000 + k}{end}" for k in range(10000)) + piece
        path = self.put("cases.json", text)
        self.assertLess(os.path.getsize(self.path(path)), 64 << 20)
        self.refuse_second(path, path, "more than 10000 cases")

    def test_what_is_no_file(self):
        os.mkfifo(self.path("pipe"))
        os.mkdir(self.path("folder"))
        folder = os.open(self.folder, os.O_PATH)
        self.addCleanup(os.close, folder)
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(f"/proc/self/fd/{folder}/socket")  # a socket's address has room for 107 bytes
            for name, what in (
                ("folder", "is a directory"),
                (".", "is a directory"),
                ("pipe", "is a pipe"),
                ("socket", "is a socket"),
                ("/dev/zero", "is a character device"),
                ("/dev/null", "is a character device"),
                ("/dev/stdin", "is a character device"),
                ("-", "standard input is not read"),
                ("", "ENOENT"),
                ("missing.json", "ENOENT"),
                ("good.json/x", "ENOTDIR"),
            ):
                self.refuse(name, f"xferbench: {name}: ", what)

    def test_standard_input_is_not_waited_for(self):
        """Its other end is open, and nobody writes to it; the same with what a shell's <( ) gives."""
        reading, writing = os.pipe()
        try:
            for arguments in (("/dev/stdin", self.good), (self.good, "/dev/stdin"), (self.good, "/dev/fd/0")):
                done = self.run_compare(*arguments, stdin=reading)
                self.assert_refused(done, "is a pipe; name a regular file")
            name = f"/dev/fd/{reading}"
            done = self.run_compare(self.good, name, pass_fds=(reading,))
            self.assert_refused(done, name, "is a pipe; name a regular file")
        finally:
            os.close(reading)
            os.close(writing)

    def test_file_that_may_not_be_read(self):
        if os.geteuid() == 0:
            self.skipTest("root may read anything")
        path = self.put("secret.json", good())
        os.chmod(self.path(path), 0)
        self.refuse(path, path, "EACCES")

    def test_path_that_is_long(self):
        path = "x" * 5000
        self.refuse(path, "xferbench: xxxx", "ENAMETOOLONG")

    # ---- operands ----

    def test_one_file_twice(self):
        os.symlink("good.json", self.path("link.json"))
        os.link(self.path("good.json"), self.path("hard.json"))
        for other in ("good.json", "./good.json", "link.json", "hard.json"):
            done = self.run_compare(self.good, other)
            self.assert_refused(done, "one and the same file", other)
        copied = self.put("copy.json", good())
        self.assertIn(self.run_compare(self.good, copied).code, (0, 3))

    def test_output_takes_no_input_s_place(self):
        other = self.put("other.json", good())
        before = self.read(self.good)
        for output in (self.good, other):
            self.assert_refused(self.run_compare(self.good, other, "--output", output), "would replace", output)
        self.assertEqual(self.read(self.good), before)

    def test_operands(self):
        other = self.put("other.json", good())
        for operands in ((), (self.good,), (self.good, other, other)):
            with self.subTest(count=len(operands)):
                self.assert_refused(self.run_compare(*operands), "two files", "--help")

    # ---- options ----

    def test_options_that_are_wrong(self):
        other = self.put("other.json", good())
        shares = ("2", "abc", "-1%", "100%", "1", "", "%", "1e-2", "0x1", "2%%", "2 %", " 2%", "nan", "inf", "1.2.3")
        for option, values in (
            ("--threshold", shares),
            ("--alpha", shares + ("0", "0%", "0.0", "50%", "0.5", "99%")),
            ("--gate", ("", ",", "pinned,", "pinned/", "pinned/x2y", "pinned/h2d/", "pinned/h2d/1x", "a/b/c/d")),
            ("--gate", ("pinned/h2d/2M..1M", "pinned/h2d/..", "pinned/h2d/0", "/h2d", "pinned//1M")),
            ("--format", ("", "tabel", "json,junit", "xml")),
            ("--output", ("nowhere/out",)),
        ):
            for value in values:
                with self.subTest(option=option, value=value):
                    self.assert_refused(self.run_compare(self.good, other, f"{option}={value}"))

    def test_gates_that_no_case_passes(self):
        other = self.put("other.json", good())
        for gate in ("peer", "pinned/d2d", "pinned/h2d/4K", "pinned/h2d/1K..4K", "pinned,nosuchmode"):
            with self.subTest(gate=gate):
                self.assert_refused(self.run_compare(self.good, other, "--gate", gate))

    def test_options_that_are_right(self):
        other = self.put("other.json", good())
        for arguments in (
            ("--threshold", "0%"),
            ("--threshold", "0"),
            ("--threshold", "99.9%"),
            ("--threshold", "0.02", "--alpha", "49%"),
            ("--alpha", "0.000001"),
            ("--gate", "pinned/h2d/1G"),
            ("--gate", "*/*/1M..2G"),
        ):
            with self.subTest(arguments=arguments):
                done = self.run_compare(self.good, other, *arguments)
                self.assertIn(done.code, (0, 1, 3), done.err)

    def test_errors_of_options_come_before_files(self):
        self.assert_refused(self.run_compare("none.json", "none.json", "--threshold", "x"), "--threshold")


if __name__ == "__main__":
    harness.main()
