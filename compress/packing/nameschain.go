package packing

import (
	"context"

	"orcomgo/compress/archive"
	"orcomgo/compress/columns"
	"orcomgo/compress/names"
	"orcomgo/compress/slicing"
	"orcomgo/compress/source"
	"orcomgo/compress/workers"
)

// The names of a slice begin with the models that those of the slice before have left, so small slices take no more bytes than large ones.
// Then all names from the first slice of such a chain on have to be decoded for one record, which is why chains are short.

// aheadRecords is of how many records the names decide how those of a long chain are coded, and aheadBytes how much memory there must be
// for each of them.
const aheadRecords, aheadBytes = 1 << 18, 2 << 10

// mostLinks is how many slices a chain has at most whose names do not repeat others: in object storage each is a request for who wants a
// record. Only slices of long reads have so few records that it matters.
const mostLinks = 8

// nameLink is the names of an input in a slice, as part of a chain, while they are coded.
type nameLink struct {
	from   uint64    // the first record of the slice
	before *nameLink // the slice before in the same long chain
	next   *nameLink // the slice after it there
	head   *nameLink // the first slice of the long chain
	begins bool      // a chain begins here, unless names repeat others

	end     uint64         // of a head: the end of the long chain
	slices  int            // of a head: in the long chain
	most    uint64         // of a head: of how many records the names may be read ahead
	repeats bool           // of a head: names repeat others
	renewed names.Encoder  // of a head: what chains begin with whose names do not repeat others
	planned chan struct{}  // of a head: closed when repeats and renewed are set
	done    chan struct{}  // closed when coder is set
	coder   *names.Encoder // nil again where the next slice has taken it, or begins with new models
}

// nameKey says of which reads names are, and the first record of their slice.
type nameKey struct {
	of   columns.Reads
	from uint64
}

// nameLinks are the links of the names of all slices; nil of names that are coded by themselves.
type nameLinks map[nameKey]*nameLink

// newNameLinks returns the links of the names of all slices.
func newNameLinks(specs []slicing.Spec, man *archive.Manifest, o *Options) nameLinks {
	links, limits := make(nameLinks), o.limits()
	if !man.NameRanges { // then no input has several slices with names
		return links
	}
	last, chainFrom := make(map[columns.Reads]*nameLink), make(map[columns.Reads]uint64)
	chained := make(map[columns.Reads]int) // slices
	for i := range specs {
		s := &specs[i]
		for _, r := range s.Reads() {
			if man.Inputs[r.Input].TwoBit {
				continue
			}
			of := s.Together() // records of the input for each of r
			end := s.From + uint64(s.Records)
			l := &nameLink{from: s.From, done: make(chan struct{})}
			if b := last[r]; b != nil && end-b.head.from <= limits.LongChain*of && b.head.slices < source.MaxLinks {
				b.next, l.before, l.head = l, b, b.head
			} else {
				l.head, l.planned, l.most = l, make(chan struct{}), aheadRecords*of
				if o.Memory > 0 {
					l.most = min(l.most, max(o.Memory/aheadBytes, limits.Chain)*of)
				}
			}
			l.head.end = end
			l.head.slices++
			if l.begins = l.head == l || end-chainFrom[r] > limits.Chain*of || chained[r] == mostLinks; l.begins {
				chainFrom[r], chained[r] = s.From, 0
			}
			chained[r]++
			last[r], links[nameKey{r, s.From}] = l, l
		}
	}
	return links
}

// fresh reports whether the names begin with new models. Unless l is a head, planned of its head must be closed.
func (l *nameLink) fresh() bool { return l.head == l || l.begins && !l.head.repeats }

// ahead returns of how many records, from the first of l on, the names may be read to choose how those of the long chain are coded. It is 0
// if l is not its head.
func (l *nameLink) ahead() int {
	if l == nil || l.head != l {
		return 0
	}
	return int(min(l.most, l.head.end-l.from))
}

// wait returns when there are the models that the names begin with.
func (l *nameLink) wait(ctx context.Context) error {
	if l == nil {
		return nil
	}
	if l.head != l {
		if err := workers.Wait(ctx, l.head.planned); err != nil {
			return err
		}
	}
	if l.fresh() {
		return nil
	}
	return workers.Wait(ctx, l.before.done)
}

// encode codes the names of c given those of the first mates, if these are not nil. read returns the names of n records from one on, each
// followed by '\n'. There must be the models that they begin with: see wait.
func (l *nameLink) encode(c *columns.Columns, first []byte, read func(from uint64, n int) ([]byte, error)) ([]byte, error) {
	if l == nil {
		return new(names.Encoder).Encode(c.Names, first, c.Records, nil), nil
	}
	var ahead func() []byte
	var failed error
	switch {
	case l.head == l:
		l.coder = new(names.Encoder)
		if c.Perm == nil {
			ahead = func() (text []byte) {
				text, failed = read(l.from, l.ahead())
				return text
			}
		}
	case l.fresh():
		again := l.head.renewed
		l.coder = &again
	default:
		l.coder, l.before.coder = l.before.coder, nil
	}
	section := l.coder.Encode(c.Names, first, c.Records, ahead)
	if failed != nil {
		return nil, failed
	}
	if l.head == l {
		l.repeats, l.renewed = l.coder.Repeats(), l.coder.Renewed()
		close(l.planned)
	}
	if l.next == nil || l.next.fresh() {
		l.coder = nil // it takes some MB, and there may be thousands of slices
	}
	close(l.done)
	return section, nil
}
