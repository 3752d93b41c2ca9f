package quals

import (
	"encoding/binary"
	"math/bits"

	"orcomgo/bins/record"
)

// A Primer is the models of level Default as they are after the first qualities of a column, the leading one. Columns of the same kind,
// as further slices of an input, are smaller if they begin with these models, and each of them can still be decoded without the others.
// It is not changed, so it may be used by several goroutines.
type Primer struct {
	model   *three
	counts  *counts // encoding: of the leading column
	quals   []byte  // decoding: those of the first records
	records int
}

// EncodeLeading is Encode of a column that others follow whose Input has its Primer, which is made of the first records, of `size`
// qualities together or a little more. More make the others smaller, and take longer to be decoded first. It calls ready once, as soon as
// there is a primer, or with nil if the others must be coded without one: there are primers only of level Default, without Bases.
func EncodeLeading(in Input, level Level, size int, ready func(*Primer)) []byte {
	return encodeLeading(in, level, size, strategyEager, ready)
}

// encodeLeading is EncodeLeading with strategyLeading or strategyEager.
func encodeLeading(in Input, level Level, size int, strategy byte, ready func(*Primer)) []byte {
	n, ok := in.total()
	if !ok || n == 0 || n != len(in.Quals) || level != Default || in.Bases != nil {
		ready(nil)
		return Encode(in, level)
	}
	count := countsOf(&in)
	t, head := count.trees(n, 1) // others may have any symbol after any other
	if len(t.values) == 1 {
		ready(nil)
		return Encode(in, level)
	}
	first := Input{Lengths: in.Lengths, Progress: in.Progress}
	taken := 0
	for first.Records < in.Records && taken < size {
		taken += in.Lengths.Of(first.Records)
		first.Records++
	}
	first.Quals = in.Quals[:taken]
	rest := in.after(first.Records)
	rest.Quals = in.Quals[taken:]

	stepped := len(t.values) <= fewValues
	if !stepped && len(t.values) < manyValues {
		s := sample(&first, sampleBytes)
		stepped = len(newThree(t, n, true).encode(nil, &s)) < len(newThree(t, n, false).encode(nil, &s))
	}
	out := append(make([]byte, 0, n/4+1024), strategy)
	if stepped {
		out[0]++
	}
	out = binary.AppendUvarint(append(out, head...), uint64(first.Records))
	m := newThree(t, n, stepped)
	if strategy == strategyEager {
		m.gain = eagerGain
	}
	coded := m.encode(nil, &first)
	m.gain = 1
	ready(&Primer{model: m, counts: count, records: first.Records})
	out = append(binary.AppendUvarint(out, uint64(len(coded))), coded...)
	return append(out, m.encodeCopy(nil, &rest)...)
}

// eagerGain is how much faster than usual weights learn in a primer. They are good sooner, so slices are smaller.
const eagerGain = 4

// after returns the lengths and such of the records from record k on.
func (in *Input) after(k int) Input {
	rest := Input{Records: in.Records - k, Progress: in.Progress}
	if in.Lengths.Each == nil {
		rest.Lengths.Fixed = in.Lengths.Fixed
	} else {
		rest.Lengths = record.Lengths{Each: in.Lengths.Each[k:]}
	}
	return rest
}

// clone returns a copy that learns by itself, in the memory of an older one if there is one.
func (m *three) clone() *three {
	c := unusedThree()
	slots, weights := append(c.slots[:0], m.slots...), append(c.weights[:0], m.weights...)
	*c = *m
	c.slots, c.weights = slots, weights
	return c
}

// encodeCopy is encode by a copy.
func (m *three) encodeCopy(out []byte, in *Input) []byte {
	c := m.clone()
	defer release(c)
	return c.encode(out, in)
}

// decodeCopy is decode by a copy.
func (m *three) decodeCopy(data []byte, in *Input, total int, dst []byte) ([]byte, error) {
	c := m.clone()
	defer release(c)
	return c.decode(data, in, total, dst)
}

// suits reports whether a column is to be coded with the primer: all of its symbols are in the trees, and they follow each other about as
// often as in the leading column.
func (p *Primer) suits(count *counts, in *Input, level Level) bool {
	if p == nil || level != Default || in.Bases != nil {
		return false
	}
	own, primed := uint64(0), uint64(0) // bits, in 1/4096, by the value before alone
	single := true
	for v := range count.all {
		if count.all[v] == 0 {
			continue
		}
		if p.counts.all[v] == 0 {
			return false
		}
		single = single && count.all[v] == uint64(len(in.Quals))
		a, b := &count.pairs[v], &p.counts.pairs[v]
		sumA, sumB := uint64(0), uint64(0)
		for s := range a {
			if p.counts.all[s] > 0 {
				sumA, sumB = sumA+a[s], sumB+b[s]+1
			}
		}
		for s, n := range a {
			if n > 0 {
				own += n*(log2(sumA)-log2(n)) + 4<<12 // without a primer it must be learnt as well
				primed += n * (log2(sumB) - log2(b[s]+1))
			}
		}
	}
	return !single && primed <= own+own/32
}

