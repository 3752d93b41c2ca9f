// Package searching finds sequences in archives, with an index or by decoding all reads, and makes that index.
package searching

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"

	"orcomgo/bins/parse"
	"orcomgo/compress/archive"
	"orcomgo/compress/scan"
	"orcomgo/compress/source"
	"orcomgo/compress/workers"
)

// FindStage is the stage of Find that decodes reads, as it is reported: bytes of text.
const FindStage = "searching reads"

// MaxMismatches and MaxWithin are the largest values of FindOptions.
const (
	MaxMismatches = 4
	MaxWithin     = 8
)

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
	Notes   []string // what is wrong with the archive or the index, though it does not matter here
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
func (p *pattern) strand() [2]int { return [2]int{p.query, int(parse.Flags(p.reverse))} }

// Finder finds queries in archives. It is safe for concurrent use.
type Finder struct {
	o        FindOptions
	patterns []pattern
	// severalVariants says that a query has several sequences.
	severalVariants bool
	inReads         func() *scan.Scanner // it finds the patterns in reads; it is made when it is needed first
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
		f.severalVariants = f.severalVariants || len(q.Variants) > 1
		for _, bases := range q.Variants {
			if len(bases) < MinQuery {
				return nil, fmt.Errorf("query %s has %d bases: expected at least %d", q.Name, len(bases), MinQuery)
			}
			size := len(bases)
			if o.Overlap > 0 {
				size = min(size, o.Overlap)
			}
			for at := range len(bases) - size + 1 {
				f.addPattern(i, bases[at:at+size])
			}
		}
	}
	f.inReads = sync.OnceValue(func() *scan.Scanner { return f.scanner(o.Mismatches) })
	return f, nil
}

// addPattern adds the bases of a query, and their reverse complement unless that is the same.
func (f *Finder) addPattern(query int, bases []byte) {
	n := len(f.patterns)
	f.patterns = append(f.patterns, pattern{query: query, bases: bases, other: n})
	if r := otherStrand(bases); !slices.Equal(r, bases) {
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

// otherStrand returns that of bases, 0 to 3.
func otherStrand(bases []byte) []byte {
	r := make([]byte, len(bases))
	for i, b := range bases {
		r[len(r)-1-i] = 3 - b
	}
	return r
}

// search is a search of one archive.
type search struct {
	*Finder
	finding *Finding
	src     source.Source
	man     *archive.Manifest
	pool    workers.Pool
	counts  map[[2]int]int // by query and strand: which of the counts of the finding it is
}

// count returns the count of a query on a strand, which is added if it is not there.
func (s *search) count(query int, reverse bool) *Count {
	key := [2]int{query, int(parse.Flags(reverse))}
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
func (s *search) sortCounts() {
	slices.SortFunc(s.finding.Counts, func(a, b Count) int {
		return cmp.Or(cmp.Compare(a.Query, b.Query), cmp.Compare(parse.Flags(a.Reverse), parse.Flags(b.Reverse)))
	})
}
