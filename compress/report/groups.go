package report

import "math/bits"

// Counts by cycle and by length are kept in groups: each number below exactGroups is a group of its own, and from there on each octave
// (from 2^k to 2^(k+1)-1) has octaveGroups groups of equal size. So a group is at most 1/64 of the numbers in it wide.
const (
	exactBits    = 9
	exactGroups  = 1 << exactBits
	octaveBits   = 6
	octaveGroups = 1 << octaveBits
)

// groupOf returns the group of n.
func groupOf(n int) int {
	if n < exactGroups {
		return n
	}
	octave := bits.Len(uint(n)) - 1
	return exactGroups + (octave-exactBits)<<octaveBits + n>>(octave-octaveBits) - octaveGroups
}

// groupRange returns the least and the greatest number of a group.
func groupRange(group int) (from, to int) {
	if group < exactGroups {
		return group, group
	}
	octave := exactBits + (group-exactGroups)>>octaveBits
	shift := octave - octaveBits
	from = (group-exactGroups)&(octaveGroups-1) | octaveGroups
	return from << shift, (from+1)<<shift - 1
}
