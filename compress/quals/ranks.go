package quals

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"

	"orcomgo/bins/parse"
	"orcomgo/compress/rangecoder"
)

// ranks is the alphabet of a column and, for each previous symbol, the symbols by falling frequency. The rank of a symbol is its index in
// that list: most symbols have rank 0.
type ranks struct {
	values []byte       // ascending; a symbol is an index here
	symbol [256]uint8   // of a value
	byRank [][256]uint8 // by previous symbol and rank: the symbol
	rank   [][256]uint8 // by previous symbol and symbol. Encoding only
	grades []uint32     // of frequencies, in rows by previous symbol, or one row for all

	// For the assembler: symbols by how much larger a value is than the first one, and values by symbol, if all values are within 64.
	codes [2][64]uint8
	coded bool // whether they are
}

// listsOf returns how many lists a column of n values has: one for each previous symbol. Columns that are given the bases have one for all:
// they have many values, and a list for each takes more bytes than it saves.
func listsOf(n int, k kind) int {
	if k == given {
		return 1
	}
	return n
}

// valuesOf returns the values of the column, ascending.
func valuesOf(quals []byte) (values []byte) {
	var seen [256]bool
	see := func(quals []byte) {
		for _, q := range quals {
			seen[q] = true
		}
	}
	see(quals[:min(8, len(quals))])
	for ; len(quals) >= 16; quals = quals[8:] {
		if binary.LittleEndian.Uint64(quals) != binary.LittleEndian.Uint64(quals[8:]) { // else there are no others
			see(quals[8:16])
		}
	}
	see(quals)
	for v, is := range seen {
		if is {
			values = append(values, byte(v))
		}
	}
	return values
}

// countedSymbols is in about how many symbols pairs are counted. To count in more changes the ranks, and so the bytes, hardly.
const countedSymbols = 1 << 21

// newRanks returns the ranks of a column that has these values, and their coded form.
func newRanks(in *Input, values []byte, k kind) (*ranks, []byte) {
	t := &ranks{values: values}
	for s, v := range values {
		t.symbol[v] = uint8(s)
	}
	n := len(values)
	// The same pair often follows itself, and many processors take long to read a count that was just written: so there are four tables.
	count := func() []uint64 { return make([]uint64, n*n) } // at previous symbol * n + symbol
	counts, second, third, fourth := count(), count(), count(), count()
	src, each := in.Quals, max(1, len(in.Quals)/countedSymbols)
	for r := range in.Records {
		last := 0 // a read starts as if after symbol 0
		length := in.Lengths.Of(r)
		read := src[:length]
		if src = src[length:]; r%each > 0 {
			continue
		}
		for ; len(read) >= 4; read = read[4:] {
			a, b, c, d := int(t.symbol[read[0]]), int(t.symbol[read[1]]), int(t.symbol[read[2]]), int(t.symbol[read[3]])
			counts[last+a]++
			second[a*n+b]++
			third[b*n+c]++
			fourth[c*n+d]++
			last = d * n
		}
		for _, q := range read {
			s := int(t.symbol[q])
			counts[last+s]++
			last = s * n
		}
	}
	all := make([]uint64, listsOf(n, k)*n)
	for i := range n * n {
		all[i%len(all)] += counts[i] + second[i] + third[i] + fourth[i]
	}
	grades := make([]uint32, len(all))
	for i, count := range all {
		grades[i] = gradeOf(count)
	}
	t.sort(grades)
	return t, t.append(nil, grades)
}

// append appends the coded ranks: the number of values less 1, the values, the length of the coded grades, and these.
func (t *ranks) append(out []byte, grades []uint32) []byte {
	out = append(out, byte(len(t.values)-1))
	out = append(out, t.values...)
	c := rangecoder.EncodeTo(nil)
	codeGrades(c, grades, len(t.values))
	part := c.Enc.Finish()
	return append(binary.AppendUvarint(out, uint64(len(part))), part...)
}

