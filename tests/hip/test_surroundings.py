#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""With HIP: what the devices, the library and the environment are.
usage: test_surroundings.py BUILD_FOLDER [UNITTEST_ARGUMENT...]
"""

import os
import re
import shutil

from stand_in import ALL, FEW, KERNEL_ROW, OVERRIDE, SOME, STAND_IN, HipCase, harness, read_bytes, write_bytes

NOBODY = 65534


class Surroundings(HipCase):
    """What the devices and the environment are."""

    def lacks(self, environment, capability):
        """What the list says of why the devices have not the capability."""
        outcome = self.list_devices(environment=environment)
        devices = [d for d in outcome.document["devices"] if d["backend"] == "hip"]
        self.assertEqual(len(devices), 2, outcome)
        for device in devices:
            self.assertNotIn(capability, device["capabilities"], outcome)
        return devices[0]["lacks"][capability]

    def test_no_xnack(self):
        environment = {"XB_STANDIN_XNACK": "0"}
        outcome = self.check_outcome(self.measure(*SOME, environment=environment))
        self.assert_lost(outcome.rows(), outcome.rows("managed"), ("XNACK", "'managed'"), outcome)
        for device in outcome.document["devices"]:
            self.assertEqual(device["facts"]["xnack"], "off")
        self.assertIn("XNACK", self.lacks(environment, "managed"))

    def test_launches_that_block(self):
        """Behind a hold they would wait for a release that comes after them."""

        def check(outcome, name, value, held):
            self.assert_all_ok(outcome)
            self.assertEqual({row["details"]["held"] for row in outcome.rows()}, {held}, outcome)
            for row in outcome.rows():
                self.assertEqual(any("cannot be held" in w for w in row["warnings"]), held == "no", row)
            self.assertEqual(outcome.document["environment"][name], value)
            if held == "no":
                self.assertIn(name, self.lacks({name: value}, "hold"))

        self.in_parallel(
            lambda name, value, held: self.measure("--mode", "pinned,zero-copy", environment={name: value}),
            check,
            (
                ("HIP_LAUNCH_BLOCKING", "1", "no"),
                ("AMD_SERIALIZE_KERNEL", "3", "no"),
                ("AMD_SERIALIZE_COPY", "1", "no"),
                ("HIP_LAUNCH_BLOCKING", "0", "yes"),
            ),
        )

    def test_facts_from_the_environment(self):
        def check(outcome, name, value, key, word):
            self.assert_all_ok(outcome)
            facts = outcome.document["devices"][0]["facts"]
            self.assertTrue(facts[key].startswith(word), facts)
            self.assertEqual(outcome.document["environment"][name], value)

        self.in_parallel(
            lambda name, value, *_: self.measure(*KERNEL_ROW, environment={name: value}),
            check,
            (
                ("HSA_ENABLE_SDMA", "0", "copies", "by shaders"),
                ("HSA_ENABLE_SDMA", "1", "copies", "by SDMA engines"),
                ("GPU_MAX_HW_QUEUES", "2", "hardware_queues", "2"),
                ("GPU_MAX_HW_QUEUES", "x" * 500, "hardware_queues", "x"),
            ),
        )

    def test_versions(self):
        for version, name in (("50221153", "5.2.21153"), ("70226015", "7.2.26015")):
            outcome = self.check_outcome(self.measure(*KERNEL_ROW, environment={"XB_STANDIN_VERSION": version}))
            self.assert_all_ok(outcome)
            self.assertEqual(outcome.document["backend"]["runtime_version"], name)

    def test_one_device(self):
        """No pair, so no copies between devices."""
        outcome = self.check_outcome(self.measure("--mode", "pinned,peer", environment={"XB_STANDIN_DEVICES": "1"}))
        self.assert_lost(outcome.rows(), outcome.rows("peer"), ("two GPUs",), outcome)

    def test_many_devices(self):
        arguments = ("--mode", "pinned,zero-copy", "--direction", "h2d", "--device", "all")
        outcome = self.check_outcome(self.measure(*arguments, environment={"XB_STANDIN_DEVICES": "8"}))
        self.assert_all_ok(outcome)
        self.assertEqual(sorted({row["device"] for row in outcome.rows()}), list(range(8)))
        self.assertEqual(outcome.trace["hiprtcCompileProgram"], 1, "once for all")

    def test_auto(self):
        """Only where it is the first that can run: a GPU of another kind may come before it."""
        hidden = {"CUDA_VISIBLE_DEVICES": ""}
        arguments = ("--backend", "auto", *FEW, *KERNEL_ROW, "--json", "out.json", "--quiet")
        outcome = self.check_outcome(self.run_program(*arguments, environment=hidden))
        self.assert_all_ok(outcome)
        self.assertEqual(outcome.document["backend"]["name"], "hip")

    # ---- where it cannot run ----

    def assert_cannot_run(self, words, library=STAND_IN, **environment):
        with self.subTest(library=library, **environment):
            outcome = self.run_program(
                *ALL, "--json", "out.json", library=library, environment=environment, folder=self.folder
            )
            self.assert_unavailable(outcome, words)
            return outcome

    def test_no_devices(self):
        words = ("HIP devices", "none: no GPU that HIP supports", "HIP_VISIBLE_DEVICES", STAND_IN[:140])
        self.assert_cannot_run(words, XB_STANDIN_DEVICES="0")
        self.assert_cannot_run(words, XB_STANDIN_DEVICES="-1")

    def test_version_too_old(self):
        for version, name in (("40400000", "4.4.0"), ("49999999", "4.99.99999"), ("0", "0.0.0")):
            self.assert_cannot_run((f"{name}: too old", "ROCm 5.0"), XB_STANDIN_VERSION=version)

    def test_library_that_cannot_be_opened(self):
        write_bytes(self.path("text.so"), b"This is no library.\n")
        write_bytes(self.path("cut.so"), read_bytes(STAND_IN)[:32])
        for library in ("/nonexistent.so", "./text.so", "./cut.so", "./", "/dev/null"):
            self.assert_cannot_run((f"{OVERRIDE} names a library", library), library)
        listed = self.list_devices(library="./text.so", folder=self.folder)
        self.assertIn("./text.so", str(listed.document["backends"]))

    def test_library_of_something_else(self):
        """It opens, and is no HIP runtime."""
        self.assert_cannot_run(("hipRuntimeGetVersion", "not a HIP runtime of use"), "libc.so.6")

    def test_no_kernel_driver(self):
        if os.path.exists("/dev/kfd"):
            self.skipTest("this machine has /dev/kfd")
        for library in (None, ""):
            words = ("the hip backend cannot run", "/dev/kfd", "not found: no AMD GPU")
            outcome = self.assert_cannot_run(words, library)
            self.assertNotIn("libamdhip64", outcome.err, "nothing else need be looked for")

    # ---- where the program has more rights than its caller ----

    def test_no_variable_names_the_library_of_a_privileged_program(self):
        with open("/proc/self/status", encoding="ascii", errors="replace") as file:
            keeps_rights = re.search(r"^NoNewPrivs:\s*1", file.read(), re.M)
        if os.geteuid() != 0 or keeps_rights or os.statvfs(self.folder).f_flag & os.ST_NOSUID:
            self.skipTest("it takes root to give a file to somebody else, and a set-user-ID bit that counts")
        if harness.is_sanitized():
            self.skipTest("LeakSanitizer traces the process, which it may not with one that has more rights")
        os.chmod(self.folder, 0o755)
        program = shutil.copy(harness.XFERBENCH, self.path("privileged"))
        library = shutil.copy(STAND_IN, self.path("libamdhip64.so.99"))
        os.chown(program, NOBODY, NOBODY)
        for mode, assert_told in ((0o6755, self.assertNotIn), (0o755, self.assertIn)):
            os.chmod(program, mode)
            # Not its text, which is wrapped at the spaces of a path.
            process = self.start("list", "--json", "-", program=program, environment={OVERRIDE: library})
            assert_told(library, self.finish(process).out)


if __name__ == "__main__":
    harness.main()
