package quals

import (
	"encoding/binary"
	"slices"
	"sync"

	"orcomgo/compress/ans"
)

const (
	// blockSymbols is about how many symbols a block has; blocks have whole pieces. Encoding keeps what the model says of a block.
	blockSymbols = 1 << 20
	// pieceSymbols is the most symbols of a piece: longer reads are cut.
	pieceSymbols = 1 << 14
)

// coder codes a column by a model, block by block. The symbols of a block are cut into pieces: reads, or parts of long reads. There are
// numLanes lanes; one whose piece has ended takes the next piece. Each lane has a state of an asymmetric numeral system (Duda, 2009), and
// all write to, or read from, one stream of words of 16 bits. A step codes a symbol of each lane that has a piece. Steps are coded in
// batches, since the symbols of lanes are far apart in the column, and side by side in a batch. The assembler knows the fields.
type coder struct {
	*model
	in     *Input
	record int // of the next piece
	offset int // of the next piece in its record

	left   [numLanes]int      // symbols of the piece
	to     [numLanes]int      // place of the next symbol
	runs   [numLanes][]uint16 // classes of the bases of the piece, if given
	lanes  []uint8            // those that have a piece
	active [numLanes]uint16   // all ones for those
	next   int                // place of the next piece
	quals  []byte             // of the column as far as they are wanted

	history histories
	states  [numLanes]uint32
	all     [2]round         // the second one is memory of the assembler
	some    round            // of some of the lanes
	region  [numLanes]uint32 // of the lines of the round: see model.regionOf

	// of a batch, by step
	symbols [batchSteps][numLanes]uint8
	classes [batchSteps][numLanes]uint16 // of bases, if given

	// encoding
	decisions []uint16 // for each round: where the intervals of the lanes start, and their sizes less 1, in 1/65536
	// decoding
	decoding bool
	words    []byte
	read     int  // bytes of them
	padded   bool // wordsAhead bytes follow the words
	overrun  bool

	// numbers of the model, for the assembler: see newCoder
	scale, addend          [lineSlots][numLanes]uint16 // what makes a product of probabilities a bound
	top                    uint32                      // the largest symbol
	groupTotal, groupLoops uint32                      // model.groups and model.groupRounds
	// regionStart and a quarter of where a line starts in region 0 is where it does in region 1; regions after that are regionSize apart
	regionStart, regionSize uint32
}

const (
	// batchSteps is the most steps of a batch.
	batchSteps = 128
	// wordsAhead is more bytes than those that a step reads and the assembler loads after them.
	wordsAhead = 256
)

// newPiece gives a lane the next piece of the block, if there is one.
func (c *coder) newPiece(l int, end int) bool {
	for c.record < c.in.Records && c.offset == c.in.Lengths.Of(c.record) {
		c.record, c.offset = c.record+1, 0
	}
	if c.next >= end {
		return false
	}
	length := c.in.Lengths.Of(c.record)
	n := min(pieceSymbols, length-c.offset)
	c.left[l], c.to[l] = n, c.next
	c.history.reset(l, uint32(min(c.offset, 1<<30)), uint32(len(c.model.ranks.values)-1))
	if c.kind == given {
		c.runs[l] = runsOf(c.runs[l], c.in.Bases[c.next-c.offset:][:length], c.offset, n)
	}
	c.next += n
	c.offset += n
	return true
}

// blockEnd returns where the block that begins at the next piece ends, and how many lanes it has.
func (c *coder) blockEnd() (end, lanes int) {
	end = c.next
	for r, offset := c.record, c.offset; r < c.in.Records && end-c.next < blockSymbols; {
		n := min(pieceSymbols, c.in.Lengths.Of(r)-offset)
		if n == 0 {
			r, offset = r+1, 0
			continue
		}
		end += n
		offset += n
		lanes++
	}
	return end, min(lanes, numLanes)
}

