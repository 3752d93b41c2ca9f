package workers

import (
	"cmp"
)

// DefaultMemory is used where Memory is 0.
const DefaultMemory = 1 << 30

// InMemory returns how many slices, the largest of which has so many bytes of text and of exceptions, memory has room for. A
// slice takes about three times its text on the way.
func InMemory(memory, text uint64) uint64 {
	n := cmp.Or(memory, DefaultMemory) / 4 / max(text, 1<<20) // three quarters of it, for three times the text
	return max(n, 1)
}

// InFlight returns how many such slices may be in work at once.
func InFlight(threads int, memory, text uint64) int {
	return AtMostThreads(InMemory(memory, text), threads)
}

// AtMostThreads returns n, or as many slices as keep the threads busy if these are fewer.
func AtMostThreads(n uint64, threads int) int { return int(min(n, uint64(max(threads, 1)+1))) }
