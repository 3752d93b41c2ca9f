#!/bin/bash
# testlong.sh: runs the parts of `make test-long` side by side, and prints a line for each: PASS, FAIL, skipped or not ended, and its
# seconds. It ends with status 0 if no part failed and all ended.
#
#   testlong.sh [-o FOLDER] [-s SECONDS] [-f FILE] [-b | -n | -l] [REGEXP]
#
#   -o FOLDER   where binaries, logs, results and the summary go (bin/long). It should be on a disk: of a binary in a file system that is
#               in memory all counts as memory of the process, 15 MB more than otherwise, so that bounds of memory are exceeded.
#   -s SECONDS  end what still runs so long after the start (no limit)
#   -f FILE     results of an earlier run: the parts that took longest then begin first
#   -b          build the binaries and run nothing
#   -n          run binaries that -b built in FOLDER, in the same checkout or another of the same commit. The machine needs no Go:
#               without Go, vet is left out.
#   -l          list the parts
#   REGEXP      only the parts whose names match
#
# Each process gets two cores, as the bounds of memory are for two threads, and those of memory have theirs alone. Variables: GO,
# FUZZTIME (20s), ORCOMGO_DATA (real runs), CROWD (other processes on two cores side by side, 1), ALONE (pairs of cores that first
# run the parts of memory: half of them).
#
# On a machine without Go: testlong.sh -o FOLDER -b where Go is, then testlong.sh -o FOLDER -n there, with a copy of FOLDER.
set -u
cd "$(dirname "$0")/../.." || exit 1
GO=${GO:-go} FUZZTIME=${FUZZTIME:-20s} CROWD=${CROWD:-1}
out=bin/long limit= list= earlier=/dev/null only_build= built=
while getopts o:s:f:bnl option; do
	case $option in
	o) out=$OPTARG ;;
	s) limit=$OPTARG ;;
	f) earlier=$OPTARG ;;
	b) only_build=1 ;;
	n) built=1 ;;
	l) list=1 ;;
	*) exit 2 ;;
	esac
done
[ -r "$earlier" ] || { echo "testlong.sh: $earlier: no such file" >&2 && exit 2; }
shift $((OPTIND - 1))
only=${1:-.}
began=$(date +%s)
mkdir -p "$out/logs" && out=$(cd "$out" && pwd) || exit 1
root=$PWD
export ORCOMGO_LONG=1 CGO_ENABLED=0

# the packages with tests that take longer here than in make test
mapfile -t long < <(grep -lE --include='*_test.go' -r 'testrun\.(Long|OnlyLong|Pick)\b' . | grep -v '^./bin/\|_cuda_test.go$' |
	xargs -n 1 dirname | sort -u)
# variable NAME: the value of a variable of the Makefile
variable() { sed -n "/^$1 *=/{:more;/\\\\\$/{N;b more};s/^[^=]*= *//;s/\\\\\n//g;p}" Makefile; }
read -rd '' -a arm < <(variable ARM64_PKGS)
platforms=$(variable PLATFORMS)
qemu=$(command -v qemu-aarch64-static || command -v qemu-aarch64)

