# shellcheck shell=bash
# Functions that start a Slurm cluster of several nodes on this machine, and end it; for slurm.sh.
# Everything is in $WORK. SLURM_CONF names its configuration, by which Slurm's programs find it; each process of the
# cluster has it in its environment, by which they are found here.

# free_ports COUNT: that many ports of this machine that nothing listens at.
free_ports() {
	python3 - "$1" <<-'EOF'
		import socket, sys
		open_sockets = [socket.socket() for _ in range(int(sys.argv[1]))]
		for s in open_sockets:
		    s.bind(("127.0.0.1", 0))
		print(*(s.getsockname()[1] for s in open_sockets))
	EOF
}

# start_cluster NODE...: nodes of 2 CPUs, 4 GB and, as far as Slurm knows, a GPU each.
start_cluster() {
	local host ports node i=1
	host=$(hostname -s)
	read -ra ports <<<"$(free_ports $(($# + 1)))"
	mkdir -p "$WORK/slurm/state"
	export SLURM_CONF=$WORK/slurm/slurm.conf
	cat >"$SLURM_CONF" <<-EOF
		ClusterName=test
		SlurmctldHost=$host(127.0.0.1)
		SlurmctldPort=${ports[0]}
		SlurmUser=root
		SlurmdUser=root
		AuthType=auth/munge
		AuthInfo=socket=$WORK/slurm/munge.socket
		StateSaveLocation=$WORK/slurm/state
		SlurmdSpoolDir=$WORK/slurm/spool.%n
		SlurmctldPidFile=$WORK/slurm/slurmctld.pid
		SlurmdPidFile=$WORK/slurm/slurmd.%n.pid
		SlurmctldLogFile=$WORK/slurm/slurmctld.log
		SlurmdLogFile=$WORK/slurm/slurmd.%n.log
		ProctrackType=proctrack/linuxproc
		TaskPlugin=task/none
		JobAcctGatherType=jobacct_gather/linux
		JobAcctGatherFrequency=task=1
		JobAcctGatherParams=OverMemoryKill
		AccountingStorageType=accounting_storage/none
		JobCompType=jobcomp/none
		MpiDefault=none
		SwitchType=switch/none
		SelectType=select/cons_tres
		SelectTypeParameters=CR_Core_Memory
		SlurmdParameters=config_overrides
		ReturnToService=2
		SlurmdTimeout=30
		# jobs can be looked up until the test ends
		MinJobAge=86400
		GresTypes=gpu
		PartitionName=test Nodes=ALL Default=YES MaxTime=INFINITE State=UP
	EOF
	for node; do
		echo "NodeName=$node NodeHostname=$host NodeAddr=127.0.0.1 Port=${ports[i]} CPUs=2 RealMemory=4000 Gres=gpu:1" >>"$SLURM_CONF"
		i=$((i + 1))
	done
	echo "Name=gpu File=/dev/zero" >"$WORK/slurm/gres.conf" # a device file that is on every machine
	# No control groups are used, and a container may have none. Up to 23.02 Slurm cannot be told so, but then it must
	# not look for them.
	local plugin=disabled
	[[ $(slurmd -V) =~ ([0-9]+\.[0-9]+) && $(printf '%s\n' 23.11 "${BASH_REMATCH[1]}" | sort -V | head -n 1) = 23.11 ]] ||
		plugin=cgroup/v1
	echo "CgroupPlugin=$plugin" >"$WORK/slurm/cgroup.conf"
	dd if=/dev/urandom of="$WORK/slurm/munge.key" bs=1024 count=1 status=none
	chmod 600 "$WORK/slurm/munge.key"
	munged --force --key-file="$WORK/slurm/munge.key" --socket="$WORK/slurm/munge.socket" --pid-file="$WORK/slurm/munged.pid" \
		--log-file="$WORK/slurm/munged.log" --seed-file="$WORK/slurm/munge.seed" 2>/dev/null || fail "munged did not start"
	slurmctld || fail "slurmctld did not start"
	for node; do
		mkdir "$WORK/slurm/spool.$node"
		CLUSTER_NODE=$node slurmd -N "$node" || fail "slurmd did not start"
	done
	wait_for 120 "all nodes to be idle" nodes_are_idle $#
}

nodes_are_idle() { [ "$(sinfo --noheader --Node --format=%T 2>/dev/null | grep -cx idle)" -eq "$1" ]; }

# wait_for SECONDS WHAT COMMAND...: until the command succeeds; the test ends if it does not.
wait_for() {
	local end=$((SECONDS + $1)) what=$2
	shift 2
	until "$@"; do
		[ "$SECONDS" -lt "$end" ] || fail "waited in vain for $what"
		sleep 0.1
	done
}

# processes VARIABLE=VALUE...: those of this cluster that have the variables in their environment.
processes() {
	local dir want
	for dir in /proc/[0-9]*; do
		for want in "SLURM_CONF=$SLURM_CONF" "$@"; do
			grep -qzxF -- "$want" "$dir/environ" 2>/dev/null || continue 2
		done
		[ "${dir#/proc/}" = "$$" ] || [ "${dir#/proc/}" = "$BASHPID" ] || echo "${dir#/proc/}"
	done
}

# step_daemons PID...: the slurmstepd of each of these processes of jobs. Its own environment can't be read, because it
# writes its title over it.
step_daemons() {
	local pid parent
	for pid; do
		parent=$(ps -o ppid= -p "$pid" | tr -d ' ')
		[ -z "$parent" ] || [ "$(ps -o comm= -p "$parent")" != slurmstepd ] || echo "$parent"
	done
}

# lose_node NODE: kills its daemon, those of the steps of its jobs, and what they run, at once and for good. The daemons
# come first, so that Slurm is not told of the end of the jobs.
lose_node() {
	local daemons jobs
	daemons=$(processes CLUSTER_NODE="$1")
	while jobs=$(processes SLURMD_NODENAME="$1") && [ -n "$daemons$jobs" ]; do
		# shellcheck disable=SC2046,SC2086
		kill -KILL $daemons $(step_daemons $jobs) $jobs 2>/dev/null || true
		daemons=
	done
}

# stop_cluster ends what start_cluster started, and all jobs.
stop_cluster() {
	local jobs file
	scancel --user=root --quiet 2>/dev/null || true
	for file in "$WORK"/slurm/*.pid; do
		[ ! -e "$file" ] || kill "$(cat "$file")" 2>/dev/null || true
	done
	for _ in $(seq 100); do
		jobs=$(processes)
		[ -n "$jobs" ] || return 0
		sleep 0.1
	done
	# shellcheck disable=SC2046,SC2086
	kill -KILL $(step_daemons $jobs) $jobs 2>/dev/null || true
}
