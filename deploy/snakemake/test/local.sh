#!/usr/bin/env bash
# Runs the workflow on this machine without Slurm, in two steps and in one, and compares: local.sh BIN
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
bin=$(cd "$1" && pwd)
export PATH=/usr/bin:$PATH # Debian's snakemake wants Debian's Python
command -v snakemake >/dev/null || { echo "snakemake is not installed: the workflow was not run" && exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export XDG_CACHE_HOME=$work/cache
"$bin/simreads" -n 2000 --paired --gzip -o a
"$bin/simreads" -n 2000 --seed 2 -o b
printf 'sample\tfastq_1\tfastq_2\nliver.1\ta_R1.fastq.gz\ta_R2.fastq.gz\nkidney\tb.fastq\t\n' >samples.tsv

# workflow OPTION...: --config and its values come last
workflow() {
	snakemake --snakefile "$here/../workflow/Snakefile" --cores 2 "$@" samples="${SHEET:-samples.tsv}" orcomgo="$bin/orcomgo" threads=2
}
# fails TEXT OPTION...: the workflow must fail, and say so
fails() {
	if workflow "${@:2}" >log 2>&1 || ! grep -qF -- "$1" log; then
		echo "the workflow should have said '$1':" && tail -n 20 log && exit 1
	fi
}
workflow --lint --config >log 2>&1 || { cat log && exit 1; }
for steps in one two; do
	workflow --config out="$steps" steps="$steps" >log 2>&1 || { tail -n 40 log && exit 1; }
	# jobs ask for the memory that was planned, and 250 MB for Snakemake
	for name in liver.1 kidney; do
		planned=$(python3 -c 'import json, sys; print(json.load(sys.stdin)["archives"][0]["resources"]["mem_mb"] + 250)' \
			<"$steps/plan/$name.json")
		grep -A 3 "wildcards: sample=$name\$" log | grep -q "mem_mb=$planned," ||
			{ echo "no job of $name asked for $planned MB:" && cat log && exit 1; }
	done
	workflow --rerun-triggers mtime --config out="$steps" steps="$steps" >log 2>&1 || { tail -n 40 log && exit 1; }
	grep -q 'Nothing to be done' log || { cat log && exit 1; }
done
"$bin/orcomgo" archive --quiet --samples samples.tsv here/
for name in liver.1 kidney; do
	for ext in cdna cmeta cpar; do cmp "one/$name.$ext" "here/$name.$ext" && cmp "two/$name.$ext" "here/$name.$ext"; done
done
# a sample is added
"$bin/simreads" -n 500 --seed 3 -o c
printf 'brain\tc.fastq\n' >>samples.tsv
workflow --rerun-triggers mtime --config out=two >log 2>&1 || { tail -n 40 log && exit 1; }
[ "$(grep -c '^rule pack' log)" = 1 ] || { echo "a sample was added, and other ones were packed:" && cat log && exit 1; }
[ "$(cut -f 1 two/summary.tsv | xargs)" = "sample liver.1 kidney brain" ] || { cat two/summary.tsv && exit 1; }

# two samples share an archive
"$bin/simreads" -n 2000 --seed 4 -o d
printf 'sample,fastq_1\nleft,b.fastq\nright,d.fastq\nother,c.fastq\n' >strains.csv
printf 'sample,group\nleft,both\nright,both\n' >groups.csv
SHEET=strains.csv workflow --config out=groups group=groups.csv >log 2>&1 || { tail -n 40 log && exit 1; }
"$bin/orcomgo" archive --quiet --samples strains.csv --group groups.csv joined/
for file in both.c{dna,meta,par} other.c{dna,meta,par}; do cmp "groups/$file" "joined/$file"; done
[ "$(cut -f 1 groups/summary.tsv | xargs)" = "sample other both" ] || { cat groups/summary.tsv && exit 1; }
# which two, the workflow can find out
"$bin/simreads" -n 3000 --genome-size 20000 --seed 4 --genome-out g.fa -o b
"$bin/simreads" -n 3000 --genome g.fa --seed 5 -o d
SHEET=strains.csv workflow auto/groups.tsv --config out=auto >log 2>&1 || { tail -n 40 log && exit 1; }
[ "$(cut -f 2 auto/groups.tsv | xargs)" = "group left_group left_group" ] || { cat auto/groups.tsv && exit 1; }

fails "unknown key 'thread'" --config thread=1
fails "steps is 'three', expected one or two" --config steps=three
printf 'sample,fastq_1\n../x,a_R1.fastq.gz\n' >bad.csv
SHEET=bad.csv fails "bad.csv: line 2: sample: '../x': expected letters" --config out=bad
echo "workflow: archives by two steps and by one are equal to those made without Snakemake"
