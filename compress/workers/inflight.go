package workers

import (
	"cmp"
)

// DefaultMemory is used where Memory is 0.
const DefaultMemory = 1 << 30

// Beside is about how much memory the program and the models of bases and names take beside slices.
const Beside = 72 << 20

// ForText returns how much text, with its exceptions, the slices in work may have together. A slice takes about three times that on the
// way; a quarter is for garbage.
func ForText(memory uint64) uint64 { return (memory - min(memory, Beside)) / 4 }

// InMemory returns how many slices, the largest of which has so many bytes of text and of exceptions, memory has room for.
func InMemory(memory, text uint64) uint64 {
	return max(ForText(cmp.Or(memory, DefaultMemory))/max(text, 1<<20), 1)
}

// InFlight returns how many such slices may be in work at once.
func InFlight(threads int, memory, text uint64) int {
	return AtMostThreads(InMemory(memory, text), threads)
}

// AtMostThreads returns n, or as many slices as keep the threads busy if these are fewer.
func AtMostThreads(n uint64, threads int) int { return int(min(n, uint64(max(threads, 1)+1))) }