// block codes the symbols up to end. When it decodes, it stops where all those that are wanted have been decoded.
func (c *coder) block(end int) {
	c.lanes, c.active = c.lanes[:0], [numLanes]uint16{}
	for l := range numLanes {
		if c.newPiece(l, end) {
			c.active[l] = 0xffff
			c.lanes = append(c.lanes, uint8(l))
		}
	}
	for len(c.lanes) > 0 && !c.overrun {
		if c.decoding && c.next >= len(c.quals) && !slices.ContainsFunc(c.lanes, func(l uint8) bool { return c.to[l] < len(c.quals) }) {
			return
		}
		steps := c.left[c.lanes[0]]
		for _, l := range c.lanes {
			steps = min(steps, c.left[l])
		}
		for n := 0; steps > 0 && !c.overrun; steps -= n {
			n = min(steps, batchSteps, rateSteps-int(c.steps%rateSteps))
			c.batch(n)
		}
		kept := c.lanes[:0]
		for _, l := range c.lanes {
			if c.left[l] > 0 || c.newPiece(int(l), end) {
				kept = append(kept, l)
			} else {
				c.active[l] = 0
			}
		}
		c.lanes = kept
	}
}

// batch codes n steps, which have one rate.
func (c *coder) batch(n int) {
	known := c.decoding || c.spread(n) // symbols need not be set
	for _, l := range c.lanes {
		l &= numLanes - 1
		if c.kind == given {
			for i, class := range c.runs[l][len(c.runs[l])-c.left[l]:][:n] {
				c.classes[i&(batchSteps-1)][l] = class
			}
		}
		if !known {
			symbol := &c.model.ranks.symbol
			for i, q := range c.quals[c.to[l]:][:n] {
				c.symbols[i&(batchSteps-1)][l] = symbol[q]
			}
		}
	}
	c.setRate()
	for i := 0; i < n && !c.overrun; {
		if c.decoding && c.read > len(c.words)-wordsAhead {
			c.words, c.read = append(slices.Clone(c.words[c.read:]), make([]byte, wordsAhead)...), 0
			c.padded = true
		} else if !c.decoding {
			c.decisions = slices.Grow(c.decisions, (n-i)*int(2+c.groupRounds())*ans.RoundValues)
		}
		i = c.code(i, n)
		c.overrun = c.overrun || c.unread() < 0
	}
	done := 0
	if c.decoding {
		done = c.collect(n)
	}
	for _, l := range c.lanes {
		l &= numLanes - 1
		if c.decoding && c.to[l]+done < len(c.quals) {
			quals, values := c.quals[c.to[l]:min(c.to[l]+n, len(c.quals))], c.model.ranks.values
			for i := done; i < len(quals); i++ {
				quals[i] = values[c.symbols[i&(batchSteps-1)][l]]
			}
		}
		c.to[l] += n
		c.left[l] -= n
	}
}

// unread returns how many bytes of words have not been read; it is negative if more were read than there are.
func (c *coder) unread() int {
	if c.padded {
		return len(c.words) - wordsAhead - c.read
	}
	return len(c.words) - c.read
}

// codePlain codes the steps of a batch from one on, and returns which one follows: not the last one if words may run out.
func (c *coder) codePlain(step, end int) int {
	t, h := c.model.ranks, &c.history
	for ; step < end && (!c.decoding || c.read <= len(c.words)-wordsAhead); step++ {
		var ranks [numLanes]uint32
		symbols := &c.symbols[step]
		if !c.decoding {
			for l, s := range symbols {
				ranks[l] = uint32(t.rank[h.last[l]][s])
			}
		}
		c.contexts(h, &c.classes[step], &c.all[0].at)
		dither := c.nextDither()
		c.round(c.lanes, &ranks, dither)
		if len(t.values) > lineSlots+1 {
			c.further(&ranks, dither)
		}
		if c.decoding {
			for _, l := range c.lanes {
				symbols[l] = t.byRank[h.last[l]&255][ranks[l]&255]
			}
		}
		h.append(symbols, uint32(len(t.values)-1))
	}
	return step
}

