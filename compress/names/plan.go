package names

import (
	"bytes"
	"math/bits"
)

// fieldPlan is how a field of a shape is coded. The encoder picks it from the names; the
// decoder reads it where the shape first appears.
type fieldPlan struct {
	live    bool // coded in every name; else only in names that change a rare field
	equal   int  // an earlier field whose value it mostly repeats, or -1
	match   bool // the column repeats itself: see matcher
	lattice bool // few values occur: see codec.lattice
	unit    uint32
	width   int  // bits of the largest value, or of the largest value / unit
	top     int  // how many upper bits of a value by itself are modelled
	mixed   bool // words: mixed contexts spell them, else letters are even; numbers: they are in order inside their window
}

type shapePlan struct {
	rare  bool // some field is not live
	field []fieldPlan
}

// units are the window sizes tried; HiSeq coordinates run in windows of 25 pixels of 10.
var units = [...]uint32{1, 50, 100, 125, 200, 250, 500, 1000}

const (
	planNames  = 1 << 18 // names looked at for the plans
	planShapes = 64      // shapes planned for; others get the default
	planMin    = 32      // names a shape must have to be planned for
	maxTop     = 12
	maxTables  = 64 // matchers, and sets of values seen, in a stream
)

// defaultPlan is that of a shape that is too rare to plan for.
func defaultPlan(fields int) shapePlan {
	p := shapePlan{field: make([]fieldPlan, fields)}
	for i := range p.field {
		p.field[i] = fieldPlan{live: true, equal: -1, unit: 1, width: 32, top: 8, mixed: true}
	}
	return p
}

// codePlan codes a plan; nil is the default plan.
func (c *codec) codePlan(p *shapePlan, fields int) shapePlan {
	out := defaultPlan(fields)
	if c.direct(b2i(p != nil), hash(hPlan, 0, 0), 30) == 0 {
		return out
	}
	if p == nil {
		p = &out
	}
	for i := range out.field {
		a, b := p.field[i], &out.field[i]
		flags := uint32(b2i(a.live) | b2i(a.match)<<1 | b2i(a.lattice)<<2 | b2i(a.mixed)<<3 | b2i(a.equal >= 0)<<4)
		flags = c.even(flags, 5)
		b.live, b.match, b.lattice, b.mixed = flags&1 != 0, flags&2 != 0, flags&4 != 0, flags&8 != 0
		if flags&16 != 0 {
			b.equal = int(c.even(uint32(a.equal), 5))
			if b.equal >= i {
				c.bad, b.equal = true, -1
			}
		}
		// What takes memory is limited whatever the stream says.
		b.match = b.match && c.matchers < maxTables
		b.lattice = b.lattice && c.seenSets < maxTables
		c.matchers += b2i(b.match)
		c.seenSets += b2i(b.lattice)
		unit := uint32(0)
		for k, u := range units {
			if u == a.unit {
				unit = uint32(k)
			}
		}
		b.unit = units[c.even(unit, 3)]
		b.width = int(c.even(uint32(a.width-1), 5)) + 1
		b.top = min(int(c.even(uint32(a.top), 4)), b.width)
		if !b.live {
			out.rare = true
		}
	}
	return out
}

// column is what the plans are made from: the values of one field over the names of a shape.
type column struct {
	vals    []uint32
	changes int
	down    int // changes to a smaller value
	last    []byte
	words   map[string]int
	letters [256]int
}

type sampleShape struct {
	kinds []uint8
	names int
	col   []column
}

// makePlans looks at up to planNames names and plans for their shapes.
func makePlans(names []byte, n int, s style) map[string]shapePlan {
	shapes := map[string]*sampleShape{}
	var t tokens
	var last *sampleShape
	var lastSig []byte
	for i := 0; i < n && i < planNames; i++ {
		end := lineLen(names)
		if end == 0 {
			break
		}
		name := names[:end-1]
		names = names[end:]
		t.cut(name, s)
		sh := last
		if sh == nil || !bytes.Equal(t.sig, lastSig) {
			sh = shapes[string(t.sig)]
		}
		if sh == nil {
			if len(shapes) == planShapes {
				continue
			}
			sh = &sampleShape{col: make([]column, t.n)}
			for j := range sh.col {
				sh.kinds = append(sh.kinds, t.field[j].kind)
				if t.field[j].kind == kindWord {
					sh.col[j].words = map[string]int{}
				} else if len(shapes) == 0 {
					sh.col[j].vals = make([]uint32, 0, min(n, planNames))
				}
			}
			shapes[string(t.sig)] = sh
		}
		if sh != last {
			last, lastSig = sh, append(lastSig[:0], t.sig...)
		}
		sh.names++
		for j := range sh.col {
			c := &sh.col[j]
			f := &t.field[j]
			if f.kind != kindWord {
				if k := len(c.vals); k > 0 && c.vals[k-1] != f.val {
					c.changes++
					c.down += b2i(f.val < c.vals[k-1])
				}
				c.vals = append(c.vals, f.val)
				continue
			}
			w := name[f.from:f.to]
			if sh.names > 1 && string(w) == string(c.last) {
				continue
			}
			c.last = w
			c.changes++
			if len(c.words) < 4*maxWords && len(w) <= maxWordLen {
				c.words[string(w)]++
				for _, b := range w {
					c.letters[b]++
				}
			}
		}
	}
	plans := map[string]shapePlan{}
	for sig, sh := range shapes {
		if sh.names >= planMin {
			plans[sig] = sh.plan()
		}
	}
	return plans
}

