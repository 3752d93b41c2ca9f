package seqs

import "encoding/binary"

// baseCoder codes bases one after another under a model.
type baseCoder struct {
	c *coder
	m *model
	x lookup
}

func (b *baseCoder) base(v byte) byte {
	m, x := b.m, &b.x
	m.look(x)
	p := m.predict(x, 0)
	hi := b.c.bit(int(v>>1), p)
	m.learn(x, 0, hi, p)
	p = m.predict(x, 1+hi)
	lo := b.c.bit(int(v&1), p)
	m.learn(x, 1+hi, lo, p)
	v = byte(hi<<1 | lo)
	m.enter(uint64(v))
	return v
}

// encodePseudogenome codes n bases given by at and returns the section and the model that has seen them.
func encodePseudogenome(n int, at func(int) byte) ([]byte, *model) {
	m := newModel(n)
	b := baseCoder{c: encodeTo(binary.AppendUvarint(nil, uint64(n))), m: m}
	for i := 0; i < n; i++ {
		b.base(at(i))
	}
	return b.c.e.Finish(), m
}

// maxPseudogenome bounds the pseudogenome of a part, in bases: positions have 32 bits, and one is Unplaced.
const maxPseudogenome = 1<<32 - 2

// decodePseudogenome is the inverse: the bases one a byte.
func decodePseudogenome(data []byte) ([]byte, *model, error) {
	n, k := binary.Uvarint(data)
	// A base costs no less than 1/700 bit, twice.
	if k <= 0 || n > maxPseudogenome || n/(8*350) > uint64(len(data)) {
		return nil, nil, ErrCorrupt
	}
	m := newModel(int(n))
	b := baseCoder{c: decodeFrom(data[k:]), m: m}
	pg := make([]byte, n)
	for i := range pg {
		pg[i] = b.base(0)
	}
	if err := b.c.d.Err(); err != nil {
		return nil, nil, err
	}
	return pg, m, nil
}
