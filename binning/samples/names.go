// Package samples finds the samples of a sequencing run: by the names of the files in a directory, or by a sheet.
//
// A sample is what one archive is made of. Its files are of one or more lanes, and have names by one of these rules, in
// which the extension (.fastq.gz and others) is left out:
//
//	NAME_S1_L001_R1_001   Illumina: sample, its number on the sheet, lane, mate (or index, as I1), part
//	NAME_R1, NAME.R1      mate; after a lane or before a part, if there are any; -R1 as well
//	NAME_1, NAME.1        ENA and SRA: mate, where there is a NAME_2 in the same directory
//	NAME                  no mates
//
// After a mate there may be _val_1 or _val_2, as Trim Galore adds.
package samples

import (
	"cmp"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"orcomgo/binning"
	"orcomgo/bins/record"
)

// Role is what a file of a sample has.
type Role int

// The roles of files.
const (
	Single Role = iota // reads without mates
	First              // first mates
	Second             // second mates
	Third              // R3, R4: further reads of the same records
	Index              // I1, I2: sequences of the index
)

// Name is what the name of a file of reads says.
type Name struct {
	Sample string
	Role   Role
	Number int // of the read or the index: 2 of R2 and of I2; 0 for Single
	// Library is the sample's number on Illumina's sheet, Lane that of the lane, Part that of the file where one lane has
	// several; 0 where the name has none.
	Library, Lane, Part int
	// Digit says that the mate is a number alone, as in NAME_1. It counts as one only if the other mate is there.
	Digit bool
}

var (
	// lettered is the name of a file with R1, R2, I1 or the like.
	lettered = regexp.MustCompile(`^(.+?)(?:_S(\d+))?(?:_L(\d{3}))?[._-]([RrIi])([1-4])(?:_(\d{3}))?(?:_val_[12])?$`)
	// numbered is the name of a file with 1 or 2 alone.
	numbered = regexp.MustCompile(`^(.+?)[._]([12])(?:_val_[12])?$`)
)

// Parse returns what the name of a file says, and whether it is one of reads: of FASTQ or FASTA, compressed or not.
func Parse(name string) (n Name, ok bool) {
	stem, ok := Stem(name)
	if !ok {
		return Name{}, false
	}
	if m := lettered.FindStringSubmatch(stem); m != nil {
		n = Name{Sample: m[1], Number: number(m[5]), Library: number(m[2]), Lane: number(m[3]), Part: number(m[6])}
		switch {
		case strings.EqualFold(m[4], "i"):
			n.Role = Index
		default:
			n.Role = [...]Role{First, Second, Third, Third}[n.Number-1]
		}
		return n, true
	}
	if m := numbered.FindStringSubmatch(stem); m != nil {
		return Name{Sample: m[1], Role: [...]Role{First, Second}[number(m[2])-1], Number: number(m[2]), Digit: true}, true
	}
	return Name{Sample: stem}, true
}

// number returns the number in a text, 0 for none.
func number(text string) int {
	n, _ := strconv.Atoi(text) // digits, and few of them
	return n
}

// Stem returns the name of a file of reads without its extensions, and whether it is one.
func Stem(name string) (stem string, ok bool) {
	base := name
	if ext := filepath.Ext(base); slices.Contains(binning.CompressedExts, strings.ToLower(ext)) {
		base = strings.TrimSuffix(base, ext)
	}
	lower := strings.ToLower(base)
	if len(lower) != len(base) { // it is not UTF-8, or has letters whose small ones have other lengths
		lower = base
	}
	_, ext := record.CutTextExt(lower)
	return base[:len(base)-len(ext)], ext != ""
}

// compare orders the files of a sample: by library, lane and part, then mates before indexes.
func (n Name) compare(o Name) int {
	return cmp.Or(cmp.Compare(n.Library, o.Library), cmp.Compare(n.Lane, o.Lane), cmp.Compare(n.Part, o.Part),
		cmp.Compare(n.Role, o.Role), cmp.Compare(n.Number, o.Number))
}
