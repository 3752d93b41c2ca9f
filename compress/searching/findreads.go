package searching

import (
	"cmp"
	"context"
	"slices"

	"orcomgo/bins/record"
	"orcomgo/compress/columns"
	"orcomgo/compress/scan"
	"orcomgo/compress/source"
	"orcomgo/compress/workers"
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
	progress *workers.Meter
}

// allSlices returns all of them.
func (s *search) allSlices() *sliceList {
	numbers := make([]int, len(s.man.Slices))
	for i := range numbers {
		numbers[i] = i
	}
	return s.sliceList(numbers)
}

// sliceList returns slices to be searched.
func (s *search) sliceList(numbers []int) *sliceList {
	l := &sliceList{numbers: numbers}
	var total uint64
	var texts []uint64
	for k, i := range numbers {
		texts = append(texts, source.SliceBytes(s.man, i))
		total += texts[k]
	}
	l.inFlight = workers.InFlight(s.o.Threads, s.o.Memory, texts)
	l.progress = workers.NewMeter(s.o.Progress, FindStage, total, 0)
	return l
}

// reads searches slices side by side and adds what was found to the finding, in the order of the slices. find searches number k of the
// list.
func (s *search) reads(ctx context.Context, list *sliceList,
	find func(ctx context.Context, k int) (*source.Decoded, []match, error)) error {

	s.finding.Counted = true
	return workers.InOrder(ctx, len(list.numbers), list.inFlight,
		func(ctx context.Context, k int) (*sliceFound, error) {
			b, matches, err := find(ctx, k)
			if err != nil || len(matches) == 0 {
				return &sliceFound{}, err
			}
			f := &sliceFound{matches: s.oncePerRead(matches)}
			if s.o.Records != nil {
				err = s.pool.Do(ctx, func() error {
					f.text, err = s.recordsText(b, f.matches)
					return err
				})
			}
			return f, err
		},
		func(k int, f *sliceFound) error {
			i := list.numbers[k]
			list.progress.Add(source.SliceBytes(s.man, i))
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
func (s *search) wanted(slice int) source.Demand {
	d := source.Demand{Slice: slice, Want: [2]bool{true, true}}
	if s.o.Records == nil {
		d.Columns = columns.OnlyReads()
	}
	return d
}

// byScan searches all reads.
func (s *search) byScan(ctx context.Context) error {
	all := make([]source.Demand, len(s.man.Slices))
	for i := range all {
		all[i] = s.wanted(i)
	}
	decoder := s.src.Pass(all)
	return s.reads(ctx, s.allSlices(), func(ctx context.Context, i int) (*source.Decoded, []match, error) {
		b, err := decodeWhole(ctx, decoder, all[i])
		if err != nil {
			return nil, nil, err
		}
		var found []match
		return b, found, s.pool.Do(ctx, func() error {
			for m, c := range b.Cols {
				if c != nil {
					found = s.inColumn(found, c, m, nil)
				}
			}
			return nil
		})
	})
}

// inColumn adds the matches in the reads of a column, of those that only accepts if that is not nil.
func (s *search) inColumn(found []match, c *columns.Columns, member int, only func(i int) bool) []match {
	starts := c.Lengths.Starts()
	s.inReads().Scan(c.Letters, func(m scan.Match) bool {
		i, at := starts.Read(m.At)
		if at+len(s.patterns[m.Sequence].bases) <= c.Lengths.Of(i) && (only == nil || only(i)) {
			found = append(found, match{i, member, m.Sequence, at})
		}
		return true
	})
	return found
}

// recordsText returns the text of the records that have matches, with their mates.
func (s *search) recordsText(b *source.Decoded, matches []match) ([]byte, error) {
	var members []*oneRecord
	for m, c := range b.Cols {
		if c != nil {
			kind := s.man.Inputs[c.Input].Kind
			members = append(members, &oneRecord{c: c, starts: c.Lengths.Starts(), kind: kind, rendering: record.RenderingOf(s.man.Options, kind)})
			if c.Names != nil {
				var err error
				if members[m].names, err = columns.NameStarts(c.Names, c.Records); err != nil {
					return nil, err
				}
			}
		}
	}
	var text []byte
	for k, m := range matches {
		from, to := b.Slice.Fragment(m.record)
		if k > 0 && matches[k-1].record >= from {
			continue
		}
		for i := from; i < to; i++ {
			for _, r := range members {
				var err error
				if text, err = r.append(text, i); err != nil {
					return nil, err
				}
			}
		}
	}
	return text, nil
}

// oneRecord renders single records of columns.
type oneRecord struct {
	c         *columns.Columns
	starts    record.Starts
	names     []int // where each begins
	kind      record.Kind
	rendering record.Rendering
}

// append appends the text of record i to dst.
func (r *oneRecord) append(dst []byte, i int) ([]byte, error) {
	c := r.c
	from := r.starts.Of(i)
	to := from + c.Lengths.Of(i)
	one := &columns.Columns{Input: c.Input, From: c.From + uint64(i), Records: 1,
		Lengths: record.Lengths{Fixed: uint32(to - from)}, Letters: c.Letters[from:to]}
	kind := r.kind
	if one.Forms.Default = *c.Forms.Of(uint32(i)); kind == record.BAM {
		kind, one.Forms.Default = record.FASTQ, record.Form{}
	}
	one.Forms.Default.NoNewline, one.Forms.Default.Tail = false, "" // of the last record of an input
	if c.Quals != nil {
		one.Quals = c.Quals[from:to]
	}
	if c.Names != nil {
		one.Names = c.Names[r.names[i]:r.names[i+1]]
	}
	return columns.Render(dst, r.rendering, kind, one, nil)
}
