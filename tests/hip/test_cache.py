#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""With HIP: compiled kernels are kept, and not trusted blindly.
usage: test_cache.py BUILD_FOLDER [UNITTEST_ARGUMENT...]
"""

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
        self.assertEqual(sorted(os.listdir(folder)), ["cache", "count", "out.json", "trace"])
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
    def flip(place):
        def damage(path):
            content = bytearray(read_bytes(path))
            content[place] ^= 1
            write_bytes(path, content)

        return damage

    @staticmethod
    def put_link(path):
        os.rename(path, f"{path}-elsewhere")
        os.symlink(f"{path}-elsewhere", path)

    @staticmethod
    def put_fifo(path):
        os.remove(path)
        os.mkfifo(path, 0o600)

    def test_damaged_entry(self):
        """It is not taken, and is as it should be again."""
        filled = self.filled()
        good = read_bytes(self.entry(filled))

        def run(damage):
            folder = self.make_folder()
            shutil.copytree(os.path.join(filled, "cache"), os.path.join(folder, "cache"))
            damage(self.entry(folder))
            return self.measure_here(folder)

        def check(outcome, _):
            self.assert_compiled(outcome, 1)
            folder = os.path.join(outcome.folder, "cache", "xferbench")
            (name,) = [name for name in os.listdir(folder) if not name.endswith("-elsewhere")]
            state = os.lstat(os.path.join(folder, name))
            self.assertTrue(stat.S_ISREG(state.st_mode), outcome)
            self.assertEqual((stat.S_IMODE(state.st_mode), state.st_uid), (0o600, os.geteuid()), outcome)
            self.assertEqual(read_bytes(os.path.join(folder, name)), good, outcome)
            self.assert_from_cache(self.measure_here(outcome.folder), 1)

        # The header's members, the code's ends and its middle.
        places = (0, 15, 16, 24, 32, 40, 95, 96, 99, 103, 104, 111, 112, 113, len(good) // 2, -1)
        lengths = (0, 1, 15, 111, 112, 113, len(good) // 2, len(good) - 1)
        damages = [
            *map(self.flip, places),
            *(functools.partial(write_bytes, content=good[:length]) for length in lengths),
            functools.partial(write_bytes, content=good + b"\0"),
            *(functools.partial(os.chmod, mode=mode) for mode in (0o660, 0o602, 0o666)),
            self.put_link,
            self.put_fifo,
        ]
        if os.geteuid() == 0:
            damages.append(lambda path: os.chown(path, 65534, -1))
        self.in_parallel(run, check, [(damage,) for damage in damages])

    def test_target_of_a_link_stays(self):
        folder = self.filled()
        path = self.entry(folder)
        self.put_link(path)
        self.flip(200)(f"{path}-elsewhere")
        before = read_bytes(f"{path}-elsewhere")
        self.assert_compiled(self.measure_here(folder), 2)
        self.assertFalse(os.path.islink(path))
        self.assertEqual(read_bytes(f"{path}-elsewhere"), before)

    def test_folder_in_place_of_an_entry(self):
        """It stays, and nothing can be kept."""
        folder = self.filled()
        path = self.entry(folder)
        os.remove(path)
        os.mkdir(path, 0o700)
        for times in (2, 3):
            self.assert_compiled(self.measure_here(folder), times, kept=False)
        self.assertEqual(os.listdir(os.path.dirname(path)), [os.path.basename(path)])

    # ---- where ----

    def test_no_place_to_keep_it(self):
        """Nothing appears where it could not be kept, not even a home that is not there."""
        for environment in (
            {"XDG_CACHE_HOME": "/dev/null/x"},
            {"XDG_CACHE_HOME": "/proc/self/nothing"},
            {"XDG_CACHE_HOME": "/" + "x" * 5000},
            {"XDG_CACHE_HOME": None},
            {"XDG_CACHE_HOME": None, "HOME": None},
            {"XDG_CACHE_HOME": "", "HOME": ""},
            {"XDG_CACHE_HOME": "relative", "HOME": "relative"},
        ):
            with self.subTest(environment=str(environment)[:80]):
                folder = self.make_folder()
                for times in (1, 2):
                    self.assert_compiled(self.measure_here(folder, environment), times, kept=False)
                self.assertEqual(sorted(os.listdir(folder)), ["count", "out.json", "trace"])

    def test_folder_that_cannot_be_written(self):
        if os.geteuid() == 0:
            self.skipTest("root writes everywhere")
        folder = self.make_folder()
        os.mkdir(os.path.join(folder, "cache"), 0o500)
        self.assert_compiled(self.measure_here(folder), 1, kept=False)

    def test_home_of_somebody_else(self):
        """Nothing of ours, which its owner could not remove, is left there."""
        if os.geteuid() != 0:
            self.skipTest("only root can give a folder away")
        folder = self.make_folder()
        home = os.path.join(folder, "home")
        os.mkdir(home, 0o755)
        os.chown(home, 65534, 65534)
        self.assert_compiled(self.measure_here(folder, {"XDG_CACHE_HOME": None}), 1, kept=False)
        self.assertEqual(os.listdir(home), [])

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

    def test_other_library_is_another_entry(self):
        """Of the same version: what compiles is not what compiled."""
        folder = self.filled()
        library = shutil.copy2(STAND_IN, os.path.join(folder, "copy.so"))
        environment = {OVERRIDE: library}
        self.assert_compiled(self.measure_here(folder, environment), 2)
        self.assert_from_cache(self.measure_here(folder, environment), 2)
        os.utime(library, ns=(0, 0))  # installed anew in the same place
        self.assert_compiled(self.measure_here(folder, environment), 3)
        self.assert_from_cache(self.measure_here(folder), 3)

    def test_many_at_once(self):
        """They may all write the one entry: each finds none, or a whole one."""

        def check(outcome, _):
            self.assert_all_ok(outcome)
            self.assertEqual(len(os.listdir(os.path.join(self.folder, "cache", "xferbench"))), 1, outcome)

        environment = {"XDG_CACHE_HOME": os.path.join(self.folder, "cache")}
        outcomes = []
        self.in_parallel(
            lambda _: self.measure(*KERNEL_ROW, environment=environment),
            lambda *outcome: outcomes.append(outcome),
            [(number,) for number in range(8)],
        )
        for outcome in outcomes:  # once all have ended: none leaves a file beside the entry
            check(*outcome)


if __name__ == "__main__":
    harness.main()
