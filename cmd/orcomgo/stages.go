package main

import (
	"path/filepath"
	"slices"

	"orcomgo/binning"
	"orcomgo/compress"
)

// stageModel is what is known of a stage before it begins.
type stageModel struct {
	name string // as it is reported
	unit unit
	// group: the stages of a group run side by side, those of a higher one after them.
	group int
	last  int // if higher than group: the stage runs beside those of all groups up to this one
	// How long the stage takes is the sum of these, about, in nanoseconds of one thread; of other stages the proportions count. Measured
	// with simulated reads: short ones of 4 and 41 qualities, pairs, nanopore and HiFi.
	perUnit     float64                    // for each unit of its total
	short, long float64                    // for each base that is packed, of short reads or of long ones
	coded       float64                    // for each byte of names and qualities in the bins that are packed
	gzip        float64                    // for each byte of the .gz that can be made again
	costs       func() (done, all float64) // if not nil, what of that is done and all of it
}

// longReads is from which mean length on reads count as long ones.
const longReads = 1000

// packSize is what packing takes time for: see compress.PackOptions.
type packSize struct{ reads, bases, coded, gzip uint64 }

// guessed returns about what inputs hold, as much as is usual in FASTQ, for progress.sized.
func (o *binFlags) guessed(inputs []binning.InputSpec) (reads, bases, coded, gzip uint64) {
	if o.keepsGzip() {
		gzip = storedAs(inputs, binning.GzipExts)
	}
	text := binning.StoredSize(inputs) + 3*storedAs(inputs, binning.CompressedExts)
	return text / 250, text * 2 / 5, text / 7, gzip
}

// storedAs returns how many bytes those of inputs have whose extensions are among exts.
func storedAs(inputs []binning.InputSpec, exts []string) (n uint64) {
	for i, in := range inputs {
		if slices.Contains(exts, filepath.Ext(in.Path)) {
			n += binning.StoredSize(inputs[i : i+1])
		}
	}
	return n
}

// cost returns how long the stage takes, of so many units.
func (m *stageModel) cost(total uint64, size packSize) float64 {
	perBase, gzip := m.short, size.gzip
	if size.bases >= longReads*size.reads {
		perBase = m.long
	}
	if perBase == 0 { // it has nothing to do with such reads
		size = packSize{}
	}
	return m.perUnit*float64(total) + perBase*float64(size.bases) + m.coded*float64(size.coded) + m.gzip*float64(gzip)
}

var (
	binModel = stageModel{name: binning.Stage, unit: bytesUnit, group: 0, perUnit: 6}
	// How .gz are made again, the layout of reads, then the coding of slices, beside which they are verified.
	packModel = []stageModel{
		{name: compress.GzipStage, unit: bytesUnit, group: 1, gzip: 150},
		{name: "joining contigs", unit: readsUnit, group: 2, short: 20},
		{name: "placing reads", unit: readsUnit, group: 3, short: 13},
		{name: "placing reads again", unit: readsUnit, group: 4, short: 6},
		{name: "placing the rest", unit: readsUnit, group: 5},
		{name: "joining long reads", unit: basesUnit, group: 6, long: 50},
		{name: "voting on long reads", unit: basesUnit, group: 7, long: 5, coded: 160},
		{name: "finding versions", unit: basesUnit, group: 8},
		{name: "coding the pseudogenome", unit: basesUnit, group: 9, perUnit: 130},
		// Names and qualities are coded while reads are laid out.
		{name: "pack", unit: bytesUnit, group: 2, last: 9, short: 10, long: 40, coded: 140},
	}
	verifyModel = stageModel{name: "verify", unit: bytesUnit, group: 9, short: 10, long: 25, coded: 110, gzip: 150}
	namesModel  = stageModel{name: compress.NamesStage, unit: readsUnit, group: 0, perUnit: 600}
	unpackModel = stageModel{name: "unpack", unit: bytesUnit, group: 1, perUnit: 55}
	indexModel  = []stageModel{{name: compress.IndexReadStage, unit: bytesUnit, group: 0, perUnit: 70},
		{name: compress.IndexBuildStage, unit: basesUnit, group: 1, perUnit: 30}}
	findModel = stageModel{name: compress.FindStage, unit: bytesUnit, group: 0, perUnit: 1}
)

// packStages returns the stages of pack, or of archive with binModel first.
func packStages(noVerify bool, first ...stageModel) []stageModel {
	list := append(first, packModel...)
	if !noVerify {
		list = append(list, verifyModel)
	}
	return list
}