// parseRanks reads what append wrote and returns the rest of data.
func parseRanks(data []byte, k kind) (*ranks, []byte, error) {
	if len(data) == 0 {
		return nil, nil, ErrCorrupt
	}
	n := int(data[0]) + 1
	if data = data[1:]; n < 2 || len(data) < n {
		return nil, nil, ErrCorrupt
	}
	t := &ranks{values: data[:n:n]}
	for i, v := range t.values {
		if i > 0 && v <= t.values[i-1] {
			return nil, nil, ErrCorrupt
		}
		t.symbol[v] = uint8(i)
	}
	size, used := parse.Uvarint(data[n:])
	if used <= 0 || size > uint64(len(data)-n-used) {
		return nil, nil, ErrCorrupt
	}
	data = data[n+used:]
	c := rangecoder.DecodeFrom(data[:size])
	grades := make([]uint32, listsOf(n, k)*n)
	codeGrades(c, grades, n)
	if err := c.Dec.Err(); err != nil {
		return nil, nil, fmt.Errorf("%w: frequencies: %w", ErrCorrupt, err)
	}
	t.sort(grades)
	return t, data[size:], nil
}

// gradeOf returns how the frequency n is coded: as 0 for none, else 1 + twice its logarithm to base 2, rounded down.
func gradeOf(n uint64) uint32 {
	if n == 0 {
		return 0
	}
	return 1 + halfOctaves(n)
}

// halfOctaves returns twice the logarithm of n to base 2, rounded down to what the two highest bits say; n is at least 1.
func halfOctaves(n uint64) uint32 {
	e := bits.Len64(n) - 1
	return 2*uint32(e) + uint32(n<<1>>e)&1
}

const (
	gradeBits  = 7  // of a coded grade
	gradeLimit = 30 // of its probabilities
)

// codeGrades codes grades, in rows of n. Each is a symbol of a tree, chosen by the grades to the left and above.
func codeGrades(c *rangecoder.Coder, grades []uint32, n int) {
	var models [16]rangecoder.Tree
	for i := range models {
		models[i] = rangecoder.NewTree(gradeBits)
	}
	for i, v := range grades {
		var left, up uint32
		if i%n > 0 {
			left = grades[i-1]
		}
		if i >= n {
			up = grades[i-n]
		}
		grades[i] = models[min(left, 3)<<2|min(up>>2, 3)].Code(c, v, gradeLimit)
	}
}

// sort makes the lists from rows of grades: one for each previous symbol, or one for all.
func (t *ranks) sort(grades []uint32) {
	n := len(t.values)
	t.grades = grades
	t.byRank, t.rank = make([][256]uint8, n, n+1), make([][256]uint8, n, n+1) // the assembler reads three bytes after a symbol, too
	if t.coded = int(t.values[n-1]-t.values[0]) < len(t.codes[0]); t.coded {
		for s, v := range t.values {
			t.codes[0][v-t.values[0]], t.codes[1][s] = uint8(s), v
		}
	}
	for p := range n {
		row := grades[p*n%len(grades):][:n]
		list := t.byRank[p][:n]
		for s := range list {
			list[s] = uint8(s)
		}
		slices.SortStableFunc(list, func(a, b uint8) int { return int(row[b]) - int(row[a]) })
		for k, s := range list {
			t.rank[p][s] = uint8(k)
		}
	}
}

// frequencyOf returns about the frequency of a grade, in halves.
func frequencyOf(grade uint32) uint64 {
	if grade == 0 {
		return 0
	}
	return (2 + uint64(grade-1)&1) << (min(grade-1, maxGrade) >> 1)
}

// maxGrade bounds the grades whose frequencies are distinguished, so that the sum of frequencies has less than 64 bits.
const maxGrade = 90

// maxLogit bounds the first logits of ranks: 8 octaves.
const maxLogit = 8 << 11

// first sets the first logits of a line after a symbol, by the frequencies of the ranks `from` to `to` - 1; each slot has `some` of them.
func (t *ranks) first(l *line, last, from, to, some int) {
	n := len(t.values)
	row := t.grades[last*n%len(t.grades):][:n]
	sum := func(from, to int) (n uint64) {
		for _, s := range t.byRank[last][min(from, to):to] {
			n += frequencyOf(row[s])
		}
		return
	}
	for k := range l {
		if next := from + some; next < to {
			logit := octaves(1+sum(from, next)) - octaves(1+sum(next, to))
			l[k] = int16(min(max(logit, -maxLogit), maxLogit))
			from = next
		}
	}
}

// octaves returns the logarithm of n to base 2, in 1/2048; between powers of 2 it is linear.
func octaves(n uint64) int32 {
	e := bits.Len64(n) - 1
	return int32(e)<<11 + int32(n<<(63-e)>>52&2047)
}
