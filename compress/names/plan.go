package names

import (
	"bytes"
	"math/bits"
	"slices"

	rc "orcomgo/compress/rangecoder"
)

// fieldPlan is how a field of a shape is coded. The encoder picks it from the names; the
// decoder reads it where the shape first appears.
type fieldPlan struct {
	frequent bool   // changes often, and is coded in every name; else (a rare field) only in names in which a rare field changes
	equal    int    // an earlier field that mostly has the same value, or -1
	match    bool   // the column repeats itself: see matcher
	pitch    uint32 // of the cells in which a number moves, in 1/cellOne; 0 if there are none: see codec.inCells
	phase    uint32 // where cell 0 begins, in 1/cellOne
	width    int    // bits of the largest value, or of the largest number of a cell
}

// windows are the sizes of cells that are tried; HiSeq coordinates are in windows of 25 pixels of 10 units.
var windows = [...]uint32{50, 100, 125, 200, 250, 500, 1000}

const (
	planNames  = 1 << 13 // names that plans are made from
	planParts  = 1 << 4  // of the names; as many of each
	aheadNames = 1 << 18 // names in which columns may be found to repeat themselves
	planShapes = 64      // shapes that get a plan; others have the default
	planMin    = 32      // names that a shape must have to get a plan
	maxTables  = 64      // matchers, and tables of shifts, in a stream
	maxRows    = 1 << 13 // of wells
	cellOne    = 1 << 20
	wellPitch  = 1 << 5 // cells that are smaller have a well in the middle
)

// hasWells reports whether the cells are those of a patterned flow cell.
func (f *fieldPlan) hasWells() bool { return 0 < f.pitch && !f.hasWindows() }

// hasWindows reports whether the cells are windows, which are larger.
func (f *fieldPlan) hasWindows() bool { return f.pitch >= wellPitch*cellOne }

// cell returns which cell v is in.
func (f *fieldPlan) cell(v uint32) uint32 {
	return uint32(max(int64(v)*cellOne+cellOne-1-int64(f.phase), 0) / int64(f.pitch))
}

// at returns where cell i begins, and more values in 1/cellOne after that.
func (f *fieldPlan) at(i, more uint32) uint32 {
	return uint32((uint64(i)*uint64(f.pitch) + uint64(f.phase) + uint64(more)) / cellOne)
}

// defaultPlan returns the plan of a shape with few names.
func defaultPlan(fields int) []fieldPlan {
	p := make([]fieldPlan, fields)
	for i := range p {
		p[i] = fieldPlan{frequent: true, equal: -1, width: 32}
	}
	return p
}

