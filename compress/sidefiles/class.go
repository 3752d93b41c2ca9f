package sidefiles

import (
	"bytes"
	"cmp"
	"math"
	"path"
	"strings"

	"orcomgo/compress/doubles"
	"orcomgo/compress/general"
	"orcomgo/compress/tables"
)

// class is what kind of content a file has. Files of a class are next to each other in a stream.
type class byte

const (
	classText   class = iota // coded together
	classBinary              // coded together
	classTable
	classRecords // or arrays
	classStored
)

// alone reports whether each file of the class begins a block.
func (c class) alone() bool { return c == classTable || c == classRecords }

const (
	sampleSize = 64 << 10 // bytes of a file that say what it is
	leastAlike = 4        // files of a stem that follow each other
	minAlone   = 2 << 10  // bytes of a binary file that may be coded apart from others
	minTable   = 256      // bytes of a table that may be coded with others of its kind
	minTables  = 6 << 10  // bytes of the tables of a kind that are coded apart from other text
	// Binary files of less than maxTrial bytes share models with others, unless they take less by their own methods.
	maxTrial = 32 << 10
	// alikeBlock is how many bytes of tables of a kind, about, are in a block, all of which is decoded for one of them.
	alikeBlock = 2 << 20
	// From this entropy of its bytes on, in bits, a sample counts as compressed.
	maxEntropy = 7.9
)

// magics begin files that are compressed.
var magics = []string{
	"\x1f\x8b\x08", "\x89PNG\r\n", "\xff\xd8\xff", "PK\x03\x04", "BZh", "\xfd7zXZ\x00", "\x28\xb5\x2f\xfd", "7z\xbc\xaf\x27\x1c", "GIF8",
	"\x89HDF\r\n\x1a\nz", "CRAM", "OggS", "\x04\x22\x4d\x18",
}

// classify sets the class of a file that begins with sample, and what kind of tables it is. Samples are shorter than sampleSize only
// if they are whole files.
func (e *entry) classify(sample []byte) {
	text := isText(sample)
	if e.class = classBinary; text {
		e.class = classText
	}
	switch {
	case isCompressed(sample):
		e.class = classStored
	case len(sample) < minTable || isZero(sample):
	case text:
		if kind, ok := tables.Kind(sample); ok {
			e.class, e.alike = classTable, kindOf(e.name)+"\x00"+kind
		}
	case len(sample) < minAlone:
	case len(sample) >= maxTrial:
		e.class = classRecords
	default:
		if m, _ := codeBlock(sample, classRecords, nil); m != methodGeneral {
			e.class = classRecords
		}
	}
}

// joinSmallTables sets the class of tables of kinds of which there is little: they are coded with other text.
func joinSmallTables(entries []entry) {
	sizes := make(map[string]int64)
	for _, e := range entries {
		sizes[e.alike] += e.size
	}
	for i := range entries {
		least := int64(minTables)
		if !strings.Contains(entries[i].alike, "\x01") { // no column of numbers
			least = maxTrial
		}
		if e := &entries[i]; e.class == classTable && sizes[e.alike] < least {
			e.class, e.alike = classText, ""
		}
	}
}

// compareEntries is the order of the files in a stream: those whose names differ in digits only follow each other as they were given.
func compareEntries(a, b entry) int {
	return cmp.Or(cmp.Compare(a.class, b.class), strings.Compare(a.alike, b.alike), strings.Compare(kindOf(a.name), kindOf(b.name)),
		strings.Compare(a.stem, b.stem), strings.Compare(a.name, b.name))
}

// dropRareStems clears the stems that few files have: the order by them would take more than it gains.
func dropRareStems(entries []entry) {
	files := make(map[string]int)
	for _, e := range entries {
		files[e.stem]++
	}
	for i := range entries {
		if e := &entries[i]; files[e.stem] < leastAlike {
			e.stem = ""
		}
	}
}

// stem returns the last part of a path without its digits.
func stem(name string) string {
	return strings.Map(func(c rune) rune {
		if c >= '0' && c <= '9' {
			return -1
		}
		return c
	}, path.Base(name))
}

// isCompressed reports whether a file that begins with sample seems to be compressed.
func isCompressed(sample []byte) bool {
	for _, m := range magics {
		if strings.HasPrefix(string(sample[:min(len(sample), 16)]), m) && isDense(sample) {
			return true
		}
	}
	if len(sample) < 4096 || entropy(sample) <= maxEntropy {
		return false
	}
	s := general.Choose(sample)
	_, array := doubles.Find(sample, s.Stride)
	return min(array, s.Share(sample)) > 0.97
}

// isDense reports whether the bytes of a compressed file are as evenly distributed as they should be; some containers have parts
// that are not compressed.
func isDense(sample []byte) bool { return len(sample) < 512 || entropy(sample) > 7 }

// isText reports whether a sample has no zero byte and few other control characters.
func isText(sample []byte) bool {
	control := 0
	for _, b := range sample {
		if b == 0 {
			return false
		}
		if b < ' ' && b != '\n' && b != '\r' && b != '\t' || b == 127 {
			control++
		}
	}
	return control*100 <= len(sample) && bytes.Count(sample, []byte{0xff})*100 <= len(sample)
}

// isZero reports whether all bytes are 0.
func isZero(text []byte) bool { return len(bytes.TrimLeft(text, "\x00")) == 0 }

// entropy returns that of the bytes of a sample, in bits a byte.
func entropy(sample []byte) float64 {
	var counts [256]int
	for _, b := range sample {
		counts[b]++
	}
	sum := 0.0
	for _, n := range counts {
		if n > 0 {
			sum -= float64(float64(n) * math.Log2(float64(n)/float64(len(sample))))
		}
	}
	return sum / float64(len(sample))
}

// kindOf returns what files are grouped by within a class: the extension of the name.
func kindOf(name string) string { return strings.ToLower(path.Ext(name)) }
