#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""With HIP: the compiler fails, or takes its process with it.
usage: test_compiler.py BUILD_FOLDER [UNITTEST_ARGUMENT...]
"""

import os
import resource

from stand_in import KERNEL_ROW, SMALL, HipCase, harness


def allow_cores():
    """The caller's limit may forbid what is to be seen not to happen."""
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))


class Compiler(HipCase):
    """hipRTC fails, or takes its process with it."""

    def tree(self, folder):
        """Every path below the folder, without what this program itself puts there."""
        paths = [
            os.path.relpath(os.path.join(path, name), folder)
            for path, folders, files in os.walk(folder)
            for name in (*folders, *files)
        ]
        return sorted(set(paths) - {"trace", "out.json"})

    def test_unknown_architecture(self):
        environment = {"XB_STANDIN_ARCH": "gfx999"}
        outcome = self.check_outcome(
            self.measure("--mode", "all", environment=environment, preexec_fn=allow_cores)
        )
        self.assert_without_kernels(outcome, ("hipRTC died", "gfx999", "aborts on gfx999"))
        self.assertEqual((outcome.out, outcome.err), ("", ""), outcome)
        self.assertEqual(self.tree(outcome.folder), [], "a core file, or a cache of nothing")
        for device in outcome.document["devices"]:
            self.assertNotIn("kernels", device["facts"])

    def test_unknown_architecture_on_the_terminal(self):
        """The reason in the table's notes, and not what the dying compiler said."""
        outcome = self.check_outcome(
            self.run_program(*SMALL, *KERNEL_ROW, "--verbose", environment={"XB_STANDIN_ARCH": "gfx999"})
        )
        self.assertEqual((outcome.code, outcome.err), (3, ""), outcome)
        notes = outcome.out.split("\nNotes\n")[1]
        self.assertIn("hipRTC died (Aborted) over gfx999", " ".join(notes.split()), outcome)
        self.assertNotRegex(outcome.out, "(?m)^hip stand-in:")

    def test_strange_architectures(self):
        """The name becomes part of a command line and of a path: nothing but a name may get there."""
        none = "does not tell the device's architecture"
        for architecture, reason in (
            ("gfx90a/../../x", none),
            ("gfx90a:/../../x", None),  # what follows the colon is no part of the name
            ("gfx90a:%s%n%d", None),
            (os.fsdecode(b"gfx90a:\xff\xfe"), None),
            (os.fsdecode(b"gfx90a\xff"), none),
            ("gfx/../../x", none),
            ("gfx90a x", none),
            ("gfx90a\nx", none),
            ("gfx", "over gfx,"),
            ("gfx-", "over gfx-,"),
            ("GFX90A", none),
            ("../../x", none),
            ("-save-temps", none),
            ("", none),
            (":", none),
            ("gfx" + "9" * 60, none),
            ("gfx" + "9" * 200, none),
            ("gfx90a:" + "x" * 245, None),
        ):
            with self.subTest(architecture=architecture):
                outcome = self.check_outcome(
                    self.measure(
                        *("--mode", "pinned,zero-copy", "--direction", "h2d"),
                        environment={"XB_STANDIN_ARCH": architecture},
                    )
                )
                self.assertEqual((outcome.code, outcome.err), (0, ""), outcome)
                self.assert_ok(outcome.rows("pinned"), outcome)
                left = [path for path in self.tree(outcome.folder) if path.startswith("cache/x")]
                self.assertEqual(set(self.tree(outcome.folder)) - {"cache"}, set(left), outcome)
                if reason is not None:
                    self.assert_skipped(outcome.rows("zero-copy"), (reason,), outcome)
                    self.assertEqual(left, [], outcome)
                else:
                    self.assert_ok(outcome.rows("zero-copy"), outcome)
                    self.assertEqual(len(left), 2, outcome)

    def test_compilation_that_fails(self):
        environment = {"XB_STANDIN_RTC_FAIL": "1"}
        outcome = self.check_outcome(self.measure("--mode", "all", environment=environment))
        words = ("HIPRTC_ERROR_COMPILATION", "stand-in: asked to fail")
        self.assert_without_kernels(outcome, words)
        self.assertEqual(self.tree(outcome.folder), [])

    def test_list_does_not_wait_for_it(self):
        """Listing opens no device, so a compiler that never ends does not matter."""
        outcome = self.list_devices(environment={"XB_STANDIN_RTC_HANG": "1"})
        self.assertEqual(outcome.trace["hiprtcCreateProgram"], 0)


if __name__ == "__main__":
    harness.main()
