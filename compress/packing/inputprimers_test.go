package packing

import (
	"orcomgo/compress/columns"
	"testing"

	"orcomgo/bins"
	"orcomgo/bins/record"
	"orcomgo/compress/slicing"
	"orcomgo/compress/source"
)

// TestSliceTexts: slices are small by default where that costs little: of many qualities of short reads that begin with primers.
func TestSliceTexts(t *testing.T) {
	many := bins.BlockInfo{Records: 1 << 20, Bases: slicing.Usual.SmallFrom}
	fewer, long := many, many
	fewer.Bases--
	long.Records = int(long.Bases / columns.MinMeanLong)
	for i, c := range []struct {
		quality record.QualityMode
		block   bins.BlockInfo
		o       Options
		twoBit  bool
		want    uint64
	}{
		{record.QualityKeep, many, Options{}, false, slicing.Usual.SmallText},
		{record.QualityKeep, many, Options{Memory: slicing.PrimedMemory}, false, slicing.Usual.SmallText},
		{record.QualityKeep, many, Options{Memory: slicing.PrimedMemory - 1}, false, slicing.Usual.Text},
		{record.QualityKeep, many, Options{SliceText: 5 << 20}, false, 5 << 20},
		{record.QualityKeep, fewer, Options{}, false, slicing.Usual.Text},
		{record.QualityKeep, long, Options{}, false, slicing.Usual.LongText},
		{record.QualityDrop, many, Options{}, false, slicing.Usual.Text},
		{record.QualityDrop, many, Options{}, true, slicing.Usual.Text / 4},
	} {
		man := source.ManifestOf(&bins.Meta{Options: record.Options{Quality: c.quality}, Blocks: []bins.BlockInfo{c.block},
			Inputs: []record.Input{{Records: uint64(c.block.Records), Mate: -1}}}, "")
		man.Inputs[0].TwoBit = c.twoBit
		if got := sliceTexts(man, &c.o); got[0] != c.want {
			t.Errorf("case %d: slices of %d bytes of text, want %d", i, got[0], c.want)
		}
	}
}
