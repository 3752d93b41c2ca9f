package binning

import (
	"context"

	"orcomgo/bases"
	"orcomgo/bins"
	"orcomgo/bins/record"
	"orcomgo/digest"
	"orcomgo/internal/largepages"
	"orcomgo/minimizer"
)

// NewCPU returns the assigner that works on the CPU. All threads work on the same block: the
// text is cut into segments of about a megabyte. These are parsed first, which gives the offset
// of each record in the columns; then they are split into columns. The reads are sorted by
// signature, and packed in that order.
//
// Half of the streams, rounded up, are served at a time. The others read, encode or write
// meanwhile, and need no working memory here.
func NewCPU(r Resources) Assigner {
	c := &cpu{run: r.Run, long: longReads{least: 4 << 20, piece: 1 << 20}, jobs: make(chan *job, max(1, (r.Streams+1)/2))}
	for range cap(c.jobs) {
		c.jobs <- new(job)
	}
	c.texts.members = newMemberPool(r.Threads, r.Inflating)
	return c
}

type cpu struct {
	run   bins.Runner
	long  longReads
	texts hostTexts
	jobs  chan *job // not in use
}

func (c *cpu) Text(_ context.Context, n int) (TextBuffer, error) { return c.texts.get(n), nil }

// What a CPU has nothing to do for.
func (c *cpu) Admit(context.Context) error { return nil }
func (c *cpu) Written(*bins.Block)         {}
func (c *cpu) Finish() error               { return nil }
func (c *cpu) DeviceBlocks() int           { return 0 }

func (c *cpu) Close() error {
	c.free()
	return nil
}

// free frees memory that is not in use.
func (c *cpu) free() {
	c.texts.clear()
	c.texts.members.clear()
	for range len(c.jobs) {
		select {
		case <-c.jobs:
			c.jobs <- new(job)
		default: // it is in use by now
		}
	}
}

// job is the working memory for one block.
type job struct {
	*Text
	b          *bins.Block
	run        bins.Runner
	long       longReads
	parser     parser
	segments   []segment
	recordsEnd int // offset of the end of the records; a tail may follow

	lineStarts []lineStarts
	lengths    []uint32
	codes      []uint8
	packedAt   []uint32 // offset of each read in packed
	packed     []byte   // reads in input order
	sigs       []uint32
	places     []uint32 // Block.Place, in input order
	counts     [][]uint32

	lengthsOfBlock []uint32 // the slice that the block had; it and lengths are exchanged
}

// segment is a part of the text, and the records that begin in it.
type segment struct {
	start        int // offset of the first of them
	first, end   int // their ordinals
	names, bases int // bytes in Names and Quals
	namesAt      int // offsets there
	basesAt      int
	packedAt     int // where its packed reads begin in job.packed
	minLen       uint32
	maxLen       uint32
	codes        [formCodes]int // how many records have each
	exceptions   record.ExceptionList
	ofRead       []record.Exception // those of the read at hand
	bad          *mismatch
	badAt        int
	noNewline    bool
	gaps         []minimizer.Gap
	long         []packedRead // in the order of the records
}

func (c *cpu) Assign(ctx context.Context, t *Text, b *bins.Block) error {
	if len(t.Data) > maxText {
		return &RecordError{File: t.File, Record: t.FirstRecord + 1, Expected: "a record of less than 4.29 GB", Found: "a longer one"}
	}
	var j *job
	select {
	case j = <-c.jobs:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() {
		j.Text, j.b, j.parser.text = nil, nil, nil
		c.jobs <- j
	}()
	j.Text, j.b, j.run, j.long = t, b, c.run, c.long
	j.parser = parser{text: t.Data, last: t.Last, canonical: t.Canonical, quals: t.Kind.Format().Quals,
		forms: t.Keep.Forms && !t.Canonical}
	j.divide()
	steps := []func() error{j.parse, j.split, j.sort, j.packSorted}
	for _, step := range steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := step(); err != nil {
			return err
		}
	}
	if b.Lengths.Each != nil {
		j.lengths = j.lengthsOfBlock // the block keeps the old j.lengths
	}
	return nil
}

