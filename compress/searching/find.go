// Package searching finds sequences in archives, with an index or by decoding all reads, and makes that index.
package searching

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"orcomgo/bins/commit"
	"orcomgo/bins/vfs"
	"orcomgo/compress/archive"
	"orcomgo/compress/fmindex"
	"orcomgo/compress/scan"
	"orcomgo/compress/source"
	"orcomgo/compress/workers"
)

// FindStage is the stage of Find that decodes reads, as it is reported: bytes of text.
const FindStage = "searching reads"

// MaxMismatches and MaxWithin are the largest values of FindOptions, and MinQuery is the least number of bases of a query.
const (
	MaxMismatches = 4
	MaxWithin     = 8
	MinQuery      = 12
)

// FindQuery is a sequence to be found.
type FindQuery struct {
	Name  string
	Bases []byte // 0 to 3
}

// ParseQuery returns the query of a text of A, C, G and T in either case. The error says what else is in it.
func ParseQuery(name, text string) (FindQuery, error) {
	q := FindQuery{Name: name, Bases: make([]byte, len(text))}
	for i := range len(text) {
		c, ok := scan.Code(text[i])
		if !ok {
			return q, fmt.Errorf("query %s: %q at base %d: only A, C, G and T can be searched", name, text[i], i+1)
		}
		q.Bases[i] = c
	}
	if len(text) < MinQuery {
		return q, fmt.Errorf("query %s has %d bases: expected at least %d", name, len(text), MinQuery)
	}
	return q, nil
}

// FindOptions control Find.
type FindOptions struct {
	Threads int
	Memory  uint64 // bytes aimed for; 0 for the package's default

	// Mismatches is in how many bases a stretch of a read may differ from a query, 0 to MaxMismatches. What is no base differs from all.
	Mismatches int
	// Overlap, if not 0, asks for reads that have so many bases in a row of a query, at least MinQuery, and not all of a longer one. Each
	// such stretch is searched as if it were the query.
	Overlap int
	// Within is in how many bases a stretch may differ from the pseudogenome and is still found by the index, 0 to MaxWithin.
	Within int
	// Scan decodes all reads and searches them, without an index.
	Scan bool
	// OnlyIndex makes it an error, which wraps ErrNoIndex, if an archive has no index. Without it all of its reads are searched.
	OnlyIndex bool
	// Count asks for the number of reads that have a query. Without it, and with an index, no read is decoded.
	Count bool
	// Reads asks for the places of these reads in the archive; it implies Count.
	Reads bool
	// Records, if not nil, is called with the text of each record that is found and of its mate, in the order of the archive; it
	// implies Count.
	Records func(text []byte) error

	Progress workers.Progress // may be nil
}

// Finding is what was found in an archive.
type Finding struct {
	Archive string   // its path, DIR/NAME
	Inputs  []string // their names
	Indexed bool     // there is an index, and it was used
	Counted bool     // reads were decoded
	Counts  []Count
	Reads   []ReadFound // with FindOptions.Reads, in the order of the archive
}

// Count says how often a query was found on one strand. Those of nothing are left out.
type Count struct {
	Query   int  // its number
	Reverse bool // its reverse complement was found
	// Hits is how often it occurs in the pseudogenome and in the literals, with Mismatches at most, on that strand of the pseudogenome,
	// and Depth about how many reads lie over these places together. Both are of the index. With FindOptions.Overlap they are those of
	// the stretch of the query that has most hits.
	Hits  int
	Depth float64
	// Reads is in how many reads it was found, if they were decoded; here the strand is that of the read.
	Reads uint64
}

// ReadFound is a query in a read. A read that has it several times is one.
type ReadFound struct {
	Input   int    // its number in the archive
	Record  uint64 // counted from 0
	Query   int
	Reverse bool // the read has the reverse complement
	At      int  // the first base of it in the read
}

// pattern is a query, or a stretch of it, or the reverse complement of that.
type pattern struct {
	query   int
	reverse bool
	bases   []byte
	other   int // the number of the pattern of its reverse complement
}

// strand is the number of the pattern's query and its strand.
func (p *pattern) strand() [2]int { return [2]int{p.query, Bit(p.reverse)} }

// Finder finds queries in archives. It is safe for concurrent use.
type Finder struct {
	o        FindOptions
	patterns []pattern
	inReads  func() *scan.Scanner // it finds the patterns in reads; it is made when it is needed first
}

// NewFinder returns a Finder of queries of at least MinQuery bases, of which there must be one.
func NewFinder(queries []FindQuery, o FindOptions) (*Finder, error) {
	switch {
	case len(queries) == 0:
		return nil, errors.New("find: there is no query")
	case o.Mismatches < 0 || o.Mismatches > MaxMismatches:
		return nil, fmt.Errorf("find: expected 0 to %d mismatches, not %d", MaxMismatches, o.Mismatches)
	case o.Within < 0 || o.Within > MaxWithin:
		return nil, fmt.Errorf("find: expected 0 to %d differences from the pseudogenome, not %d", MaxWithin, o.Within)
	case o.Overlap != 0 && o.Overlap < MinQuery:
		return nil, fmt.Errorf("find: expected an overlap of at least %d bases, not %d", MinQuery, o.Overlap)
	}
	o.Count = o.Count || o.Reads || o.Records != nil
	o.Threads = max(o.Threads, 1)
	f := &Finder{o: o}
	for i, q := range queries {
		if len(q.Bases) < MinQuery {
			return nil, fmt.Errorf("query %s has %d bases: expected at least %d", q.Name, len(q.Bases), MinQuery)
		}
		size := len(q.Bases)
		if o.Overlap > 0 {
			size = min(size, o.Overlap)
		}
		for at := range len(q.Bases) - size + 1 {
			f.addPattern(i, q.Bases[at:at+size])
		}
	}
	f.inReads = sync.OnceValue(func() *scan.Scanner { return f.scanner(o.Mismatches) })
	return f, nil
}

