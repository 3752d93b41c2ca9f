#!/bin/sh
# The whole road on a small simulated run: demo.sh PROGRAMS DIR, where PROGRAMS holds
# orcomgo and simreads and DIR, which is replaced, gets the files.
set -eu
programs=$(cd "$1" && pwd)
dir=$2
rm -rf "$dir"
mkdir -p "$dir"
cd "$dir"

say() { printf '\n%s\n' "$*"; }
run() {
	printf '\n$ %s\n' "$*"
	program=$1
	shift
	"$programs/$program" "$@"
}
same() {
	if command -v cmp >/dev/null; then
		cmp "$1" "$2"
	else
		[ "$(sha256sum <"$1")" = "$(sha256sum <"$2")" ]
	fi
}
size() { wc -c "$@" | awk '{ printf "%13d  %s\n", $1, $2 }'; }

say "115,000 pairs of 2 x 100 bases from an invented genome of 400,000 (57x):"
run simreads --reads 115000 --paired --genome-size 400000 --levels 8 --n-rate 0.0002 --optical-duplicates 0.05 -o run
size run_R1.fastq run_R2.fastq

say "Everything kept, byte for byte:"
run orcomgo bin -1 run_R1.fastq -2 run_R2.fastq archive/
run orcomgo pack archive/
run orcomgo verify archive/
run orcomgo info archive/
run orcomgo unpack archive/ -o restored/
for f in run_R1.fastq run_R2.fastq; do
	same "$f" "restored/$f"
	echo "restored/$f is equal to $f"
done

say "The sequences alone, as a set of reads:"
run orcomgo archive --reads-only --order any run_R1.fastq reads/

say "Sizes in bytes:"
size run_R1.fastq run_R2.fastq archive/* reads/*