// log2 returns the logarithm of x > 0 to base 2, in 1/4096.
func log2(x uint64) uint64 {
	e := bits.Len64(x) - 1
	l := uint64(e)
	m := x << (63 - e) >> 32 // x / 2^e, of 2^31
	for range 12 {
		m = m * m >> 31
		l = l<<1 | m>>32
		m >>= m >> 32
	}
	return l
}

// NeedsPrimer reports whether a column can be decoded only with a Primer.
func NeedsPrimer(data []byte) bool { return len(data) > 0 && data[0] == strategyPrimed }

// HasPrimer reports whether a column is one of EncodeLeading that has a Primer, and of how many of its first records that is made.
func HasPrimer(data []byte, in Input) (records int, ok bool) {
	n, valid := in.total()
	if !valid {
		return 0, false
	}
	l, err := parseLeading(data, &in, n)
	if err != nil {
		return 0, false
	}
	return l.records, true
}

// DecodePrimer returns the primer of a leading column; in is that of Decode, of which the lengths are used. An error wraps ErrCorrupt.
func DecodePrimer(data []byte, in Input) (*Primer, error) {
	n, ok := in.total()
	if !ok {
		return nil, ErrCorrupt
	}
	l, err := parseLeading(data, &in, n)
	if err != nil {
		return nil, err
	}
	return l.primer(&in)
}

// leading is the parts of the stream of a leading column.
type leading struct {
	model       func() *three // as they are at first
	records     int           // the first ones, of which the primer is made
	bytes       int           // of them
	first, rest []byte        // decisions
}

// isLeading reports whether a strategy is that of a leading column.
func isLeading(strategy byte) bool {
	return strategy == strategyLeading || strategy == strategyLeading+1 || strategy == strategyEager || strategy == strategyEager+1
}

// parseLeading reads a leading column of n bytes.
func parseLeading(data []byte, in *Input, n int) (*leading, error) {
	if n == 0 || in.Bases != nil || len(data) == 0 || !isLeading(data[0]) {
		return nil, ErrCorrupt
	}
	stepped := data[0] == strategyLeading+1 || data[0] == strategyEager+1
	t, rest, err := parseTrees(data[1:], n)
	if err != nil {
		return nil, err
	}
	records, k := binary.Uvarint(rest)
	if k <= 0 || records == 0 || records > uint64(in.Records) {
		return nil, ErrCorrupt
	}
	rest = rest[k:]
	size, k := binary.Uvarint(rest)
	if k <= 0 || size > uint64(len(rest)-k) {
		return nil, ErrCorrupt
	}
	rest = rest[k:]
	model := func() *three {
		m := newThree(t, n, stepped)
		if data[0] >= strategyEager {
			m.gain = eagerGain
		}
		return m
	}
	l := &leading{model: model, records: int(records), first: rest[:size], rest: rest[size:]}
	l.bytes = int(in.Lengths.Sum(0, l.records))
	return l, nil
}

// primer decodes the first records.
func (l *leading) primer(in *Input) (_ *Primer, err error) {
	p := &Primer{model: l.model(), records: l.records}
	first := Input{Lengths: in.Lengths, Records: l.records, Progress: in.Progress}
	if in.Lengths.Each != nil {
		first.Lengths = record.Lengths{Each: in.Lengths.Each[:l.records]}
	}
	p.quals, err = p.model.decode(l.first, &first, l.bytes, nil)
	p.model.gain = 1
	return p, err
}

// decode appends the values of the column to dst, which has wanted bytes in the end.
func (l *leading) decode(in *Input, wanted int, dst []byte) (_ []byte, err error) {
	p := in.Primer
	switch {
	case p == nil && in.decoded() < l.records:
		some := Input{Lengths: in.Lengths, Records: in.Records, First: in.decoded(), Progress: in.Progress}
		return l.model().decode(l.first, &some, wanted, dst)
	case p == nil:
		if p, err = l.primer(in); err != nil {
			return nil, err
		}
	case p.records != l.records || len(p.quals) != l.bytes:
		return nil, ErrCorrupt // it is of another column
	}
	dst = append(dst, p.quals[:min(wanted, len(p.quals))]...)
	rest := in.after(l.records)
	if rest.First = in.decoded() - l.records; rest.First <= 0 && rest.Records > 0 {
		return dst, nil
	}
	return p.model.decodeCopy(l.rest, &rest, wanted, dst)
}