// addPattern adds the bases of a query, and their reverse complement unless that is the same.
func (f *Finder) addPattern(query int, bases []byte) {
	n := len(f.patterns)
	f.patterns = append(f.patterns, pattern{query: query, bases: bases, other: n})
	if r := OtherStrand(bases); !slices.Equal(r, bases) {
		f.patterns[n].other = n + 1
		f.patterns = append(f.patterns, pattern{query, true, r, n})
	}
}

// scanner finds the patterns with so many differences.
func (f *Finder) scanner(most int) *scan.Scanner {
	all := make([]scan.Sequence, len(f.patterns))
	for i, p := range f.patterns {
		all[i] = scan.Sequence{Bases: p.bases, Most: min(most, len(p.bases)-1)}
	}
	s, err := scan.New(all)
	if err != nil {
		panic(err) // patterns have more bases than that
	}
	return s
}

// OtherStrand returns that of bases, 0 to 3.
func OtherStrand(bases []byte) []byte {
	r := make([]byte, len(bases))
	for i, b := range bases {
		r[len(r)-1-i] = 3 - b
	}
	return r
}

// Find searches an archive, packed or binned.
//
// With an index, and without Scan, it promises this: every read is found that has a query with Mismatches at most, in a stretch that
// differs from the pseudogenome in Within bases at most where the read has its place, or that is in a stretch of literals as a whole.
// (Bases that are not A, C, G or T don't count as differences from the pseudogenome.) In reads that are aligned to the pseudogenome in
// pieces, a stretch with insertions or deletions, or over the end of a piece, is not promised. Without an index, and with Scan, all reads
// are searched.
func (f *Finder) Find(ctx context.Context, e commit.Entry) (*Finding, error) {
	src, err := source.OpenEntry(e, f.o.Threads, f.o.Memory)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	n := &Finding{Archive: e.Path()}
	s := &Search{Finder: f, finding: n, src: src, man: src.Manifest(), pool: workers.NewPool(f.o.Threads)}
	for i := range s.man.Inputs {
		n.Inputs = append(n.Inputs, s.man.Inputs[i].Name)
	}
	p, isPacked := src.(*source.Packed)
	if isPacked {
		s.pool = p.Pool
	}
	if isPacked && !f.o.Scan {
		x, closeIndex, err := source.OpenIndex(e, p.Man)
		switch {
		case err == nil:
			defer closeIndex()
			n.Indexed = true
			return n, vfs.ReadMapped(e.Path()+commit.IndexExt, func() error { return s.byIndex(ctx, p, x) })
		case f.o.OnlyIndex || !errors.Is(err, source.ErrNoIndex):
			return nil, err
		}
	} else if f.o.OnlyIndex {
		return nil, fmt.Errorf("%s: %w", e.Path(), source.ErrNoIndex)
	}
	err = s.byScan(ctx)
	s.sortCounts()
	return n, err
}

// byIndex searches with an index.
func (s *Search) byIndex(ctx context.Context, p *source.Packed, x *fmindex.Index) error {
	counts, err := s.hits(ctx, x)
	if err != nil || !s.o.Count {
		s.finding.Counts = counts
		return err
	}
	defer s.PrimersAhead(ctx, p, counts)()
	w, err := s.windows(ctx, x)
	switch {
	case errors.Is(err, errManyWindows):
		err = s.byScan(ctx)
	case err == nil:
		err = s.candidates(ctx, p, x, w)
	}
	if err != nil {
		return err
	}
	for _, c := range counts {
		to := s.count(c.Query, c.Reverse)
		to.Hits, to.Depth = c.Hits, c.Depth
	}
	s.sortCounts()
	return nil
}

// PrimersAhead starts to decode the primers of an archive if there are hits, so that reads will surely be decoded: one thread is busy with
// each, for about as long as the others look for windows and candidates. It returns a function that waits for the end of that.
func (s *Search) PrimersAhead(ctx context.Context, p *source.Packed, counts []Count) (wait func()) {
	var primers sync.WaitGroup
	if slices.ContainsFunc(counts, func(c Count) bool { return c.Hits > 0 }) {
		primers.Go(func() { p.Primers.Ahead(ctx, p, p.WithQuals()) })
	}
	return primers.Wait
}

// Search is a search of one archive.
type Search struct {
	*Finder
	finding *Finding
	src     source.Source
	man     *archive.Manifest
	pool    workers.Pool
	counts  map[[2]int]int // by query and strand: which of the counts of the finding it is
}

// count returns the count of a query on a strand, which is added if it is not there.
func (s *Search) count(query int, reverse bool) *Count {
	key := [2]int{query, Bit(reverse)}
	if s.counts == nil {
		s.counts = make(map[[2]int]int)
	}
	k, ok := s.counts[key]
	if !ok {
		k = len(s.finding.Counts)
		s.counts[key] = k
		s.finding.Counts = append(s.finding.Counts, Count{Query: query, Reverse: reverse})
	}
	return &s.finding.Counts[k]
}

// sortCounts sorts the counts by query, the forward strand first.
func (s *Search) sortCounts() {
	slices.SortFunc(s.finding.Counts, func(a, b Count) int {
		return cmp.Or(cmp.Compare(a.Query, b.Query), cmp.Compare(Bit(a.Reverse), Bit(b.Reverse)))
	})
}

func Bit(b bool) int {
	if b {
		return 1
	}
	return 0
}
