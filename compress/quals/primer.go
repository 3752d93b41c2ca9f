package quals

import (
	"bytes"
	"encoding/binary"
	"slices"

	"orcomgo/bins/parse"
	"orcomgo/bins/record"
)

// A Primer is the model as it is after the first qualities of a column, the leading one. Columns of the same kind,
// as further slices of an input, are smaller if they begin with this model, and each of them can still be decoded without the others.
// It is not changed, so it may be used by several goroutines.
type Primer struct {
	model   *model
	quals   []byte // decoding: those of the first records
	records int
}

// EncodeLeading is Encode of a column that others follow whose Input has its Primer, which is made of the first records, of `size`
// qualities together or a little more. More make the others smaller, and take longer to be decoded first. It calls ready once, as soon as
// there is a primer, or with nil if the others must be coded without one: there are no primers of columns with Bases.
func EncodeLeading(in Input, size int, ready func(*Primer)) []byte {
	n, ok := in.total()
	values := valuesOf(in.Quals)
	if !ok || n != len(in.Quals) || len(values) < 2 || in.Bases != nil {
		ready(nil)
		return Encode(in)
	}
	k := kindFor(&in, len(values))
	t, head := newRanks(&in, values, k)
	first := sample(&in, size)
	first.Progress = in.Progress
	rest := in.after(first.Records)
	rest.Quals = in.Quals[len(first.Quals):]

	out := append(append(make([]byte, 0, n/4+1024), byte(strategyLeading+k)), head...)
	out = binary.AppendUvarint(out, uint64(first.Records))
	m := newModel(t, n, k)
	coded := m.encode(nil, &first)
	ready(&Primer{model: m, records: first.Records})
	out = append(binary.AppendUvarint(out, uint64(len(coded))), coded...)
	c := m.clone()
	defer c.release()
	return c.encode(out, &rest)
}

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

// suits reports whether a column that has these values is to be coded with the primer.
func (p *Primer) suits(values []byte, in *Input) bool {
	if p == nil || in.Bases != nil {
		return false
	}
	for _, v := range values {
		if !bytes.Contains(p.model.ranks.values, []byte{v}) {
			return false
		}
	}
	return true
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
	ranks       *ranks
	kind        kind
	total       int    // symbols of the column
	records     int    // the first ones, of which the primer is made
	bytes       int    // of them
	first, rest []byte // decisions
}

// parseLeading reads a leading column of n bytes.
func parseLeading(data []byte, in *Input, n int) (*leading, error) {
	if n == 0 || in.Bases != nil || len(data) == 0 || data[0] < strategyLeading || data[0] >= strategyPrimed {
		return nil, ErrCorrupt
	}
	leads := kind(data[0] - strategyLeading)
	t, rest, err := parseRanks(data[1:], leads)
	if err != nil {
		return nil, err
	}
	records, k := parse.Uvarint(rest)
	if k <= 0 || records == 0 || records > uint64(in.Records) {
		return nil, ErrCorrupt
	}
	rest = rest[k:]
	size, k := parse.Uvarint(rest)
	if k <= 0 || size > uint64(len(rest)-k) {
		return nil, ErrCorrupt
	}
	rest = rest[k:]
	l := &leading{ranks: t, kind: leads, total: n, records: int(records), first: rest[:size], rest: rest[size:]}
	l.bytes = int(in.Lengths.Sum(0, l.records))
	return l, nil
}

// primer decodes the first records.
func (l *leading) primer(in *Input) (_ *Primer, err error) {
	p := &Primer{model: newModel(l.ranks, l.total, l.kind), records: l.records}
	first := Input{Lengths: in.Lengths.Slice(0, l.records), Records: l.records, Progress: in.Progress}
	p.quals, err = p.model.decode(l.first, &first, l.bytes, nil)
	return p, err
}

// decode returns the values of the column, as many as are wanted.
func (l *leading) decode(in *Input, wanted int) (_ []byte, err error) {
	p := in.Primer
	switch {
	case p == nil && in.decoded() < l.records:
		some := Input{Lengths: in.Lengths.Slice(0, l.records), Records: l.records, First: in.decoded(), Progress: in.Progress}
		m := newModel(l.ranks, l.total, l.kind)
		defer m.release()
		return m.decode(l.first, &some, wanted, nil)
	case p == nil:
		if p, err = l.primer(in); err != nil {
			return nil, err
		}
	case p.records != l.records || len(p.quals) != l.bytes:
		return nil, ErrCorrupt // it is of another column
	}
	values := slices.Clone(p.quals[:min(wanted, len(p.quals))])
	rest := in.after(l.records)
	if rest.First = in.decoded() - l.records; rest.First <= 0 && rest.Records > 0 {
		return values, nil
	}
	c := p.model.clone()
	defer c.release()
	return c.decode(l.rest, &rest, wanted, values)
}
