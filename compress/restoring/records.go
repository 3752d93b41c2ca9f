package restoring

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"runtime"
	"slices"

	"orcomgo/compress/archive"
	"orcomgo/compress/columns"
	"orcomgo/compress/source"
	"orcomgo/compress/workers"
)

// Reader gives the records of an archive, packed or still in bins. It decodes only the slices and columns that are asked for, several
// slices at once. Its methods are safe for concurrent use.
type Reader struct {
	src  source.Source
	Man  *archive.Manifest
	opts ReaderOptions
}

// ReaderOptions control a Reader. The zero value is for all processors.
type ReaderOptions struct {
	Threads int    // 0: as many as there are processors
	Memory  uint64 // bytes aimed for; 0 for the package's default
}

// Open opens the archive that path leads to: a directory with one archive, or DIR/NAME. Nothing is written. The error wraps
// ErrNotArchive, ErrCorrupt or ErrVersion, or comes from the file system.
func Open(path string, o ReaderOptions) (*Reader, error) {
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	src, err := source.Open(path, o.Threads, o.Memory)
	if err != nil {
		return nil, err
	}
	return newReader(src, o), nil
}

func newReader(src source.Source, o ReaderOptions) *Reader { return &Reader{src, src.Manifest(), o} }

// Close closes the files of the archive.
func (r *Reader) Close() error { return r.src.Close() }

// Input describes an input of an archive: a file that was archived.
type Input struct {
	Name    string // of the file, without the extension of a compressed file
	Records uint64
	Bases   uint64
	Mate    int  // number of the input with the mates; -1 without mates
	Second  bool // it holds second mates
}

// Inputs returns the inputs in the order in which they were archived. Their numbers begin with 0.
func (r *Reader) Inputs() []Input {
	list := make([]Input, len(r.Man.Inputs))
	for i := range list {
		in := &r.Man.Inputs[i]
		list[i] = Input{Name: in.Name, Records: in.Records, Bases: in.Bases, Mate: in.Mate, Second: in.Mate >= 0 && !in.First}
	}
	return list
}

// Want says which columns of records are wanted.
type Want uint8

// The columns. Bases of short reads can't be decoded without their qualities, so these save no time unless bases are left out as well.
const (
	WantNames Want = 1 << iota
	WantBases
	WantQuals
	WantAll = WantNames | WantBases | WantQuals
)

// keeps returns the columns that make up what is wanted.
func (w Want) keeps() (k columns.Kept) {
	if w == 0 {
		w = WantAll
	}
	k[archive.Lengths] = w&(WantBases|WantQuals) != 0
	k[archive.Names], k[archive.Seqs], k[archive.Quals] = w&WantNames != 0, w&WantBases != 0, w&WantQuals != 0
	return k
}

// Query says which records are wanted, and what of them. The zero value is everything.
type Query struct {
	Inputs []int // numbers of inputs, in any order; nil: all
	// Records are those of each input, counted from 0, in ascending order and without overlaps; nil: all. What lies beyond the end
	// of an input is left out.
	Records []RecordRange
	Want    Want // 0: WantAll
}

// Batches returns the records of q, in batches of up to some hundred thousand records. Those of an input come in its order; batches of
// several inputs may alternate. Slices are decoded ahead, by the threads of the Reader. An error ends the iteration; damage wraps
// ErrCorrupt.
func (r *Reader) Batches(ctx context.Context, q Query) iter.Seq2[*Batch, error] {
	return func(yield func(*Batch, error) bool) {
		parts, err := r.parts(q, q.Want.keeps())
		if err != nil {
			yield(nil, err)
			return
		}
		ctx, cancel := context.WithCancel(ctx)
		batches, done := make(chan *Batch), make(chan error, 1)
		defer func() {
			cancel()
			for range batches { // until nothing is decoded any more
			}
		}()
		go func() {
			defer close(batches)
			done <- decodeParts(ctx, r, parts, r.batch, func(b *Batch) error {
				select {
				case batches <- b:
					return nil
				case <-ctx.Done():
					return ctx.Err()
				}
			})
		}()
		for b := range batches {
			if !yield(b, nil) {
				return
			}
		}
		if err := <-done; err != nil {
			yield(nil, err)
		}
	}
}

