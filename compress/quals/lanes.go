package quals

import (
	"encoding/binary"
	"slices"
)

const (
	// blockSymbols is about how many symbols a block has; blocks have whole pieces. Encoding keeps what the model says of a block.
	blockSymbols = 1 << 20
	// pieceSymbols is the most symbols of a piece: longer reads are cut.
	pieceSymbols = 1 << 14
	// stateStart is the state of a coder at first. States are never smaller.
	stateStart = 1 << 16
)

// coder codes a column by a model, block by block. The symbols of a block are cut into pieces: reads, or parts of long reads. There are
// numLanes lanes; one whose piece has ended takes the next piece. Each lane has a state of an asymmetric numeral system (Duda, 2009), and
// all write to, or read from, one stream of words of 16 bits.
type coder struct {
	*model
	in     *Input
	record int      // of the next piece
	offset int      // of the next piece in its record
	read   []uint16 // classes of the bases of that record, if given

	left    [numLanes]int      // symbols of the piece
	to      [numLanes]int      // place of the next symbol
	classes [numLanes][]uint16 // of the bases of the piece that follow
	lanes   []uint8            // those that have a piece
	next    int                // place of the next piece

	history histories
	symbols [numLanes]uint32
	ranks   [numLanes]uint32
	all     round
	some    round             // of some of the lanes
	region  [numLanes]uint32  // of the lines of the round: see model.regionOf
	exist   [lineSlots]uint16 // of the first round
	quals   []byte            // of the column as far as they are wanted

	// encoding
	decisions []decision
	// decoding
	decoding bool
	words    []byte // not read yet
	overrun  bool
}

// decision is the rank of a lane in a round, as it is encoded: the start and the size of its interval, in 1/65536.
type decision struct {
	start, size uint16
	lane        uint8
}

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
		if c.offset == 0 {
			c.read = runsOf(nil, c.in.Bases[c.next:][:length])
		}
		c.classes[l] = c.read[c.offset:]
		c.history.class[l] = uint32(c.classes[l][0])
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
	c.lanes = c.lanes[:0]
	for l := range numLanes {
		if c.newPiece(l, end) {
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
		for range steps {
			c.step()
		}
		kept := c.lanes[:0]
		for _, l := range c.lanes {
			if c.left[l] -= steps; c.left[l] > 0 || c.newPiece(int(l), end) {
				kept = append(kept, l)
			}
		}
		c.lanes = kept
	}
}

// step codes a symbol of each lane.
func (c *coder) step() {
	t, h := c.model.ranks, &c.history
	if !c.decoding {
		for _, l := range c.lanes {
			s := t.symbol[c.quals[c.to[l]]]
			c.symbols[l], c.ranks[l] = uint32(s), uint32(t.rank[h.last[l]][s])
		}
	}
	c.contexts(h, &c.all.at)
	rate, dither := c.nextRate()
	c.round(c.lanes, &c.ranks, rate, dither)
	if len(t.values) > lineSlots+1 {
		c.further(rate, dither)
	}
	for _, l := range c.lanes {
		if c.decoding {
			s := t.byRank[h.last[l]&255][c.ranks[l]&255]
			c.symbols[l] = uint32(s)
			if to := c.to[l]; to < len(c.quals) {
				c.quals[to] = t.values[s]
			}
		}
		c.to[l]++
	}
	h.append(&c.symbols, uint32(len(t.values)-1))
	if c.kind == given {
		for _, l := range c.lanes {
			c.classes[l] = c.classes[l][1:]
			h.class[l] = uint32(c.classes[l][0])
		}
	}
}

// further codes the ranks from 8 on: first which group of 8 it is, in rounds of 8 groups, then which rank of the group.
func (c *coder) further(rate, dither int32) {
	var memory, more [numLanes]uint8
	var digits, groups [numLanes]uint32
	lanes := memory[:0]
	for _, l := range c.lanes {
		if c.ranks[l] >= lineSlots {
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
			digits[l] = c.ranks[l]/lineSlots - 1 - k*lineSlots
		}
		c.round(rest, &digits, rate, dither)
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
		digits[l] = c.ranks[l] % lineSlots
	}
	c.round(lanes, &digits, rate, dither)
	for _, l := range lanes {
		c.ranks[l] = (1+groups[l])*lineSlots + digits[l]
		c.overrun = c.overrun || c.ranks[l] >= uint32(len(c.model.ranks.values))
		c.region[l] = 0
	}
}

// round codes a digit of each of some lanes, from 0 to 8; larger ones are coded as 8.
func (c *coder) round(lanes []uint8, digits *[numLanes]uint32, rate, dither int32) {
	r := &c.all
	if r.exist = c.exist; len(lanes) < numLanes || c.region[lanes[0]] > 0 {
		r = &c.some
		c.choose(lanes)
	}
	r.n = len(lanes)
	predict(c.slots, r)
	if c.decoding {
		c.decode(r)
	} else {
		for i, l := range lanes {
			rank := min(digits[l], lineSlots)
			r.rank[i] = rank
			b := r.bound[i][lineSlots-1:]
			if rank == lineSlots {
				c.decisions = append(c.decisions, decision{0, b[rank], l})
			} else {
				c.decisions = append(c.decisions, decision{b[rank+1], b[rank] - b[rank+1], l})
			}
		}
	}
	learn(c.slots, r, rate, dither)
	if !c.decoding {
		return
	}
	for i, l := range lanes {
		digits[l] = r.rank[i]
		if r != &c.all {
			c.all.x[l] = r.x[i]
		}
	}
}

