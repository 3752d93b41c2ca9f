package compress

import (
	"context"
	"io"
	"slices"

	"orcomgo/bins/commit"
	"orcomgo/compress/restoring"
	"orcomgo/compress/searching"
	"orcomgo/compress/source"
)

// The options and results of Index and of a Finder.
type (
	// IndexOptions control Index.
	IndexOptions = searching.IndexOptions
	// IndexSummary is what Index did.
	IndexSummary = searching.IndexSummary
	// FindQuery is a sequence to be found.
	FindQuery = searching.FindQuery
	// FindOptions control a Finder.
	FindOptions = searching.FindOptions
	// Finding is what was found in an archive.
	Finding = searching.Finding
	// Count says how often a query was found on one strand.
	Count = searching.Count
	// ReadFound is a query in a read.
	ReadFound = searching.ReadFound
)

// MaxMismatches and MaxWithin are the largest values of FindOptions, and MinQuery is the least number of bases of a query.
const (
	MaxMismatches = searching.MaxMismatches
	MaxWithin     = searching.MaxWithin
	MinQuery      = searching.MinQuery
)

// The stages of Index and Find, as they are reported: bytes of text, bases, and bytes of text.
const (
	IndexReadStage  = searching.IndexReadStage
	IndexBuildStage = searching.IndexBuildStage
	FindStage       = searching.FindStage
)

// ErrNoIndex means that there is no index beside an archive, and ErrIndex that it is damaged, or that of another archive.
var (
	ErrNoIndex = source.ErrNoIndex
	ErrIndex   = source.ErrIndex
)

// Index writes the search index of a packed archive beside it: NAME.cfm. An index of another archive, or a damaged one, is replaced; one
// of this archive only with Force.
func Index(ctx context.Context, e commit.Entry, o IndexOptions) (*IndexSummary, error) {
	return searching.Index(ctx, e, o)
}

// IndexBases returns about how many bases of pseudogenome an archive has, for an estimate of the work; 0 if it cannot be read.
func IndexBases(e commit.Entry) (bases uint64) { return searching.IndexBases(e) }

// Finder finds queries in archives. It is safe for concurrent use.
type Finder struct {
	*searching.Finder
	o FindOptions
	// places finds where the reads are; it is for archives with further mates, which are not in one slice with their leads.
	places *searching.Finder
}

// NewFinder returns a Finder of queries of at least MinQuery bases, of which there must be one.
func NewFinder(queries []FindQuery, o FindOptions) (*Finder, error) {
	finder, err := searching.NewFinder(queries, o)
	if err != nil || o.Records == nil {
		return &Finder{Finder: finder}, err
	}
	f := &Finder{Finder: finder, o: o}
	o.Records, o.Reads = nil, true
	f.places, err = searching.NewFinder(queries, o)
	return f, err
}

// Find searches an archive.
func (f *Finder) Find(ctx context.Context, e commit.Entry) (*Finding, error) {
	if f.o.Records == nil {
		return f.Finder.Find(ctx, e)
	}
	info, err := Info(e)
	if err != nil || !slices.ContainsFunc(info.Inputs, func(in InputInformation) bool { return in.Lead != "" }) {
		return f.Finder.Find(ctx, e)
	}
	n, err := f.places.Find(ctx, e)
	if err != nil || len(n.Reads) == 0 {
		return n, err
	}
	o := UnpackOptions{Threads: f.o.Threads, Memory: f.o.Memory, Stream: recordsWriter(f.o.Records), Interleave: true}
	for _, r := range n.Reads {
		o.Chosen = append(o.Chosen, restoring.Place{Input: r.Input, Record: r.Record})
	}
	ext := commit.PackedDataExt
	if !e.Has[commit.Packed] {
		ext = commit.BinsDataExt
	}
	_, err = Unpack(ctx, e.Path()+ext, o)
	return n, err
}

// recordsWriter calls a function with what is written.
type recordsWriter func(text []byte) error

func (w recordsWriter) Write(p []byte) (int, error) { return len(p), w(p) }

// ParseQuery returns the query of a text of A, C, G and T in either case. The error says what else is in it.
func ParseQuery(name, text string) (FindQuery, error) { return searching.ParseQuery(name, text) }

// ReadQueries reads queries from FASTA, plain or compressed with gzip; file is its name for errors.
func ReadQueries(r io.Reader, file string) ([]FindQuery, error) {
	return searching.ReadQueries(r, file)
}
