#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""With HIP: the compiler fails, or takes its process with it.
usage: test_compiler.py BUILD_FOLDER [UNITTEST_ARGUMENT...]
"""

import os
import resource

from stand_in import KERNEL_ROW, SMALL, HipCase, harness

NONE = "does not tell the device's architecture"
# The name becomes part of a command line and of a path: nothing but a name may get there. Each with the
# reason why there are no kernels; None where there are, for what follows the colon is no part of the name.
ARCHITECTURES = (
    ("gfx90a/../../x", NONE),
    ("gfx90a:/../../x", None),
    ("gfx90a:%s%n%d", None),
    (os.fsdecode(b"gfx90a:\xff\xfe"), None),
    (os.fsdecode(b"gfx90a\xff"), NONE),
    ("gfx/../../x", NONE),
    ("gfx90a x", NONE),
    ("gfx90a\nx", NONE),
    ("gfx", "over gfx,"),
    ("gfx-", "over gfx-,"),
    ("GFX90A", NONE),
    ("../../x", NONE),
    ("-save-temps", NONE),
    ("", NONE),
    (":", NONE),
    ("gfx" + "9" * 60, NONE),
    ("gfx" + "9" * 200, NONE),
    ("gfx90a:" + "x" * 245, None),
)


def allow_cores():
    """The caller's limit may forbid what is to be seen not to happen."""
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))


class Compiler(HipCase):
    """hipRTC fails, or takes its process with it."""

    def tree(self, folder):
        """Every path below the folder, without what this program itself puts there."""
        paths = {
            os.path.relpath(os.path.join(path, name), folder)
            for path, folders, files in os.walk(folder)
            for name in (*folders, *files)
        }
        return paths - {"trace", "out.json"}

    def assert_nothing_compiled(self, words, **options):
        outcome = self.check_outcome(self.measure("--mode", "all", **options))
        self.assert_without_kernels(outcome, words)
        self.assertEqual(outcome.out, "", outcome)
        self.assertEqual(self.tree(outcome.folder), set(), "a core file, or a cache of nothing")
        for device in outcome.document["devices"]:
            self.assertNotIn("kernels", device["facts"])

    def test_unknown_architecture(self):
        words = ("hipRTC died", "gfx999", "aborts on gfx999")
        self.assert_nothing_compiled(words, environment={"XB_STANDIN_ARCH": "gfx999"}, preexec_fn=allow_cores)

    def test_compilation_that_fails(self):
        words = ("HIPRTC_ERROR_COMPILATION", "stand-in: asked to fail")
        self.assert_nothing_compiled(words, environment={"XB_STANDIN_RTC_FAIL": "1"})

    def test_unknown_architecture_on_the_terminal(self):
        """The reason in the table's notes, and not what the dying compiler said."""
        environment = {"XB_STANDIN_ARCH": "gfx999"}
        outcome = self.check_outcome(self.run_program(*SMALL, *KERNEL_ROW, "--verbose", environment=environment))
        self.assertEqual((outcome.code, outcome.err), (3, ""), outcome)
        notes = outcome.out.split("\nNotes\n")[1]
        self.assertIn("hipRTC died (Aborted) over gfx999", " ".join(notes.split()), outcome)
        self.assertNotRegex(outcome.out, "(?m)^hip stand-in:")

    def test_strange_architectures(self):
        def check(outcome, _, reason):
            self.assert_ok(outcome.rows("pinned"), outcome)
            left = self.tree(outcome.folder) - {"cache"}
            self.assertEqual(len(left), 0 if reason else 2, left)
            self.assertEqual({path[: len("cache/x")] for path in left} - {"cache/x"}, set())
            lost = outcome.rows("zero-copy") if reason else []
            if lost:
                self.assert_lost(outcome.rows(), lost, (reason,), outcome)
            else:
                self.assert_all_ok(outcome)

        self.in_parallel(
            lambda architecture, _: self.measure(
                *("--mode", "pinned,zero-copy", "--direction", "h2d"), environment={"XB_STANDIN_ARCH": architecture}
            ),
            check,
            ARCHITECTURES,
        )

    def test_list_does_not_wait_for_it(self):
        """Listing opens no device, so a compiler that never ends does not matter."""
        outcome = self.list_devices(environment={"XB_STANDIN_RTC_HANG": "1"})
        self.assertEqual(outcome.trace["hiprtcCreateProgram"], 0)


if __name__ == "__main__":
    harness.main()