func (sh *sampleShape) plan() shapePlan {
	p := defaultPlan(len(sh.col))
	for i := range sh.col {
		c, f := &sh.col[i], &p.field[i]
		f.live = c.changes > sh.names/64
		if !f.live {
			p.rare = true
		}
		if sh.kinds[i] == kindWord {
			f.mixed = !c.evenLetters()
			continue
		}
		top := uint32(0)
		for _, v := range c.vals {
			top = max(top, v)
		}
		f.width = max(bitLen(top), 1)
		if f.live {
			f.equal = sh.equalTo(i, &p)
			if f.equal < 0 {
				f.unit = c.unit(f.width)
				if i > 0 && sh.kinds[i-1] != kindWord && p.field[i-1].unit > 1 {
					f.unit = p.field[i-1].unit
				}
				f.match = f.unit == 1 && c.repeats()
				f.lattice = f.unit == 1 && f.width <= latticeBits && c.sparse(top)
				f.width = max(bitLen(top/f.unit), 1)
			}
		}
		f.mixed = c.down < len(c.vals)/4
		f.top = c.modelled(f)
	}
	return p
}

// evenLetters reports whether the letters of the words look drawn evenly, as of barcodes of
// molecules and of UUIDs.
func (c *column) evenLetters() bool {
	total, kinds := 0, 0
	for _, n := range c.letters {
		if n > 0 {
			kinds++
			total += n
		}
	}
	if kinds < 2 || len(c.words) < 4*maxWords {
		return false
	}
	h := entropy(c.letters[:], total)
	return h > uint64(total)*(log2(uint64(kinds))*15/16)
}

// equalTo returns the earlier number whose value field i mostly repeats, or -1.
func (sh *sampleShape) equalTo(i int, p *shapePlan) int {
	for j := 0; j < i; j++ {
		if sh.kinds[j] == kindWord || !p.field[j].live {
			continue
		}
		same := 0
		for k, v := range sh.col[i].vals {
			same += b2i(v == sh.col[j].vals[k])
		}
		if same > sh.names/2 {
			return j
		}
	}
	return -1
}

// unit returns the window size in which the column runs, 1 if in none: windows follow one
// another while the numbers inside come in no order.
func (c *column) unit(width int) uint32 {
	if c.down < len(c.vals)/4 || width < 8 {
		return 1
	}
	best := uint32(1)
	for _, u := range units[1:] {
		near := 0
		for k := 1; k < len(c.vals); k++ {
			d := c.vals[k]/u - c.vals[k-1]/u
			near += b2i(d <= 1)
		}
		if near > len(c.vals)*15/16 {
			best = u
			break
		}
	}
	if bitLen(best)+3 > width {
		return 1
	}
	return best
}

// repeats reports whether forecasts of a matcher pay.
func (c *column) repeats() bool {
	m := newMatcher()
	hits := 0
	var last, delta uint32
	for _, v := range c.vals {
		if d := v - last; d != 0 && d != delta && m.ptr >= 0 && m.vals[m.ptr] == v {
			hits++
		}
		delta, last = v-last, v
		m.add(v)
	}
	return hits > len(c.vals)/50
}

// sparse reports whether only few of the possible values occur.
func (c *column) sparse(top uint32) bool {
	s := newSeenSet()
	low := top
	for _, v := range c.vals {
		s.add(v)
		low = min(low, v)
	}
	distinct := 0
	for _, w := range s.set {
		distinct += bits.OnesCount64(w)
	}
	return 2*distinct < min(len(c.vals), int(top-low)+1)
}

// modelled returns how many upper bits of the values are worth a model: each bit saves what
// the histogram says and costs the learning of its cells.
func (c *column) modelled(f *fieldPlan) int {
	t := min(maxTop, f.width)
	hist := make([]int, 1<<t)
	for _, v := range c.vals {
		hist[v/f.unit>>(f.width-t)]++
	}
	n := len(c.vals)
	best, bestCost := 0, ^uint64(0)
	for ; t >= 0; t-- {
		cells := 0
		for _, k := range hist[:1<<t] {
			cells += b2i(k > 0)
		}
		cost := entropy(hist[:1<<t], n) + uint64(n)*uint64(f.width-t)<<16 + uint64(cells)*log2(uint64(n)+1)/2
		if cost < bestCost {
			best, bestCost = t, cost
		}
		for k := 0; t > 0 && k < 1<<(t-1); k++ {
			hist[k] = hist[2*k] + hist[2*k+1]
		}
	}
	return best
}

// log2 returns the binary logarithm of x >= 1 in 1/65536.
func log2(x uint64) uint64 {
	n := bits.Len64(x) - 1
	r := uint64(n)
	m := x << (63 - n) // 1.0 is 2^63
	for range 16 {
		hi, _ := bits.Mul64(m, m) // 2^126 is 1.0: hi has 1.0 at 2^62
		r <<= 1
		if hi>>63 != 0 {
			r |= 1
			m = hi
		} else {
			m = hi << 1
		}
	}
	return r
}

// entropy returns the sum of -n*log2(n/total) over the counts, in bits/65536.
func entropy(counts []int, total int) uint64 {
	h := uint64(0)
	if total == 0 {
		return 0
	}
	whole := log2(uint64(total))
	for _, n := range counts {
		if n > 0 {
			h += uint64(n) * (whole - log2(uint64(n)))
		}
	}
	return h
}