// Records returns the records of q one by one, as Batches does; if both inputs of a pair are asked for, the second mate follows the first.
func (r *Reader) Records(ctx context.Context, q Query) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for b, err := range r.Batches(ctx, q) {
			if err != nil {
				yield(Record{}, err)
				return
			}
			for i := range b.Len() {
				if !yield(b.Record(i), nil) || b.Mate != nil && !yield(b.Mate.Record(i), nil) {
					return
				}
			}
		}
	}
}

// MatchNames returns, by input, which records have a name that match accepts: of a pair or a group, one of its mates as far as their
// inputs are asked for, so the lists of mates are equal. Only names are decoded. match is called by several goroutines. Inputs that
// are not asked for, and whose mates are not, have no records. The result is not nil for any input.
func (r *Reader) MatchNames(ctx context.Context, q Query, match func(name []byte) bool) ([][]RecordRange, error) {
	return r.matchNames(ctx, q, nil, nil, match)
}

// NamesStage is the stage of progress in which names are read and compared. It counts records.
const NamesStage = "reading names"

// matchNames is MatchNames. Slices for which may, unless it is nil, returns false are known to have no such name.
func (r *Reader) matchNames(ctx context.Context, q Query, report workers.Progress, may func(s *archive.Slice) bool,
	match func(name []byte) bool) ([][]RecordRange, error) {
	found := make([][]RecordRange, len(r.Man.Inputs))
	for i := range found {
		found[i] = []RecordRange{}
	}
	parts, err := r.parts(q, WantNames.keeps())
	if err != nil {
		return nil, err
	}
	if o := r.Man.Options; o.ReadsOnly || o.DropNames {
		return nil, fmt.Errorf("%s: there are no names: they were not kept", r.src.Paths()[0])
	}
	if may != nil {
		parts = slices.DeleteFunc(parts, func(d source.Demand) bool { return !may(&r.Man.Slices[d.Slice]) })
	}
	total := uint64(0)
	for _, d := range parts {
		total += uint64(r.Man.Slices[d.Slice].Records)
	}
	progress := workers.NewMeter(report, NamesStage, total, 0)
	seen, text := uint64(0), uint64(0) // records, and the text of slices that are to be unpacked
	work := func(b *source.Decoded, d *source.Demand) (*matched, error) { return r.matchSlice(b, d, match) }
	err = decodeParts(ctx, r, parts, work, func(m *matched) error {
		progress.Add(uint64(m.slice.Records))
		seen += uint64(m.slice.Records)
		for k, mem := range m.slice.Texts() {
			if len(m.records) > 0 {
				text += mem.TextLen
			}
			if k == 0 {
				found[mem.Input] = append(found[mem.Input], m.records...)
			} else {
				found[mem.Input] = found[m.slice.First.Input]
			}
		}
		if report != nil {
			report("unpack", 0, uint64(float64(text)*float64(total)/float64(seen))) // about
		}
		return nil
	})
	for i := range r.Man.Inputs {
		if in := &r.Man.Inputs[i]; in.Further {
			found[in.Lead] = union(found[in.Lead], found[i])
		}
	}
	for i := range r.Man.Inputs {
		found[i] = found[r.Man.Inputs[i].FirstOf(i)]
	}
	return found, err
}

