package binning

import (
	"context"
	"sync"

	"orcomgo/bins/record"

	"orcomgo/bins"
	"orcomgo/minimizer"
)

// NewCPU returns the assigner that works on the CPU. All threads share each block: the
// text is cut in segments of about a megabyte, which are first parsed, then, when it is
// known where each record's bytes will go, taken apart; the reads are sorted by signature,
// and packed in that order.
//
// Half of the streams, rounded up, are served at a time; the others read, encode or write
// meanwhile, and the working memory of theirs is saved.
func NewCPU(r Resources) Assigner {
	return &cpu{run: r.Run, busy: make(chan struct{}, max(1, (r.Streams+1)/2))}
}

type cpu struct {
	run     bins.Runner
	mu      sync.Mutex
	buffers [][]byte      // that are free
	jobs    []*job        // likewise
	busy    chan struct{} // has room for as many as may be in use
}

func (c *cpu) Buffer(n int) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, b := range c.buffers {
		if cap(b) >= n {
			c.buffers = append(c.buffers[:i], c.buffers[i+1:]...)
			return b[:0], nil
		}
	}
	if len(c.buffers) > 0 {
		c.buffers = c.buffers[1:] // too small for what comes
	}
	return make([]byte, 0, n), nil
}

func (c *cpu) Free(buf []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.buffers = append(c.buffers, buf)
}

func (c *cpu) Close() error {
	c.buffers, c.jobs = nil, nil
	return nil
}

// job returns working memory, which done takes back.
func (c *cpu) job() *job {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(c.jobs)
	if n == 0 {
		return new(job)
	}
	j := c.jobs[n-1]
	c.jobs = c.jobs[:n-1]
	return j
}

func (c *cpu) done(j *job) {
	j.Text, j.b, j.parser.text = nil, nil, nil
	c.mu.Lock()
	defer c.mu.Unlock()
	c.jobs = append(c.jobs, j)
}

// job is the working memory for one block.
type job struct {
	*Text
	b      *bins.Block
	run    bins.Runner
	parser parser
	segs   []segment
	end    int // of the records; a tail may follow

	places  []place
	lengths []uint32
	codes   []uint8
	at      []uint32 // where a read is in packed
	packed  []byte   // reads in input order
	sigs    []uint32
	spots   []uint32 // Place in input order
	counts  [][]uint32

	spareLengths []uint32
}

// segment is a stretch of text and the records that begin in it.
type segment struct {
	start        int // where the first of them begins
	first, end   int // their ordinals
	names, bases int // bytes in Names and Quals
	namesAt      int // where these begin
	basesAt      int
	minLen       uint32
	maxLen       uint32
	codes        [3 << 4]int
	exceptions   []record.Exception
	bad          *shape
	badAt        int
	noNewline    bool
	gaps         []minimizer.Gap
}

// Assign implements Assigner.
func (c *cpu) Assign(ctx context.Context, t *Text, b *bins.Block) error {
	if len(t.Data) > maxText {
		return &RecordError{File: t.File, Record: t.FirstRecord + 1, Expected: "a record of less than 4 GiB", Found: "a longer one"}
	}
	c.busy <- struct{}{}
	j := c.job()
	defer func() {
		c.done(j)
		<-c.busy
	}()
	j.Text, j.b, j.run = t, b, c.run
	j.parser = parser{text: t.Data, last: t.Last, canonical: t.Canonical, fasta: t.Kind == record.FASTA, forms: t.Keep.Forms && !t.Canonical}
	j.divide()
	steps := []func() error{j.parse, j.takeApart, j.sort, j.gather}
	for _, step := range steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := step(); err != nil {
			return err
		}
	}
	if b.Lengths.Each != nil {
		j.lengths = j.spareLengths // the block keeps what was j's
	}
	return nil
}