// further codes the ranks from 8 on: first which group of 8 it is, in rounds of 8 groups, then which rank of the group.
func (c *coder) further(ranks *[numLanes]uint32, dither int32) {
	var memory, more [numLanes]uint8
	var digits, groups [numLanes]uint32
	lanes := memory[:0]
	for _, l := range c.lanes {
		if ranks[l] >= lineSlots {
			lanes = append(lanes, l)
		}
	}
	if len(lanes) == 0 {
		return
	}
	rest := append(more[:0], lanes...)
	for k := uint32(0); k < c.groupRounds() && len(rest) > 0; k++ {
		for _, l := range rest {
			c.region[l] = 1 + k
			digits[l] = ranks[l]/lineSlots - 1 - k*lineSlots
		}
		c.round(rest, &digits, dither)
		kept := rest[:0]
		for _, l := range rest {
			if groups[l] = k*lineSlots + digits[l]; digits[l] >= lineSlots {
				kept = append(kept, l)
			}
		}
		rest = kept
	}
	for _, l := range lanes {
		c.region[l] = c.regionOf(groups[l])
		digits[l] = ranks[l] % lineSlots
	}
	c.round(lanes, &digits, dither)
	for _, l := range lanes {
		ranks[l] = (1+groups[l])*lineSlots + digits[l]
		c.overrun = c.overrun || ranks[l] >= uint32(len(c.model.ranks.values))
		c.region[l] = 0
	}
}

// round codes a digit of each of some lanes, from 0 to 8; larger ones are coded as 8.
func (c *coder) round(lanes []uint8, digits *[numLanes]uint32, dither int32) {
	r := &c.all[0]
	if len(lanes) < numLanes || c.region[lanes[0]] > 0 {
		r = &c.some
		c.choose(lanes)
	}
	r.n = len(lanes)
	predictPlain(c.slots, r)
	if c.decoding {
		c.decodeDigits(r, lanes, digits)
	} else {
		n := len(c.decisions)
		c.decisions = c.decisions[:n+ans.RoundValues]
		starts, sizes := c.decisions[n:n+numLanes], c.decisions[n+numLanes:]
		for l := range starts {
			starts[l], sizes[l] = 0, 0xffff // of other lanes
		}
		for i, l := range lanes {
			end, start := r.interval(i, min(digits[l], lineSlots))
			starts[l], sizes[l] = start, end-start-1
		}
	}
	for i, l := range lanes {
		r.rank[i] = min(digits[l], lineSlots)
	}
	learnPlain(c.slots, r, int32(c.rate), dither)
}

// interval returns the end and the start of the interval of an outcome of an entry. The end is modulo 65536.
func (r *round) interval(i int, rank uint32) (end, start uint16) {
	b := r.bound[i][lineSlots-1:]
	if rank == lineSlots {
		return b[rank], 0
	}
	return b[rank], b[rank+1]
}

// choose copies the lines of some lanes.
func (c *coder) choose(lanes []uint8) {
	c.some.first = firstFurther
	switch k := c.region[lanes[0]]; {
	case k == 0:
		c.some.exist, c.some.first = c.all[0].exist, 0
	case k <= c.groupRounds():
		c.some.exist = existing(c.model.groups() - (k-1)*lineSlots)
	default:
		c.some.exist = existing(lineSlots)
	}
	for i, l := range lanes {
		for f := c.some.first; f < numFeatures; f++ {
			line := c.all[0].at[f][l]/lineBytes - uint32(f)<<c.bits
			c.some.at[f][i] = c.lineIn(c.region[l], uint32(f), line) * lineBytes
		}
	}
}

// existing returns round.exist of so many outcomes.
func existing(outcomes uint32) (e [lineSlots]uint16) {
	for i := range min(lineSlots, outcomes-1) {
		e[i] = 0xffff
	}
	return
}

