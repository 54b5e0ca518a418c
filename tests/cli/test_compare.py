#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`compare` of what is no file, of files that are too large, in bounded memory and without waiting for anybody; and of
what this machine measures. Verdicts, formats and wrong files are in tests/golden/compare.
usage: test_compare.py BUILD_FOLDER [UNITTEST_ARGUMENT...]"""

import json
import os
import re
import resource
import socket
import unittest

import harness
from harness import ONE, SLOWED, XFERBENCH, Case, committed, is_sanitized, limit, merged

LARGE = (1 if is_sanitized() else 60) << 20  # bytes of a text; 64 MiB may be in a file
bounded = unittest.skipIf(is_sanitized(), "its use of memory is bounded where no sanitizer takes more")


def compact(document):
    return json.dumps(document, separators=(",", ":"))


class Files(Case):
    def setUp(self):
        super().setUp()
        self.document = harness.read_json(committed("h200/pinned-1g"))
        self.write_json("good.json", self.document)

    def run_compare(self, *arguments, **options):
        # A sanitizer reserves more addresses than there is memory.
        bound = {} if is_sanitized() else {"preexec_fn": limit(resource.RLIMIT_AS, 1 << 30)}
        return self.run_program("compare", *arguments, **bound, **options)

    def assert_refused(self, words, *arguments, **options):
        done = self.run_compare(*arguments, **options)
        self.assertEqual((done.code, done.out, done.err.count("\n")), (2, "", 1), done.err[:2000])
        self.assertLess(len(done.err), 1024)
        self.assert_words(done.err, ("xferbench: ", *words))

    def refuse(self, path, *words):
        """As the one and as the other."""
        self.assert_refused(words, path, "good.json")
        self.assert_refused(words, "good.json", path)

    def test_what_is_no_file(self):
        os.mkfifo(self.path("pipe"))
        folder = os.open(self.folder, os.O_PATH)
        self.addCleanup(os.close, folder)
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(f"/proc/self/fd/{folder}/socket")  # a socket's address has room for 107 bytes
            for name, what in (("pipe", "is a pipe"), ("socket", "is a socket"), ("/dev/null", "is a character device"),
                               ("/dev/stdin", "is a character device"), ("x" * 5000, "ENAMETOOLONG")):
                self.refuse(name, f"xferbench: {name[:100]}", what)

    def test_standard_input_is_not_waited_for(self):
        """Its other end is open, and nobody writes to it; the same with what a shell's <( ) gives."""
        reading, writing = os.pipe()
        words = ("is a pipe; name a regular file",)
        for arguments in (("/dev/stdin", "good.json"), ("good.json", "/dev/stdin"), ("good.json", "/dev/fd/0")):
            self.assert_refused(words, *arguments, stdin=reading)
        name = f"/dev/fd/{reading}"
        self.assert_refused((name, *words), "good.json", name, pass_fds=(reading,))
        os.close(reading)
        os.close(writing)

    @unittest.skipIf(os.geteuid() == 0, "root may read anything")
    def test_what_may_not_be_read(self):
        os.chmod(self.write_json("secret.json", self.document), 0)
        self.refuse("secret.json", "secret.json", "EACCES")

    def test_bytes_that_are_no_text(self):
        for content, *words in (
            (b"\0" * 4096, "line 1, column 1", "NUL"),
            (bytes(range(255, 0, -1)) * 16, "line 1, column ", "a control character within a text"),
            (b"[" * 10000, "line 1, column 33", "deeper than 32 levels"),
            (b'{"a":' * 10000 + b"1" + b"}" * 10000, "line 1, column ", "deeper than 32 levels"),
        ):
            with open(self.path("binary.json"), "wb") as file:
                file.write(content)
            self.refuse("binary.json", *words)

    def test_large_files(self):
        """A text of 1 GB, of which nothing is read; one byte more than is; and what is as long as may be."""
        self.write("large.json", '{"schema": "')
        for size, what in ((1 << 30, "larger than 64 MiB"), ((64 << 20) + 1, "larger than 64 MiB"),
                           (64 << 20, "line 1, column 13: a character is NUL")):
            os.truncate(self.path("large.json"), size)
            self.assert_refused((what,), "good.json", "large.json")
        for content, what in (
            ('{"a": "' + "x" * LARGE + '"}', "not a result file of xferbench"),
            ('{"' + "x" * LARGE + '": 1}', "not a result file of xferbench"),
            ('{"a": "' + "x" * LARGE, "line 1, column 7: "),
            ("\n" * LARGE + "x", f"line {LARGE + 1}, column 1"),
        ):
            self.write("large.json", content)
            self.assert_refused((what,), "good.json", "large.json")
        self.write_json("notes.json", self.document | {"notes": "x" * LARGE})
        self.assertIn(self.run_compare("good.json", "notes.json").code, (0, 3))

    @bounded
    def test_what_takes_most_memory(self):
        """More values than are allowed; as many, with a key each; few bytes each, and a row in every process for every
        case of any: gigabytes."""
        self.write("many.json", "[" + "1," * 5_000_000 + "1]")
        self.assert_refused(("line 1, column ", "more than 4194304 values"), "good.json", "many.json")
        self.write("many.json", '{"a":{' + ",".join(f'"{i:x}":0' for i in range(4_000_000)) + "}}")
        self.assert_refused(("many.json",), "good.json", "many.json")
        row = self.document["results"][0] | {"status": "skipped", "verified": None, "timer": None, "stop_reason": None}
        row |= {"bytes": "@", "samples_s": [], "figures": [], "warnings": [], "reason": None, "bytes_moved": None,
                "details": {}}
        begin, end = compact(row).split('"@"')
        document = compact(self.document | {"results": ["@"], "environment": {}})
        first, *pieces = compact(merged(["@@"] * 12)).replace('"@@"', document).split('"@"')
        rows = (",".join(f"{begin}{1 + i * 10000 + k}{end}" for k in range(10000)) for i in range(len(pieces)))
        self.write("many.json", first + "".join(row + piece for row, piece in zip(rows, pieces)))
        self.assertLess(os.path.getsize(self.path("many.json")), 64 << 20)
        self.assert_refused(("many.json", "more than 10000 cases"), "good.json", "many.json")


class Measured(Case):
    def test_a_slower_backend_is_found(self):
        """By far, so that it does not matter what else this machine does."""
        self.assert_succeeds(
            *("--backend", "host", "--mode", "pinned", "--size", "4K", "--time-limit", "20ms", "--warm-up", "1ms"),
            *("--quiet", "--processes", "8", "--interleave", XFERBENCH),
            *("--json", "new.json", "--baseline-json", "old.json"),
            program=SLOWED, environment={"XB_SLOWED_PERCENT": "2000"},
        )
        done = self.assert_ends(1, "compare", "old.json", "new.json")
        self.assertEqual(len(re.findall(r"(?m)^[hd]2[hd] .*REGRESSION", done.out)), 2)

    def test_what_is_written_without_options_has_the_defaults(self):
        """It is no difference to what this program takes for defaults of a file that has none."""
        self.assert_succeeds(*ONE, "--size", "4K", "--json", "today.json")
        document = self.load("today.json")
        given = ("mode", "size", "direction", "backend", "json")
        document["config"] = {name: document["config"][name] for name in given}
        self.write_json("older.json", document)
        done = self.assert_ends(3, "compare", "older.json", "today.json", "--format", "json")
        self.assertEqual(self.load_text(done.out)["differences"], [])


if __name__ == "__main__":
    harness.main()
