#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `list --json` writes is what docs/list.schema.json says, and its help names that schema.
usage: test_list_schema.py BUILD_FOLDER [UNITTEST_ARGUMENT...]"""

import copy
import unittest

import harness
from harness import STAND_IN, Case, absent_environment, needs_cuda_stub, stub_environment


def objects_of(value, path=()):
    """Every object within, with its place; but those whose keys are names of anybody's choice."""
    if isinstance(value, dict):
        if path[-1:] not in (("facts",), ("lacks",)):
            yield path, value
        inner = value.items()
    else:
        inner = enumerate(value) if isinstance(value, list) else ()
    for key, item in inner:
        yield from objects_of(item, (*path, key))


def at(document, path):
    for key in path:
        document = document[key]
    return document


class ListSchema(Case):
    def list_json(self, environment=None):
        """Held against the schema by load()."""
        self.assert_succeeds("list", "--json", "list.json", environment=environment)
        return self.load("list.json")

    def test_without_a_gpu(self):
        document = self.list_json(absent_environment())
        self.assertEqual(document["schema"], "xferbench.list")
        out = self.assert_succeeds("list", "--json", "-", environment=absent_environment()).out
        again = self.load_text(out)
        for memory in (document.pop("lockable_bytes"), again.pop("lockable_bytes")):
            self.assertGreater(memory, 0)
        self.assertEqual(again, document)

    @needs_cuda_stub
    def test_without_a_driver(self):
        for reason in ("old-driver", "no-device", "mismatch"):
            with self.subTest(reason=reason):
                self.list_json(stub_environment(reason))

    @unittest.skipUnless(STAND_IN, "the HIP backend is not in this build")
    def test_with_gpus(self):
        document = self.list_json({"XFERBENCH_HIP_LIBRARY": STAND_IN})
        gpus = [device for device in document["devices"] if device["backend"] == "hip"]
        self.assertEqual(len(gpus), 2)
        for gpu in gpus:
            self.assertTrue(gpu["capabilities"] and gpu["lacks"] and gpu["facts"], gpu)

    @unittest.skipUnless(harness.CAN_VALIDATE, "no python3-jsonschema of 4.0 or newer")
    def test_the_schema_is_complete(self):
        """No key more and none less, in any object."""
        document = self.list_json({"XFERBENCH_HIP_LIBRARY": STAND_IN} if STAND_IN else None)
        validator = harness.validator_of("list")
        places = list(objects_of(document))
        self.assertGreater(len(places), 10)
        for path, item in places:
            with self.subTest(path=path):
                for key in item:
                    changed = copy.deepcopy(document)
                    del at(changed, path)[key]
                    self.assertFalse(validator.is_valid(changed), f"it does not miss {key}")
                changed = copy.deepcopy(document)
                at(changed, path)["another"] = 1
                self.assertFalse(validator.is_valid(changed))

    def test_help_names_it(self):
        out = " ".join(self.assert_succeeds("list", "--help").out.split())
        self.assertIn("docs/list.schema.json", out)
        self.assertNotIn("measured as JSON", out)
        self.assertNotIn("result.schema.json", out)


if __name__ == "__main__":
    harness.main()
