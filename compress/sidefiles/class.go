package sidefiles

import (
	"bytes"
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
	minAlone   = 2 << 10  // bytes of a file that may be coded by itself
	// A file of less than maxTrial bytes is coded by itself only if it is smaller by this share than by the general method, since text and
	// binary data share what they have in common with other files.
	maxTrial    = 32 << 10
	shareOfText = 0.9
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
func classify(sample []byte) class {
	for _, m := range magics {
		if strings.HasPrefix(string(sample[:min(len(sample), 16)]), m) && isDense(sample) {
			return classStored
		}
	}
	if len(sample) >= 4096 && entropy(sample) > maxEntropy && general.Share(sample, generalSample) > 0.97 {
		if _, share := doubles.Find(sample); share > 0.97 {
			return classStored
		}
	}
	together, apart := classText, classTable
	if !isText(sample) {
		together, apart = classBinary, classRecords
	}
	if len(sample) < minAlone || isZero(sample) {
		return together
	}
	if _, likely := tables.Kind(sample); apart == classTable && !likely || len(sample) < maxTrial && !isSmaller(sample, apart) {
		return together
	}
	return apart
}

// isSmaller reports whether a block takes so much less by the methods of a class that it is not coded with others.
func isSmaller(block []byte, c class) bool {
	m, coded := codeBlock(block, c, nil)
	return m != methodGeneral && float64(len(coded)) < shareOfText*float64(len(general.Encode(block)))
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
