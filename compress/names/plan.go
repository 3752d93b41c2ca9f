package names

import (
	"bytes"
	"math/bits"

	rc "orcomgo/compress/rangecoder"
)

// fieldPlan is how a field of a shape is coded. The encoder picks it from the names; the
// decoder reads it where the shape first appears.
type fieldPlan struct {
	frequent bool   // changes often, and is coded in every name; else (a rare field) only in names in which a rare field changes
	equal    int    // an earlier field that mostly has the same value, or -1
	match    bool   // the column repeats itself: see matcher
	sparse   bool   // few of the possible values occur: see codec.bySeen
	unit     uint32 // window size, 1 if there are no windows: see codec.unitNumber
	width    int    // bits of the largest value / unit
}

type shapePlan struct {
	hasRare bool // some field is not frequent
	field   []fieldPlan
}

// units are the window sizes that are tried; HiSeq coordinates are in windows of 25 pixels of 10 units.
var units = [...]uint32{1, 50, 100, 125, 200, 250, 500, 1000}

const (
	planNames  = 1 << 18 // names that plans are made from
	planShapes = 64      // shapes that get a plan; others have the default
	planMin    = 32      // names that a shape must have to get a plan
	topBits    = 12      // upper bits of a value that is coded by itself that are modelled
	maxTables  = 64      // matchers, and sets of values seen, in a stream
)

// defaultPlan returns the plan of a shape with few names.
func defaultPlan(fields int) shapePlan {
	p := shapePlan{field: make([]fieldPlan, fields)}
	for i := range p.field {
		p.field[i] = fieldPlan{frequent: true, equal: -1, unit: 1, width: 32}
	}
	return p
}

// codePlan codes a plan; nil is the default plan.
func (c *codec) codePlan(p *shapePlan, fields int) shapePlan {
	out := defaultPlan(fields)
	if c.direct(rc.BitOf(p != nil), hash(hPlan, 0, 0), 30) == 0 {
		return out
	}
	if p == nil {
		p = &out
	}
	for i := range out.field {
		a, b := p.field[i], &out.field[i]
		flags := uint32(rc.BitOf(a.frequent) | rc.BitOf(a.match)<<1 | rc.BitOf(a.sparse)<<2 | rc.BitOf(a.equal >= 0)<<3)
		flags = c.Uniform(flags, 4)
		b.frequent, b.match, b.sparse = flags&1 != 0, flags&2 != 0, flags&4 != 0
		if flags&8 != 0 {
			b.equal = int(c.Uniform(uint32(a.equal), 5))
			if b.equal >= i {
				c.bad, b.equal = true, -1
			}
		}
		// Tables take memory, so their number is limited even if a damaged stream has more.
		b.match = b.match && c.matchers < maxTables
		b.sparse = b.sparse && c.seenSets < maxTables
		c.matchers += rc.BitOf(b.match)
		c.seenSets += rc.BitOf(b.sparse)
		unit := uint32(0)
		for k, u := range units {
			if u == a.unit {
				unit = uint32(k)
			}
		}
		b.unit = units[c.Uniform(unit, 3)]
		b.width = int(c.Uniform(uint32(a.width-1), 5)) + 1
		if !b.frequent {
			out.hasRare = true
		}
	}
	return out
}

// column has the statistics of a field over the names of a shape.
type column struct {
	vals    []uint32
	changes int
	down    int // changes to a smaller value
	last    []byte
}

type sampleShape struct {
	kinds []uint8
	names int
	col   []column
}

// makePlans makes the plans of the shapes of up to planNames names.
func makePlans(names []byte) map[string]shapePlan {
	shapes := map[string]*sampleShape{}
	var t tokens
	var last *sampleShape
	var lastKey []byte
	for range planNames {
		end := lineLen(names)
		if end == 0 {
			break
		}
		name := names[:end-1]
		names = names[end:]
		t.cut(name)
		sh := last
		if sh == nil || !bytes.Equal(t.key, lastKey) {
			sh = shapes[string(t.key)]
		}
		if sh == nil {
			if len(shapes) == planShapes {
				continue
			}
			sh = &sampleShape{col: make([]column, t.n)}
			for j := range sh.col {
				sh.kinds = append(sh.kinds, t.field[j].kind)
				if t.field[j].kind != kindWord && len(shapes) == 0 {
					sh.col[j].vals = make([]uint32, 0, min(len(names)/8, planNames))
				}
			}
			shapes[string(t.key)] = sh
		}
		if sh != last {
			last, lastKey = sh, append(lastKey[:0], t.key...)
		}
		sh.names++
		for j := range sh.col {
			c := &sh.col[j]
			f := &t.field[j]
			if f.kind != kindWord {
				if k := len(c.vals); k > 0 && c.vals[k-1] != f.val {
					c.changes++
					c.down += rc.BitOf(f.val < c.vals[k-1])
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
		}
	}
	plans := map[string]shapePlan{}
	for key, sh := range shapes {
		if sh.names >= planMin {
			plans[key] = sh.plan()
		}
	}
	return plans
}

func (sh *sampleShape) plan() shapePlan {
	p := defaultPlan(len(sh.col))
	for i := range sh.col {
		c, f := &sh.col[i], &p.field[i]
		f.frequent = c.changes > sh.names/64
		if !f.frequent {
			p.hasRare = true
		}
		if sh.kinds[i] == kindWord {
			continue
		}
		top := uint32(0)
		for _, v := range c.vals {
			top = max(top, v)
		}
		f.width = max(bitLen(top), 1)
		if f.frequent {
			f.equal = sh.equalTo(i, &p)
			if f.equal < 0 {
				f.unit = c.unit(f.width)
				if i > 0 && sh.kinds[i-1] != kindWord && p.field[i-1].unit > 1 {
					f.unit = p.field[i-1].unit
				}
				f.match = f.unit == 1 && c.repeats()
				f.sparse = f.unit == 1 && f.width <= seenBits && c.sparse(top)
				f.width = max(bitLen(top/f.unit), 1)
			}
		}
	}
	return p
}

// equalTo returns the earlier number whose value field i mostly has, or -1.
func (sh *sampleShape) equalTo(i int, p *shapePlan) int {
	for j := 0; j < i; j++ {
		if sh.kinds[j] == kindWord || !p.field[j].frequent {
			continue
		}
		same := 0
		for k, v := range sh.col[i].vals {
			same += rc.BitOf(v == sh.col[j].vals[k])
		}
		if same > sh.names/2 {
			return j
		}
	}
	return -1
}

// unit returns the size of the windows in which the column moves, 1 if there are none: windows follow each
// other in order, while the numbers inside are unordered.
func (c *column) unit(width int) uint32 {
	if c.down < len(c.vals)/4 || width < 8 {
		return 1
	}
	best := uint32(1)
	for _, u := range units[1:] {
		near := 0
		for k := 1; k < len(c.vals); k++ {
			d := c.vals[k]/u - c.vals[k-1]/u
			near += rc.BitOf(d <= 1)
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

// repeats reports whether forecasts of a matcher save bytes.
func (c *column) repeats() bool {
	m := matchers.Get().(*matcher)
	defer matchers.Put(m)
	defer m.reset()
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
	s := seenSets.Get().(*seenSet)
	defer seenSets.Put(s)
	defer clear(s.set)
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