// decodeDigits finds the ranks of entries, and moves the states on.
func (c *coder) decodeDigits(r *round, lanes []uint8, digits *[numLanes]uint32) {
	for i, l := range lanes {
		x := c.states[l]
		rank := uint32(0)
		for rank < lineSlots && r.bound[i][lineSlots+rank] > uint16(x) {
			rank++
		}
		end, start := r.interval(i, rank)
		x = x>>16*uint32(end-start) + x&0xffff - uint32(start)
		if x < ans.Start {
			x = x<<16 | uint32(binary.LittleEndian.Uint16(c.words[c.read:]))
			c.read += 2
		}
		digits[l], c.states[l] = rank, x
	}
}

// unusedDecisions are the memory of coder.decisions that is not used again.
var unusedDecisions sync.Pool

// encode appends a column to out.
func (m *model) encode(out []byte, in *Input) []byte {
	c := newCoder(m, in)
	c.quals = in.Quals
	if d, ok := unusedDecisions.Get().(*[]uint16); ok {
		c.decisions = *d
	}
	defer func() { unusedDecisions.Put(&c.decisions) }()
	for {
		end, lanes := c.blockEnd()
		if end == c.next {
			return out
		}
		in.tick(end - c.next)
		c.decisions = slices.Grow(c.decisions[:0], ((end-c.next)/numLanes+batchSteps)*ans.RoundValues)
		c.block(end)
		for l := range c.states {
			c.states[l] = ans.Start
		}
		words := c.decisions[ans.Encode(c.decisions, &c.states, 16):]
		for _, x := range c.states[:lanes] {
			out = binary.LittleEndian.AppendUint32(out, x)
		}
		for _, w := range words {
			out = binary.LittleEndian.AppendUint16(out, w)
		}
	}
}

// newCoder returns a coder of a column.
func newCoder(m *model, in *Input) *coder {
	c := &coder{model: m, in: in}
	c.all[0].exist = existing(uint32(len(m.ranks.values)))
	for k, e := range c.all[0].exist {
		for l := range numLanes {
			c.scale[k][l], c.addend[k][l] = (65536-lineSlots)&e, uint16(lineSlots-k)&e^0x8000
		}
	}
	c.top, c.groupTotal, c.groupLoops = uint32(len(m.ranks.values)-1), m.groups(), m.groupRounds()
	c.regionStart = (m.lineIn(1, firstFurther, 0) - firstFurther<<(m.bits-lessBits)) * lineBytes
	c.regionSize = (numFeatures - firstFurther) * lineBytes << (m.bits - lessBits)
	return c
}

// decode appends the values that encode coded to dst, which has total bytes in the end.
func (m *model) decode(data []byte, in *Input, total int, dst []byte) ([]byte, error) {
	c := newCoder(m, in)
	c.decoding, c.words = true, data
	before := len(dst)
	dst = slices.Grow(dst, min(total-before, 64*len(data))) // a forged stream takes no more
	for len(dst) < total {
		end, lanes := c.blockEnd()
		if end == c.next || c.unread() < 4*lanes {
			return nil, ErrCorrupt
		}
		in.tick(end - c.next)
		for l := range c.states {
			c.states[l] = ans.Start
			if l < lanes {
				c.states[l] = binary.LittleEndian.Uint32(c.words[c.read:])
				c.read += 4
			}
		}
		have := min(before+end, total)
		dst = slices.Grow(dst, have-len(dst))[:have]
		c.quals = dst[before:]
		if c.block(end); c.overrun {
			return nil, ErrCorrupt
		}
		if before+end > total {
			break
		}
		for _, x := range c.states {
			if x != ans.Start {
				return nil, ErrCorrupt
			}
		}
	}
	if in.decoded() == in.Records && c.unread() > 0 {
		return nil, ErrCorrupt
	}
	return dst, nil
}
