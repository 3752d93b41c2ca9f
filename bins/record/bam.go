package record

import (
	"unsafe"

	"orcomgo/bins/bam"
)

// The text of x.bam has the name x.fastq, by which it comes back where it is not asked for as BAM.
var bamFormat = Format{Name: "BAM", Quals: true, appendRecord: appendBAM}

const bamExt = ".bam"

func appendBAM(dst, name, seq, qual []byte, l *Form) ([]byte, bool) {
	if l.Plus != BAMFields {
		return dst, false
	}
	fields := unsafe.Slice(unsafe.StringData(l.PlusText), len(l.PlusText)) // which is only read: a copy of each record's would be slow
	return bam.AppendRecord(dst, name, seq, qual, fields)
}