// parse finds the lines of all records.
func (j *job) parse() error {
	n := j.b.Records
	if n == 0 && len(j.Data) > 0 {
		return j.fail(0, &mismatch{"'@'", j.parser.show(0), true}) // nothing but blank lines
	}
	j.lineStarts, j.lengths, j.codes = resize(j.lineStarts, n), resize(j.lengths, n), resize(j.codes, n)
	// The text is hashed while it is in the cache. Few long segments are hashed by all threads instead.
	hash := !j.Canonical
	if hash && len(j.Data) > 4*fillPiece*len(j.segments) {
		j.b.TextHash, hash = digest.TextHash(j.Data, j.run), false
	}
	sums := digest.NewTextSums(j.Data)
	j.run(len(j.segments), func(i int) {
		s := &j.segments[i]
		at := s.start
		p := j.parser
		p.text = p.text[:j.recordsEnd]
		var lineEnds [4 * newlineRoom]uint32
		end, hashEnd := j.recordsEnd, len(j.Data)
		if i+1 < len(j.segments) {
			end = j.segments[i+1].start
			hashEnd = end
		}
		p.start(s.start, end, lineEnds[:])
		hashed := at
		s.minLen = 1<<32 - 1
		var r parsed
		for k := s.first; k < s.end; k++ {
			if s.bad = p.next(at, &r); s.bad != nil {
				s.badAt = k
				return
			}
			at = r.end
			j.lineStarts[k], j.lengths[k], j.codes[k] = r.lineStarts, uint32(r.seqLen), r.code
			s.names += r.nameLen + 1
			s.bases += r.seqLen
			s.minLen, s.maxLen = min(s.minLen, uint32(r.seqLen)), max(s.maxLen, uint32(r.seqLen))
			s.codes[r.code]++
			if hash && at-hashed >= hashStep {
				sums.Add(hashed, at)
				hashed = at
			}
		}
		s.noNewline = r.noNewline
		if hash {
			sums.Add(hashed, hashEnd)
		}
	})
	for i := range j.segments {
		if s := &j.segments[i]; s.bad != nil {
			// The content of a record before this one may be wrong.
			for k := range s.badAt {
				if bad := j.check(k); bad != nil {
					return j.fail(k, bad)
				}
			}
			return j.fail(s.badAt, s.bad)
		}
	}
	if hash {
		j.b.TextHash = sums.Hash()
	}
	return nil
}

// hashStep is about how many bytes of text are parsed before they are hashed.
const hashStep = 64 << 10

// check checks the letters and qualities of a parsed record.
func (j *job) check(k int) *mismatch {
	at := j.lineStarts[k]
	n := int(j.lengths[k])
	q := 0
	if j.parser.quals {
		q = n
	}
	return checkContent(j.Data[at.seq:][:n], j.Data[at.qual:][:q])
}

func (j *job) fail(k int, bad *mismatch) error {
	return &RecordError{File: j.File, Record: j.FirstRecord + uint64(k) + 1, Expected: bad.expected, Found: bad.found,
		structural: bad.structural && !j.Canonical}
}

// split copies names and qualities to their columns, packs the bases in input order, and finds
// the signatures.
func (j *job) split() error {
	b, n := j.b, j.b.Records
	names, bases, packed := 0, 0, 0
	minLen, maxLen := uint32(1<<32-1), uint32(0)
	for i := range j.segments {
		s := &j.segments[i]
		s.namesAt, s.basesAt, s.packedAt = names, bases, packed
		names += s.names
		bases += s.bases
		// A read takes a quarter of its bases, rounded up. After a segment there is room for writing and reading words across its end.
		packed += s.bases/4 + s.end - s.first + 2*minimizer.Pad
		minLen, maxLen = min(minLen, s.minLen), max(maxLen, s.maxLen)
	}
	var lengths []uint32
	b.Lengths.Fixed = 0
	if n > 0 && minLen == maxLen {
		b.Lengths.Fixed = minLen
	} else if n > 0 {
		lengths = j.lengths
	}
	j.lengthsOfBlock, b.Lengths.Each = b.Lengths.Each, lengths
	b.Names = resizeIfKept(b.Names, j.Keep.Names || j.Keep.PlainNames, names)
	b.Quals = resizeIfKept(b.Quals, j.Keep.Quals && j.parser.quals, bases)
	b.CodedNames, b.CodedQuals = nil, nil
	j.sigs, j.places, j.packedAt = resize(j.sigs, n), resize(j.places, n), resize(j.packedAt, n)
	j.packed = resize(j.packed, packed)
	j.packLong()
	j.run(len(j.segments), func(i int) { j.splitSegment(i) })
	for i := range j.segments {
		if s := &j.segments[i]; s.bad != nil {
			return j.fail(s.badAt, s.bad)
		}
	}
	j.collectExceptions()
	if !j.Canonical {
		if j.Keep.Forms {
			j.collectForms()
		} else {
			b.Forms = record.Forms{}
		}
	}
	return nil
}

