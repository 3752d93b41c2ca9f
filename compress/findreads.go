package compress

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"sort"

	"orcomgo/bins/record"
	"orcomgo/compress/scan"
)

// match is a pattern in a read of a slice.
type match struct {
	record, member int
	pattern        int
	at             int // in the read
}

// sliceFound is what was found in a slice: the matches, sorted, one for each read, query and strand, and with FindOptions.Records the text.
type sliceFound struct {
	matches []match
	text    []byte
}

// sliceList is slices to be searched, by number, and the progress of all slices.
type sliceList struct {
	numbers  []int
	inFlight int // how many are in work at once
	progress *meter
}

// allSlices returns all of them.
func (s *search) allSlices() *sliceList {
	l := &sliceList{}
	var total, largest uint64
	for i := range s.man.Slices {
		l.numbers = append(l.numbers, i)
		total, largest = total+sliceBytes(s.man, i), max(largest, sliceBytes(s.man, i))
	}
	l.inFlight = inFlight(s.o.Threads, s.o.Memory, largest)
	l.progress = newMeter(s.o.Progress, FindStage, total)
	return l
}

// reads searches slices side by side and adds what was found to the finding, in the order of the slices. find searches number k of the
// list.
func (s *search) reads(ctx context.Context, list *sliceList, find func(ctx context.Context, k int) (*batch, []match, error)) error {
	s.finding.Counted = true
	return inOrder(ctx, len(list.numbers), list.inFlight,
		func(ctx context.Context, k int) (*sliceFound, error) {
			b, matches, err := find(ctx, k)
			if err != nil || len(matches) == 0 {
				return &sliceFound{}, err
			}
			f := &sliceFound{matches: s.oncePerRead(matches)}
			if s.o.Records != nil {
				err = s.pool.do(ctx, func() error {
					f.text, err = s.recordsText(b, f.matches)
					return err
				})
			}
			return f, err
		},
		func(k int, f *sliceFound) error {
			i := list.numbers[k]
			list.progress.add(sliceBytes(s.man, i))
			sl := &s.man.Slices[i]
			members := sl.Members()
			for _, m := range f.matches {
				p := &s.patterns[m.pattern]
				s.count(p.query, p.reverse).Reads++
				if s.o.Reads {
					s.finding.Reads = append(s.finding.Reads,
						ReadFound{members[m.member].Input, sl.From + uint64(m.record), p.query, p.reverse, m.at})
				}
			}
			if len(f.text) > 0 {
				return s.o.Records(f.text)
			}
			return nil
		})
}

// oncePerRead sorts matches and keeps the first one of each query and strand in a read.
func (s *search) oncePerRead(all []match) []match {
	order := func(a, b match) int {
		p, q := s.patterns[a.pattern].strand(), s.patterns[b.pattern].strand()
		return cmp.Or(cmp.Compare(a.record, b.record), cmp.Compare(a.member, b.member), cmp.Compare(p[0], q[0]), cmp.Compare(p[1], q[1]))
	}
	slices.SortFunc(all, func(a, b match) int { return cmp.Or(order(a, b), cmp.Compare(a.at, b.at)) })
	return slices.CompactFunc(all, func(a, b match) bool { return order(a, b) == 0 })
}

// wanted is what is decoded to search a slice: the reads, or, if records are wanted, all.
func (s *search) wanted(slice int) demand {
	d := demand{slice: slice, want: [2]bool{true, true}}
	if s.o.Records == nil {
		d.columns = onlyReads()
	}
	return d
}

// byScan searches all reads.
func (s *search) byScan(ctx context.Context) error {
	all := make([]demand, len(s.man.Slices))
	for i := range all {
		all[i] = s.wanted(i)
	}
	decoder := s.src.pass(all)
	return s.reads(ctx, s.allSlices(), func(ctx context.Context, i int) (*batch, []match, error) {
		b, err := decodeWhole(ctx, decoder, all[i])
		if err != nil {
			return nil, nil, err
		}
		var found []match
		return b, found, s.pool.do(ctx, func() error {
			for m, c := range b.cols {
				if c != nil {
					found = s.inColumn(found, c, m, nil)
				}
			}
			return nil
		})
	})
}

