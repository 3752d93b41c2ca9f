// Package scan finds sequences of bases in texts by going through the texts, all sequences at once, with a bounded number of bases that
// differ.
//
// A sequence of n bases is cut into k+1 pieces. Where it occurs with at most k differences, one of the pieces has none (Baeza-Yates and
// Perleberg, "Fast and practical approximate string matching", 1996). The first bases of each piece are entered in a table. The text is
// read once; where the last bases are in the table, up to 32 bases of the sequence are compared at once with the text, two bits a base,
// and, if these are near enough, all of it base by base.
package scan

import (
	"errors"
	"math/bits"
	"slices"

	"orcomgo/bases"
)

// Sequence is a sequence to be found.
type Sequence struct {
	Bases []byte // 0 to 3
	Most  int    // differences
}

// ErrTooShort reports a sequence that has no more bases than differences.
var ErrTooShort = errors.New("scan: a sequence is no longer than the number of differences")

// maxSeedBases is the largest number of bases of a piece that are entered in the table.
const maxSeedBases = 10

// codeOf holds the codes of letters. Bases may be given by their codes as well.
var codeOf = func() (t [256]byte) {
	for i := range t {
		t[i] = bases.Code(byte(i))
	}
	for c := range byte(4) {
		t[c] = c
	}
	return t
}()

// Code returns the code of a base, 0 to 3, from its letter in either case; false for other letters.
func Code(letter byte) (byte, bool) {
	c := codeOf[letter]
	return c, c != bases.NoBase && letter > 3
}

// Scanner finds sequences. It does not change and may be used by several goroutines.
type Scanner struct {
	sequences []Sequence
	most      int // differences of any sequence
	seedBases int
	mask      uint32
	starts    []uint32 // by seed: its first entry
	entries   []entry
	present   []uint64 // bit s is set if there are entries of seed s
}

// entry is a seed: the sequence, and where it begins there.
type entry struct {
	first    uint64 // up to bases.PerWord first bases of the sequence, the first one lowest
	mask     uint64 // of those, the low bits of each
	sequence uint32
	at       uint32
}

// fewEntries is up to how many entries the text is not packed: there are so few comparisons.
const fewEntries = 64

// pieceAt returns where piece i of the sequence begins, of which there are Most+1.
func (s *Sequence) pieceAt(i int) int { return len(s.Bases) * i / (s.Most + 1) }

// New returns a Scanner of sequences. The error is ErrTooShort.
func New(sequences []Sequence) (*Scanner, error) {
	s := &Scanner{sequences: sequences, seedBases: maxSeedBases}
	for i := range sequences {
		q := &sequences[i]
		if len(q.Bases) <= q.Most {
			return nil, ErrTooShort
		}
		s.most = max(s.most, q.Most)
		s.seedBases = min(s.seedBases, len(q.Bases)/(q.Most+1))
	}
	s.mask = 1<<(2*s.seedBases) - 1
	s.starts = make([]uint32, 1<<(2*s.seedBases)+1)
	s.present = make([]uint64, (len(s.starts)+63)/64)
	s.eachSeed(func(seed uint32, _ entry) {
		s.starts[seed+1]++
		s.present[seed>>6] |= 1 << (seed & 63)
	})
	for i := range len(s.starts) - 1 {
		s.starts[i+1] += s.starts[i]
	}
	s.entries = make([]entry, s.starts[len(s.starts)-1])
	next := slices.Clone(s.starts)
	s.eachSeed(func(seed uint32, e entry) {
		s.entries[next[seed]] = e
		next[seed]++
	})
	return s, nil
}

// eachSeed calls f with the seeds of all sequences.
func (s *Scanner) eachSeed(f func(seed uint32, e entry)) {
	for i := range s.sequences {
		q := &s.sequences[i]
		for p := range q.Most + 1 {
			at, seed := q.pieceAt(p), uint32(0)
			for _, b := range q.Bases[at : at+s.seedBases] {
				seed = seed<<2 | uint32(b)
			}
			n := min(len(q.Bases), bases.PerWord)
			f(seed, entry{pack(q.Bases[:n]), bases.LowBits >> (2 * (bases.PerWord - n)), uint32(i), uint32(at)})
		}
	}
}

// pack returns the word of up to bases.PerWord bases, the first one lowest; a letter that is none is a 0.
func pack(text []byte) (w uint64) {
	for i, letter := range text {
		w |= uint64(codeOf[letter]&3) << (2 * i)
	}
	return w
}

// packAll returns the words of a text, and one more.
func packAll(text []byte) []uint64 {
	words := make([]uint64, len(text)/bases.PerWord+2)
	for i := range words {
		words[i] = pack(text[min(i*bases.PerWord, len(text)):min((i+1)*bases.PerWord, len(text))])
	}
	return words
}

// Match is where a sequence occurs in a text.
type Match struct {
	Sequence    int // its number
	At          int // of its first base in the text
	Differences int
}

// Scan calls f with all occurrences of the sequences in a text of letters, in either case, or of codes, 0 to 3. What is no base differs
// from every base. It ends when f returns false.
func (s *Scanner) Scan(text []byte, f func(m Match) bool) {
	var words []uint64
	if len(s.entries) > fewEntries {
		words = packAll(text)
	}
	known, last := 0, uint32(0) // the bases since the last letter that is none
	for end, letter := range text {
		c := codeOf[letter]
		if c == bases.NoBase {
			known = 0
			continue
		}
		last = (last<<2 | uint32(c)) & s.mask
		if known++; known < s.seedBases || s.present[last>>6]>>(last&63)&1 == 0 {
			continue
		}
		from := end + 1 - s.seedBases
		entries := s.entries[s.starts[last]:s.starts[last+1]]
		for i := range entries {
			e := &entries[i]
			at := from - int(e.at)
			if words != nil && at >= 0 {
				k, shift := at/bases.PerWord, at%bases.PerWord*2
				x := (words[k]>>shift | words[k+1]<<(64-shift)) ^ e.first
				if bits.OnesCount64((x|x>>1)&e.mask) > s.most {
					continue
				}
			}
			m := Match{Sequence: int(e.sequence), At: at}
			if s.matches(text, &m, int(e.at)) && !f(m) {
				return
			}
		}
	}
}

// matches reports whether there is a match, and sets its differences. It is one only for the first of the seeds by which it is found.
func (s *Scanner) matches(text []byte, m *Match, seed int) bool {
	q := &s.sequences[m.Sequence]
	if m.At < 0 || m.At+len(q.Bases) > len(text) {
		return false
	}
	for i, letter := range text[m.At:][:len(q.Bases)] {
		if codeOf[letter] != q.Bases[i] {
			if m.Differences++; m.Differences > q.Most {
				return false
			}
		}
	}
	for p := range q.Most + 1 {
		at := q.pieceAt(p)
		if at >= seed {
			return true
		}
		same := true
		for i, b := range q.Bases[at : at+s.seedBases] {
			same = same && codeOf[text[m.At+at+i]] == b
		}
		if same {
			return false
		}
	}
	return true
}
