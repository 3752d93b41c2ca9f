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

// leastText is how much text a slice counts at least, as it has models, too.
const leastText = 1 << 20

// InMemory returns how many slices memory has room for. texts are the bytes of text and of exceptions of slices in their order, of which
// those in work follow each other.
func InMemory(memory uint64, texts []uint64) int {
	return max(Consecutive(texts, ForText(cmp.Or(memory, DefaultMemory))), 1)
}

// Consecutive returns how many slices, whichever follow each other, have so many bytes of text together at most. It may be
// more than there are.
func Consecutive(texts []uint64, most uint64) int {
	n, from, sum := int(most/leastText), 0, uint64(0)
	for i, text := range texts {
		sum += max(text, leastText)
		for ; sum > most; from++ {
			sum -= max(texts[from], leastText)
			n = min(n, i-from)
		}
	}
	return n
}

// InFlight returns how many such slices may be in work at once.
func InFlight(threads int, memory uint64, texts []uint64) int {
	return AtMostThreads(InMemory(memory, texts), threads)
}

// AtMostThreads returns n, or as many slices as keep the threads busy if these are fewer.
func AtMostThreads(n, threads int) int { return min(n, max(threads, 1)+1) }
