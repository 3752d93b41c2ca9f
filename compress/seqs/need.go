package seqs

import "orcomgo/bins"

// LayoutMemory returns about how many bytes of memory laying out the reads of an archive at once takes: what they take
// themselves, and five bytes a base for the assembler, as where half of the reads are new. Reads that are hard to lay out take more, up to
// three quarters of Config.Memory.
func LayoutMemory(m *bins.Meta) uint64 {
	var reads, bases uint64
	for i := range m.Blocks {
		reads, bases = reads+uint64(m.Blocks[i].Records), bases+m.Blocks[i].Bases
	}
	return LayoutMemoryOf(reads, bases)
}

// LayoutMemoryOf is LayoutMemory for so many reads of so many bases together.
func LayoutMemoryOf(reads, bases uint64) uint64 {
	return reads*readBytes + bases*baseQuarterBytes/4 + 5*bases
}
