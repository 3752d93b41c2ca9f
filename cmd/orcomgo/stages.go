package main

import (
	"orcomgo/binning"
	"orcomgo/compress"
)

// stageModel is what is known of a stage before it begins.
type stageModel struct {
	name string // as it is reported
	unit unit
	// group: the stages of a group run side by side, those of a higher one after them.
	group int
	// weight is about which share of the time of archive the stage takes, in percent; where stages run side by side, of the time
	// that one adds. Measured on two threads: 150,000 human reads of 101 bases, and 400,000 of yeast of 50.
	weight float64
}

var (
	binModel = stageModel{binning.Stage, bytesUnit, 0, 3}
	// The layout of reads, then the coding of slices, beside which they are verified.
	packModel = []stageModel{
		{"joining contigs", readsUnit, 1, 22},
		{"placing reads", readsUnit, 2, 5},
		{"placing reads again", readsUnit, 3, 5},
		{"placing the rest", readsUnit, 4, 4},
		{"joining long reads", basesUnit, 5, 2},
		{"voting on long reads", basesUnit, 6, 2},
		{"finding versions", basesUnit, 7, 1},
		{"coding the pseudogenome", basesUnit, 8, 5},
		{"pack", bytesUnit, 8, 44},
	}
	verifyModel = stageModel{"verify", bytesUnit, 8, 12}
	namesModel  = stageModel{compress.NamesStage, readsUnit, 0, 5}
	unpackModel = stageModel{"unpack", bytesUnit, 1, 95}
	indexModel  = []stageModel{{compress.IndexReadStage, bytesUnit, 0, 70}, {compress.IndexBuildStage, basesUnit, 1, 30}}
	findModel   = stageModel{compress.FindStage, bytesUnit, 0, 1}
)

// unpackStages returns the stages of unpack.
func unpackStages(byName bool) []stageModel {
	if byName {
		return []stageModel{namesModel, unpackModel}
	}
	return []stageModel{unpackModel}
}

// packStages returns the stages of pack, or of archive with binModel first.
func packStages(noVerify bool, first ...stageModel) []stageModel {
	list := append(first, packModel...)
	if !noVerify {
		list = append(list, verifyModel)
	}
	return list
}
