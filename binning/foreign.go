package binning

import (
	"bytes"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"

	"orcomgo/bins/bam"
)

// foreignFormats are files that people have reads in, and that have to be made FASTQ by another program first.
var foreignFormats = []struct {
	name string
	is   func(head []byte) bool
	make string // a command; %[1]s is the file
}{
	{"BAM", hasPrefix(bam.Magic), fromAlignments}, // not compressed
	{"CRAM", hasPrefix("CRAM"), fromAlignments},
	{"SAM", isSAM, fromAlignments},
	{"an SRA archive", hasPrefix("NCBI.sra"), "fasterq-dump %[1]s"},
	{"a zip archive", hasPrefix("PK\x03\x04"), "unzip %[1]s, or unzip -p %[1]s and a pipe into this command with the input -"},
}

// fromAlignments makes FASTQ of pairs; reads without mates go to others.fastq.
const fromAlignments = "samtools collate -u -O %[1]s | samtools fastq -1 R1.fastq -2 R2.fastq -0 others.fastq -s others.fastq -"

// orKeptAligned is fromAlignments, and a command that keeps how reads are aligned.
const orKeptAligned = fromAlignments + " (samtools view -C -o aligned.cram %[1]s keeps the alignments)"

func hasPrefix(magic string) func(head []byte) bool {
	return func(head []byte) bool { return bytes.HasPrefix(head, []byte(magic)) }
}

// isSAM reports whether a file begins with two lines of SAM, the first one of its header. The second line of FASTQ has no tabs.
func isSAM(head []byte) bool {
	for _, first := range []string{"@HD\tVN:", "@SQ\tSN:", "@RG\tID:", "@PG\tID:"} {
		if bytes.HasPrefix(head, []byte(first)) {
			_, rest, _ := bytes.Cut(head, []byte{'\n'})
			second, _, _ := bytes.Cut(rest, []byte{'\n'})
			return bytes.IndexByte(second, '\t') >= 0
		}
	}
	return false
}

// refuseForeign returns an error that says how to make FASTQ of a file that is something else, by its first bytes, or nil.
// Of gzip it looks at the text: BAM is in members of gzip. That is not refused, but isBAM is true.
func refuseForeign(path string, head []byte) (isBAM bool, err error) {
	if bytes.HasPrefix(head, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(bytes.NewReader(head))
		if err != nil {
			return false, nil
		}
		text := make([]byte, 4<<10)
		n, _ := io.ReadFull(z, text)
		head = text[:n]
		if bytes.HasPrefix(head, []byte(bam.Magic)) {
			return true, nil
		}
	}
	for _, f := range foreignFormats {
		if f.is(head) {
			return false, foreignError(path, f.name, f.make)
		}
	}
	return false, nil
}

// foreignError returns the error of a file that is something else, of which a command makes FASTQ.
func foreignError(path, what, command string) error {
	return fmt.Errorf("%[1]s: is %[2]s, expected FASTQ or FASTA, which this makes: %[3]s", path, what, fmt.Sprintf(command, path))
}
