#!/bin/bash
# Runs a study of 200 runs as a job array of Slurm itself, on this machine as the only node, and
# compares its table with that of the same study without Slurm: validation/slurm/run.sh HEDDLE.
#
# It installs Debian's slurm-wlm if that is missing, so that it needs root, and starts the daemons
# itself, without systemd: munged as its own user, slurmctld and slurmd as root. All that it writes
# is in a folder of its own, and it ends the daemons by their numbers.
set -euo pipefail
heddle=$(realpath "$1")
[ "$(id -u)" = 0 ] || { echo "not run: Slurm's daemons need root"; exit 0; }
if ! command -v slurmctld >/dev/null || ! command -v munged >/dev/null; then
    # Nothing is to be started by the packages.
    printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d && chmod +x /usr/sbin/policy-rc.d
    trap 'rm -f /usr/sbin/policy-rc.d' EXIT
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive \
        apt-get install -qq -y --no-install-recommends slurm-wlm munge >/dev/null
    rm -f /usr/sbin/policy-rc.d
fi

scratch=$(mktemp -d)
chmod 755 "$scratch"
daemons=()
finish() {
    for daemon in "${daemons[@]}"; do kill "$daemon" 2>/dev/null || true; done
    wait 2>/dev/null || true
    # Where it ends early, tasks may still write.
    rm -rf "$scratch" || true
}
trap finish EXIT

install -d -o munge -g munge -m 755 "$scratch/munge"
head -c 1024 /dev/urandom >"$scratch/munge/key"
chown munge:munge "$scratch/munge/key"
chmod 400 "$scratch/munge/key"
setpriv --reuid=munge --regid=munge --clear-groups munged --foreground --force \
    --key-file="$scratch/munge/key" --socket="$scratch/munge/socket" \
    --pid-file="$scratch/munge/pid" --log-file="$scratch/munge/log" \
    --seed-file="$scratch/munge/seed" >/dev/null 2>&1 &
daemons+=($!)

node=$(hostname -s)
mkdir "$scratch/state" "$scratch/spool"
cat >"$scratch/slurm.conf" <<END
ClusterName=heddle
SlurmctldHost=$node(127.0.0.1)
SlurmUser=root
SlurmdUser=root
SlurmctldPort=16817
SlurmdPort=16818
AuthType=auth/munge
AuthInfo=socket=$scratch/munge/socket
CredType=cred/munge
StateSaveLocation=$scratch/state
SlurmdSpoolDir=$scratch/spool
SlurmctldPidFile=$scratch/slurmctld.pid
SlurmdPidFile=$scratch/slurmd.pid
SlurmctldLogFile=$scratch/slurmctld.log
SlurmdLogFile=$scratch/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1,default_queue_depth=1000,partition_job_depth=1000
MaxArraySize=101
ReturnToService=2
SlurmdParameters=config_overrides
NodeName=$node NodeAddr=127.0.0.1 CPUs=8 State=UNKNOWN
PartitionName=short Nodes=$node Default=YES MaxTime=10 State=UP
END
export SLURM_CONF=$scratch/slurm.conf
slurmctld -D -f "$SLURM_CONF" >/dev/null 2>&1 &
daemons+=($!)
slurmd -D -f "$SLURM_CONF" -N "$node" >/dev/null 2>&1 &
daemons+=($!)
for _ in $(seq 60); do
    [ "$(sinfo --noheader --format=%t 2>/dev/null || true)" = idle ] && break
    sleep 1
done
if [ "$(sinfo --noheader --format=%t)" != idle ]; then
    tail -n 20 "$scratch/slurmctld.log" "$scratch/slurmd.log"
    echo "Slurm's node does not come up" >&2
    exit 1
fi

cd "$scratch"
cat >study.toml <<END
[workload]
source = "pattern:dissemination"
ranks = 16

[study]
size = ["8B", "1KiB"]
seeds = 100
END
"$heddle" study study.toml -o here >/dev/null
start=$(date +%s)
"$heddle" study study.toml -o there --on slurm --partition short
echo "200 tasks in two arrays took $(($(date +%s) - start)) s"
cmp here/runs.csv there/runs.csv
[ "$(wc -l <there/runs.csv)" = 201 ]
# Each task left what it found in a file of its own.
[ "$(find there -name 'found-*.jsonl' -size +0 | wc -l)" = 200 ]
echo "the table of Slurm's runs is the one without Slurm, byte for byte"
