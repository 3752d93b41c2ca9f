package record

import (
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

// What Source.Gzip is in bins: the file comes back if what makes it of its text is found, or there is to be no archive without that.
var GzipKept, GzipNeeded = []byte{0}, []byte{1}

// MaxGzip is how many bytes Source.Gzip has at most.
const MaxGzip = 4 << 20

// CodeSource codes a source as docs/FORMAT.md, section Source, says; nil means that nothing is recorded.
func CodeSource(f *parse.Fields, source **Source) {
	var s Source
	recorded := *source != nil
	if recorded {
		s = **source
	}
	hasTime, hasSums, hasSample, hasGzip := !s.Time.IsZero(), s.Sums != nil, s.Sample != "", len(s.Gzip) > 0
	f.Flags(&recorded, &hasTime, &hasSums, &s.Plain, &s.TextMD5, &hasSample, &hasGzip)
	if !recorded {
		if hasTime || hasSums || s.Plain || s.TextMD5 || hasSample || hasGzip {
			f.Fail("the file of an input is not described as it should be")
		}
		return
	}
	f.Text(&s.Name)
	if parse.Number(f, &s.Size, math.MaxInt64); s.Name != "" && !isFileName(s.Name) {
		f.Fail("the file of an input is not described as it should be")
	}
	if hasTime {
		nanoseconds := uint64(s.Time.UnixNano())
		f.Uint64(&nanoseconds)
		s.Time = time.Unix(0, int64(nanoseconds)).UTC()
	}
	if hasSums {
		if f.In != nil {
			s.Sums = new(digest.Sums)
		}
		f.Bytes(s.Sums.SHA256[:])
		f.Bytes(s.Sums.MD5[:])
	}
	if hasSample {
		if f.Text(&s.Sample); !isFileName(s.Sample) {
			f.Fail("the sample of an input does not have a name as it should")
		}
	}
	if hasGzip {
		gzip := string(s.Gzip)
		f.Text(&gzip)
		if s.Gzip = []byte(gzip); len(gzip) == 0 || len(gzip) > MaxGzip || !hasSums || s.Plain {
			f.Fail("the file of an input can't be gzip as it says")
		}
	}
	if f.In != nil {
		*source = &s
	}
}

// Recordable reports whether a time can be recorded: those from 1678 to 2262 can.
func Recordable(t time.Time) bool { return time.Unix(0, t.UnixNano()).Equal(t) && !t.IsZero() }

// isFileName reports whether a name is that of a file, and not a path.
func isFileName(name string) bool {
	return name != "" && name != "." && name != ".." && len(name) <= MaxFileName && !strings.ContainsAny(name, "/\x00")
}