// parse finds the lines of all records.
func (j *job) parse() error {
	n := j.b.Records
	if n == 0 && len(j.Data) > 0 {
		return j.fail(0, &shape{"'@'", j.parser.show(0), true}) // nothing but blank lines
	}
	j.places, j.lengths, j.codes = resize(j.places, n), resize(j.lengths, n), resize(j.codes, n)
	j.run(len(j.segs), func(i int) {
		s := &j.segs[i]
		at := s.start
		p := j.parser
		p.text = p.text[:j.end]
		s.minLen = 1<<32 - 1
		var r parsed
		for k := s.first; k < s.end; k++ {
			if s.bad = p.next(at, &r); s.bad != nil {
				s.badAt = k
				return
			}
			at = r.end
			j.places[k], j.lengths[k], j.codes[k] = r.place, uint32(r.seqLen), r.code
			s.names += r.nameLen + 1
			s.bases += r.seqLen
			s.minLen, s.maxLen = min(s.minLen, uint32(r.seqLen)), max(s.maxLen, uint32(r.seqLen))
			s.codes[r.code]++
		}
		s.noNewline = r.noNewline
	})
	for i := range j.segs {
		if s := &j.segs[i]; s.bad != nil {
			// A record before this one may have something else wrong with it.
			for k := range s.badAt {
				if bad := j.check(k); bad != nil {
					return j.fail(k, bad)
				}
			}
			return j.fail(s.badAt, s.bad)
		}
	}
	return nil
}

// check looks at the content of a record that has been parsed.
func (j *job) check(k int) *shape {
	at := j.places[k]
	n := int(j.lengths[k])
	q := n
	if j.Kind == record.FASTA {
		q = 0
	}
	return checkContent(j.Data[at.seq:][:n], j.Data[at.qual:][:q])
}

func (j *job) fail(k int, bad *shape) error {
	return &RecordError{File: j.File, Record: j.FirstRecord + uint64(k) + 1, Expected: bad.expected, Found: bad.found,
		structural: bad.structural && !j.Canonical}
}

// takeApart copies names and qualities, packs the bases in input order, and finds the
// signatures.
func (j *job) takeApart() error {
	b, n := j.b, j.b.Records
	names, bases := 0, 0
	minLen, maxLen := uint32(1<<32-1), uint32(0)
	for i := range j.segs {
		s := &j.segs[i]
		s.namesAt, s.basesAt = names, bases
		names += s.names
		bases += s.bases
		minLen, maxLen = min(minLen, s.minLen), max(maxLen, s.maxLen)
	}
	var varied []uint32
	b.Lengths.Fixed = 0
	if n > 0 && minLen == maxLen {
		b.Lengths.Fixed = minLen
	} else if n > 0 {
		varied = j.lengths
	}
	j.spareLengths, b.Lengths.Each = b.Lengths.Each, varied
	if b.Names = keep(b.Names, j.Keep.Names, names); b.Names != nil {
		b.Names = b.Names[:names]
	}
	b.Quals = keep(b.Quals, j.Keep.Quals && j.Kind == record.FASTQ, bases)
	j.sigs, j.spots, j.at = resize(j.sigs, n), resize(j.spots, n), resize(j.at, n)
	// A record's bases take less than a quarter of its text; between segments there is room
	// for reading a word across the end.
	j.packed = resize(j.packed, len(j.Data)/4+(len(j.segs)+1)*2*minimizer.Pad)
	j.run(len(j.segs), func(i int) { j.takeSegment(i) })
	for i := range j.segs {
		if s := &j.segs[i]; s.bad != nil {
			return j.fail(s.badAt, s.bad)
		}
	}
	b.Exceptions = b.Exceptions[:0]
	for i := range j.segs {
		b.Exceptions = append(b.Exceptions, j.segs[i].exceptions...)
	}
	if !j.Canonical {
		b.Forms = record.Forms{}
		if j.Keep.Forms {
			j.forms()
		}
	}
	return nil
}

