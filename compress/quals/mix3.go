package quals

// weights of the mixing at one node of one tree; 65536 is 1.
type weights3 [4]int32 // three, and one to fill the cache line

// mix3 mixes three context models, the weights chosen by the previous symbol and the node.
type mix3 struct {
	t          *trees
	shift      uint // contexts are the upper bits of a hash
	node       uint // log2 of the slots of a context
	stepped    bool
	slots      [3][]uint32
	weights    [][256]weights3 // of each previous symbol
	lane       lane
	a0, a1, a2 uint64 // where in the slots the next symbol's contexts start
}

func newMix3(t *trees, total int, stepped bool) *mix3 {
	node := t.nodeBits()
	ctx := contextsFor(total, node)
	m := &mix3{t: t, shift: 64 - ctx, node: node, stepped: stepped}
	for i := range m.slots {
		m.slots[i] = newSlots(ctx, m.node)
	}
	m.weights = make([][256]weights3, len(t.values))
	for i := range m.weights {
		for j := range m.weights[i] {
			m.weights[i][j] = weights3{22000, 22000, 22000}
		}
	}
	return m
}

// start begins a read.
func (m *mix3) start() {
	m.lane.reset(uint32(len(m.t.values) - 1))
	m.contexts()
}

// contexts finds the contexts of the next symbol.
func (m *mix3) contexts() {
	l := &m.lane
	q := uint64(l.q1)
	pos := uint64(min(l.pos, 511))
	var h0, h1, h2 uint64
	if m.stepped {
		r := uint64(root(l.delta))
		h0 = q | uint64(octave(l.run))<<8 | uint64(l.symBefore)<<16 | r<<32
		h1 = q | uint64(l.fast>>6)<<8 | min(pos>>3, 31)<<32
		h2 = q | r<<8 | pos<<32
	} else {
		h0 = q | uint64(l.slow>>10)<<8 | pos<<32
		h1 = q | uint64(octave(l.run))<<8 | uint64(l.symBefore)<<16 | uint64(octave(l.runBefore))<<32
		h2 = q | uint64(l.tops*inverseOf[l.seen+1]>>12)<<8 | min(pos>>3, 31)<<32
	}
	m.a0 = h0 * hashFactor >> (m.shift & 63) << (m.node & 63)
	m.a1 = h1 * hashFactor >> (m.shift & 63) << (m.node & 63)
	m.a2 = h2 * hashFactor >> (m.shift & 63) << (m.node & 63)
}

func (m *mix3) encode(out []byte, in *Input) []byte {
	e := newEncoder(out)
	var batch [4096]decision
	k := 0
	src := in.Quals
	s0, s1, s2 := m.slots[0], m.slots[1], m.slots[2]
	for r := 0; r < in.Records; r++ {
		n := in.length(r)
		m.start()
		for _, q := range src[:n] {
			s := uint32(m.t.rank[q])
			t0, t1, t2 := (*[256]uint32)(s0[m.a0:]), (*[256]uint32)(s1[m.a1:]), (*[256]uint32)(s2[m.a2:])
			ws := &m.weights[m.lane.q1]
			path := m.t.path(m.lane.q1, s)
			if k+len(path) > len(batch) {
				e.encode(batch[:k])
				k = 0
			}
			for _, d := range path {
				node := uint8(d >> 1)
				x0, x1, x2 := int64(stretchOf[t0[node]>>20]), int64(stretchOf[t1[node]>>20]), int64(stretchOf[t2[node]>>20])
				w := &ws[node]
				dot := (x0*int64(w[0]) + x1*int64(w[1]) + x2*int64(w[2])) >> 16
				p := uint32(squashOf[(min(max(dot, -2047), 2047)+2048)&4095])
				bit := uint32(d & 1)
				batch[k&4095] = decision(p<<1 | bit)
				k++
				err := int64(bit<<16) - int64(p)
				w[0] += int32(x0 * err >> 18)
				w[1] += int32(x1 * err >> 18)
				w[2] += int32(x2 * err >> 18)
				target := int64(-bit | 255) // 255: what counts the uses can't wrap the probability
				v := t0[node]
				u := step[uint8(v)]
				t0[node] = v + uint32((target-int64(v))*int64(u>>1)>>16)&^255 + u&1
				v = t1[node]
				u = step[uint8(v)]
				t1[node] = v + uint32((target-int64(v))*int64(u>>1)>>16)&^255 + u&1
				v = t2[node]
				u = step[uint8(v)]
				t2[node] = v + uint32((target-int64(v))*int64(u>>1)>>16)&^255 + u&1
			}
			m.lane.next(s)
			m.contexts()
		}
		src = src[n:]
	}
	e.encode(batch[:k])
	return e.finish()
}

// decode appends what encode wrote to dst, total bytes.
func (m *mix3) decode(data []byte, in *Input, total int, dst []byte) ([]byte, error) {
	d := &decoder{src: data}
	code := d.word()<<32 | d.word()
	size := ^uint64(0)
	s0, s1, s2 := m.slots[0], m.slots[1], m.slots[2]
	for r := 0; r < in.Records; r++ {
		n := in.length(r)
		m.start()
		for n > 0 {
			part := min(n, 1<<16)
			n -= part
			if d.overrun() {
				return nil, ErrCorrupt
			}
			dst = grow(dst, part, total)
			for range part {
				q1 := m.lane.q1
				t0, t1, t2 := (*[256]uint32)(s0[m.a0:]), (*[256]uint32)(s1[m.a1:]), (*[256]uint32)(s2[m.a2:])
				ws := &m.weights[q1]
				tree := &m.t.child[q1]
				c := m.t.root[q1]
				for c >= 0 {
					node := uint8(c)
					x0, x1, x2 := int64(stretchOf[t0[node]>>20]), int64(stretchOf[t1[node]>>20]), int64(stretchOf[t2[node]>>20])
					w := &ws[node]
					dot := (x0*int64(w[0]) + x1*int64(w[1]) + x2*int64(w[2])) >> 16
					p := uint64(squashOf[(min(max(dot, -2047), 2047)+2048)&4095])
					split := size >> 16 * p
					// A branch, not arithmetic: the processor guesses it and reads ahead
					// in the tree, where the mixing would be too long a chain to wait for.
					err, target := -int64(p), int64(255)
					if code < split {
						size = split
						err, target = 65536-int64(p), 1<<32-1
						c = tree[node][1]
					} else {
						code -= split
						size -= split
						c = tree[node][0]
					}
					if size>>32 == 0 {
						size <<= 32
						code = code<<32 | d.word()
					}
					w[0] += int32(x0 * err >> 18)
					w[1] += int32(x1 * err >> 18)
					w[2] += int32(x2 * err >> 18)
					v := t0[node]
					u := step[uint8(v)]
					t0[node] = v + uint32((target-int64(v))*int64(u>>1)>>16)&^255 + u&1
					v = t1[node]
					u = step[uint8(v)]
					t1[node] = v + uint32((target-int64(v))*int64(u>>1)>>16)&^255 + u&1
					v = t2[node]
					u = step[uint8(v)]
					t2[node] = v + uint32((target-int64(v))*int64(u>>1)>>16)&^255 + u&1
				}
				s := uint32(^c)
				dst = append(dst, m.t.values[s&255])
				m.lane.next(s)
				m.contexts()
			}
		}
	}
	if !d.done() {
		return nil, ErrCorrupt
	}
	return dst, nil
}
