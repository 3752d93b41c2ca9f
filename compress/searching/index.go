package searching

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"sync"

	"github.com/dustin/go-humanize"

	"orcomgo/bins/commit"
	"orcomgo/compress/archive"
	"orcomgo/compress/columns"
	"orcomgo/compress/fmindex"
	"orcomgo/compress/parity"
	"orcomgo/compress/scan"
	"orcomgo/compress/seqs"
	"orcomgo/compress/source"
	"orcomgo/compress/transform"
	"orcomgo/compress/workers"
)

// The stages of Index, as they are reported: bytes of text, and bases.
const (
	IndexReadStage  = "reading the archive"
	IndexBuildStage = "building the index"
)

// IndexOptions control Index.
type IndexOptions struct {
	Threads  int
	Memory   uint64           // bytes to stay within; 0: no bound
	Force    bool             // make an index that is there already again
	Progress workers.Progress // may be nil

	// Parity is the share of the index that can be restored, see parity.Options.Share; 0: no parity is written.
	Parity float64

	GPU  bool              // a GPU does what it can, if the program supports one; the index is the same
	Note func(line string) // is told when the GPU can't be used; may be nil
}

// IndexBases returns about how many bases of pseudogenome an archive has, for an estimate of the work; 0 if it cannot be read.
func IndexBases(e commit.Entry) uint64 {
	src, err := source.OpenEntry(e, 1, 0)
	if err != nil {
		return 0
	}
	defer src.Close()
	return src.Manifest().SharedLen() * 4 // of two bits
}

// IndexSummary is what Index did.
type IndexSummary struct {
	Path     string  `json:"index"`
	Bytes    uint64  `json:"bytes"`
	Bases    uint64  `json:"bases"`    // of the pseudogenome
	Literals uint64  `json:"literals"` // bases of reads that are not on it
	BitsBase float64 `json:"bits_a_base"`
	// There says that the index was there already, and nothing was done.
	There bool `json:"there_already"`
}

// Index writes the search index of a packed archive beside it: NAME.cfm. An index of another archive, or a damaged one, is replaced; one
// of this archive only with Force. The index holds the pseudogenome and the literals, so that Find can search them.
func Index(ctx context.Context, e commit.Entry, o IndexOptions) (*IndexSummary, error) {
	if !e.Has[commit.Packed] {
		return nil, fmt.Errorf("%s: it is not packed yet: orcomgo pack does that, and orcomgo find searches bins without an index", e.Path())
	}
	src, err := source.OpenEntry(e, o.Threads, o.Memory)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	p, ok := src.(*source.Packed)
	if !ok {
		return nil, fmt.Errorf("%s: its bins are newer than the packed archive: pack them first", e.Path())
	}
	path := e.Path() + commit.IndexExt
	if !o.Force {
		if x, closeIndex, mended, err := source.OpenIndex(e, p.Man, source.AllRanks); err == nil {
			defer closeIndex()
			if mended == nil && x.Check() == nil {
				s := summaryOfIndex(path, x)
				s.There = true
				return s, nil
			}
		}
	}
	opened := o.openGPU()
	defer func() {
		if gpu, err := opened(); err == nil && gpu != nil {
			gpu.Close() // its memory is freed with the process in any case
		}
	}()
	content, err := indexContent(ctx, p, e, o)
	if err != nil {
		return nil, err
	}
	if err := o.fits(e, len(content.Text)); err != nil {
		return nil, err
	}
	bases := uint64(len(content.Text))
	if o.Progress != nil {
		o.Progress(IndexBuildStage, 0, bases)
	}
	x, err := o.build(content, opened)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", e.Path(), err)
	}
	if o.Progress != nil {
		o.Progress(IndexBuildStage, bases, bases)
	}
	if err := writeIndex(ctx, p.Archive, path, x, &o); err != nil {
		return nil, err
	}
	return summaryOfIndex(path, x), nil
}

// openGPU starts to open the GPU, if one is asked for, and returns a function that waits for it; that returns nil without one. It takes
// seconds, in which the archive is decoded.
func (o *IndexOptions) openGPU() (opened func() (transform.GPU, error)) {
	if !o.GPU {
		return func() (transform.GPU, error) { return nil, nil }
	}
	opened = sync.OnceValues(transform.Open)
	go opened()
	return opened
}

// build builds the index. If the GPU fails, or has too little memory, the CPU does its work.
func (o *IndexOptions) build(c *fmindex.Content, opened func() (transform.GPU, error)) (*fmindex.Index, error) {
	gpu, err := opened()
	if err != nil {
		return nil, fmt.Errorf("no usable GPU: %w", err)
	}
	if gpu != nil {
		c.Transform = func(dst, text []byte, step int, starts []uint32, every int, samples []uint32) bool {
			err := gpu.TransformSampled(dst, text, step, starts, every, samples)
			if err != nil && o.Note != nil {
				o.Note(fmt.Sprintf("the CPU computes the transform of %s bases: %v", humanize.Comma(int64(len(text))), err))
			}
			return err == nil
		}
	}
	return fmindex.Build(*c, max(o.Threads, 1))
}

// fits returns an error if the index of so many bases takes more than Memory.
func (o *IndexOptions) fits(e commit.Entry, bases int) error {
	if need := uint64(bases) * fmindex.BuildBytes; o.Memory > 0 && need > o.Memory {
		return fmt.Errorf("%s: the index of %s bases takes about %s of memory: --memory allows %s", e.Path(), humanize.Comma(int64(bases)),
			humanize.IBytes(need), humanize.IBytes(o.Memory))
	}
	return nil
}

