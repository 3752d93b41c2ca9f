package compress

import (
	"orcomgo/bins"
	"orcomgo/bins/record"
	"testing"
)

// TestSliceTexts: slices are small by default where that costs little: of many qualities of short reads that begin with primers.
func TestSliceTexts(t *testing.T) {
	many := bins.BlockInfo{Records: 1 << 20, Bases: smallFrom}
	fewer, long := many, many
	fewer.Bases--
	long.Records = int(long.Bases / minMeanLong)
	for i, c := range []struct {
		quality record.QualityMode
		block   bins.BlockInfo
		o       PackOptions
		twoBit  bool
		want    uint64
	}{
		{record.QualityKeep, many, PackOptions{}, false, smallSliceText},
		{record.QualityKeep, many, PackOptions{Memory: primedMemory}, false, smallSliceText},
		{record.QualityKeep, many, PackOptions{Memory: primedMemory - 1}, false, sliceText},
		{record.QualityKeep, many, PackOptions{SliceText: 5 << 20}, false, 5 << 20},
		{record.QualityKeep, many, PackOptions{Level: LevelMax}, false, sliceText},
		{record.QualityKeep, fewer, PackOptions{}, false, sliceText},
		{record.QualityKeep, long, PackOptions{}, false, sliceText},
		{record.QualityDrop, many, PackOptions{}, false, sliceText},
		{record.QualityDrop, many, PackOptions{}, true, sliceText / 4},
	} {
		m := &bins.Meta{Options: record.Options{Quality: c.quality}, Blocks: []bins.BlockInfo{c.block}}
		m.Inputs = []record.Input{{Records: uint64(c.block.Records), Mate: -1}}
		if got := sliceTexts(m, []bool{c.twoBit}, &c.o); got[0] != c.want {
			t.Errorf("case %d: slices of %d bytes of text, want %d", i, got[0], c.want)
		}
	}
}