// codePlan codes a plan; nil is the default plan.
func (c *codec) codePlan(p []fieldPlan, fields int) []fieldPlan {
	out := defaultPlan(fields)
	if c.direct(rc.BitOf(p != nil), hash(hPlan, 0, 0), 30) == 0 {
		return out
	}
	if p == nil {
		p = out
	}
	for i := range out {
		a, b := p[i], &out[i]
		flags := uint32(rc.BitOf(a.frequent) | rc.BitOf(a.match)<<1 | rc.BitOf(a.pitch > 0)<<2 | rc.BitOf(a.equal >= 0)<<3)
		flags = c.Uniform(flags, 4)
		b.frequent, b.match = flags&1 != 0, flags&2 != 0
		if flags&8 != 0 {
			b.equal = int(c.Uniform(uint32(a.equal), 5))
			if b.equal >= i {
				c.bad, b.equal = true, -1
			}
		}
		if flags&4 != 0 {
			b.pitch, b.phase = max(c.Uniform(a.pitch, 32), 1), c.Uniform(a.phase, 32)
		}
		// Tables take memory, so their number is limited even if a damaged stream has more.
		c.tables += rc.BitOf(b.match) + rc.BitOf(b.pitch > 0)
		if c.tables > maxTables {
			b.match, b.pitch = false, 0
		}
		c.repeats = c.repeats || b.match
		b.width = int(c.Uniform(uint32(a.width-1), 5)) + 1
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
	names int
	col   []column
}

// makePlans makes the plans of the shapes of names, from planNames of them.
func makePlans(names []byte) map[string][]fieldPlan {
	shapes := map[string]*sampleShape{}
	var t tokens
	from, all := 0, names
	for k := range planParts {
		to := len(all) * (k + 1) / planParts
		to += lineLen(all[to:])
		part := all[from:to]
		from = to
		for range planNames / planParts {
			end := lineLen(part)
			if end == 0 {
				break
			}
			name := part[:end-1]
			part = part[end:]
			t.cut(name)
			sh := shapes[string(t.key)]
			if sh == nil {
				if len(shapes) == planShapes {
					continue
				}
				sh = &sampleShape{col: make([]column, t.n)}
				shapes[string(t.key)] = sh
			}
			sh.add(name, &t)
		}
	}
	plans := map[string][]fieldPlan{}
	for key, sh := range shapes {
		if sh.names >= planMin {
			plans[key] = sh.plan()
			sh.findRepeats(key, plans[key], names)
		}
	}
	return plans
}

// add counts a name of the shape, which is cut.
func (sh *sampleShape) add(name []byte, t *tokens) {
	sh.names++
	for j := range sh.col {
		c, f := &sh.col[j], &t.field[j]
		if w := name[f.from:f.to]; f.kind == kindWord {
			if sh.names == 1 || !bytes.Equal(w, c.last) {
				c.changes++
				c.last = w
			}
			continue
		}
		if k := len(c.vals); k > 0 && c.vals[k-1] != f.val {
			c.changes++
			c.down += rc.BitOf(f.val < c.vals[k-1])
		}
		c.vals = append(c.vals, f.val)
	}
}

func (sh *sampleShape) plan() []fieldPlan {
	p := defaultPlan(len(sh.col))
	window := uint32(0) // of the number before
	for i := range sh.col {
		c, f := &sh.col[i], &p[i]
		f.frequent = c.changes > sh.names/64
		if c.vals == nil { // words
			window = 0
			continue
		}
		top := slices.Max(c.vals)
		f.width = bits.Len32(top | 1)
		if f.frequent {
			f.equal = sh.equalTo(i, p)
		}
		if !f.frequent || f.equal >= 0 {
			window = 0
			continue
		}
		if window == 0 {
			window = c.window(f.width)
		}
		if f.pitch = window * cellOne; window == 0 && f.width <= 20 {
			c.wells(f, top)
		}
		if f.pitch > 0 {
			f.width = bits.Len32(f.cell(top) | 1)
		}
	}
	return p
}

// findRepeats determines which columns that are coded alone repeat themselves in names. If one is in order, the sample shows it.
func (sh *sampleShape) findRepeats(key string, p []fieldPlan, names []byte) {
	var alone []int
	for i := range p {
		f, c := &p[i], &sh.col[i]
		if !f.frequent || f.equal >= 0 || c.vals == nil {
			continue
		}
		if c.down <= len(c.vals)/4 {
			names = nil
		}
		if f.pitch == 0 {
			alone = append(alone, i)
		}
	}
	if len(alone) == 0 {
		return
	}
	var t tokens
	var s *shape
	for k := 0; k < aheadNames && len(names) > 0; k++ {
		name := names[:lineLen(names)-1]
		names = names[len(name)+1:]
		if s == nil || !t.cutLike(name, s) {
			if t.cut(name); string(t.key) != key {
				continue
			}
			if s == nil {
				s = t.shape(0, p, name)
				for _, i := range alone {
					sh.col[i].vals = sh.col[i].vals[:0]
				}
			}
			s.take(name, &t)
		}
		for _, i := range alone {
			sh.col[i].vals = append(sh.col[i].vals, t.field[i].val)
		}
	}
	for _, i := range alone {
		f, c := &p[i], &sh.col[i]
		f.width = bits.Len32(slices.Max(c.vals) | 1)
		f.match = c.repeats()
	}
}

// equalTo returns the earlier number whose value field i mostly has, or -1.
func (sh *sampleShape) equalTo(i int, p []fieldPlan) int {
	for j := 0; j < i; j++ {
		if sh.col[j].vals == nil || !p[j].frequent {
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

// window returns the size of the windows in which the column moves, 0 if there are none: windows follow each
// other in order, while the numbers inside are unordered.
func (c *column) window(width int) uint32 {
	if c.down < len(c.vals)/16 || c.changes-c.down < len(c.vals)/8 || width < 8 {
		return 0
	}
	best := uint32(0)
	for _, u := range windows {
		falls, last := 0, uint32(0) // to lower windows
		for k := 0; k < len(c.vals) && falls < c.down/4; k++ {
			w := c.vals[k] / u
			falls += rc.BitOf(w < last)
			last = w
		}
		if falls < c.down/4 {
			best = u
			break
		}
	}
	if bits.Len32(best)+3 > width {
		return 0
	}
	return best
}

// repeats reports whether forecasts of a matcher save bytes.
func (c *column) repeats() bool {
	m := newMatcher()
	m.past = make([]pastValue, 0, len(c.vals))
	hits := 0
	var last, delta uint32
	for _, v := range c.vals {
		if d := v - last; d != 0 && d != delta && m.ptr >= 0 && m.past[m.ptr].val == v {
			if hits++; hits > len(c.vals)/50 {
				return true
			}
		}
		delta, last = v-last, v
		m.add(v)
	}
	return false
}

// wells determines the rows of wells of a patterned flow cell, by the least squares of the values that occur. All are kept in integers.
func (c *column) wells(f *fieldPlan, top uint32) {
	seen := make([]bool, top+1)
	for _, v := range c.vals {
		seen[v] = true
	}
	var vals []uint32
	for v, is := range seen {
		if is {
			vals = append(vals, uint32(v))
		}
	}
	n := len(vals)
	if n < 64 || 2*n > min(len(c.vals), int(top-vals[0])) {
		return
	}
	var gaps [wellPitch + 1]int
	most := 0
	for i, v := range vals[1:] {
		gap := min(v-vals[i], wellPitch)
		if gaps[gap]++; gaps[gap] > gaps[most] {
			most = int(gap)
		}
	}
	if most < 3 || most >= wellPitch-1 {
		return
	}
	less, more := gaps[most-1], gaps[most+1]
	pitch, phase := most*cellOne+(more-less)*cellOne/(less+gaps[most]+more), 0
	for range 3 {
		row, rows, sum, squares, products := 0, 0, 0, 0, 0
		for i, v := range vals {
			if i > 0 {
				row += (int(v-vals[i-1])*cellOne + pitch/2) / pitch
			}
			rows, sum, squares, products = rows+row, sum+int(v), squares+row*row, products+row*int(v)
		}
		if row >= maxRows {
			return
		}
		over, under := n*products-rows*sum, n*squares-rows*rows
		pitch = over/under*cellOne + over%under>>10*cellOne/(under>>10)
		phase = (sum*cellOne-pitch*rows)/n + cellOne/2
	}
	g := fieldPlan{pitch: uint32(pitch), phase: uint32((phase + pitch - pitch/2) % pitch)}
	right := 0
	for _, v := range vals {
		right += rc.BitOf(g.at(g.cell(v), g.pitch/2) == v)
	}
	if right > n*3/4 {
		f.pitch, f.phase = g.pitch, g.phase
	}
}
