package binning

import "orcomgo/bins/record"

// reading says how text of a format is read.
type reading struct {
	// fourLines is set where a record has four lines unless it is wrapped: such text is cut and
	// parsed by lines alone. All other text is turned into four lines a record by a walker.
	fourLines bool
	// walk parses the lines after the name, which ends at nameEnd, of a record. It is nil of BAM, which has no lines.
	walk func(w *walker, nameEnd int) *mismatch
}

// readings has a row for each of the formats of package record.
var readings = [record.Kinds]reading{
	record.FASTQ: {fourLines: true, walk: (*walker).fastq},
	record.FASTA: {walk: (*walker).fasta},
	record.BAM:   {},
}
