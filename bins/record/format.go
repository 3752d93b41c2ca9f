package record

// Kind is the text format of an input.
type Kind uint8

// The text formats that can be archived.
const (
	FASTQ Kind = iota
	FASTA
	BAM   // inflated, of unaligned reads
	Kinds // how many there are
)

// Format is what differs between the text formats of records. Each is a row of formats and has
// a file of its own. Package binning has a row for reading it.
type Format struct {
	Name  string   // as users call it
	Mark  byte     // the first byte of a record, before its name; no two formats have the same; 0 if it is no text
	Quals bool     // a record has a quality for each base
	Exts  []string // how names of such files end; standard input is restored with the first; nil if it is no text

	// appendRecord appends the text of a record, and reports whether the lines of its form add up.
	appendRecord func(dst, name, seq, qual []byte, l *Form) ([]byte, bool)
}

var formats = [Kinds]*Format{FASTQ: &fastq, FASTA: &fasta, BAM: &bamFormat}

// Format returns what is particular to the text format. k must be less than Kinds.
func (k Kind) Format() *Format { return formats[k] }

// KindOf returns the text format whose records begin with a byte. ok is false if there is none.
func KindOf(mark byte) (k Kind, ok bool) {
	for k, f := range formats {
		if f.Mark == mark && mark != 0 {
			return Kind(k), true
		}
	}
	return 0, false
}

// TextExts returns how names of files that hold records end, those of all formats.
func TextExts() []string {
	var exts []string
	for _, f := range formats {
		exts = append(exts, f.Exts...)
	}
	return exts
}