// inColumn adds the matches in the reads of a column, of those that only accepts if that is not nil.
func (s *search) inColumn(found []match, c *columns, member int, only func(i int) bool) []match {
	r := newReadStarts(c)
	s.inReads().Scan(c.letters, func(m scan.Match) bool {
		i, at := r.of(m.At)
		if at+len(s.patterns[m.Sequence].bases) <= c.lengths.Of(i) && (only == nil || only(i)) {
			found = append(found, match{i, member, m.Sequence, at})
		}
		return true
	})
	return found
}

// readStarts finds the read of a letter of a column.
type readStarts struct {
	c      *columns
	starts []uint64 // of reads in the letters; nil where all have one length
}

func newReadStarts(c *columns) *readStarts {
	r := &readStarts{c: c}
	if c.lengths.Each != nil {
		at := uint64(0)
		for _, n := range c.lengths.Each {
			r.starts = append(r.starts, at)
			at += uint64(n)
		}
	}
	return r
}

// of returns the read of letter `at`, and which of its letters that is.
func (r *readStarts) of(at int) (i, offset int) {
	if r.starts == nil {
		return at / int(r.c.lengths.Fixed), at % int(r.c.lengths.Fixed)
	}
	// Reads of no letters begin where the next one does.
	i = sort.Search(len(r.starts), func(i int) bool { return r.starts[i] > uint64(at) }) - 1
	return i, at - int(r.starts[i])
}

// start returns where read i begins.
func (r *readStarts) start(i int) int {
	if r.starts == nil {
		return i * int(r.c.lengths.Fixed)
	}
	return int(r.starts[i])
}

// recordsText returns the text of the records that have matches, with their mates.
func (s *search) recordsText(b *batch, matches []match) ([]byte, error) {
	var members []*oneRecord
	for m, c := range b.cols {
		if c != nil {
			kind := s.man.Inputs[c.input].Kind
			members = append(members, &oneRecord{c: c, starts: newReadStarts(c), kind: kind, rendering: record.RenderingOf(s.man.Options, kind)})
			if c.names != nil {
				members[m].nameEnds = lineEnds(c.names)
			}
		}
	}
	var text []byte
	for k, m := range matches {
		if k > 0 && matches[k-1].record == m.record {
			continue
		}
		for _, r := range members {
			var err error
			if text, err = r.append(text, m.record); err != nil {
				return nil, err
			}
		}
	}
	return text, nil
}

// oneRecord renders single records of columns.
type oneRecord struct {
	c         *columns
	starts    *readStarts
	nameEnds  []int
	kind      record.Kind
	rendering record.Rendering
}

// lineEnds returns where each line ends, its line end included.
func lineEnds(text []byte) (ends []int) {
	for at := 0; at < len(text); {
		k := bytes.IndexByte(text[at:], '\n')
		if k < 0 {
			break
		}
		at += k + 1
		ends = append(ends, at)
	}
	return ends
}

// append appends the text of record i to dst.
func (r *oneRecord) append(dst []byte, i int) ([]byte, error) {
	c := r.c
	from := r.starts.start(i)
	to := from + c.lengths.Of(i)
	one := &columns{input: c.input, from: c.from + uint64(i), records: 1,
		lengths: record.Lengths{Fixed: uint32(to - from)}, letters: c.letters[from:to]}
	one.forms.Default = *c.forms.Of(uint32(i))
	one.forms.Default.NoNewline, one.forms.Default.Tail = false, "" // of the last record of an input
	if c.quals != nil {
		one.quals = c.quals[from:to]
	}
	if c.names != nil {
		if i >= len(r.nameEnds) {
			return nil, errNames
		}
		at := 0
		if i > 0 {
			at = r.nameEnds[i-1]
		}
		one.names = c.names[at:r.nameEnds[i]]
	}
	return render(dst, r.rendering, r.kind, one, nil)
}
