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

// Variables so that tests can have short chains.
var (
	// ChainRecords is how many records the slices of a chain have together at most, unless a slice alone has more.
	ChainRecords uint64 = 1 << 15
	// LongChainRecords is the same where names repeat others from far before them, as of files that were sampled from several runs with
	// the same seed.
	LongChainRecords uint64 = 1 << 19
)

// aheadRecords is of how many records the names decide how those of a long chain are coded.
const aheadRecords = 1 << 18

// nameLink is the names of an input in a slice, as part of a chain, while they are coded.
type nameLink struct {
	From   uint64    // the first record of the slice
	before *nameLink // the slice before in the same long chain
	next   *nameLink // the slice after it there
	head   *nameLink // the first slice of the long chain
	Begins bool      // a chain begins here, unless names repeat others

	end     uint64         // of a head: the end of the long chain
	slices  int            // of a head: in the long chain
	repeats bool           // of a head: names repeat others
	planned chan struct{}  // of a head: closed when repeats is set
	done    chan struct{}  // closed when coder is set
	Coder   *names.Encoder // nil again where the next slice has taken it, or begins with new models
}

// NameKey is an input, and the first record of a slice of it.
type NameKey struct {
	Input int
	From  uint64
}

// NameLinks are the links of the names of all slices.
type nameLinks map[NameKey]*nameLink

// Ahead returns of how many records the names may be read to choose how those of a slice are coded.
func (l nameLinks) Ahead(input int, from uint64) int {
	if link := l[NameKey{input, from}]; link != nil {
		return link.Ahead()
	}
	return 0
}

// NewNameLinks returns the links of the names of all slices.
func NewNameLinks(specs []slicing.Spec, man *archive.Manifest) nameLinks {
	links := make(nameLinks)
	if !man.NameRanges { // then no input has several slices with names
		return links
	}
	last, chainFrom := make(map[int]*nameLink), make(map[int]uint64) // by input
	for i := range specs {
		s := &specs[i]
		for _, input := range s.Inputs() {
			if man.Inputs[input].TwoBit {
				continue
			}
			end := s.From + uint64(s.Records)
			l := &nameLink{From: s.From, done: make(chan struct{})}
			if b := last[input]; b != nil && end-b.head.From <= LongChainRecords && b.head.slices < source.MaxLinks {
				b.next, l.before, l.head = l, b, b.head
			} else {
				l.head, l.planned = l, make(chan struct{})
			}
			l.head.end = end
			l.head.slices++
			if l.Begins = l.head == l || end-chainFrom[input] > ChainRecords; l.Begins {
				chainFrom[input] = s.From
			}
			last[input], links[NameKey{input, s.From}] = l, l
		}
	}
	return links
}

// fresh reports whether the names begin with new models. Unless l is a head, planned of its head must be closed.
func (l *nameLink) fresh() bool { return l.head == l || l.Begins && !l.head.repeats }

// Ahead returns of how many records, from the first of l on, the names may be read to choose how those of l are coded. It is 0 where they
// never begin with new models.
func (l *nameLink) Ahead() int {
	if !l.Begins {
		return 0
	}
	n := ChainRecords
	if l.head == l {
		n = aheadRecords
	}
	return int(min(n, l.head.end-l.From))
}

// wait returns when there are the models that the names of l begin with.
func (l *nameLink) wait(ctx context.Context) error {
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

// EncodeNames codes the names of c given those of the first mates, if these are not nil.
func (e *Encoder) EncodeNames(c *columns.Columns, first []byte) ([]byte, error) {
	l := e.NameLinks[NameKey{c.Input, c.From}]
	if l == nil {
		return new(names.Encoder).Encode(c.Names, first, c.Records, nil), nil
	}
	var ahead func() []byte
	var failed error
	if l.fresh() {
		l.Coder = new(names.Encoder)
		if c.Perm == nil {
			ahead = func() (text []byte) {
				text, failed = e.readNames(c.Input, l.From, l.Ahead())
				return text
			}
		}
	} else {
		l.Coder, l.before.Coder = l.before.Coder, nil
	}
	section := l.Coder.Encode(c.Names, first, c.Records, ahead)
	if failed != nil {
		return nil, failed
	}
	if l.head == l {
		l.repeats = l.Coder.Repeats()
		close(l.planned)
	}
	if l.next == nil || l.next.fresh() {
		l.Coder = nil // it takes some MB, and there may be thousands of slices
	}
	close(l.done)
	return section, nil
}
