#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Options that no machine allows: exit code 2 before anything is measured, and no file is touched.
usage: test_refused_options.py BUILD_FOLDER [UNITTEST_ARGUMENT...]"""

import harness
from harness import FEW, HOST, Case


class RefusedOptions(Case):
    def assert_refused(self, words, *arguments):
        """Nothing is printed as if it had been measured, and the files are as before."""
        old = ("out.json", "out.csv")
        for name in old:
            self.put_old(name)
        for more in ((), ("--processes", "2")):
            files = ("--json", "out.json") if more else ("--json", "out.json", "--csv", "out.csv")
            self.assert_usage(words, *arguments, *files, *more)
            self.assert_folder_has(*old)
            for name in old:
                self.assert_old(name)

    def test_kernel_time(self):
        for text in ("AUTO", "bad", "0", "-1ms", "none,AUTO", "1001ms", "1h"):
            with self.subTest(text=text):
                words = ("--kernel-time", f"'{text.split(',')[-1]}'", "auto", "none", "500us")
                self.assert_refused(words, *HOST, "--mode", "double-buffer", "--size", "64K", "--kernel-time", text)

    def test_chunk_that_splits_words(self):
        """The kernel computes on words of 8 bytes; async alone takes any chunk."""
        for chunk in ("12", "4100", "1001"):
            with self.subTest(chunk=chunk):
                arguments = (*HOST, "--mode", "async,double-buffer", "--size", "4K", "--chunk", chunk)
                self.assert_refused(("--chunk", chunk, "double-buffer", "8 bytes"), *arguments)
        self.assert_succeeds(*HOST, "--mode", "async", "--size", "4K", *FEW, "--chunk", "12")

    def test_chunks_without_end(self):
        """More operations than anybody wants enqueued, though of one size only."""
        for mode in ("async", "double-buffer"):
            with self.subTest(mode=mode):
                arguments = (*HOST, "--mode", mode, "--size", "4K,16M", "--chunk", "8")
                self.assert_refused(("--chunk 8", f"16 MiB of {mode}", "take a larger --chunk"), *arguments)

    def test_before_a_backend_is_looked_for(self):
        """A command line is as wrong where there is no GPU."""
        for backend in ("auto", "cuda", "hip"):
            with self.subTest(backend=backend):
                arguments = ("--backend", backend, "--mode", "double-buffer", "--kernel-time", "AUTO")
                self.assert_usage(("--kernel-time",), *arguments, environment=harness.absent_environment())


if __name__ == "__main__":
    harness.main()