func summaryOfIndex(path string, x *fmindex.Index) *IndexSummary {
	return &IndexSummary{Path: path, Bytes: uint64(x.Size()), Bases: uint64(x.Genome()), Literals: uint64(x.Len() - x.Genome()),
		BitsBase: 8 * float64(x.Size()) / float64(max(x.Len(), 1))}
}

// writeIndex writes the index of an archive. It is encrypted as that is.
func writeIndex(ctx context.Context, a *archive.Reader, path string, x *fmindex.Index, o *IndexOptions) error {
	t, err := commit.WriteTemp(path, a.Envelope(), func(w io.Writer) error {
		_, err := w.Write(x.Bytes())
		return err
	})
	if err != nil {
		return err
	}
	defer t.Discard()
	if err := ctx.Err(); err != nil {
		return err
	}
	t.Restrict(commit.AccessTo(filepath.Join(a.Dir(), a.Name()+commit.PackedDataExt)))
	if err := commit.InstallBeside(a.Dir(), a.Name(), commit.IndexExt, t); err != nil || o.Parity == 0 {
		return err
	}
	return parity.Protect(path, parity.Options{ID: x.Archive(), Share: o.Parity, Threads: o.Threads, Memory: o.Memory / 16})
}

// sliceContent is what of a slice an index is made of.
type sliceContent struct {
	literals []byte   // one base a byte, 0 to 3, end to end
	ends     []int    // of each stretch of literals
	begins   []uint32 // where its reads, and pieces of them, begin on the pseudogenome
	span     uint32   // the most bases of it under one
}

// add adds what lies over the bases from..to-1 of the pseudogenome.
func (c *sliceContent) add(coverage *fmindex.Coverage, from, to int) {
	coverage.Add(from, to)
	c.begins = append(c.begins, uint32(from))
	c.span = max(c.span, uint32(to-from))
}

// indexContent decodes what an index is made of.
func indexContent(ctx context.Context, p *source.Packed, e commit.Entry, o IndexOptions) (*fmindex.Content, error) {
	c := &fmindex.Content{Archive: p.Man.ID, Literals: new(fmindex.Literals), Coverage: fmindex.NewCoverage(0, fmindex.Window),
		Begins: fmindex.NewBegins(0)}
	if len(p.Man.Slices) == 0 {
		return c, nil
	}
	if err := p.NeedShared(ctx); err != nil {
		return nil, err
	}
	var total uint64
	var texts []uint64
	for i := range p.Man.Slices {
		texts = append(texts, source.SliceBytes(p.Man, i))
		total += texts[i]
	}
	n, err := p.Seqs.Len()
	if err != nil {
		return nil, p.Archive.Corrupt(source.SharedName(0), err)
	}
	if err := o.fits(e, n); err != nil {
		return nil, err
	}
	c.Coverage, c.Begins = fmindex.NewCoverage(n, fmindex.Window), fmindex.NewBegins(n)
	progress := workers.NewMeter(o.Progress, IndexReadStage, total, 0)
	err = workers.InOrder(ctx, len(p.Man.Slices), workers.InFlight(o.Threads, o.Memory, texts),
		func(ctx context.Context, i int) (*sliceContent, error) { return contentOf(ctx, p, i, c.Coverage) },
		func(i int, l *sliceContent) error {
			from := 0
			for _, end := range l.ends {
				c.Literals.Add(l.literals[from:end])
				from = end
			}
			c.Literals.EndSlice()
			c.Begins.AddSlice(l.begins, l.span)
			progress.Add(source.SliceBytes(p.Man, i))
			if uint64(n)+uint64(len(c.Literals.Bases)) > fmindex.MaxBases {
				return fmindex.ErrTooLong
			}
			return nil
		})
	if err != nil {
		return nil, err
	}
	err = p.Pool.Do(ctx, func() (err error) {
		c.Text, err = p.Seqs.Genome(make([]byte, 0, n+len(c.Literals.Bases)+64), 0, n)
		return err
	})
	if err != nil {
		return nil, p.Archive.Corrupt(source.SharedName(0), err)
	}
	c.Text = append(c.Text, c.Literals.Bases...)
	c.Literals.Bases = nil
	return c, nil
}

// contentOf decodes the reads of a slice, adds them to the coverage, and returns their literals and where they begin.
func contentOf(ctx context.Context, p *source.Packed, i int, coverage *fmindex.Coverage) (*sliceContent, error) {
	b, err := decodeWhole(ctx, p, source.Demand{Slice: i, Columns: columns.OnlyReads(), Layouts: true, WithoutPlaced: true})
	if err != nil {
		return nil, err
	}
	l := new(sliceContent)
	return l, p.Pool.Do(ctx, func() error {
		for _, s := range b.Cols[0].Layout.Pieces {
			l.add(coverage, int(s.From), int(s.To))
		}
		b.EachRead(func(m, i int, letters []byte) {
			layout := b.Cols[m].Layout
			if at := layout.Positions[i]; at != seqs.Unplaced {
				l.add(coverage, int(at), int(at)+len(letters))
			}
			layout.EachLiteral(i, len(letters), func(from, to int) {
				for _, letter := range letters[from:to] {
					c, _ := scan.Code(letter) // others are searched as A: they are compared with the read in the end
					l.literals = append(l.literals, c&3)
				}
				l.ends = append(l.ends, len(l.literals))
			})
		})
		return nil
	})
}

// decodeWhole decodes what is wanted of both members of a slice. The error is that of any of them.
func decodeWhole(ctx context.Context, d source.Decoder, wanted source.Demand) (*source.Decoded, error) {
	wanted.Want = [2]bool{true, true}
	b, err := d.Decode(ctx, wanted)
	if err != nil {
		return nil, err
	}
	for _, err := range b.Err {
		if err != nil {
			return nil, err
		}
	}
	return b, nil
}
