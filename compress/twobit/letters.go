package twobit

import (
	"slices"
	"sort"

	"orcomgo/bases"
	"orcomgo/bins/record"
)

// Slack is how many bytes of capacity more than the text AppendLines needs.
const Slack = bases.PerWord

// partBases is how many bases are unpacked before the runs among them are applied, about: few enough to be in the cache.
const partBases = 16 << 10

// AppendLetters appends the letters of bases from..to-1 to dst.
func (s *Sequence) AppendLetters(dst []byte, from, to int) []byte {
	return s.AppendLines(dst, from, to, to-from, "")
}

// AppendLines appends the letters of bases from..to-1 to dst, in lines of width bases, at least 1 if there are bases, the last of which may
// be shorter. end follows each line.
func (s *Sequence) AppendLines(dst []byte, from, to, width int, end string) []byte {
	if from == to {
		return dst
	}
	width = min(width, to-from)
	at := len(dst)
	size := to - from + (to-from+width-1)/width*len(end)
	dst = slices.Grow(dst, size+bases.PerWord)
	text := dst[at : at+size+bases.PerWord]
	s.lines(text, from, to, width, end)
	return dst[:at+size]
}

// lines writes the lines that AppendLines appends to text, which has room for a word more.
func (s *Sequence) lines(dst []byte, from, to, width int, end string) {
	at := 0
	next := sort.Search(len(s.runs), func(i int) bool { return s.runs[i].end > from })
	// A part is whole lines, or a piece of a long one.
	part, width1, end1 := width*max(partBases/width, 1), width, end
	if width > partBases {
		part, width1, end1 = partBases, partBases, ""
	}
	for line := 0; from < to; {
		n := min(to-from, part)
		if width > partBases {
			n = min(n, width-line)
		}
		text := dst[at:]
		s.unpackLines(text, from, n, width1, end1)
		for ; next < len(s.runs) && s.runs[next].start < from+n; next++ {
			r := &s.runs[next]
			r.apply(text, max(r.start-from, 0), min(r.end-from, n), width1, len(end1))
			if r.end > from+n {
				break
			}
		}
		at += n + (n+width1-1)/width1*len(end1)
		from += n
		if width > partBases {
			if line += n; line == width || from == to {
				at += copy(dst[at:], end)
				line = 0
			}
		}
	}
}

// unpackLines writes n bases from base `from` on to text, in lines. text has room for a word more.
func (s *Sequence) unpackLines(text []byte, from, n, width int, end string) {
	for stop := from + n; from < stop; {
		n := min(width, stop-from)
		line := text[:n+bases.PerWord]
		for i := 0; i < n; i += bases.PerWord {
			bases.PutLetters(line[i:], bases.Word(s.packed, from+i))
		}
		from += n
		text = text[n:]
		if len(end) == 1 {
			text[0] = end[0]
			text = text[1:]
		} else {
			text = text[copy(text, end):]
		}
	}
}

// apply writes the letters of a run to the bases from..to-1 of text, which has lines of width bases and ends of so many bytes.
func (r *run) apply(text []byte, from, to, width, end int) {
	for from < to {
		line := from / width
		stop := min(to, (line+1)*width)
		letters := text[from+line*end : stop+line*end]
		if r.letter == record.Lower {
			for i := range letters {
				letters[i] |= 0x20
			}
		} else {
			for i := range letters {
				letters[i] = r.letter
			}
		}
		from = stop
	}
}
