#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A caller that closed standard streams: what is opened does not take their place.
usage: test_closed_streams.py BUILD_FOLDER [UNITTEST_ARGUMENT...]
"""

import os

import harness
from harness import ENDLESS, SMALL, Case, wait_until


class ClosedStreams(Case):
    CLOSED = ((0,), (1,), (2,), (0, 1), (0, 1, 2))

    @staticmethod
    def closing(closed):
        return {"preexec_fn": lambda: [os.close(fd) for fd in closed]}

    def test_no_output_gets_their_numbers(self):
        """Else what is said on stderr would land in it: here, that a reader is waited for."""
        os.mkfifo(self.path("pipe"))
        for closed in self.CLOSED:
            with self.subTest(closed=closed):
                process = self.start(
                    *SMALL, "--quiet", "--json", "out.json", "--csv", "pipe", **self.closing(closed)
                )
                self.wait_for_output(process)
                for fd in closed:
                    self.assertEqual(os.readlink(f"/proc/{process.pid}/fd/{fd}"), "/dev/null")
                with open(self.path("pipe"), encoding="utf-8") as reader:
                    self.assertTrue(reader.read().startswith("mode,"))
                self.assert_ended(0, process)
                self.assert_all_ok(self.load("out.json"))

    def wait_for_output(self, process):
        """Until it has the JSON file open."""
        folder = f"/proc/{process.pid}/fd"

        def is_open():
            for fd in os.listdir(folder):
                try:
                    if os.readlink(os.path.join(folder, fd)).startswith(self.folder + "/"):
                        return True
                except FileNotFoundError:
                    pass  # closed meanwhile
            return False

        wait_until(is_open)

    def test_an_answer_that_goes_nowhere_is_a_failure(self):
        for arguments in (SMALL, ("list",), ("--help",)):
            with self.subTest(arguments=arguments):
                outcome = self.assert_ends(1, *arguments, **self.closing((1,)))
                self.assertIn("cannot write", outcome.err)

    def test_output_to_a_closed_stream(self):
        """Nothing is measured for it."""
        for path in ("-", "/dev/fd/1", "/dev/stdout"):
            with self.subTest(path=path):
                self.assert_usage(("EBADF",), *ENDLESS, "--json", path, **self.closing((1,)))

    def test_null_device_is_no_closed_stream(self):
        """Though that has the place of one. As somebody who could not replace the device."""
        user = self.unprivileged()
        self.assert_succeeds(*SMALL, "--quiet", "--json", "/dev/null", **self.closing((1, 2)), **user)


if __name__ == "__main__":
    harness.main()
