package record

import (
	"encoding/binary"
	"math"
	"strings"
	"time"

	"orcomgo/bins/parse"
	"orcomgo/digest"
)

// Source is what is recorded of the file that an input was read from.
type Source struct {
	Name string // its name, without directories; "" of standard input and pipes
	Size uint64 // in bytes, as it is stored
	// Time is when the file was last written to, in UTC; zero if that is not known.
	Time time.Time
	// Plain says that the bytes of the file are the text: it is not compressed.
	Plain bool
	// Sums are the checksums of the file; nil if bin did not compute them.
	Sums *digest.Sums
	// TextMD5 says that the MD5 of the text is wanted beside its SHA-256. Only if the input comes back byte for byte.
	TextMD5 bool
	// Gzip is what Restore of package gzexact makes the file of, with its text; empty if the file does not come back. Only if the input
	// comes back byte for byte, and Sums are there. In bins, which have the file itself, it is GzipKept or GzipNeeded.
	Gzip []byte
	// Sample is the name of the sample that the input belongs to, in an archive of several; else "".
	Sample string
}

// Bits of the first byte of a source in a file.
const (
	sourceRecorded = 1 << iota
	sourceTime
	sourceSums
	sourcePlain
	sourceTextMD5
	sourceSample
	sourceGzip
	sourceAll = 1<<iota - 1
)

// AppendSource appends a source as docs/FORMAT.md, section Source, says; s may be nil.
func AppendSource(dst []byte, s *Source) []byte {
	if s == nil {
		return append(dst, 0)
	}
	dst = append(dst, parse.Flags(true, !s.Time.IsZero(), s.Sums != nil, s.Plain, s.TextMD5, s.Sample != "", len(s.Gzip) > 0))
	dst = parse.AppendBlock(dst, s.Name)
	dst = binary.AppendUvarint(dst, s.Size)
	if !s.Time.IsZero() {
		dst = binary.LittleEndian.AppendUint64(dst, uint64(s.Time.UnixNano()))
	}
	if s.Sums != nil {
		dst = append(dst, s.Sums.SHA256[:]...)
		dst = append(dst, s.Sums.MD5[:]...)
	}
	if s.Sample != "" {
		dst = parse.AppendBlock(dst, s.Sample)
	}
	if len(s.Gzip) > 0 {
		dst = parse.AppendBlock(dst, string(s.Gzip))
	}
	return dst
}

// What Source.Gzip is in bins: the file comes back if what makes it of its text is found, or there is to be no archive without that.
var GzipKept, GzipNeeded = []byte{0}, []byte{1}

// MaxGzip is how many bytes Source.Gzip has at most.
const MaxGzip = 4 << 20

// ParseSource parses what AppendSource wrote; nil means that nothing is recorded.
func ParseSource(c *parse.Cursor) *Source {
	flags := c.ByteAtMost(sourceAll)
	if flags == 0 {
		return nil
	}
	s := &Source{Name: c.Text(), Size: c.AtMost(math.MaxInt64), Plain: flags&sourcePlain != 0, TextMD5: flags&sourceTextMD5 != 0}
	if flags&sourceRecorded == 0 || s.Name != "" && !isFileName(s.Name) {
		c.Fail("the file of an input is not described as it should be")
	}
	if flags&sourceTime != 0 {
		s.Time = time.Unix(0, int64(c.Uint64())).UTC()
	}
	if flags&sourceSums != 0 {
		s.Sums = new(digest.Sums)
		c.Copy(s.Sums.SHA256[:])
		c.Copy(s.Sums.MD5[:])
	}
	if flags&sourceSample != 0 {
		if s.Sample = c.Text(); !isFileName(s.Sample) {
			c.Fail("the sample of an input does not have a name as it should")
		}
	}
	if flags&sourceGzip != 0 {
		if s.Gzip = []byte(c.Text()); len(s.Gzip) == 0 || len(s.Gzip) > MaxGzip || s.Sums == nil || s.Plain {
			c.Fail("the file of an input can't be gzip as it says")
		}
	}
	return s
}

// Recordable reports whether a time can be recorded: those from 1678 to 2262 can.
func Recordable(t time.Time) bool { return time.Unix(0, t.UnixNano()).Equal(t) && !t.IsZero() }

// isFileName reports whether a name is that of a file, and not a path.
func isFileName(name string) bool {
	return name != "" && name != "." && name != ".." && len(name) <= MaxFileName && !strings.ContainsAny(name, "/\x00")
}