# functions PATTERN FILE...: the functions in files whose names begin with what matches
functions() {
	local pattern=$1
	shift
	cat "$@" | sed -n "s/^func \($pattern[A-Za-z0-9_]*\)(.*/\1/p" | sort -u
}
# names PACKAGE PATTERN: likewise in the tests of a package
names() { functions "$2" "$1"/*_test.go; }
# longer PACKAGE: the tests that ask package testrun how long they are to take, or a function of their package that does
longer() {
	find "$1" -maxdepth 1 -name '*_test.go' ! -name '*_cuda_test.go' -exec cat {} + | awk '
		/^func / { split($2, part, "("); name = part[1]; names[++n] = name }
		name { body[name] = body[name] $0 }
		/^}/ { name = "" }
		END {
			for (i = 1; i <= n; i++) if (names[i] !~ /^Test/ && body[names[i]] ~ /testrun\.(Long|OnlyLong|Pick)/) asks = asks "|[^A-Za-z]" names[i] "\\("
			for (i = 1; i <= n; i++) if (names[i] ~ /^Test/ && body[names[i]] ~ "testrun\\.(Long|OnlyLong|Pick)" asks) print names[i]
		}' | sort -u
}
# packages with a fuzz target
fuzzed() { grep -l --include='*_test.go' -r '^func Fuzz' . | grep -v '^./bin/' | xargs -n 1 dirname | sort -u; }
flat() { local name=${1#./}; echo "${name//\//_}"; }

# part CLASS NAME FOLDER COMMAND: writes a line of the list of parts
part() { printf '%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$4"; }
# tests CLASS PACKAGE REGEXP [SKIP]: a part of the tests of a package
tests() {
	part "$1" "$(flat "$2") $3${4:+ rest}" "$2" \
		"$out/host/$(basename "$2").test -test.v -test.timeout 180m -test.run '$3'${4:+ -test.skip '$4'}"
}

# arm64_parts lists those of the tests on 64-bit ARM, by qemu, as test-arm64 of the Makefile runs them.
arm64_parts() {
	local pkg name files run
	# Go knows which files are for ARM. Their list is kept, as -n may have to do without Go.
	[ -n "$built" ] || GOARCH=arm64 $GO list -f \
		'{{if or .TestGoFiles .XTestGoFiles}}{{.Dir}} {{join .TestGoFiles " "}} {{join .XTestGoFiles " "}}{{end}}' "${arm[@]}" |
		sed "s|^$root|.|" >"$out/arm64.files" || return
	while read -r pkg files; do
		run="ORCOMGO_LONG= ORCOMGO_EMULATED=1 $qemu $out/arm64/$(basename "$pkg").test -test.timeout 180m"
		case $pkg in
		./binning | ./binning/inflate | ./compress | ./compress/overlap | ./compress/seqs)
			for name in $(cd "$pkg" && functions '\(Test\|Example\|Fuzz\)' $files); do
				[ "$name" = TestMain ] || part other "arm64 $(flat "$pkg") $name" "$pkg" "$run -test.run '^$name\$'"
			done
			;;
		*) part other "arm64 $(flat "$pkg")" "$pkg" "$run" ;;
		esac
	done <"$out/arm64.files"
}

# Parts that take longest come first.
parts() {
	local all name pkg named p
	for name in chimera stutter shared24 thirdN genome 'thirdN, sequences' allN 'genome, sequences'; do
		for p in steps archive; do tests memory ./cmd/orcomgo "^TestMemoryBoundHoldsLong\$/^${name// /_}\$/^$p\$"; done
		all="${all:+$all|}${name// /_}"
	done
	tests memory ./cmd/orcomgo '^TestMemoryBoundHoldsLong$' "^TestMemoryBoundHoldsLong\$/^($all)\$"
	tests memory ./cmd/orcomgo '^TestLongBinMemory$'
	all=
	for name in shared24 suffix50 chimera stutter repeats random tandem thirdN identical polyA allN; do
		tests memory ./cmd/orcomgo "^TestMemoryBoundHolds\$/^$name\$"
		all="${all:+$all|}$name"
	done
	tests memory ./cmd/orcomgo '^TestMemoryBoundHolds$' "^TestMemoryBoundHolds\$/^($all)\$"
	tests memory ./cmd/orcomgo '^TestBinLeastMemory$'
	tests memory ./cmd/orcomgo '^TestMemoryWithoutBases$'
	tests memory ./cmd/orcomgo '^TestPlanHolds$'

	all=
	while read -r name; do
		for named in false true; do tests other ./cmd/orcomgo "^TestFaults\$/^$name\$/^named=$named\$"; done
		tests other ./cmd/orcomgo "^TestLongSystemCalls\$/^$name\$"
		all="${all:+$all|}$name"
	done < <(sed -n '/^func scenarios/,/^}/s/^\t\t{"\([a-z, ]*\)",.*/\1/p' cmd/orcomgo/faultscenarios_test.go | tr ' ' _ | sort)
	[ -n "$all" ] || { echo "testlong.sh: no scenarios of TestFaults found" >&2 && return 1; }
	tests other ./cmd/orcomgo '^(TestFaults|TestLongSystemCalls)$' "^(TestFaults|TestLongSystemCalls)\$/^($all)\$"
	for p in 0 1 2 3 4 5 6 7; do tests other ./binning/inflate "^TestDamaged\$/^part=$p\$"; done
	tests other ./binning/inflate '^TestDamaged$' '^TestDamaged$/^part=[0-7]$'
	for p in short_reads pairs long_reads; do tests other ./compress "^TestBeyondRepair\$/^$p\$"; done
	tests other ./compress '^TestBeyondRepair$' '^TestBeyondRepair$/^(short_reads|pairs|long_reads)$'
	for pkg in "${long[@]}"; do
		for name in $(longer "$pkg"); do
			case "$pkg $name" in
			*/inflate' 'TestDamaged | */compress' 'TestBeyondRepair) ;;
			*/orcomgo' 'TestMemory* | */orcomgo' 'TestBinLeastMemory | */orcomgo' 'TestPlanHolds | */orcomgo' 'TestFaults | */orcomgo' 'TestLong[SB]*) ;;
			*) tests other "$pkg" "^$name\$" ;;
			esac
		done
	done
	if [ -z "$built" ] || command -v "$GO" >/dev/null; then
		for p in $platforms; do part other "vet $p" . "GOOS=${p%/*} GOARCH=${p#*/} $GO vet ./..."; done
	fi
	[ -z "$qemu$only_build" ] || arm64_parts || return
	for pkg in $(fuzzed); do
		for name in $(names "$pkg" Fuzz); do
			part other "fuzz $(flat "$pkg") $name" "$pkg" "$out/fuzz/$(flat "$pkg").test -test.run '^\$' -test.fuzz '^$name\$' \
-test.fuzztime $FUZZTIME -test.fuzzminimizetime 1s -test.fuzzcachedir $out/corpus/$(flat "$pkg")"
		done
	done
}

