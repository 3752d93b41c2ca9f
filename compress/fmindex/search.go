package fmindex

// Rows are the rows From..To-1 of the sorted suffixes: those that begin with a sequence. The sequence occurs To - From times.
type Rows struct{ From, To uint32 }

// Count returns how many rows there are.
func (r Rows) Count() int { return int(r.To) - int(r.From) }

// Append appends the numbers of at most n of the rows to dst, as Locate takes them.
func (r Rows) Append(dst []uint32, n int) []uint32 {
	for row := r.From; row < r.To && n > 0; row, n = row+1, n-1 {
		dst = append(dst, row)
	}
	return dst
}

// all returns the rows of the empty sequence.
func (x *Index) all() Rows { return Rows{0, x.bases + 1} }

// before returns the rows of the sequence that is base c and then that of r.
func (x *Index) before(c byte, r Rows) Rows {
	k := uint32(c)
	return Rows{x.less[k] + x.rank(k, r.From), x.less[k] + x.rank(k, r.To)}
}

// continued returns the rows of sequence and then that of r, and how many bases of the sequence are left when there are no more rows.
func (x *Index) continued(r Rows, sequence []byte) (_ Rows, left int) {
	for left = len(sequence); left > 0 && r.From < r.To; left-- {
		r = x.before(sequence[left-1], r)
	}
	return r, left
}

// sideBySide is how many sequences FindAll searches at once, so that the memory accesses of one are waited for while others compute.
const sideBySide = 16

// FindAll sets rows[i] to the rows of the suffixes that begin with sequences[i], which are of bases, one a byte, 0 to 3.
func (x *Index) FindAll(sequences [][]byte, rows []Rows) {
	type search struct {
		number, left int
		rows         Rows
	}
	var active [sideBySide]search
	n, next := 0, 0
	for {
		for n < sideBySide && next < len(sequences) {
			active[n] = search{next, len(sequences[next]), x.all()}
			n, next = n+1, next+1
		}
		if n == 0 {
			return
		}
		for i := 0; i < n; i++ {
			s := &active[i]
			if s.left == 0 || s.rows.From == s.rows.To {
				rows[s.number] = s.rows
				n--
				active[i] = active[n]
				i--
				continue
			}
			s.left--
			s.rows = x.before(sequences[s.number][s.left], s.rows)
		}
	}
}

// Near calls f with the rows of each sequence that occurs in the text and differs from the given one in at most `most` bases. The rows of
// two calls have none in common. If f returns false, that ends the search.
//
// The sequence is searched from its end, and continued with each base where a difference is left. Before, it is found out for each of its
// beginnings how many differences that must have at least, from stretches of it that don't occur (Li and Durbin, "Fast and accurate short
// read alignment with Burrows-Wheeler transform", 2009). The time grows about eightfold with each difference.
func (x *Index) Near(sequence []byte, most int, f func(r Rows) bool) {
	s := &nearSearch{x: x, sequence: sequence, most: most, report: f}
	if most > 0 {
		s.setLeast()
		if s.least[len(sequence)] > most {
			return
		}
	}
	s.extend(len(sequence), x.all(), 0)
}

// nearSearch is the state of Near.
type nearSearch struct {
	x        *Index
	sequence []byte
	most     int
	least    []int // least[i]: the differences that the first i bases have at least, wherever they are in the text
	report   func(r Rows) bool
}

// setLeast sets least.
func (s *nearSearch) setLeast() {
	s.least = make([]int, len(s.sequence)+1)
	for end := 1; end <= len(s.sequence); end++ {
		s.least[end] = s.least[end-1]
		if s.least[end] > s.most {
			continue
		}
		r, from := s.x.continued(s.x.all(), s.sequence[:end])
		if r.From == r.To { // the bases from..end-1 don't occur
			s.least[end] = max(s.least[end], s.least[from]+1)
		}
	}
}

// extend continues with the first n bases before rows that differ in so many. It returns false if report did.
func (s *nearSearch) extend(n int, r Rows, differences int) bool {
	if differences == s.most {
		r, _ = s.x.continued(r, s.sequence[:n])
		return r.From == r.To || s.report(r)
	}
	if n == 0 {
		return s.report(r)
	}
	if differences+s.least[n] > s.most {
		return true
	}
	from, to := s.x.ranks4(r.From), s.x.ranks4(r.To)
	for c := range byte(4) {
		if from[c] == to[c] {
			continue
		}
		d := differences
		if c != s.sequence[n-1] {
			d++
		}
		if !s.extend(n-1, Rows{s.x.less[c] + from[c], s.x.less[c] + to[c]}, d) {
			return false
		}
	}
	return true
}
