#!/bin/bash
# sanitize.sh CUDAKERN BINNING QUALS [TOOL...]: runs tests of the kernels under the tools of compute-sanitizer (memcheck, racecheck and
# initcheck by default), for which they take smaller inputs, $JOBS at a time (16 by default), on a machine with a GPU. The arguments are
# test binaries of these packages, as make test-cuda builds them. It prints a line for each test and tool, and the output of those
# that fail or take longer than 90 s.
kernels=$1 binning=$2 quals=$3
shift 3
[ $# -gt 0 ] || set -- memcheck racecheck initcheck
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
export logs

one() { # TOOL BINARY TEST
  local log=$logs/$1.$3 begin=$SECONDS
  ORCOMGO_SANITIZER=$1 timeout 90 compute-sanitizer --tool "$1" --error-exitcode 9 "$2" -test.run "^$3\$" >"$log" 2>&1
  local status=$?
  [ $status = 0 ] && ! grep -q -- "^--- PASS\|^PASS" "$log" && status="no test"
  echo "$1 $3: status $status, $((SECONDS - begin)) s, $(grep -h 'SUMMARY' "$log" | cut -c11-)"
  [ "$status" = 0 ] || { tail -n 30 "$log" | cut -c1-200; touch "$logs/failed"; }
}
export -f one

for tool; do
  echo "$tool $binning TestCUDABoth"
  echo "$tool $quals TestDevice"
  for test in TestInflate TestInflateDamaged TestTransformSmall TestCoded TestTransformLarge TestTransformSideBySide TestInflateLanes \
    TestCodedRandom TestBin TestLanes TestOdd TestColumnsLeftOut TestMap TestTextBuffer TestCodedLeftOut TestTextSums \
    TestInflateOutside TestCopies TestScans TestSortsKmers; do
    echo "$tool $kernels $test"
  done
done | xargs -P "${JOBS:-16}" -L 1 bash -c 'one "$@"' one
! [ -e "$logs/failed" ]
