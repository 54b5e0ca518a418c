#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# A node whose GPUs have a bad PCIe link gets no job: it is drained, with the reason. For slurm.conf:
#
#     Prolog=/etc/slurm/xferbench-prolog.sh               # before each job, or
#     HealthCheckProgram=/etc/slurm/xferbench-prolog.sh   # now and then,
#     HealthCheckInterval=3600
#     HealthCheckNodeState=IDLE                           # on idle nodes
#
# As a Prolog it fails where it drains, and Slurm puts the job back: held, unless slurm.conf has
# SchedulerParameters=nohold_on_prolog_fail. A test takes a second or two a GPU; the deadline, for
# GPUs that hang, should be below the time that the site grants a Prolog. The test needs the node for
# itself: where several jobs share a node, let it run on idle nodes only. Slurm kills a
# HealthCheckProgram after 60 s.
#
# A node is drained for the exit codes in XFERBENCH_DRAIN_ON: 1 WARNING, 2 CRITICAL, 3 UNKNOWN. Not
# for UNKNOWN by default: it says "try again", as where other work slowed the copies down, and the
# next job or the next HealthCheckInterval does. (One broken driver package would drain the whole
# cluster.)
set -u

# Slurm sets no search path (Prolog and Epilog Guide).
export PATH="${PATH:-/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin}"

drain_on=${XFERBENCH_DRAIN_ON:-2}
deadline=${XFERBENCH_DEADLINE:-50s}
node=${SLURMD_NODENAME:-$(hostname -s)}

say() {
    logger -t xferbench -- "$*" 2>/dev/null || true
    printf '%s\n' "$*" >&2
}

found=$(xferbench link --format nhc --deadline "$deadline" </dev/null)
code=$?
[ "$code" -ne 0 ] || exit 0
# Who has nothing to say has not tested: it is not there, crashed, or does not know the command.
[ -n "$found" ] || { found="xferbench link ended with exit code $code and no verdict" && code=3; }

# The first line alone, without what scontrol or a shell behind it could take apart.
reason=$(printf '%s\n' "$found" | head -n 1 | tr -cd '[:alnum:] .,:;/()_-' | cut -c 1-200)
say "$reason"
case " $drain_on " in
*" $code "*) ;;
*) exit 0 ;;
esac

scontrol update "NodeName=$node" State=DRAIN "Reason=$reason" || say "scontrol could not drain $node"
exit 1
