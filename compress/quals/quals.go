// Package quals codes columns of Phred quality strings, reads side by side, by an additive logistic model of the rank of each symbol
// after the one before it, and an asymmetric numeral system. The model is logistic regression, learnt by gradient descent, on features that
// are contexts in the tradition of fqzcomp (Bonfield and Mahoney, "Compression of FASTQ and SAM format sequencing data", PLoS ONE 8(3),
// 2013).
//
// A column is coded by itself and decodes by itself, given the lengths of its reads. The same input gives the same bytes everywhere: models
// are integers only.
package quals

import (
	"bytes"
	"errors"
	"fmt"

	"orcomgo/bins/record"
)

// ErrCorrupt reports a stream that is not what Encode wrote for these lengths.
var ErrCorrupt = errors.New("quals: stream is corrupt or truncated")

// Input is a column of quality strings.
type Input struct {
	Quals   []byte // the bytes of all reads end to end; any byte value; not used by Decode
	Lengths record.Lengths
	Records int
	// Bases, if not nil, are the letters of all reads end to end, and the qualities are coded given them. That pays where sequencers misjudge
	// how long a run of equal bases is: see WorthBases. Decode needs them where Encode had them.
	Bases []byte
	// First, if not 0, is how many of the records Decode returns, the first ones; Lengths and Bases are those of all records.
	First int
	// Primer, if not nil, is that of the leading column: see EncodeLeading. Decode needs that with which Encode was called for a column for
	// which NeedsPrimer returns true, and takes the first records from it if the column is the leading one itself.
	Primer *Primer
	// Device, if not nil, codes the column if it can, and if the column begins with the Primer.
	Device *Device
	// Progress, if not nil, is called now and then with how many more values were coded. Most of them are told, not all.
	Progress func(values int)

	untold int // coded since the last call of Progress
}

// progressEvery is about how many values are coded between two calls of Input.Progress.
const progressEvery = 1 << 18

// tick notes that so many values are about to be coded.
func (in *Input) tick(n int) {
	if in.untold += n; in.untold >= progressEvery && in.Progress != nil {
		in.Progress(in.untold)
		in.untold = 0
	}
}

// decoded returns how many records Decode returns.
func (in *Input) decoded() int {
	if in.First > 0 {
		return min(in.First, in.Records)
	}
	return in.Records
}

// total returns the sum of the lengths, and whether the lengths are valid and it is at most maxTotal.
func (in *Input) total() (int, bool) {
	var n uint64
	if in.Lengths.Each == nil {
		if in.Records < 0 || in.Lengths.Fixed != 0 && uint64(in.Records) > maxTotal/uint64(in.Lengths.Fixed) {
			return 0, false
		}
		n = uint64(in.Records) * uint64(in.Lengths.Fixed)
	} else {
		if len(in.Lengths.Each) != in.Records {
			return 0, false
		}
		n = in.Lengths.Sum(0, in.Records)
	}
	return int(n), n <= maxTotal
}

// maxTotal bounds the bytes of a column. No slice is as large.
const maxTotal = 1 << 42

// The strategies: the first byte of a stream.
const (
	strategyEmpty    = 0 // no bytes at all
	strategyConstant = 1 // one value throughout
	strategyAlone    = 2 // and after it by kind: has ranks and a model of its own
	strategyLeading  = 5 // and after it by kind, which is not given: as those, and others begin with the model after the first records
	strategyPrimed   = 7 // begins with the model of a leading column
)

// maxStepped is the largest number of values of a column that has stepped contexts: sequencers that bin qualities write fewer.
const maxStepped = 12

// kindFor returns the kind of contexts of a column with so many values.
func kindFor(in *Input, values int) kind {
	switch {
	case in.Bases != nil:
		return given
	case values <= maxStepped:
		return stepped
	}
	return smooth
}

