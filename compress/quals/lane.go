package quals

// lane is what the models see of the read being coded: its place and a summary of the
// symbols before it. Symbols are indices into the sorted alphabet, so larger is better.
type lane struct {
	q1, q2, q3, q4, q5 uint32 // previous symbols, the last first
	pos                uint32 // place in the read
	delta              uint32 // sum of |differences| since the second symbol
	changes            uint32 // how many of these were not 0
	fast, slow         uint32 // running means (weights 1/4 and 1/16), in 1/256
	run                uint32 // how often q1 came again
	runBefore          uint32 // the same for the run before
	symBefore          uint32 // the symbol of the run before
	tops, seen         uint32 // of the symbols seen, how many were the largest; both halved at 256
	top                uint32 // the largest symbol
}

// reset starts a read: as if it followed on perfect quality, with a 0 before it that tells
// the first place from others.
func (l *lane) reset(top uint32) {
	*l = lane{top: top, fast: top << 8, slow: top << 8}
}

// next takes the symbol s that was coded.
func (l *lane) next(s uint32) {
	d := int32(s) - int32(l.q1)
	if d != 0 {
		l.symBefore, l.runBefore, l.run = l.q1, l.run, 0
		if l.pos > 0 {
			l.changes++
			l.delta += uint32(max(d, -d))
		}
	} else {
		l.run++
	}
	if s == l.top {
		l.tops++
	}
	l.seen++
	if l.seen == 256 {
		l.tops, l.seen = l.tops>>1, 128
	}
	l.fast = uint32(int32(l.fast) + (int32(s<<8)-int32(l.fast))>>2)
	l.slow = uint32(int32(l.slow) + (int32(s<<8)-int32(l.slow))>>4)
	l.q5, l.q4, l.q3, l.q2, l.q1 = l.q4, l.q3, l.q2, l.q1, s
	l.pos++
}

var (
	rootOf    [16384]uint8 // square root, rounded up
	lengthOf  [256]uint8   // two steps an octave, for run lengths
	inverseOf [258]uint32  // 2^16/n, rounded up
)

func init() {
	r := 0
	for i := range rootOf {
		for r*r < i {
			r++
		}
		rootOf[i] = uint8(r)
	}
	for i := range lengthOf {
		n, steps := i, 0
		for n > 3 {
			n, steps = n>>1, steps+2
		}
		lengthOf[i] = uint8(steps + n)
	}
	for i := range inverseOf {
		if i > 0 {
			inverseOf[i] = uint32((65536 + i - 1) / i)
		}
	}
}

// root returns the square root of n, rounded up, at most 128.
func root(n uint32) uint32 { return uint32(rootOf[min(n, uint32(len(rootOf)-1))]) }

// octave returns a logarithm of a run length, two steps an octave.
func octave(n uint32) uint32 { return uint32(lengthOf[min(n, 255)]) }
