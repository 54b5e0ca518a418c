#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""With HIP: compiled kernels are kept, and not trusted blindly.
usage: test_cache.py BUILD_FOLDER [UNITTEST_ARGUMENT...]
"""

import copy
import functools
import os
import shutil
import stat

from stand_in import KERNEL_ROW, OVERRIDE, STAND_IN, HipCase, harness, read_bytes, write_bytes

FROM_CACHE = "compiled by hipRTC before, taken from the cache"


class Cache(HipCase):
    """Compiled kernels are kept, and not trusted blindly."""

    def compiled(self, folder):
        """How often, in this folder's runs."""
        path = os.path.join(folder, "count")
        return len(read_bytes(path).splitlines()) if os.path.exists(path) else 0

    def measure_here(self, folder, environment=None):
        environment = {
            "XB_STANDIN_RTC_COUNT": os.path.join(folder, "count"),
            "HOME": os.path.join(folder, "home"),
        } | (environment or {})
        return self.measure(*KERNEL_ROW, folder=folder, environment=environment)

    def fact(self, outcome):
        return outcome.document["devices"][0]["facts"]["kernels"]

    def assert_compiled(self, outcome, times, kept=True):
        """That it works; how often there was a compilation, with the last one here."""
        self.check_outcome(outcome)
        self.assert_all_ok(outcome)
        self.assertEqual(self.compiled(outcome.folder), times, outcome)
        end = "now in the cache" if kept else "and they could not be kept in the cache"
        self.assertRegex(self.fact(outcome), rf"^compiled by hipRTC in \d+\.\d\d s, {end}$")

    def assert_from_cache(self, outcome, times):
        self.check_outcome(outcome)
        self.assert_all_ok(outcome)
        self.assertEqual(self.compiled(outcome.folder), times, outcome)
        self.assertEqual(self.fact(outcome), FROM_CACHE, outcome)

    def entry(self, folder, *names):
        """The one file in the cache."""
        cache = os.path.join(folder, *(names or ("cache",)), "xferbench")
        (name,) = os.listdir(cache)
        self.assertTrue(name.startswith("hip-gfx90a-990000000-"), name)
        return os.path.join(cache, name)

    def filled(self):
        """A folder whose cache has an entry."""
        folder = self.make_folder()
        self.assert_compiled(self.measure_here(folder), 1)
        return folder

    def test_second_run_compiles_nothing(self):
        folder = self.filled()
        state = os.stat(self.entry(folder))
        self.assertEqual(stat.S_IMODE(state.st_mode), 0o600)
        self.assertEqual(stat.S_IMODE(os.stat(os.path.join(folder, "cache")).st_mode), 0o700)
        self.assert_from_cache(self.measure_here(folder), 1)
        self.assertEqual(os.stat(self.entry(folder)).st_mtime_ns, state.st_mtime_ns)

    def test_other_code_is_another_entry(self):
        """Of another architecture or release, and neither is taken for the other."""
        folder = self.filled()
        content = read_bytes(self.entry(folder))
        name = os.path.basename(self.entry(folder))
        for number, (old, new, environment) in enumerate(
            (
                ("gfx90a", "gfx906", {"XB_STANDIN_ARCH": "gfx906"}),
                ("990000000", "60300000", {"XB_STANDIN_VERSION": "60300000"}),
            ),
            2,
        ):
            with self.subTest(new=new):
                wrong = os.path.join(folder, "cache", "xferbench", name.replace(old, new))
                write_bytes(wrong, content)
                os.chmod(wrong, 0o600)
                self.assert_compiled(self.measure_here(folder, environment), number)
                self.assertNotEqual(read_bytes(wrong), content)
                self.assert_from_cache(self.measure_here(folder, environment), number)
        self.assert_from_cache(self.measure_here(folder), 3)

    # ---- damage: a function each, given the path of a good entry ----

    @staticmethod
    def flip(path, place):
        content = bytearray(read_bytes(path))
        content[place] ^= 1
        write_bytes(path, content)

    @staticmethod
    def cut(path, length):
        write_bytes(path, read_bytes(path)[:length])

    @staticmethod
    def append(path):
        write_bytes(path, read_bytes(path) + b"\0")

    @staticmethod
    def put_link(path):
        os.rename(path, f"{path}-elsewhere")
        os.symlink(f"{path}-elsewhere", path)

    @staticmethod
    def put_fifo(path):
        os.remove(path)
        os.mkfifo(path, 0o600)

    @staticmethod
    def put_folder(path):
        os.remove(path)
        os.mkdir(path, 0o700)

    @staticmethod
    def give_away(path):
        os.chown(path, 65534, -1)

    def check_repaired(self, good, outcome):
        """The entry was not taken, and is as it should be again."""
        self.assert_compiled(outcome, 1)
        path = next(
            os.path.join(outcome.folder, "cache", "xferbench", name)
            for name in os.listdir(os.path.join(outcome.folder, "cache", "xferbench"))
            if not name.endswith("-elsewhere")
        )
        state = os.lstat(path)
        self.assertTrue(stat.S_ISREG(state.st_mode), outcome)
        self.assertEqual(stat.S_IMODE(state.st_mode), 0o600, outcome)
        self.assertEqual(state.st_uid, os.geteuid(), outcome)
        self.assertEqual(read_bytes(path), good, outcome)
        self.assert_from_cache(self.measure_here(outcome.folder), 1)

    def damaged(self, damage, filled):
        folder = self.make_folder()
        shutil.copytree(os.path.join(filled, "cache"), os.path.join(folder, "cache"))
        damage(self.entry(folder))
        return self.measure_here(folder)

    def test_damaged_entry(self):
        filled = self.filled()
        good = read_bytes(self.entry(filled))
        # The header's members, the code's ends and its middle.
        places = [0, 15, 16, 24, 32, 40, 95, 96, 99, 103, 104, 111, 112, 113, len(good) // 2, -1]
        damages = [functools.partial(self.flip, place=place) for place in places]
        lengths = [0, 1, 15, 111, 112, 113, len(good) // 2, len(good) - 1]
        damages += [functools.partial(self.cut, length=length) for length in lengths]
        damages += [self.append, self.put_link, self.put_fifo]
        damages += [functools.partial(os.chmod, mode=mode) for mode in (0o660, 0o602, 0o666)]
        if os.geteuid() == 0:
            damages.append(self.give_away)
        self.in_parallel(
            [functools.partial(self.damaged, damage, filled) for damage in damages],
            functools.partial(self.check_repaired, good),
        )

    def test_target_of_a_link_stays(self):
        folder = self.filled()
        path = self.entry(folder)
        self.put_link(path)
        self.flip(f"{path}-elsewhere", 200)
        before = read_bytes(f"{path}-elsewhere")
        self.assert_compiled(self.measure_here(folder), 2)
        self.assertFalse(os.path.islink(path))
        self.assertEqual(read_bytes(f"{path}-elsewhere"), before)

    def test_folder_in_place_of_an_entry(self):
        """It stays, and nothing can be kept."""
        folder = self.filled()
        path = self.entry(folder)
        self.put_folder(path)
        for times in (2, 3):
            self.assert_compiled(self.measure_here(folder), times, kept=False)
        self.assertEqual(os.listdir(os.path.dirname(path)), [os.path.basename(path)])

    def test_nothing_is_left_beside_an_entry(self):
        folder = self.filled()
        self.entry(folder)  # asserts that it is the only one
        names = sorted(os.listdir(folder))
        self.assertEqual(names, ["cache", "count", "out.json", "trace"])

    def test_no_place_to_keep_it(self):
        for environment in (
            {"XDG_CACHE_HOME": "/dev/null/x"},
            {"XDG_CACHE_HOME": "/proc/self/nothing"},
            {"XDG_CACHE_HOME": "/" + "x" * 5000},
            {"XDG_CACHE_HOME": None, "HOME": None},
            {"XDG_CACHE_HOME": "", "HOME": ""},
            {"XDG_CACHE_HOME": "relative", "HOME": "relative"},
        ):
            with self.subTest(environment=str(environment)[:80]):
                folder = self.make_folder()
                for times in (1, 2):
                    outcome = self.measure_here(folder, environment)
                    self.assert_compiled(outcome, times, kept=False)
                self.assertEqual(sorted(os.listdir(folder)), ["count", "out.json", "trace"])

    def test_folder_that_cannot_be_written(self):
        if os.geteuid() == 0:
            self.skipTest("root writes everywhere")
        folder = self.make_folder()
        os.mkdir(os.path.join(folder, "cache"), 0o500)
        self.assert_compiled(self.measure_here(folder), 1, kept=False)

    def test_relative_path_is_ignored(self):
        """XDG Base Directory Specification: HOME's then."""
        for value in ("cache", "", "./cache", None):
            with self.subTest(value=value):
                folder = self.make_folder()
                os.mkdir(os.path.join(folder, "home"))
                environment = {"XDG_CACHE_HOME": value}
                self.assert_compiled(self.measure_here(folder, environment), 1)
                self.entry(folder, "home", ".cache")
                self.assertNotIn("cache", os.listdir(folder))
                self.assert_from_cache(self.measure_here(folder, environment), 1)

    def test_home_that_is_not_there(self):
        """It does not appear."""
        folder = self.make_folder()
        outcome = self.measure_here(folder, {"XDG_CACHE_HOME": None})
        self.assert_compiled(outcome, 1, kept=False)
        self.assertNotIn("home", os.listdir(folder))

    def test_home_of_somebody_else(self):
        """Nothing of ours, which its owner could not remove, is left there."""
        if os.geteuid() != 0:
            self.skipTest("only root can give a folder away")
        folder = self.make_folder()
        home = os.path.join(folder, "home")
        os.mkdir(home, 0o755)
        os.chown(home, 65534, 65534)
        outcome = self.measure_here(folder, {"XDG_CACHE_HOME": None})
        self.assert_compiled(outcome, 1, kept=False)
        self.assertEqual(os.listdir(home), [])

    def test_other_library_is_another_entry(self):
        """Of the same version: what compiles is not what compiled."""
        folder = self.filled()
        copy = os.path.join(folder, "copy.so")
        shutil.copy2(STAND_IN, copy)
        environment = {OVERRIDE: copy}
        self.assert_compiled(self.measure_here(folder, environment), 2)
        self.assert_from_cache(self.measure_here(folder, environment), 2)
        os.utime(copy, ns=(0, 0))  # installed anew in the same place
        self.assert_compiled(self.measure_here(folder, environment), 3)
        self.assert_from_cache(self.measure_here(folder), 3)

    def test_many_at_once(self):
        """They may all write the one entry: each finds none, or a whole one."""

        def check(outcome):
            self.assert_all_ok(outcome)
            path = os.path.join(outcome.folder, "cache", "xferbench")
            self.assertEqual(len(os.listdir(cache)), 1, path)

        cache = os.path.join(self.folder, "cache", "xferbench")
        environment = {"XDG_CACHE_HOME": os.path.join(self.folder, "cache")}
        outcomes = []
        self.in_parallel(
            [functools.partial(self.measure, *KERNEL_ROW, environment=environment)] * 8,
            outcomes.append,
        )
        for outcome in outcomes:
            check(outcome)


if __name__ == "__main__":
    harness.main()