// WorthBases reports whether the qualities of a column, which has Bases, should be coded given these. It depends on the first reads, of
// sampleBytes together: they must take at least a fiftieth less.
func WorthBases(in Input) bool {
	s := sample(&in, sampleBytes)
	values := valuesOf(s.Quals)
	if len(values) <= maxStepped {
		return false
	}
	with := Encode(s)
	s.Bases = nil
	return len(with)+len(with)/50 < len(Encode(s))
}

// sampleBytes is how many bytes of a column WorthBases codes.
const sampleBytes = 1 << 19

// sample returns the first reads of the column that have so many bytes, or a little more.
func sample(in *Input, bytes int) Input {
	s := Input{Lengths: in.Lengths}
	n := 0
	for s.Records < in.Records && n < bytes {
		n += in.Lengths.Of(s.Records)
		s.Records++
	}
	s.Lengths, s.Quals = in.Lengths.Slice(0, s.Records), in.Quals[:n]
	if in.Bases != nil {
		s.Bases = in.Bases[:n]
	}
	return s
}

// Encode returns the stream of the column. It panics if len(Quals), or that of Bases, is not the sum of the
// lengths, which is the caller's error.
func Encode(in Input) []byte {
	n, ok := in.total()
	if !ok || n != len(in.Quals) || in.Bases != nil && n != len(in.Bases) {
		panic(fmt.Sprintf("quals: %d bytes, lengths sum to %d", len(in.Quals), n))
	}
	if n == 0 {
		return []byte{strategyEmpty}
	}
	values := valuesOf(in.Quals)
	if len(values) == 1 {
		return []byte{strategyConstant, values[0]}
	}
	out := make([]byte, 0, n/4+1024)
	if in.Primer.suits(values, &in) {
		if out := in.Device.encode(&in); out != nil {
			return out
		}
		m := in.Primer.model.clone()
		defer m.release()
		return m.encode(append(out, strategyPrimed), &in)
	}
	k := kindFor(&in, len(values))
	t, head := newRanks(&in, values, k)
	m := newModel(t, n, k)
	defer m.release()
	return m.encode(append(append(out, byte(strategyAlone+k)), head...), &in)
}

// Decode returns the column; in has the lengths, and the bases if Encode had them (its Quals are
// not read). The result is as long as the lengths say, or the error wraps ErrCorrupt. If in.First is less than all records, what
// follows those records in the stream is neither decoded nor checked. Memory
// beyond 64 times the stream grows as values come out of it; the caller must refuse lengths whose sum is
// too large for the memory, because a stream of one value is short whatever they are.
func Decode(data []byte, in Input) ([]byte, error) {
	n, ok := in.total()
	if !ok || len(data) == 0 {
		return nil, ErrCorrupt
	}
	wanted := int(in.Lengths.Sum(0, in.decoded()))
	switch number, rest := data[0], data[1:]; {
	case number == strategyEmpty:
		if n != 0 || len(rest) != 0 {
			return nil, ErrCorrupt
		}
		return nil, nil
	case number == strategyConstant:
		if n == 0 || len(rest) != 1 {
			return nil, ErrCorrupt
		}
		return bytes.Repeat(rest, wanted), nil
	case number == strategyPrimed:
		if n == 0 || in.Bases != nil || in.Primer == nil {
			return nil, ErrCorrupt
		}
		if out := in.Device.decode(rest, &in, n); out != nil {
			return out, nil
		}
		m := in.Primer.model.clone()
		defer m.release()
		return m.decode(rest, &in, wanted, nil)
	case number > strategyPrimed:
		return nil, ErrCorrupt
	}
	if data[0] >= strategyLeading {
		l, err := parseLeading(data, &in, n)
		if err != nil {
			return nil, err
		}
		return l.decode(&in, wanted)
	}
	k := kind(data[0] - strategyAlone)
	if n == 0 || k == given && len(in.Bases) != n {
		return nil, ErrCorrupt
	}
	t, body, err := parseRanks(data[1:], k)
	if err != nil {
		return nil, err
	}
	m := newModel(t, n, k)
	defer m.release()
	return m.decode(body, &in, wanted, nil)
}
