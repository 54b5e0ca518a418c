#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# A custom plugin for Kubernetes' node-problem-detector, which npd-xferbench.json calls. It has other
# exit codes than xferbench link: 0 good, 1 bad, anything else unknown. A WARNING counts as good, as
# in slurm-prolog.sh. The line that it prints becomes the message of the node's condition.
#
# It must see the GPUs: on the node itself, or in a container that has all of them. A job that copies at that
# time is slowed, and makes the test UNKNOWN, which is tried again: docs/fleet.md.
# usage: npd-xferbench.sh [OPTION OF LINK...]
found=$(xferbench link --format nhc "$@" </dev/null)
code=$?
printf '%s\n' "${found:-xferbench link ended with exit code $code}" | head -n 1
case "$code" in
0 | 1) exit 0 ;;
2) [ -n "$found" ] && exit 1 ;; # without a verdict it was not tested
esac
exit 2
