package compress

import (
	"cmp"
)

// defaultMemory is used where Memory is 0.
const defaultMemory = 1 << 30

// inMemory returns how many slices, the largest of which has so many bytes of text and of exceptions, memory has room for. A
// slice takes about three times its text on the way.
func inMemory(memory, text uint64) uint64 {
	n := cmp.Or(memory, defaultMemory) / 4 / max(text, 1<<20) // three quarters of it, for three times the text
	return max(n, 1)
}

// inFlight returns how many such slices may be in work at once.
func inFlight(threads int, memory, text uint64) int {
	return atMostThreads(inMemory(memory, text), threads)
}

// atMostThreads returns n, or as many slices as keep the threads busy if these are fewer.
func atMostThreads(n uint64, threads int) int { return int(min(n, uint64(max(threads, 1)+1))) }
