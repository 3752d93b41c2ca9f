package main

import (
	"orcomgo/binning"
	"orcomgo/compress"
)

// sliceText is about how many bytes of text are coded by one thread.
const sliceText = 64 << 20

// stageModel is what is known of a stage before it begins.
type stageModel struct {
	name string // as it is reported
	unit unit
	// group: the stages of a group run side by side, those of a higher one after them.
	group int
	// weight is about which share of the time of archive the stage takes, in percent; where stages run side by side, of the time
	// that one adds. Measured on two threads: 11.7 million simulated reads of 100 bases, lossless.
	weight float64
	// alone is the weight where the archive has one slice, so that nothing runs beside the stage; 0 for weight. With more slices it is
	// in between.
	alone float64
}

// weightOf returns the weight of the stage for so much text; 0 if that is not known.
func (m *stageModel) weightOf(text uint64) float64 {
	if m.alone == 0 || text == 0 {
		return m.weight
	}
	return m.weight + (m.alone-m.weight)*min(sliceText/float64(text), 1)
}

var (
	binModel = stageModel{name: binning.Stage, unit: bytesUnit, group: 0, weight: 3}
	// The layout of reads, then the coding of slices, beside which they are verified.
	packModel = []stageModel{
		{name: "joining contigs", unit: readsUnit, group: 1, weight: 4},
		{name: "placing reads", unit: readsUnit, group: 2, weight: 4},
		{name: "placing reads again", unit: readsUnit, group: 3, weight: 2},
		{name: "placing the rest", unit: readsUnit, group: 4, weight: 1},
		{name: "joining long reads", unit: basesUnit, group: 5, weight: 1},
		{name: "voting on long reads", unit: basesUnit, group: 6, weight: 1},
		{name: "finding versions", unit: basesUnit, group: 7, weight: 1},
		{name: "coding the pseudogenome", unit: basesUnit, group: 8, weight: 3},
		{name: "pack", unit: bytesUnit, group: 8, weight: 58},
	}
	verifyModel = stageModel{name: "verify", unit: bytesUnit, group: 8, weight: 22, alone: 58}
	namesModel  = stageModel{name: compress.NamesStage, unit: readsUnit, group: 0, weight: 5}
	unpackModel = stageModel{name: "unpack", unit: bytesUnit, group: 1, weight: 95}
	indexModel  = []stageModel{{name: compress.IndexReadStage, unit: bytesUnit, group: 0, weight: 70},
		{name: compress.IndexBuildStage, unit: basesUnit, group: 1, weight: 30}}
	findModel = stageModel{name: compress.FindStage, unit: bytesUnit, group: 0, weight: 1}
)

// packStages returns the stages of pack, or of archive with binModel first.
func packStages(noVerify bool, first ...stageModel) []stageModel {
	list := append(first, packModel...)
	if !noVerify {
		list = append(list, verifyModel)
	}
	return list
}
