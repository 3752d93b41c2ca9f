#!/usr/bin/env bash
# Archives 12 samples by the workflow on a Slurm cluster of three nodes, which it starts on this machine. A node is lost
# while it packs, and a job is killed because its memory does not suffice. Then compares every byte.
#
#     slurm.sh [--install] BIN [DIRECTORY]
#
# BIN has orcomgo and simreads. The directory must not exist, and is kept; without one all is removed at the end.
# It needs root, because of Slurm's daemons, and the Debian packages below; --install installs those that are missing.
# Otherwise nothing outside of the directory is changed, and the processes that were started are ended.
set -euo pipefail
TOOLS=(slurmctld slurmd sbatch munged snakemake ps column)
PACKAGES=(slurmctld slurmd slurm-client munge snakemake procps bsdextrautils)
missing() {
	local tool
	for tool in "${TOOLS[@]}"; do command -v "$tool" >/dev/null || echo "$tool"; done
}
HERE=$(cd "$(dirname "$0")" && pwd)
[ "$(id -u)" = 0 ] || { echo "slurm.sh must be run as root, because it starts Slurm's daemons" >&2 && exit 1; }
if [ "$1" = --install ]; then
	shift
	[ -z "$(missing)" ] || { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${PACKAGES[@]}"; }
fi
[ -z "$(missing)" ] || { echo "not installed: $(missing | xargs); apt-get install ${PACKAGES[*]}" >&2 && exit 1; }
BIN=$(cd "$1" && pwd)
export PATH=/usr/bin:$PATH # Debian's snakemake wants Debian's Python
# shellcheck source=cluster.sh
source "$HERE/cluster.sh"

fail() {
	echo "FAILED: $*" >&2
	for log in "$WORK"/snakemake.log "$WORK"/slurm/*.log; do
		[ ! -e "$log" ] || { echo "the end of $log:" >&2 && tail -n 20 "$log" >&2; }
	done
	exit 1
}

if KEPT=${2:-} && [ -n "$KEPT" ]; then
	mkdir "$KEPT"
	WORK=$(cd "$KEPT" && pwd)
else
	WORK=$(mktemp -d)
fi
cleanup() {
	stop_cluster
	[ -z "${SNAKEMAKE:-}" ] || kill "$SNAKEMAKE" 2>/dev/null || true
	[ -n "$KEPT" ] || rm -rf "$WORK"
}
trap cleanup EXIT
cd "$WORK"
export XDG_CACHE_HOME=$WORK/cache # of Snakemake

### Samples
mkdir reads
sim() { "$BIN/simreads" -o "reads/$1" "${@:2}"; }
sim s01 -n 3000 --paired --gzip --seed 1
sim s02 -n 3000 --paired --bgzip --seed 2
sim s03 -n 4000 --levels 8 --gzip --seed 3
sim s04 -n 4000 --levels 4 --trim 0.3 --seed 4
sim s05_L1 -n 2000 --paired --gzip --seed 5
sim s05_L2 -n 2000 --paired --gzip --seed 55
sim s06 -n 3000 --names sra --crlf --gzip --seed 6
sim s07 -n 3000 --names ena --expression 1.5 --gzip --seed 7
sim s08 -n 60 --long hifi --gzip --seed 8
sim s09 -n 3000 --fasta --seed 9
sim s10 -n 3000 --n-rate 0.01 --length 151 --gzip --seed 10
sim lost -n 120000 --paired --genome-size 500000 --gzip --seed 11
sim hungry -n 80000 --paired --genome-size 500000 --gzip --seed 12
cat >samples.csv <<EOF
sample,fastq_1,fastq_2,mem_mb
lost,reads/lost_R1.fastq.gz,reads/lost_R2.fastq.gz,
hungry,reads/hungry_R1.fastq.gz,reads/hungry_R2.fastq.gz,100
s01,reads/s01_R1.fastq.gz,reads/s01_R2.fastq.gz,
s02,reads/s02_R1.fastq.gz,reads/s02_R2.fastq.gz,
s03,reads/s03.fastq.gz,,
s04,reads/s04.fastq,,
s05,reads/s05_L1_R1.fastq.gz,reads/s05_L1_R2.fastq.gz,
s05,reads/s05_L2_R1.fastq.gz,reads/s05_L2_R2.fastq.gz,
s06,reads/s06.fastq.gz,,
s07,reads/s07.fastq.gz,,
s08,reads/s08.fastq.gz,,
s09,reads/s09.fasta,,
s10,reads/s10.fastq.gz,,
EOF
SAMPLES=$(cut -d, -f1 samples.csv | tail -n +2 | uniq)

### The run
start_cluster n1 n2 n3
# workflow SHEET SETTING...
workflow() {
	snakemake --snakefile "$HERE/../workflow/Snakefile" --profile "$HERE/../profile/slurm" \
		--config samples="$1" orcomgo="$BIN/orcomgo" threads=1 plan_flags="--sample 8MB" "${@:2}"
}
began=$SECONDS
workflow samples.csv >snakemake.log 2>&1 &
SNAKEMAKE=$!

# jobs_of NAME: id, state, node, memory, time and how it ended, of each job of that name, in their order.
jobs_of() {
	scontrol --oneliner show jobs | awk -v want="$1" '{
		split("", f); for (i = 1; i <= NF; i++) { n = index($i, "="); f[substr($i, 1, n - 1)] = substr($i, n + 1) }
		if (f["JobName"] == want) print f["JobId"], f["JobState"], f["NodeList"], f["MinMemoryNode"], f["TimeLimit"], f["Reason"]
	}' | sort -n
}
packs_sample_lost() {
	kill -0 "$SNAKEMAKE" 2>/dev/null || fail "the workflow ended before sample lost was packed"
	LOST_JOB=$(jobs_of pack-sample=lost | awk '$2 == "RUNNING" { print $1 }')
	[ -n "$LOST_JOB" ] && for pid in $(processes SLURM_JOB_ID="$LOST_JOB"); do
		[ "$(readlink "/proc/$pid/exe")" != "$BIN/orcomgo" ] || return 0
	done
	return 1
}
wait_for 900 "sample lost to be packed" packs_sample_lost
LOST_NODE=$(jobs_of pack-sample=lost | awk -v id="$LOST_JOB" '$1 == id { print $3 }')
lose_node "$LOST_NODE"
echo "node $LOST_NODE was lost while job $LOST_JOB packed sample lost"

wait "$SNAKEMAKE" || fail "the workflow failed"
SNAKEMAKE=
took=$((SECONDS - began))

### What became of the jobs
states() { jobs_of "$1" | awk '{ print $2 }' | xargs; }
for s in $SAMPLES; do
	for step in plan bin pack verify checksums; do
		done_once=$(jobs_of "$step-sample=$s" | awk '$2 == "COMPLETED"' | wc -l)
		[ "$done_once" = 1 ] || fail "$step of sample $s was completed $done_once times: $(states "$step-sample=$s")"
	done
done
[ "$(states pack-sample=lost)" = "NODE_FAIL COMPLETED" ] || fail "jobs that packed sample lost: $(states pack-sample=lost)"
[ "$(states bin-sample=lost)" = COMPLETED ] || fail "sample lost was binned again: $(states bin-sample=lost)"
jobs_of pack-sample=lost | awk -v lost="$LOST_NODE" '$2 == "COMPLETED" && $3 == lost { exit 1 }' || fail "a lost node packed"
jobs_of pack-sample=hungry | awk '
	$2 == "FAILED" { killed++ }
	{ asked = (NR == 1) ? $4 : asked " " $4 }
	END { if (!killed || asked !~ /^100M 200M/) exit 1; print "packing sample hungry asked for", asked }' ||
	fail "sample hungry was not packed with more memory after it was killed: $(jobs_of pack-sample=hungry)"
grep -l 'Exceeded job memory limit' logs/slurm/rule_pack/sample=hungry/*.log >/dev/null || fail "no job was killed for its memory"

### What they asked for: memory as planned and 250 MB for Snakemake, time as planned
for s in $SAMPLES; do
	[ "$s" != hungry ] || continue
	planned=$(python3 -c 'import json, sys; r = json.load(sys.stdin)["archives"][0]["resources"]; print(r["mem_mb"] + 250, r["runtime"])' \
		<"archives/plan/$s.json")
	for step in bin pack verify; do
		read -r _ _ _ memory limit _ <<<"$(jobs_of "$step-sample=$s" | tail -n 1)"
		asked="$(($(numfmt --from=iec "$memory") >> 20)) $(awk -F: '{ print $1 * 60 + $2 }' <<<"$limit")"
		[ "$asked" = "$planned" ] || fail "$step of sample $s asked for $asked (MB, minutes), planned are $planned"
	done
done

### Every byte
"$BIN/orcomgo" archive --quiet --samples samples.csv local/
for s in $SAMPLES; do
	for ext in cdna cmeta cpar; do
		cmp "archives/$s.$ext" "local/$s.$ext" || fail "sample $s: the archive is not the one made here"
	done
	"$BIN/orcomgo" unpack --quiet "archives/$s" -o "restored/$s/"
	(cd archives && sha256sum --quiet -c "checksums/$s.archive.sha256")
	(cd reads && sha256sum --quiet -c "../archives/checksums/$s.files.sha256")
	(cd "restored/$s" && sha256sum --quiet -c "../../archives/checksums/$s.texts.sha256")
done
for original in reads/*; do
	name=$(basename "${original%.gz}")
	set -- restored/*/"$name"
	[ -e "$1" ] || fail "$name was not restored"
	[ $# = 1 ] || fail "$name was restored $# times"
	if [ "$original" = "${original%.gz}" ]; then cmp "$original" "$1"; else gzip -dc "$original" | cmp - "$1"; fi
done
left=$(find archives -maxdepth 1 -type f ! -name '*.cdna' ! -name '*.cmeta' ! -name '*.cpar' ! -name summary.tsv)
[ -z "$left" ] || fail "something is left in archives/: $left"
[ "$(find archives -maxdepth 1 -name '*.c*' | wc -l)" = 36 ] || fail "archives/ has other archives: $(ls -A archives)"

### Once more: nothing is left to do, also where reads were deleted after they were archived
rm reads/s01_R1.fastq.gz reads/s01_R2.fastq.gz
workflow samples.csv >again.log 2>&1 || fail "the second run of the workflow failed: $(tail -n 5 again.log)"
grep -q 'Nothing to be done' again.log || fail "the second run of the workflow did something: $(grep -A 3 ^rule again.log)"

### A sample whose jobs ask for a GPU, in one step, and whose reads are no FASTQ beside it
head -c 100000 /dev/urandom >reads/noise.fastq
printf 'sample,fastq_1\nwith_gpu,reads/s03.fastq.gz\nnoise,reads/noise.fastq\n' >gpu.csv
! workflow gpu.csv out=gpu steps=one gpu=gpu:1 >gpu.log 2>&1 || fail "the workflow did not fail for a sample that is no FASTQ"
cmp gpu/with_gpu.cdna archives/s03.cdna || fail "a sample is archived otherwise in one step"
scontrol --oneliner show jobs | grep 'JobName=archive-sample=with_gpu' | grep -q 'gres[:/]gpu[:=]1' || fail "no GPU was asked for"
[ ! -e gpu/noise.cdna ] || fail "there is an archive of noise"

echo
column -t -s $'\t' archives/summary.tsv
echo
echo "$(scontrol --oneliner show jobs | wc -l) jobs, $took s; every byte of 12 samples compared; a second run had nothing to do"