// keep returns n bytes for a column, nil if it is not kept.
func keep(s []byte, kept bool, n int) []byte {
	if !kept {
		return nil
	}
	return resize(s, n)
}

func (j *job) takeSegment(i int) {
	s, text := &j.segs[i], j.Data
	names, quals := j.b.Names, j.b.Quals
	if names != nil {
		names = names[s.namesAt : s.namesAt+s.names]
	}
	if quals != nil {
		quals = quals[s.basesAt : s.basesAt+s.bases]
	}
	at := s.start/4 + i*2*minimizer.Pad
	for k := s.first; k < s.end; k++ {
		r, n := j.places[k], int(j.lengths[k])
		if names != nil {
			end := int(r.seq) - 1
			if !j.Canonical && text[end-1] == '\r' {
				end--
			}
			m := copy(names, text[r.name+1:end])
			names[m] = '\n'
			names = names[m+1:]
		}
		odd := len(s.exceptions)
		dst := j.packed[at:]
		var bad byte
		if s.exceptions, bad = packRead(dst, text[r.seq:int(r.seq)+n], uint32(k), s.exceptions); bad != 0 {
			s.bad, s.badAt = j.check(k), k
			return
		}
		if j.Kind == record.FASTQ {
			ok := copyQuals(quals, text[r.qual:int(r.qual)+n])
			if !ok {
				s.bad, s.badAt = j.check(k), k
				return
			}
			if quals != nil {
				if j.Keep.Bin8 {
					for i, q := range quals[:n] {
						quals[i] = bin8[q]
					}
				}
				quals = quals[n:]
			}
		}
		s.gaps = s.gaps[:0]
		for _, e := range s.exceptions[odd:] {
			if e.Byte != record.Lower {
				s.gaps = append(s.gaps, minimizer.Gap{Start: int(e.Start), End: int(e.Start + e.Len)})
			}
		}
		sig, pos, reverse := minimizer.FindPacked(dst, n, s.gaps)
		spot := pos << 1
		if reverse {
			spot |= 1
			for _, g := range s.gaps {
				setT(dst, g.Start, g.End)
			}
		}
		j.sigs[k], j.spots[k], j.at[k] = sig, spot, uint32(at)
		at += record.PackedLen(n)
	}
}

// forms sums up the forms of all records: the commonest is the default.
func (j *job) forms() {
	var count [3 << 4]int
	for i := range j.segs {
		for c, n := range j.segs[i].codes {
			count[c] += n
		}
	}
	best := 0
	for c, n := range count[:2<<4] {
		if n > count[best] {
			best = c
		}
	}
	l := &j.b.Forms
	l.Default = formOf(uint8(best))
	n := j.b.Records
	if n == 0 {
		return
	}
	last := &j.segs[len(j.segs)-1]
	tail := string(j.Data[j.end:])
	if count[best] == n && tail == "" && !last.noNewline {
		return
	}
	l.Exceptions = make([]record.FormException, 0, n-count[best]+1)
	for k, c := range j.codes[:n] {
		end := k == n-1 && (tail != "" || last.noNewline)
		if int(c) == best && !end {
			continue
		}
		e := record.FormException{Read: uint32(k), Form: formOf(c)}
		if e.Plus == record.PlusText {
			e.PlusText = j.parser.plusText(j.places[k])
		}
		if end {
			e.Tail, e.NoNewline = tail, last.noNewline
		}
		l.Exceptions = append(l.Exceptions, e)
	}
}

func formOf(code uint8) record.Form {
	return record.Form{CR: code & 15, Plus: record.Plus(code >> 4)}
}

// resize returns a slice of n elements of any content, s if it can hold them. Never nil.
// Blocks are much alike: with some room to spare one allocation does for all of them.
func resize[T any](s []T, n int) []T {
	if s != nil && cap(s) >= n {
		return s[:n]
	}
	return make([]T, n, n+n/8)
}
