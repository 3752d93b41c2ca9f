// Package quals codes columns of Phred quality strings: a binary decomposition of the
// values under mixed context models (logistic mixing as in the PAQ family; contexts in
// the tradition of fqzcomp, Bonfield and Mahoney, "Compression of FASTQ and SAM format
// sequencing data", PLoS ONE 8(3), 2013).
//
// A column is coded by itself and decodes by itself, given the lengths of its reads. The
// same input and level give the same bytes everywhere: models are integers only.
package quals

import (
	"errors"
	"fmt"

	"orcomgo/bins/record"
)

// ErrCorrupt reports a stream that is not what Encode wrote for these lengths.
var ErrCorrupt = errors.New("quals: stream is corrupt or truncated")

// Level is the effort of Encode. Decode reads it from the stream.
type Level uint8

// The levels: Fast has one context, Default mixes three, Max eight.
const (
	Fast Level = iota
	Default
	Max
)

// Input is a column of quality strings.
type Input struct {
	Quals   []byte // the bytes of all reads end to end; any byte value; not used by Decode
	Lengths record.Lengths
	Records int
	// Bases, if not nil, are the letters of all reads end to end, and the qualities are coded given them. That pays where sequencers misjudge
	// how long a run of equal bases is: see WorthBases. Decode needs them where Encode had them.
	Bases []byte
	// First, if not 0, is how many of the records Decode returns, the first ones; Bases are those of them. Lengths are those of all records.
	First int
	// Primer, if not nil, is that of the leading column: see EncodeLeading. Decode needs that with which Encode was called for a column for
	// which NeedsPrimer returns true, and takes the first records from it if the column is the leading one itself.
	Primer *Primer
	// Progress, if not nil, is called now and then with how many more values were coded. Most of them are told, not all.
	Progress func(values int)

	untold int // coded since the last call of Progress

	// three.encode sets marked to the bytes that the records before number mark take, if that is not 0.
	mark, marked int
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
const maxTotal = 1 << 46

// The strategies: the first byte of a stream.
const (
	strategyEmpty    = 0  // no bytes at all
	strategyConstant = 1  // one value throughout
	strategyModelled = 2  // and above: 2 + 2*level, plus 1 for stepped contexts
	strategyBased    = 8  // given the bases: of Default, and 1 more for Max
	strategyLeading  = 10 // of Default: the others begin with the models after its first records; plus 1 for stepped contexts
	strategyPrimed   = 12 // begins with such models
	strategyEager    = 13 // strategyLeading, and weights learn faster in the primer; plus 1 for stepped contexts
	strategies       = 15
)

// engine codes a column with the models of one level.
type engine interface {
	encode(out []byte, in *Input) []byte
	decode(data []byte, in *Input, total int, dst []byte) ([]byte, error)
}

func newEngine(t *trees, total int, level Level, stepped bool) engine {
	switch level {
	case Fast:
		return newSingle(t, total, stepped)
	case Default:
		return newThree(t, total, stepped)
	}
	return newMany(t, total, stepped)
}

// newBased is newEngine for qualities that are given the bases. Fast has the models of Default then.
func newBased(t *trees, total int, level Level) engine {
	if level == Max {
		m := newMany(t, total, false)
		m.history.based = true
		return m
	}
	return newGiven(t, total)
}

// WorthBases reports whether the qualities of a column, which has Bases, should be coded given these. It depends on the first reads, of
// sampleBytes together: they must take at least a fiftieth less.
func WorthBases(in Input) bool {
	s := sample(&in, sampleBytes)
	t, _ := newTrees(&s)
	if len(t.values) < manyValues {
		return false
	}
	without, with := newEngine(t, len(s.Quals), Default, false).encode(nil, &s), newBased(t, len(s.Quals), Default).encode(nil, &s)
	return len(with)+len(with)/50 < len(without)
}

// sampleBytes is how many bytes of a column are coded with both kinds of contexts to choose one. Stepped
// contexts learn slowly, so a smaller sample would favour the smooth ones.
const sampleBytes = 1 << 19

// Columns of at most fewValues values have stepped contexts, those of at least manyValues smooth ones, without a trial, unless they are
// no longer than a sample.
const (
	fewValues  = 8
	manyValues = 17
)

// tryHead codes a column of many values, which is no longer than a sample, with smooth contexts. It reports whether the first reads say
// that these take less: whether stepped ones take so much more of these reads that they will not catch up. It saves coding all of a short
// column twice.
func tryHead(in *Input, t *trees, level Level) (smooth []byte, settled bool) {
	n := len(in.Quals)
	part, more := 8, 16
	if worthTrees(len(t.values), n) { // what smooth contexts know beyond the value before is less then
		part, more = 4, 64
	}
	s := sample(in, n/part)
	in.mark, in.marked = s.Records, 0
	smooth = encodeOnce(newEngine(t, n, level, false), nil, in)
	if in.marked == 0 { // the engine does not tell
		in.marked = len(encodeOnce(newEngine(t, n, level, false), nil, &s))
	}
	stepped := encodeOnce(newEngine(t, n, level, true), nil, &s)
	return smooth, len(stepped) > in.marked+in.marked/more
}

// leastTried is the length from which a column is tried by its first reads, in bytes.
const leastTried = 1 << 17

// tryContexts codes a column with smooth and with stepped contexts.
func tryContexts(in *Input, t *trees, level Level) (smooth, stepped []byte) {
	n := len(in.Quals)
	return encodeOnce(newEngine(t, n, level, false), nil, in), encodeOnce(newEngine(t, n, level, true), nil, in)
}

// sample returns the first reads of the column that have so many bytes, or a little more.
func sample(in *Input, bytes int) Input {
	s := Input{Lengths: in.Lengths}
	n := 0
	for s.Records < in.Records && n < bytes {
		n += in.Lengths.Of(s.Records)
		s.Records++
	}
	s.Quals = in.Quals[:n]
	if in.Bases != nil {
		s.Bases = in.Bases[:n]
	}
	return s
}

// Encode returns the stream of the column. It panics if len(Quals), or that of Bases, is not the sum of the
// lengths, which is the caller's error.
func Encode(in Input, level Level) []byte {
	n, ok := in.total()
	if !ok || n != len(in.Quals) || in.Bases != nil && n != len(in.Bases) {
		panic(fmt.Sprintf("quals: %d bytes, lengths sum to %d", len(in.Quals), n))
	}
	if n == 0 {
		return []byte{strategyEmpty}
	}
	count := countsOf(&in)
	if in.Primer.suits(count, &in, level) {
		return in.Primer.model.encodeCopy(append(make([]byte, 0, n/4+1024), strategyPrimed), &in)
	}
	t, head := count.trees(n, 0)
	if len(t.values) == 1 {
		return []byte{strategyConstant, t.values[0]}
	}
	if in.Bases != nil {
		strategy := byte(strategyBased)
		if level == Max {
			strategy++
		}
		return newBased(t, n, level).encode(append(append(make([]byte, 0, n/4+1024), strategy), head...), &in)
	}
	strategy := strategyModelled + 2*byte(level)
	switch {
	case n > sampleBytes && len(t.values) <= fewValues:
		strategy++
	case n > sampleBytes && len(t.values) >= manyValues:
	case n >= leastTried && len(t.values) >= manyValues:
		choice, settled := tryHead(&in, t, level)
		if !settled {
			if stepped := encodeOnce(newEngine(t, n, level, true), nil, &in); len(stepped) < len(choice) {
				strategy, choice = strategy+1, stepped
			}
		}
		return append(append([]byte{strategy}, head...), choice...)
	default:
		s := sample(&in, sampleBytes)
		smooth, stepped := tryContexts(&s, t, level)
		choice := smooth
		if len(stepped) < len(smooth) {
			strategy, choice = strategy+1, stepped
		}
		if s.Records == in.Records {
			return append(append([]byte{strategy}, head...), choice...)
		}
	}
	out := append(make([]byte, 0, n/4+1024), strategy)
	return encodeOnce(newEngine(t, n, level, strategy&1 == 1), append(out, head...), &in)
}

// encodeOnce is e.encode of an engine that is not used again.
func encodeOnce(e engine, out []byte, in *Input) []byte {
	defer release(e)
	return e.encode(out, in)
}

// Decode appends the column to dst[:0] and returns it; in has the lengths, and the bases if Encode had them (its Quals are
// not read). The result is as long as the lengths say, or the error wraps ErrCorrupt. If in.First is less than all records, what
// follows those records in the stream is neither decoded nor checked. Memory
// grows as values come out of the stream; the caller must refuse lengths whose sum is
// too large for the memory, because a stream of one value is short whatever they are.
func Decode(data []byte, in Input, dst []byte) ([]byte, error) {
	n, ok := in.total()
	if !ok || len(data) == 0 {
		return nil, ErrCorrupt
	}
	dst = dst[:0]
	wanted := int(in.Lengths.Sum(0, in.decoded()))
	switch strategy, rest := data[0], data[1:]; {
	case strategy == strategyEmpty:
		if n != 0 || len(rest) != 0 {
			return nil, ErrCorrupt
		}
		return dst, nil
	case strategy == strategyConstant:
		if n == 0 || len(rest) != 1 {
			return nil, ErrCorrupt
		}
		if cap(dst) < wanted {
			dst = make([]byte, 0, wanted)
		}
		dst = dst[:wanted]
		for i := range dst {
			dst[i] = rest[0]
		}
		return dst, nil
	case strategy == strategyPrimed:
		if n == 0 || in.Bases != nil || in.Primer == nil {
			return nil, ErrCorrupt
		}
		return in.Primer.model.decodeCopy(rest, &in, wanted, dst)
	case isLeading(strategy):
		l, err := parseLeading(data, &in, n)
		if err != nil {
			return nil, err
		}
		return l.decode(&in, wanted, dst)
	case strategy < strategyLeading:
		if n == 0 || in.Bases != nil && wanted != len(in.Bases) || strategy >= strategyBased && in.Bases == nil {
			return nil, ErrCorrupt
		}
		t, body, err := parseTrees(rest, n)
		if err != nil {
			return nil, err
		}
		var m engine
		if strategy >= strategyBased {
			m = newBased(t, n, Default+Level(strategy-strategyBased))
		} else {
			m = newEngine(t, n, Level(strategy-strategyModelled)/2, strategy&1 == 1)
		}
		defer release(m)
		return m.decode(body, &in, wanted, dst)
	}
	return nil, ErrCorrupt
}
