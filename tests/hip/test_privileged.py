#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program with more rights than its caller lets no variable of his say what it loads.
usage: test_privileged.py BUILD_FOLDER [UNITTEST_ARGUMENT...]"""
import os
import re
import shutil

import stand_in
from stand_in import OVERRIDE, STAND_IN, HipCase, harness

NOBODY = 65534


def set_user_works(folder):
    """Whether a set-user-ID bit counts there."""
    with open("/proc/self/status", encoding="ascii", errors="replace") as file:
        kept = re.search(r"^NoNewPrivs:\s*1", file.read(), re.M)
    return not kept and not os.statvfs(folder).f_flag & os.ST_NOSUID


class Privileged(HipCase):
    def setUp(self):
        super().setUp()
        if os.geteuid() != 0:
            self.skipTest("it takes root to give a file to somebody else")
        if harness.is_sanitized():
            self.skipTest("LeakSanitizer traces the process, which it may not with one that has more rights")
        os.chmod(self.folder, 0o755)
        self.program = shutil.copy(harness.XFERBENCH, self.path("privileged"))
        self.library = shutil.copy(STAND_IN, self.path("libamdhip64.so.99"))
        os.chown(self.program, NOBODY, NOBODY)
        os.chmod(self.program, 0o6755)
        if not set_user_works(self.folder):
            self.skipTest("a set-user-ID bit does not count here")

    def list_with(self, **environment):
        # Not its text, which is wrapped at the spaces of a path.
        done = self.start("list", "--json", "-", program=self.program, environment=environment)
        return self.finish(done).out

    def test_library_override(self):
        self.assertNotIn(self.library, self.list_with(**{OVERRIDE: self.library}))
        os.chmod(self.program, 0o755)
        self.assertIn(self.library, self.list_with(**{OVERRIDE: self.library}))


if __name__ == "__main__":
    harness.main()
