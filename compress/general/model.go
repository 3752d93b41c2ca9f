package general

import (
	"math/bits"

	"orcomgo/compress/mixing"
	"orcomgo/compress/rangecoder"
	"orcomgo/internal/largepages"
)

const (
	orders     = 3          // contexts of a byte
	inputs     = orders + 2 // predictions of a decision, at most
	maxLines   = 14         // bits of the number of a line
	maxBits    = 16         // bits of the number of a probability of byBytes
	maxColumns = 64         // places in a row that have probabilities of their own
	// Limits of the counts of probabilities.
	limit       = 60
	hitLimit    = 500
	columnLimit = 250
	// A byte is coded by whether it is the one that the repeat expects if that has at least this probability, in 1/65536.
	trusted = 30000
	// A long repeat whose end has at most this probability is coded by its length alone, as is a bit of which the second context is certain.
	sure    = 128
	certain = 1000
	// A byte without a repeat is coded as noise if the bytes before had a mean error of more than noisy, or in rows of more than noisyRows,
	// unless it is one of the first noiseTrial of noisePeriod.
	noisy       = 193000 // in 1/65536
	noisyRows   = 249000
	noiseTrial  = 12
	noisePeriod = 64
)

// line has the probabilities of four bits under a context, by the path so far; the first one is a check.
type line [16]prob

// freshLine is a line without a check whose probabilities are fresh.
var freshLine = func() (l line) {
	for i := range l {
		l[i] = freshProb
	}
	return l
}()

// weights are those of the predictions of a decision, in 1/65536, and how many decisions they learned from, up to slowAfter.
type weights struct {
	w [inputs]int32
	n int32
}

const (
	slowAfter = 1024
	fastRate  = 50
	slowRate  = 30
)

// model predicts the bytes of a text by those before.
type model struct {
	repeats
	stride int // bytes of a row, or 0

	hits       [lengthClasses * histories]rangecoder.Prob // whether a repeat goes on
	byBytes    []rangecoder.Prob                          // likewise, by the byte that it expects and one to three before, hashed
	bytesShift int                                        // of the hash
	hitWeights [lengthClasses]weights

	doubt       uint32                                 // the mean error of bytes: of their bits together, in 1/65536
	noisy       uint32                                 // from this doubt on, bytes are coded as noise
	tables      [orders][]line                         // of each context
	shift       int                                    // of the hash of a line
	noise       *rangecoder.Frequencies                // codes noise
	columns     []rangecoder.Prob                      // of a bit, by the place in the row
	expected    [2 * lengthClasses * 8]rangecoder.Prob // that a bit is the one that a repeat expects
	byteWeights [3 * 256]weights
}

// newModel returns a model that codes size bytes, which may repeat some of all bytes.
func newModel(size, all int, s Settings) *model {
	m := &model{repeats: newRepeats(all, s.least), stride: s.stride, noisy: noisy, noise: &rangecoder.NewFrequencies(1)[0]}
	if s.stride > 0 {
		m.noisy = noisyRows
	}
	m.columns = rangecoder.NewProbs(min(max(s.stride, 1), maxColumns) * 256)
	logLines := min(max(bits.Len(uint(size))-1, 6), maxLines)
	m.shift = 32 - logLines
	lines := largepages.Make[line](orders << logLines)
	for i := range m.tables {
		m.tables[i] = lines[i<<logLines:][:1<<logLines]
	}
	rangecoder.FillProbs(m.hits[:])
	rangecoder.FillProbs(m.expected[:])
	logBytes := min(bits.Len(uint(size))+2, maxBits)
	m.byBytes, m.bytesShift = rangecoder.NewProbs(1<<logBytes), 32-logBytes
	fillWeights(m.hitWeights[:])
	fillWeights(m.byteWeights[:])
	return m
}

func fillWeights(all []weights) {
	for i := range all {
		for j := range all[i].w {
			all[i].w[j] = mixing.One / 4
		}
	}
}

// code codes the bytes of a text from one on, given those before.
func (m *model) code(c *rangecoder.Coder, text []byte, from int) {
	before := uint64(0) // the last eight bytes, the last one lowest
	for i, b := range text[:from] {
		*m.place(before) = int32(i)
		before = before<<8 | uint64(b)
	}
	decoding := c.Decoding()
	for i := from; i < len(text); i++ {
		b := text[i] // if it is known
		noise := m.length == 0 && m.doubt > m.noisy && i%noisePeriod >= noiseTrial
		m.find(text, i, before, noise)
		if noise {
			b = c.Frequent(b, m.noise)
			if m.from >= 0 {
				m.learn(text, i+1, b, rangecoder.BitOf(b == text[m.from]))
			}
		} else if m.from < 0 {
			b = m.byte(c, text, i, before, free)
		} else {
			want, p := text[m.from], &m.hits[m.class()]
			if p.P() < trusted {
				b = m.byte(c, text, i, before, open)
			} else if m.goesOn(c, rangecoder.BitOf(b == want), p, want, before) == 1 {
				b = want
				m.doubt -= m.doubt >> 4
			} else {
				b = m.byte(c, text, i, before, missed)
			}
			hit := rangecoder.BitOf(b == want)
			p.Update(hit, hitLimit)
			m.learn(text, i+1, b, hit)
		}
		if decoding {
			text[i] = b // when encoding, others may read it
		}
		before = before<<8 | uint64(b)
	}
}

