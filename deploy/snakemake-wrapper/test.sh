#!/usr/bin/env bash
# Runs the tests of the wrappers by Snakemake, and compares what they write: test.sh BIN
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
bin=$(cd "$1" && pwd)
export PATH=/usr/bin:$bin:$PATH # Debian's snakemake wants Debian's Python
command -v snakemake >/dev/null || { echo "snakemake is not installed: the wrappers were not run" && exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work/cache
ln -s "$here" "$work/master"

# run WRAPPER TARGET...
run() {
	cp -r "$here/bio/orcomgo/$1/test" "$work/$1"
	cd "$work/$1"
	snakemake --lint >/dev/null 2>"$work/lint" || { cat "$work/lint" && exit 1; }
	snakemake --cores 2 --wrapper-prefix "file://$work/" "${@:2}" >"$work/log" 2>&1 || { tail -n 30 "$work/log" && exit 1; }
}

run archive archives/a.pair.cdna archives/a.single.cdna
orcomgo archive --quiet --source none --as pair -1 reads/a_1.fastq -2 reads/a_2.fastq here/
orcomgo archive --quiet --source none --as single reads/a_1.fastq reads/a_2.fastq here/
for kind in pair single; do
	for ext in cdna cmeta cpar; do cmp "archives/a.$kind.$ext" "here/$kind.$ext"; done
done

run unpack restored/a_1.fastq
for mate in 1 2; do cmp "restored/a_$mate.fastq" "$here/bio/orcomgo/archive/test/reads/a_$mate.fastq"; done
echo "wrappers: archives are equal to those made without Snakemake, restored reads to the originals"
