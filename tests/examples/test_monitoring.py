#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests what scripts/examples/ has for Prometheus and Grafana: that it asks for metrics that link writes, and, where
promtool is, that alerts come when they should. usage: test_monitoring.py BUILD_FOLDER [UNITTEST_ARGUMENT...]"""

import glob
import os
import re
import shutil

from test_examples import EXAMPLES, example, harness

METRIC = re.compile(r"\bxferbench_link_\w+")


class Monitoring(harness.Case):
    def test_every_metric_is_one_that_link_writes(self):
        written = set()
        for path in glob.glob(os.path.join(harness.SOURCE, "tests/golden/link/*prometheus*/expected")):
            with open(path, encoding="utf-8") as file:
                written.update(re.findall(r"^# TYPE (\w+) ", file.read(), re.MULTILINE))
        for name in ("prometheus-rules.yml", "prometheus-rules-test.yml", "grafana-dashboard.json"):
            asked = set(METRIC.findall(example(name)))
            self.assertGreater(len(asked), 3, name)
            self.assertLessEqual(asked, written, name)

    def test_alerts_come_when_they_should(self):
        if shutil.which("promtool") is None:
            self.skipTest("no promtool")
        run = self.run_program(
            "test", "rules", os.path.join(EXAMPLES, "prometheus-rules-test.yml"), program=shutil.which("promtool")
        )
        self.assertEqual(run.code, 0, run.out + run.err)


if __name__ == "__main__":
    harness.main()