// parts returns what is wanted of which slices, in the order of the archive: these columns.
func (r *Reader) parts(q Query, wanted columns.Kept) ([]source.Demand, error) {
	asked := make([]bool, len(r.Man.Inputs))
	for i := range asked {
		asked[i] = q.Inputs == nil
	}
	for _, i := range q.Inputs {
		if i < 0 || i >= len(asked) {
			return nil, fmt.Errorf("there is no input %d: the archive has %d", i, len(asked))
		}
		asked[i] = true
	}
	if err := checkRanges(q.Records); err != nil {
		return nil, err
	}
	var parts []source.Demand
	for i := range r.Man.Slices {
		s := &r.Man.Slices[i]
		d := source.Demand{Slice: i, Columns: wanted, Spans: spansOf(s, q.Records)}
		for m, mem := range s.Texts() {
			d.Want[m] = asked[mem.Input]
		}
		if n := len(d.Spans); n > 0 && d.Want != ([2]bool{}) {
			d.First = d.Spans[n-1].Hi
			parts = append(parts, d)
		}
	}
	return parts, nil
}

// decodeParts decodes parts, several at once, calls work for each where it is decoded, and consume for one after another in their order.
func decodeParts[T any](ctx context.Context, r *Reader, parts []source.Demand, work func(*source.Decoded, *source.Demand) (T, error),
	consume func(T) error) error {
	var texts []uint64
	for _, d := range parts {
		texts = append(texts, source.SliceBytes(r.Man, d.Slice))
	}
	decoder := r.src.Pass(parts)
	pool := workers.NewPool(r.opts.Threads)
	produce := func(ctx context.Context, k int) (v T, err error) {
		b, err := decoder.Decode(ctx, parts[k])
		if err != nil {
			return v, err
		}
		err = pool.Do(ctx, func() error {
			v, err = work(b, &parts[k])
			return err
		})
		return v, err
	}
	flight := workers.InFlight(r.opts.Threads, r.opts.Memory, texts)
	return workers.InOrder(ctx, len(parts), flight, produce, func(_ int, v T) error { return consume(v) })
}

// batch returns columns of the records of a part of a slice.
func (r *Reader) batch(b *source.Decoded, d *source.Demand) (first *Batch, err error) {
	for m := 1; m >= 0; m-- {
		if !d.Want[m] {
			continue
		}
		if b.Err[m] != nil {
			return nil, b.Err[m]
		}
		c := b.Cols[m]
		c.Keep(d.Columns)
		o := r.Man.Options
		got, err := NewBatch(c, d.Spans, o.DropNames && !o.ReadsOnly)
		if err != nil {
			return nil, err
		}
		got.Mate, first = first, got
	}
	return first, nil
}

// matched are the records of a slice with a name that is wanted.
type matched struct {
	slice   *archive.Slice
	records []RecordRange // in the input
}

// matchSlice finds the records of a part of a slice of which one member's name matches.
func (r *Reader) matchSlice(b *source.Decoded, d *source.Demand, match func(name []byte) bool) (*matched, error) {
	got := &matched{slice: b.Slice}
	for m, c := range b.Cols {
		if !d.Want[m] {
			continue
		}
		if b.Err[m] != nil {
			return nil, b.Err[m]
		}
		list, err := matchColumn(c, d.Spans, match)
		if err != nil {
			return nil, err
		}
		got.records = union(got.records, list)
	}
	return got, nil
}

// matchColumn returns the records of c in spans with a name that matches.
func matchColumn(c *columns.Columns, spans []columns.Span, match func(name []byte) bool) (list []RecordRange, err error) {
	names, i := c.Names, 0
	for _, s := range spans {
		for ; i < s.Hi; i++ {
			end := bytes.IndexByte(names, '\n')
			if end < 0 {
				return nil, columns.ErrNames
			}
			name := names[:end]
			names = names[end+1:]
			if i < s.Lo || !match(name) {
				continue
			}
			n := c.From + uint64(i)
			if k := len(list); k > 0 && list[k-1].To == n {
				list[k-1].To++
			} else {
				list = append(list, RecordRange{n, n + 1})
			}
		}
	}
	return list, nil
}
