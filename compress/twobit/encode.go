package twobit

import (
	"encoding/binary"

	"orcomgo/bases"
	"orcomgo/bins/entropy"
	"orcomgo/bins/record"
)

// The streams of a section, in their order.
const (
	streamKinds      = iota // of copies
	streamLiterals          // before each copy: how many
	streamLengths           // of copies
	streamShifts            // of copies, but for kindFill
	streamGaps              // before each run, from the run before
	streamRunLengths        // of runs
	streamLetters           // of runs
	streams
)

// mostSame is how many symbols a coded stream of one symbol may have, so that a few bytes don't take much memory when they are decoded.
const mostSame = 1 << 16

// leastFill is how many bases a run has at least whose bases are no literals.
const leastFill = 24

// Encode codes sequences, end to end. A letter is one that record.Exception may have, or a, c, g, t in either case.
func Encode(letters []byte) []byte {
	packed, runs := pack(letters)
	ops := find(packed, len(letters), fillsOf(runs))

	// The literals are moved together.
	var s [streams][]byte
	literals := make([]byte, len(packed))
	from, n := 0, 0 // in packed, and of literals
	for _, o := range ops {
		s[streamKinds] = append(s[streamKinds], o.kind)
		s[streamLiterals] = binary.AppendUvarint(s[streamLiterals], uint64(o.literals))
		s[streamLengths] = binary.AppendUvarint(s[streamLengths], uint64(o.length-leastLength))
		switch o.kind {
		case kindForward:
			s[streamShifts] = binary.AppendUvarint(s[streamShifts], uint64(o.shift-leastDistance))
		case kindReverse:
			s[streamShifts] = binary.AppendUvarint(s[streamShifts], uint64(o.shift))
		}
		copyForward(literals, n, packed, from, o.literals)
		n += o.literals
		from += o.literals + o.length
	}
	copyForward(literals, n, packed, from, len(letters)-from)
	n += len(letters) - from
	end := 0
	for _, r := range runs {
		s[streamGaps] = binary.AppendUvarint(s[streamGaps], uint64(r.start-end))
		s[streamRunLengths] = binary.AppendUvarint(s[streamRunLengths], uint64(r.end-r.start-1))
		s[streamLetters] = append(s[streamLetters], r.letter)
		end = r.end
	}

	out := binary.AppendUvarint(nil, uint64(n))
	var coded []byte
	var e entropy.Encoder
	for _, symbols := range s {
		at := len(coded)
		coded = e.AppendStream(coded, symbols, false)
		if len(symbols) > mostSame && coded[at] == byte(entropy.Same) {
			coded = append(append(coded[:at], byte(entropy.Raw)), symbols...)
		}
		out = binary.AppendUvarint(out, uint64(len(symbols)))
		out = binary.AppendUvarint(out, uint64(len(coded)-at))
	}
	out = append(out, coded...)
	if n&3 != 0 {
		literals[n>>2] &= 1<<(n&3*2) - 1
	}
	return append(out, literals[:bases.PackedLen(n)]...)
}

// fillsOf returns the runs that are taken as copies of As.
func fillsOf(runs []run) (fills []span) {
	for _, r := range runs {
		if r.letter != record.Lower && r.end-r.start >= leastFill {
			fills = append(fills, span{r.start, r.end})
		}
	}
	return fills
}

// pack returns letters in two bits a base, with bases.Pad bytes, and the runs of other letters.
func pack(letters []byte) (packed []byte, runs []run) {
	packed = make([]byte, bases.PackedLen(len(letters))+bases.Pad)
	i := 0
	for ; i+8 <= len(letters); i += 8 {
		w := binary.LittleEndian.Uint64(letters[i:])
		c, nonACGT := bases.Pack8(w)
		if nonACGT != 0 {
			for j, letter := range letters[i : i+8] {
				runs = packLetter(packed, runs, i+j, letter)
			}
			continue
		}
		packed[i>>2], packed[i>>2+1] = byte(c), byte(c>>8)
	}
	for ; i < len(letters); i++ {
		runs = packLetter(packed, runs, i, letters[i])
	}
	return packed, runs
}

// packLetter is pack of one letter, base i.
func packLetter(packed []byte, runs []run, i int, letter byte) []run {
	if code := bases.Code(letter); code != bases.NoBase {
		packed[i>>2] |= code << (i & 3 * 2)
		if letter < 'a' {
			return runs
		}
		letter = record.Lower
	}
	if n := len(runs); n > 0 && runs[n-1].end == i && runs[n-1].letter == letter {
		runs[n-1].end++
		return runs
	}
	return append(runs, run{i, i + 1, letter})
}