// resizeIfKept returns n bytes for a column, or nil if it is not kept.
func resizeIfKept(s []byte, kept bool, n int) []byte {
	if !kept {
		return nil
	}
	return resize(s, n)
}

func (j *job) splitSegment(i int) {
	s, text := &j.segments[i], j.Data
	names, quals := j.b.Names, j.b.Quals
	if names != nil {
		names = names[s.namesAt : s.namesAt+s.names]
	}
	if quals != nil {
		quals = quals[s.basesAt : s.basesAt+s.bases]
	}
	at, long := s.packedAt, s.long
	for k := s.first; k < s.end; k++ {
		r, n := j.lineStarts[k], int(j.lengths[k])
		if names != nil {
			end := int(r.seq) - 1
			if !j.Canonical && text[end-1] == '\r' {
				end--
			}
			m := end - int(r.name+1)
			copyBytes(names, text[r.name+1:end])
			names[m] = '\n'
			names = names[m+1:]
		}
		dst := j.packed[at:]
		var bad byte
		var packed *packedRead // if the read is long
		if n >= j.long.least {
			packed, long = &long[0], long[1:]
			s.ofRead, bad = append(s.ofRead[:0], packed.exceptions...), packed.bad
		} else {
			room := dst
			if len(long) > 0 {
				room = dst[:bases.PackedLen(n)] // what follows may be packed already
			}
			s.ofRead, bad = packRead(room, text[r.seq:int(r.seq)+n], uint32(k), s.ofRead[:0])
		}
		if bad != 0 {
			s.bad, s.badAt = j.check(k), k
			return
		}
		if j.parser.quals {
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
		s.gaps = appendGaps(s.gaps[:0], s.ofRead)
		for _, e := range s.ofRead {
			s.exceptions.Append(e)
		}
		var sig, pos uint32
		var reverse bool
		if packed != nil {
			sig, pos, reverse = packed.sig, packed.pos, packed.reverse
		} else {
			sig, pos, reverse = minimizer.FindPacked(dst, n, s.gaps)
		}
		place := pos<<1 | strand(reverse)
		if len(s.gaps) > 0 && reverse {
			for _, g := range s.gaps {
				fillT(dst, g.Start, g.End)
			}
		}
		j.sigs[k], j.places[k], j.packedAt[k] = sig, place, uint32(at)
		at += bases.PackedLen(n)
	}
	clear(s.long) // frees their exceptions
}

// strand returns 1 for the reverse strand, without a branch: that would be predicted wrongly half of the time.
func strand(reverse bool) (bit uint32) {
	if reverse {
		bit = 1
	}
	return bit
}

// keptExceptions is how many bytes of the exceptions of a segment keep their memory for the next block.
const keptExceptions = 1 << 12

// collectExceptions moves the exceptions of the segments to the block.
func (j *job) collectExceptions() {
	b := j.b
	b.Exceptions.Reset()
	size := 0
	for i := range j.segments {
		size += len(j.segments[i].exceptions.Data())
	}
	b.Exceptions.Grow(size)
	for i := range j.segments {
		s := &j.segments[i]
		b.Exceptions.AppendList(&s.exceptions)
		if s.exceptions.Memory() > keptExceptions {
			s.exceptions = record.ExceptionList{}
		}
	}
}

// collectForms sets the forms of the block from the codes of its records.
func (j *job) collectForms() {
	var counts [formCodes]int
	for i := range j.segments {
		for c, n := range j.segments[i].codes {
			counts[c] += n
		}
	}
	noNewline := len(j.segments) > 0 && j.segments[len(j.segments)-1].noNewline
	j.b.Forms = formsOfCodes(j.b.Forms.Exceptions, j.codes[:j.b.Records], &counts, string(j.Data[j.recordsEnd:]), noNewline,
		func(read int) string { return j.parser.plusText(j.lineStarts[read]) })
}

// resize returns a slice of n elements of any content, s if it can hold them. It is never nil.
// A new slice has an eighth more capacity, because the next block is about as large.
func resize[T any](s []T, n int) []T {
	if s != nil && cap(s) >= n {
		return s[:n]
	}
	return largepages.AskForMany(make([]T, n, n+n/8))
}
