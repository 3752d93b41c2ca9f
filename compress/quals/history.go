package quals

// kind is which contexts an engine has.
type kind uint8

const (
	smooth  kind = iota // for alphabets of many values
	stepped             // for alphabets of few values
	given               // for qualities that are given the bases
)

// history is the state that contexts are made from: the symbols before the next one in its read. Symbols
// are indices into the sorted alphabet; larger is better.
type history struct {
	at    [3]uint32 // where in the slots each model's context of the next symbol starts
	shift uint8     // contexts are the upper bits of a hash: 64 less their log2
	node  uint8     // log2 of the slots of a context
	size  uint32    // slots of a model; those of all models follow each other

	top    uint32 // the largest symbol
	last   uint32 // the symbol before
	pos    uint32 // place in the read
	run    uint32 // how often the last symbol was repeated
	before uint64 // the symbol of the run before, << 16, and the octave of that run's length, << 32
	mean   uint32 // running mean of the symbols, in 1/256
	delta  uint32 // sum of the differences between neighbours
	tops   uint32 // how many of the symbols seen were the largest
	seen   uint32 // halved, as tops, when it reaches 256
	stage  uint64 // share of the largest symbol so far and place in the read, both rounded
}

// newHistory returns the history for a column of total symbols.
func newHistory(t *trees, total int) history {
	node := t.nodeBits()
	ctx := contextsFor(total, node)
	return history{shift: uint8(64 - ctx), node: uint8(node), size: 1 << (ctx + node), top: uint32(len(t.values) - 1)}
}

// Contexts were chosen by forward selection on reads of many instruments.
// All include the last symbol, because the tree of decisions depends on it.

// mark updates the stage; that is done after every eighth symbol.
func (h *history) mark() {
	h.seen += 8
	h.stage = uint64(h.tops*inverseOf[h.seen]>>12)<<8 | uint64(min(h.pos>>3, 31))<<32
	if h.seen == 256 {
		h.seen, h.tops = 128, h.tops/2
	}
}

// smoothContexts computes the contexts for alphabets of many values:
// place and running mean; the run and the one before; place and share of the best value.
func (h *history) smoothContexts() {
	q := uint64(h.last)
	shift, node := h.shift&63, h.node&31
	h.at[0] = uint32((q|uint64(h.mean>>10)<<8|uint64(min(h.pos, 511))<<32)*hashFactor>>shift) << node
	h.at[1] = uint32((q|octave(h.run)<<8|h.before)*hashFactor>>shift)<<node + h.size
	h.at[2] = uint32((q|h.stage)*hashFactor>>shift)<<node + 2*h.size
}

// stepped appends symbol s and computes the contexts for alphabets of few values, as
// binned qualities have: the run, the value before it and the differences so far; place
// and running mean; place and the differences so far.
func (h *history) stepped(s uint32) {
	if s != h.last {
		if h.pos > 0 {
			d := int32(s) - int32(h.last)
			h.delta += uint32(max(d, -d))
		}
		h.before = uint64(h.last) << 16
		h.run = 0
	} else {
		h.run++
	}
	h.last = s
	h.mean = uint32(int32(h.mean) + (int32(s<<8)-int32(h.mean))>>2)
	h.pos++
	h.steppedContexts()
}

// steppedContexts computes the contexts of stepped.
func (h *history) steppedContexts() {
	q := uint64(h.last)
	shift, node := h.shift&63, h.node&31
	r := uint64(rootOf[min(h.delta, uint32(len(rootOf)-1))])
	pos := uint64(min(h.pos, 511))
	h.at[0] = uint32((q|octave(h.run)<<8|h.before|r<<32)*hashFactor>>shift) << node
	h.at[1] = uint32((q|uint64(h.mean>>6)<<8|(pos>>3&31)<<32)*hashFactor>>shift)<<node + h.size
	h.at[2] = uint32((q|r<<8|pos<<32)*hashFactor>>shift)<<node + 2*h.size
}

// given appends symbol s and computes the contexts for qualities that are given the bases: the run of equal bases at the next symbol and
// the share of the best value; that run and the base; that run and the running mean. at is the class of the next base (runsOf).
func (h *history) given(s, at uint32) {
	h.last = s
	if s == h.top {
		h.tops++
	}
	h.mean = uint32(int32(h.mean) + (int32(s<<8)-int32(h.mean))>>4)
	h.pos++
	if h.pos&7 == 0 {
		h.mark()
	}
	h.givenContexts(at)
}

// givenContexts computes the contexts of given.
func (h *history) givenContexts(at uint32) {
	q := uint64(h.last) | uint64(at&(1<<runBits-1))<<8
	shift, node := h.shift&63, h.node&31
	h.at[0] = uint32((q|h.stage&0xff00<<8)*hashFactor>>shift) << node
	h.at[1] = uint32((q|uint64(at>>runBits)<<16)*hashFactor>>shift)<<node + h.size
	h.at[2] = uint32((q|uint64(h.mean>>11)<<16)*hashFactor>>shift)<<node + 2*h.size
}

// reset starts a read. The running mean starts at the best quality, the last symbol is 0.
func (h *history) reset() {
	h.last, h.pos, h.run, h.before = 0, 0, 0, 0
	h.mean, h.delta, h.tops, h.seen, h.stage = h.top<<8, 0, 0, 0, 0
}

// contexts computes the contexts of the next symbol, without bases.
func (h *history) contexts(k kind) {
	if k == stepped {
		h.steppedContexts()
	} else {
		h.smoothContexts()
	}
}

var (
	rootOf    [16384]uint8 // square root, rounded up
	octaveOf  [256]uint8   // a logarithm with two steps in each octave
	inverseOf [257]uint32  // 2^16/n, rounded up
)

func init() {
	r := 0
	for i := range rootOf {
		for r*r < i {
			r++
		}
		rootOf[i] = uint8(r)
	}
	for i := range octaveOf {
		n, steps := i, 0
		for n > 3 {
			n, steps = n>>1, steps+2
		}
		octaveOf[i] = uint8(steps + n)
	}
	for i := range inverseOf {
		if i > 0 {
			inverseOf[i] = uint32((65536 + i - 1) / i)
		}
	}
}

// octave returns octaveOf of n, which may be larger than the table.
func octave(n uint32) uint64 { return uint64(octaveOf[min(n, 255)]) }
