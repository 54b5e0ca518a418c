#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""With HIP: what the devices, the library and the environment are.
usage: test_surroundings.py BUILD_FOLDER [UNITTEST_ARGUMENT...]
"""

import os

from stand_in import (
    ALL,
    FEW,
    KERNEL_ROW,
    OVERRIDE,
    SOME,
    STAND_IN,
    HipCase,
    harness,
    read_bytes,
    write_bytes,
)


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
        self.assertEqual(outcome.code, 0, outcome)
        self.assert_skipped(outcome.rows("managed"), ("XNACK", "'managed'"), outcome)
        self.assert_ok([row for row in outcome.rows() if row["mode"] != "managed"], outcome)
        for device in outcome.document["devices"]:
            self.assertEqual(device["facts"]["xnack"], "off")
        self.assertIn("XNACK", self.lacks(environment, "managed"))

    def test_launches_that_block(self):
        """Behind a hold they would wait for a release that comes after them."""
        for name, value in (
            ("HIP_LAUNCH_BLOCKING", "1"),
            ("AMD_SERIALIZE_KERNEL", "3"),
            ("AMD_SERIALIZE_COPY", "1"),
        ):
            with self.subTest(variable=name):
                outcome = self.check_outcome(
                    self.measure("--mode", "pinned,zero-copy", environment={name: value})
                )
                self.assert_all_ok(outcome)
                for row in outcome.rows():
                    self.assertEqual(row["details"]["held"], "no", row)
                    self.assertTrue(any("cannot be held" in w for w in row["warnings"]), row)
                self.assertEqual(outcome.document["environment"][name], value)
                self.assertIn(name, self.lacks({name: value}, "hold"))
        outcome = self.check_outcome(
            self.measure("--mode", "pinned", environment={"HIP_LAUNCH_BLOCKING": "0"})
        )
        self.assertEqual({row["details"]["held"] for row in outcome.rows()}, {"yes"}, outcome)

    def test_facts_from_the_environment(self):
        for environment, key, word in (
            ({"HSA_ENABLE_SDMA": "0"}, "copies", "by shaders"),
            ({"HSA_ENABLE_SDMA": "1"}, "copies", "by SDMA engines"),
            ({"GPU_MAX_HW_QUEUES": "2"}, "hardware_queues", "2"),
            ({"GPU_MAX_HW_QUEUES": "x" * 500}, "hardware_queues", "x"),
        ):
            with self.subTest(environment=str(environment)[:60]):
                outcome = self.check_outcome(self.measure(*KERNEL_ROW, environment=environment))
                self.assert_all_ok(outcome)
                facts = outcome.document["devices"][0]["facts"]
                self.assertTrue(facts[key].startswith(word), facts)
                for name, value in environment.items():
                    self.assertEqual(outcome.document["environment"][name], value)

    def test_no_devices(self):
        for count in ("0", "-1"):
            with self.subTest(count=count):
                environment = {"XB_STANDIN_DEVICES": count}
                outcome = self.run_program(*ALL, "--json", "out.json", environment=environment)
                words = ("HIP devices", "none: no GPU that HIP supports", "HIP_VISIBLE_DEVICES")
                self.assert_unavailable(outcome, (*words, STAND_IN[:140]))

    def test_one_device(self):
        """No pair, so no copies between devices."""
        outcome = self.check_outcome(
            self.measure("--mode", "pinned,peer", environment={"XB_STANDIN_DEVICES": "1"})
        )
        self.assertEqual(outcome.code, 0, outcome)
        self.assert_ok(outcome.rows("pinned"), outcome)
        self.assert_skipped(outcome.rows("peer"), ("two GPUs",), outcome)

    def test_many_devices(self):
        arguments = ("--mode", "pinned,zero-copy", "--direction", "h2d", "--device", "all")
        outcome = self.check_outcome(
            self.measure(*arguments, environment={"XB_STANDIN_DEVICES": "8"})
        )
        self.assert_all_ok(outcome)
        self.assertEqual(sorted({row["device"] for row in outcome.rows()}), list(range(8)))
        self.assertEqual(outcome.trace["hiprtcCompileProgram"], 1, "once for all")

    def test_versions(self):
        for version, name in (("50221153", "5.2.21153"), ("70226015", "7.2.26015")):
            with self.subTest(version=version):
                outcome = self.check_outcome(
                    self.measure(*KERNEL_ROW, environment={"XB_STANDIN_VERSION": version})
                )
                self.assert_all_ok(outcome)
                self.assertEqual(outcome.document["backend"]["runtime_version"], name)

    def test_version_too_old(self):
        for version, name in (("40400000", "4.4.0"), ("49999999", "4.99.99999"), ("0", "0.0.0")):
            with self.subTest(version=version):
                outcome = self.run_program(*ALL, environment={"XB_STANDIN_VERSION": version})
                self.assert_unavailable(outcome, (f"{name}: too old", "ROCm 5.0"))

    def test_library_that_cannot_be_opened(self):
        write_bytes(self.path("text.so"), b"This is no library.\n")
        write_bytes(self.path("cut.so"), read_bytes(STAND_IN)[:32])
        for library in ("/nonexistent.so", "./text.so", "./cut.so", "./", "/dev/null"):
            with self.subTest(library=library):
                arguments = (*ALL, "--json", "out.json")
                outcome = self.run_program(*arguments, library=library, folder=self.folder)
                self.assert_unavailable(outcome, (f"{OVERRIDE} names a library", library))
        listed = self.list_devices(library="./text.so", folder=self.folder)
        self.assertIn("./text.so", str(listed.document["backends"]))

    def test_library_of_something_else(self):
        """It opens, and is no HIP runtime."""
        outcome = self.run_program(*ALL, library="libc.so.6")
        self.assert_unavailable(outcome, ("hipRuntimeGetVersion", "not a HIP runtime of use"))

    def test_no_kernel_driver(self):
        if os.path.exists("/dev/kfd"):
            self.skipTest("this machine has /dev/kfd")
        for library in (None, ""):
            with self.subTest(library=library):
                outcome = self.run_program(*ALL, library=library)
                words = ("the hip backend cannot run", "/dev/kfd", "not found: no AMD GPU")
                self.assert_unavailable(outcome, words)
                self.assertNotIn("libamdhip64", outcome.err, "nothing else need be looked for")

    def test_auto(self):
        """Only where it is the first that can run: a GPU of another kind may come before it."""
        hidden = {"CUDA_VISIBLE_DEVICES": ""}
        arguments = ("--backend", "auto", *FEW, *KERNEL_ROW, "--json", "out.json", "--quiet")
        outcome = self.check_outcome(self.run_program(*arguments, environment=hidden))
        self.assert_all_ok(outcome)
        self.assertEqual(outcome.document["backend"]["name"], "hip")


if __name__ == "__main__":
    harness.main()