// choose copies the lines and states of some lanes.
func (c *coder) choose(lanes []uint8) {
	switch k := c.region[lanes[0]]; {
	case k == 0:
		c.some.exist = c.exist
	case k <= c.groupRounds():
		c.some.exist = existing(c.model.groups() - (k-1)*lineSlots)
	default:
		c.some.exist = existing(lineSlots)
	}
	for i, l := range lanes {
		for f := range c.all.at {
			base := uint32(f) * c.lines
			c.some.at[f][i] = (base + c.lineIn(c.region[l], c.all.at[f][l]/lineBytes-base)) * lineBytes
		}
		c.some.x[i] = c.all.x[l]
	}
}

// existing returns round.exist of so many outcomes.
func existing(outcomes uint32) (e [lineSlots]uint16) {
	for i := range min(lineSlots, outcomes-1) {
		e[i] = 0xffff
	}
	return
}

// decode finds the ranks of entries, and moves the states on.
func (c *coder) decode(r *round) {
	if len(c.words) >= 2*numLanes {
		c.words = c.words[decodeRanks(r, c.words):]
		return
	}
	var padded [2 * numLanes]byte
	copy(padded[:], c.words)
	n := decodeRanks(r, padded[:])
	c.overrun = c.overrun || n > len(c.words)
	c.words = c.words[min(n, len(c.words)):]
}

// decodePlain finds the ranks of entries, and returns how many bytes of words it read.
func decodePlain(r *round, words []byte) (n int) {
	for i := range r.n {
		b := r.bound[i][lineSlots-1:]
		x := r.x[i]
		rank := 0
		for rank < lineSlots && b[rank+1] > uint16(x) {
			rank++
		}
		start := uint16(0)
		if rank < lineSlots {
			start = b[rank+1]
		}
		x = x>>16*uint32(b[rank]-start) + x&0xffff - uint32(start)
		if x < stateStart {
			x = x<<16 | uint32(binary.LittleEndian.Uint16(words[n:]))
			n += 2
		}
		r.rank[i], r.x[i] = uint32(rank), x
	}
	return n
}

// encode appends a column to out.
func (m *model) encode(out []byte, in *Input) []byte {
	c := newCoder(m, in)
	c.quals = in.Quals
	var words []uint16
	for {
		end, lanes := c.blockEnd()
		if end == c.next {
			return out
		}
		in.tick(end - c.next)
		c.decisions = slices.Grow(c.decisions[:0], end-c.next+numLanes)
		c.block(end)
		// What is decoded first is encoded last.
		var states [numLanes]uint32
		for l := range states {
			states[l] = stateStart
		}
		words = words[:0]
		for i := len(c.decisions) - 1; i >= 0; i-- {
			d := &c.decisions[i]
			x, size := states[d.lane&(numLanes-1)], uint32(d.size)
			if x>>16 >= size {
				words = append(words, uint16(x))
				x >>= 16
			}
			q := x / size
			states[d.lane&(numLanes-1)] = q<<16 + x - q*size + uint32(d.start)
		}
		for _, x := range states[:lanes] {
			out = binary.LittleEndian.AppendUint32(out, x)
		}
		for _, w := range slices.Backward(words) {
			out = binary.LittleEndian.AppendUint16(out, w)
		}
	}
}

// newCoder returns a coder of a column.
func newCoder(m *model, in *Input) *coder {
	c := &coder{model: m, in: in}
	c.exist = existing(uint32(len(m.ranks.values)))
	return c
}

// decode appends the values that encode coded to dst, which has total bytes in the end.
func (m *model) decode(data []byte, in *Input, total int, dst []byte) ([]byte, error) {
	c := newCoder(m, in)
	c.decoding, c.words = true, data
	before := len(dst)
	for len(dst) < total {
		end, lanes := c.blockEnd()
		if end == c.next || len(c.words) < 4*lanes {
			return nil, ErrCorrupt
		}
		in.tick(end - c.next)
		for l := range lanes {
			c.all.x[l] = binary.LittleEndian.Uint32(c.words[4*l:])
		}
		c.words = c.words[4*lanes:]
		have := min(before+end, total)
		dst = slices.Grow(dst, have-len(dst))[:have]
		c.quals = dst[before:]
		if c.block(end); c.overrun {
			return nil, ErrCorrupt
		}
		if before+end > total {
			break
		}
		for _, x := range c.all.x[:lanes] {
			if x != stateStart {
				return nil, ErrCorrupt
			}
		}
	}
	if in.decoded() == in.Records && len(c.words) > 0 {
		return nil, ErrCorrupt
	}
	return dst, nil
}