# longest_first sorts a list of parts by the seconds of an earlier run; first come those that did not end then, and new ones.
longest_first() {
	awk -F'\t' -v earlier="$earlier" '
		BEGIN { while ((getline line <earlier) > 0) if (split(line, f, "\t") == 3 && f[1] != "not ended") seconds[f[3]] = f[2] }
		{ printf "%d\t%s\n", $2 in seconds ? seconds[$2] : 100000, $0 }' | sort -s -t $'\t' -k 1,1nr | cut -f 2-
}
set -o pipefail
parts | awk -F'\t' -v only="$only" '$2 ~ only' | longest_first >"$out/parts" || exit 1
set +o pipefail
[ -z "$list" ] || { cut -f 2 "$out/parts"; exit; }
rm -f "$out"/logs/* "$out"/results

# The binaries of those parts. A package and what it needs is built for fuzzing apart.
build() {
	if grep -q "$out/host/" "$out/parts"; then mkdir -p "$out/host" && $GO test -c -o "$out/host/" "${long[@]}" || return; fi
	if grep -q "$out/arm64/" "$out/parts"; then mkdir -p "$out/arm64" && GOARCH=arm64 $GO test -c -o "$out/arm64/" "${arm[@]}" || return; fi
	mkdir -p "$out/fuzz"
	local pkgs=() pkg
	for pkg in $(fuzzed); do if grep -q "$out/fuzz/$(flat "$pkg").test" "$out/parts"; then pkgs+=("$pkg"); fi; done
	[ ${#pkgs[@]} = 0 ] && return
	# one alone first: most that is needed is built once
	$GO test -c -fuzz . -o "$out/fuzz/$(flat "${pkgs[0]}").test" "${pkgs[0]}" || return
	for pkg in "${pkgs[@]:1}"; do printf '%s\0%s\0' "$out/fuzz/$(flat "$pkg").test" "$pkg"; done |
		xargs -0 -r -n 2 -P $((cores / 2 + 1)) "$GO" test -c -fuzz . -o
}
mapfile -t cpus < <(taskset -pc $$ | sed 's/.*: //' | tr , '\n' | while IFS=- read -r a b; do seq "$a" "${b:-$a}"; done)
cores=${#cpus[@]} pairs=$((${#cpus[@]} / 2))
[ $pairs -gt 0 ] || pairs=1
[ -n "$built" ] || build >"$out/logs/build.log" 2>&1 || { tail -n 20 "$out/logs/build.log"; echo "FAIL: the tests can't be built"; exit 1; }
echo "$(wc -l <"$out/parts") parts on $cores cores; built in $(($(date +%s) - began)) s"
[ -z "$only_build" ] || exit 0
for class in memory other; do
	grep "^$class	" "$out/parts" >"$out/queue.$class"
	echo 0 >"$out/next.$class"
done

# take CLASS: the next part of a class, or status 1
take() {
	(
		flock 9
		n=$(($(cat "$out/next.$1") + 1))
		[ $n -le "$(wc -l <"$out/queue.$1")" ] || exit 1
		echo $n >"$out/next.$1"
		sed -n ${n}p "$out/queue.$1"
	) 9>"$out/lock"
}

# perform CPUS LINE: runs a part and notes what came of it.
perform() {
	local name dir command log start status result left=
	IFS=$'\t' read -r _ name dir command <<<"$2"
	log=$out/logs/$(echo "$name" | tr -c 'A-Za-z0-9\n' _ | tr -s _).log start=$(date +%s)
	if [ -n "$limit" ]; then
		left=$((began + limit - start))
		if [ $left -le 0 ]; then
			printf 'not ended\t0\t%s\n' "$name" >>"$out/results"
			return
		fi
	fi
	(cd "$dir" && exec ${left:+timeout -k 5 $left} taskset -c "$1" bash -c "$command") >"$log" 2>&1
	status=$?
	case $status in
	0) result=PASS ;;
	124 | 137) result="not ended" ;;
	*) result=FAIL ;;
	esac
	if [ $status = 0 ] && grep -q '^testing: warning: no tests to run' "$log"; then
		case $name in *' rest') ;; *) result=FAIL ;; esac
	elif [ $status = 0 ] && grep -q '^--- SKIP' "$log" && ! grep -q '^--- PASS' "$log"; then
		result=skipped
	fi
	printf '%-9s %5d s  %s\n' "$result" $(($(date +%s) - start)) "$name"
	printf '%s\t%d\t%s\n' "$result" $(($(date +%s) - start)) "$name" >>"$out/results"
}

# work CPUS CLASS...: runs parts of the classes, one after another, until there are none
work() {
	local cpus=$1 class line
	shift
	for class in "$@"; do
		while line=$(take "$class"); do perform "$cpus" "$line"; done
	done
}
alone=${ALONE:-$(((pairs + 1) / 2))}
for ((p = 0; p < pairs; p++)); do
	two=${cpus[2 * p]}${cpus[2 * p + 1]:+,${cpus[2 * p + 1]}}
	if [ $p -lt $alone ]; then
		(
			work "$two" memory
			for ((k = 0; k < CROWD; k++)); do work "$two" other & done
			wait
		) &
	else
		for ((k = 0; k < CROWD; k++)); do work "$two" other & done
	fi
done
wait

echo
sort -t $'\t' -k 3 "$out/results" | awk -F'\t' '{ printf "%-9s %5d s  %s\n", $1, $2, $3 }' >"$out/summary"
cat "$out/summary"
awk -F'\t' -v parts="$(wc -l <"$out/parts")" -v wall=$(($(date +%s) - began)) '{ n[$1]++; s += $2 } END {
	printf "%d of %d parts: %d passed, %d failed, %d not ended, %d skipped; %d s, one after another %d s\n",
		NR, parts, n["PASS"], n["FAIL"], n["not ended"], n["skipped"], wall, s
	exit NR < parts || n["FAIL"] + n["not ended"] > 0 }' "$out/results" | tee -a "$out/summary"
exit "${PIPESTATUS[0]}"
