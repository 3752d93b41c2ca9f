package seqs

import (
	"orcomgo/bins/record"
	"orcomgo/compress/edits"
)

// columnReads are the reads of a slice's columns.
type columnReads struct {
	cols       []*Column
	where      []*places
	exceptions []*record.ExceptionList
	// spans are, by column and read, the stretches of long reads that are no pieces; nil if no reads are aligned in pieces.
	spans [][][]edits.Span
}

// inPieces reports whether read i of column k may be aligned in pieces.
func (r *columnReads) inPieces(k, i int) bool {
	return r.spans != nil && r.where[k].pos[i] == unplaced && r.cols[k].Lengths.Of(i) >= minLongBases
}

// together reports whether reads i and i+1 of column k have the same place and length, and their mates the same place.
func (r *columnReads) together(k, i int) bool {
	col := r.cols[k]
	return i+1 < col.Records && r.where[k].is(i, i+1) && col.Lengths.Of(i) == col.Lengths.Of(i+1) &&
		(len(r.cols) == 1 || r.where[1-k].is(i, i+1))
}

// literals calls f with the stretches of a read without a place that are no piece.
func (r *columnReads) literals(k, i int, f func(from, to int)) {
	n := r.cols[k].Lengths.Of(i)
	if !r.inPieces(k, i) {
		f(0, n)
		return
	}
	for _, v := range r.spans[k][i] {
		f(int(v.Start), int(v.End))
	}
}

// coded notes that n more bases are coded.
func (r *columnReads) coded(n int) {
	if progress := r.cols[0].Progress; progress != nil {
		progress(n)
	}
}

// setSpans makes room for the spans.
func (r *columnReads) setSpans() {
	for _, col := range r.cols {
		r.spans = append(r.spans, make([][]edits.Span, col.Records))
	}
}

// forEach calls f for each read i of column k that has a place, or for each that has none, with its qualities (nil if there are none) and
// the bases that are not A, C, G or T (nil if all are).
func (r *columnReads) forEach(k int, placed bool, f func(i int, quals []byte, skip []bool)) {
	col, nonACGT := r.cols[k], nonACGTOf(r.exceptions[k])
	at, untold := 0, 0 // the latter: bases of reads with a place since the last call of coded
	for i := range col.decoded() {
		n := col.Lengths.Of(i)
		q := col.Quals
		if q != nil {
			q = q[at : at+n]
			at += n
		}
		if (r.where[k].pos[i] != unplaced) == placed {
			f(i, q, nonACGT.of(i, n))
			if placed { // others are told when all of them are coded
				untold += n
			}
		}
		if untold >= progressEvery {
			r.coded(untold)
			untold = 0
		}
	}
}

// literalBases returns how many bases those of the first `reads` reads of column k that have no place have outside of pieces.
func (r *columnReads) literalBases(k, reads int) (sum int) {
	for i, p := range r.where[k].pos[:reads] {
		if p == unplaced {
			r.literals(k, i, func(from, to int) { sum += to - from })
		}
	}
	return sum
}

// needModel reports whether some of the reads that are coded of column k have no place.
func (r *columnReads) needModel(k int) bool {
	l := r.cols[0].Layout
	return (l == nil || !l.WithoutLiterals) && r.literalBases(k, r.cols[k].decoded()) > 0
}

// wantsLiterals reports whether some of the reads that are wanted of column k have no place.
func (r *columnReads) wantsLiterals(k int) bool {
	col := r.cols[k]
	for i, p := range r.where[k].pos[:col.decoded()] {
		if p == unplaced && (col.Wanted == nil || col.Wanted(i)) {
			return true
		}
	}
	return false
}

// covered returns the range of the pseudogenome, without its end, in which all placed reads of column k that are coded lie; 0 and 0 if
// there are none.
func (r *columnReads) covered(k int) (from uint32, to uint64) {
	from = unplaced
	for i, p := range r.where[k].pos[:r.cols[k].decoded()] {
		if p != unplaced {
			from, to = min(from, p), max(to, uint64(p)+uint64(r.cols[k].Lengths.Of(i)))
		}
	}
	if from == unplaced {
		from = 0
	}
	return from, to
}

// mates returns the places of the second column, nil if there is one column.
func (r *columnReads) mates() *places {
	if len(r.cols) < 2 {
		return nil
	}
	return r.where[1]
}

// readsOf returns memory for the reads of the columns in ks, end to end, and where in it each read is. The ends of lines are there.
func readsOf(cols []*Column, ks []int) (letters [][]byte, text func(k, i int) []byte) {
	seqs := make([][]byte, len(cols))
	starts := make([][]uint64, len(cols)) // of reads; nil where all have one length
	for _, k := range ks {
		col := cols[k]
		size := int(col.Lengths.Sum(0, col.decoded())) + col.decoded()*col.lineEnds()
		if col.Memory != nil {
			seqs[k] = col.Memory(size)[:size]
		} else {
			seqs[k] = make([]byte, size)
		}
		if col.Lengths.Each != nil {
			starts[k] = make([]uint64, col.Records)
			at := uint64(0)
			for i, l := range col.Lengths.Each {
				starts[k][i] = at
				at += uint64(l) + uint64(col.lineEnds())
			}
		}
	}
	text = func(k, i int) []byte {
		if starts[k] == nil {
			n, step := int(cols[k].Lengths.Fixed), int(cols[k].Lengths.Fixed)+cols[k].lineEnds()
			return seqs[k][i*step : i*step+n]
		}
		return seqs[k][starts[k][i]:][:cols[k].Lengths.Each[i]]
	}
	for _, k := range ks {
		if cols[k].Lines { // also of reads that nobody asks for, such as empty ones
			for i := range cols[k].decoded() {
				read := text(k, i)
				read[:len(read)+1][len(read)] = '\n'
			}
		}
	}
	return seqs, text
}