// goesOn codes whether a byte is the one that the repeat expects, which p has learned.
func (m *model) goesOn(c *rangecoder.Coder, hit int, p *rangecoder.Prob, want byte, before uint64) int {
	p0 := p.P()
	if m.length >= longRepeat && p0 > 1<<rangecoder.ProbBits-sure {
		return c.Bit(hit, min(p0, 1<<rangecoder.ProbBits-8))
	}
	at := func(x uint64) *rangecoder.Prob { return &m.byBytes[hash(x<<8|uint64(want))>>(m.bytesShift&31)] }
	p1, p2, p3 := at(before&0xff|1<<52), at(before&0xffff|1<<53), at(before&0xffffff<<8|uint64(min(m.length, 15))|1<<54)
	w := &m.hitWeights[lengthClass(m.length)]
	s0, s1, s2, s3 := stretch(p0), stretch(p1.P()), stretch(p2.P()), stretch(p3.P())
	q := mixing.Predict(s0*int64(w.w[0]) + s1*int64(w.w[1]) + s2*int64(w.w[2]) + s3*int64(w.w[3]))
	hit = c.Bit(hit, q)
	e := w.step(hit, q)
	mixing.Move(&w.w[0], s0, e)
	mixing.Move(&w.w[1], s1, e)
	mixing.Move(&w.w[2], s2, e)
	mixing.Move(&w.w[3], s3, e)
	p1.Update(hit, limit)
	p2.Update(hit, limit)
	p3.Update(hit, limit)
	return hit
}

// What is known of a byte that is coded by its bits.
const (
	free   = iota // it is any byte, or the bits so far are not those that the repeat expects
	open          // it may be the one that the repeat expects
	missed        // it is not the one that the repeat expects
)

// byte codes a byte by its bits.
func (m *model) byte(c *rangecoder.Coder, text []byte, i int, before uint64, state int) byte {
	var h [orders]uint32
	m.contexts(&h, text, i, before)
	want, class := 0, 0
	if state != free {
		want = int(text[m.from]) | 256
		class = (lengthClass(m.length)*2 + state - open) * 8
	}
	column := m.columns
	if m.stride > 0 {
		column = column[i%m.stride%maxColumns*256:]
	}
	column = column[:256]
	b := int(text[i]) | 256
	node, doubt := 1, uint32(0)
	for half := range 2 {
		l0, l1, l2 := m.line(0, h[0], node), m.line(1, h[1], node), m.line(2, h[2], node)
		at := 1
		for k := 7 - 4*half; k >= 4-4*half; k-- {
			p0, p1, p2 := &l0[at&15], &l1[at&15], &l2[at&15]
			if p := p1.p(); p-certain > 1<<rangecoder.ProbBits-2*certain {
				bit := c.Bit(b>>k&1, min(max(p, 16), 1<<rangecoder.ProbBits-16))
				p1.update(bit)
				node, at = node<<1|bit, at<<1|bit
				continue
			}
			if want>>(k+1) != node {
				state = free
			}
			w, p4 := &m.byteWeights[state<<8|node], &column[node&255]
			s0, s1, s2, s4 := stretch(p0.p()), stretch(p1.p()), stretch(p2.p()), stretch(p4.P())
			sum := s0*int64(w.w[0]) + s1*int64(w.w[1]) + s2*int64(w.w[2]) + s4*int64(w.w[4])
			next := want >> k & 1
			p3, s3 := &m.expected[class+k], int64(0)
			if state != free {
				if s3 = stretch(p3.P()); next == 0 {
					s3 = -s3
				}
				sum += s3 * int64(w.w[3])
			}
			q := mixing.Predict(sum)
			bit := c.AnyBit(b>>k&1, q)
			e := w.step(bit, q)
			mixing.Move(&w.w[0], s0, e)
			mixing.Move(&w.w[1], s1, e)
			mixing.Move(&w.w[2], s2, e)
			mixing.Move(&w.w[4], s4, e)
			p4.Update(bit, columnLimit)
			doubt += q ^ uint32(-bit)&0xffff
			p0.update(bit)
			p1.update(bit)
			p2.update(bit)
			if state != free {
				mixing.Move(&w.w[3], s3, e)
				p3.Update(rangecoder.BitOf(bit == next), limit)
			}
			node, at = node<<1|bit, at<<1|bit
		}
	}
	m.doubt += doubt>>7 - m.doubt>>7
	return byte(node)
}

// contexts sets the hashes of the contexts of byte i: of one to three bytes before or, in rows, of those before and above.
func (m *model) contexts(h *[orders]uint32, text []byte, i int, before uint64) {
	h[0] = hash(before & 0xff)
	h[1] = hash(before&0xffff | 1<<16)
	if m.stride == 0 {
		h[2] = hash(before&0xffffff | 1<<24)
		return
	}
	above := byte(0)
	if i >= m.stride {
		above = text[i-m.stride]
	}
	column := uint64(i%m.stride) << 32
	h[0] = hash(column | uint64(above)<<8 | 1)
	h[2] = hash(column | uint64(above)<<16 | (before&0xff)<<8 | 2)
}

// hash returns the hash of a number.
func hash(x uint64) uint32 { return uint32(x * 0x9E3779B97F4A7C15 >> 32) }

// line returns the line of context k with a hash at a node of the path through a byte.
func (m *model) line(k int, h uint32, node int) *line {
	h = (h + uint32(node)) * 0x9E3779B1
	h ^= h >> 15
	h *= 0x85EBCA6B
	l, check := &m.tables[k][h>>(m.shift&31)], prob(h)|1
	if l[0] != check {
		*l = freshLine
		l[0] = check
	}
	return l
}

// stretch returns the stretched form of a probability.
func stretch(p uint32) int64 { return int64(mixing.Stretch(p)) }

// step returns how far the weights move for each prediction, given what was predicted.
func (w *weights) step(bit int, q uint32) int64 {
	rate := int64(fastRate - w.n*(fastRate-slowRate)/slowAfter)
	w.n = min(w.n+1, slowAfter)
	return mixing.Step(bit, q, rate)
}
