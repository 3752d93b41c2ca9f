package sidefiles

import (
	"bytes"
	"math"
	"path"
	"strings"

	"orcomgo/compress/blocksort"
	"orcomgo/compress/doubles"
	"orcomgo/compress/records"
	"orcomgo/compress/tables"
)

// class is what kind of content a file has. Files of a class are next to each other in a stream.
type class byte

const (
	classText   class = iota // coded together
	classBinary              // coded together
	classTable
	classRecord
	classArray64 // of floats of 8 bytes
	classArray32
	classStored
)

// alone reports whether each file of the class begins a block.
func (c class) alone() bool { return c != classText && c != classBinary && c != classStored }

const (
	sampleSize = 256 << 10 // bytes of a file that say what it is
	minAlone   = 2 << 10   // bytes of a file that may be coded by itself
	// A table of less than maxTrial bytes, or an array, is coded by itself only if it is smaller by this share than otherwise, since
	// text and binary data share what they have in common with other files.
	maxTrial    = 32 << 10
	shareOfText = 0.9
	// Binary data is tried as records if the estimate of these, which is often too high, is at most this share of the sample as text.
	shareOfBinary = 1.15
	// From this entropy of its bytes on, in bits, a sample counts as compressed.
	maxEntropy = 7.9
)

// magics begin files that are compressed.
var magics = []string{
	"\x1f\x8b\x08", "\x89PNG\r\n", "\xff\xd8\xff", "PK\x03\x04", "BZh", "\xfd7zXZ\x00", "\x28\xb5\x2f\xfd", "7z\xbc\xaf\x27\x1c", "GIF8",
	"\x89HDF\r\n\x1a\nz", "CRAM", "OggS", "\x04\x22\x4d\x18",
}

// classify says of what class a file is that begins with sample. Samples are shorter than sampleSize only if they are whole files.
// Small tables of which there are several are classified together instead (alikes).
// If a file of less than maxTrial bytes was coded as a block of its class for that, this is the block, else nil.
func classify(sample []byte) (class, *coded) {
	if len(sample) == 0 {
		return classText, nil
	}
	if l, ok := doubles.Npy(sample); ok && len(sample) >= minAlone {
		if l.Width == 4 {
			return classArray32, nil
		}
		return classArray64, nil
	}
	for _, m := range magics {
		if strings.HasPrefix(string(sample[:min(len(sample), 16)]), m) && isDense(sample) {
			return classStored, nil
		}
	}
	if isText(sample) {
		if _, likely := tables.Kind(sample); len(sample) < minAlone || !likely {
			return classText, nil
		}
		if len(sample) >= maxTrial {
			return classTable, nil
		}
		if table := asTable(sample); table != nil {
			return classTable, newCoded(sample, methodTables, table)
		}
		return classText, nil
	}
	if len(sample) < minAlone || isZero(sample) {
		return classBinary, nil
	}
	c, array := smallerArray(sample)
	if len(array) > len(sample)*97/100 && len(sample) >= 4096 && entropy(sample) > maxEntropy {
		return classStored, nil
	}
	text := blocksort.Encode(sample)
	layout, ok := records.Find(sample, nil)
	record, most := layout.Bits/8*float64(len(sample)), float64(len(text))
	switch {
	case float64(len(array)) < shareOfText*most && (!ok || float64(len(array)) < shareOfText*record):
		return c, newCoded(sample, methodDoubles, array)
	case !ok || record >= shareOfBinary*most:
		return classBinary, nil
	case len(sample) >= maxTrial:
		return classRecord, nil
	}
	if code := layout.Encode(sample, nil); len(code) < len(text) {
		return classRecord, newCoded(sample, methodRecords, code)
	}
	return classRecord, newCoded(sample, methodBlocksort, text)
}

// smallerArray returns whether a sample is smaller as float64s or as float32s, and its code as such.
func smallerArray(sample []byte) (class, []byte) {
	wide := doubles.Encode(sample, doubles.Layout{Width: 8}, 1)
	if b := doubles.Encode(sample, doubles.Layout{Width: 4}, 1); len(b) < len(wide) {
		return classArray32, b
	}
	return classArray64, wide
}

// asTable returns a file coded as a table, if that is so much smaller that the file is not coded with other text, else nil.
func asTable(text []byte) []byte {
	limit := math.Ceil(shareOfText*float64(len(blocksort.Encode(text)))) - 1
	if coded, ok := tables.EncodeWithin(text, int(limit), nil); ok {
		return coded
	}
	return nil
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
