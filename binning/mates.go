package binning

import (
	"bytes"
	"fmt"

	"github.com/zeebo/xxh3"
)

// mates checks that the inputs of a pair belong together: that they have equally many records,
// and equal names. Digests of names are kept until those of their mates are added.
type mates struct {
	pairs map[int]*pair // by the index of the input with the first mates
}

type pair struct {
	records [2]uint64
	ended   [2]bool
	names   [2][]uint64 // digests of names that were not compared yet
}

// digests appends a digest of each name: of what comes before the first space or tab,
// without /1 or /2 at its end.
func digests(dst []uint64, names []byte) []uint64 {
	for len(names) > 0 {
		n := bytes.IndexByte(names, '\n')
		name := names[:n]
		names = names[n+1:]
		dst = append(dst, xxh3.Hash(mateName(name)))
	}
	return dst
}

func mateName(name []byte) []byte {
	if i := bytes.IndexAny(name, " \t"); i >= 0 {
		name = name[:i]
	}
	if n := len(name); n >= 2 && name[n-2] == '/' && (name[n-1] == '1' || name[n-1] == '2') {
		name = name[:n-2]
	}
	return name
}

// add adds the names of a block, and compares those whose mates have been added.
func (m *mates) add(inputs []*input, in *input, s *stream, last bool) error {
	if in.spec.Mate < 0 {
		return nil
	}
	first, second := in, inputs[in.spec.Mate]
	mate := 0
	if !in.spec.First {
		first, second, mate = second, first, 1
	}
	if m.pairs == nil {
		m.pairs = make(map[int]*pair)
	}
	p := m.pairs[first.index]
	if p == nil {
		p = new(pair)
		m.pairs[first.index] = p
	}
	p.names[mate] = append(p.names[mate], s.names...)
	p.records[mate] += uint64(len(s.names))
	p.ended[mate] = last
	if other := 1 - mate; p.ended[other] && p.records[mate] > p.records[other] {
		return m.checkCounts(inputs) // now, because names without mates would fill the memory
	}
	n := min(len(p.names[0]), len(p.names[1]))
	for i := range n {
		if p.names[0][i] != p.names[1][i] {
			number := p.records[mate] - uint64(len(p.names[mate])) + uint64(i) + 1
			return fmt.Errorf("%s: record %d: expected the mate of record %d of %s, found another name",
				second.spec.Path, number, number, first.spec.Path)
		}
	}
	for i := range p.names {
		p.names[i] = p.names[i][:copy(p.names[i], p.names[i][n:])]
	}
	return nil
}

// checkCounts checks that both inputs of each pair have the same number of records.
func (m *mates) checkCounts(inputs []*input) error {
	for _, in := range inputs {
		if in.spec.Mate < 0 || !in.spec.First {
			continue
		}
		p := m.pairs[in.index]
		if p == nil || p.records[0] == p.records[1] {
			continue
		}
		long, short, n := in, inputs[in.spec.Mate], p.records[1]
		if p.records[0] < n {
			long, short, n = short, long, p.records[0]
		}
		return fmt.Errorf("%s: record %d: expected a mate of record %d of %s, found the end of the file",
			short.spec.Path, n+1, n+1, long.spec.Path)
	}
	return nil
}
