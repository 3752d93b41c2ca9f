package columns

import (
	"cmp"

	"orcomgo/bins"
	"orcomgo/bins/record"
	"orcomgo/compress/archive"
)

// table holds the columns in the order of their identifiers, in which their errors are reported.
var table = [archive.Columns]*column{&lengthsColumn, &formsColumn, &namesColumn, &qualsColumn, &seqsColumn}

// Shared reports whether the members of a slice have one section together.
func Shared(c archive.Column) bool { return c >= archive.MemberColumns }

// KeptOf returns the columns of an input by the archive's options and the input's kind.
func KeptOf(o record.Options, kind record.Kind) (k Kept) {
	for _, c := range table {
		k[c.id] = c.kept == nil || c.kept(o, kind)
	}
	return k
}

// MinMeanLong is the least mean length of the reads of an input whose qualities or tags may be given the bases, in bases.
const MinMeanLong = 400

// ByBases reports whether column c of an input is given the bases, or, if it is that of the sequences, not the qualities. Forms of BAM of
// long reads are, since arrays may have a value for each base.
func ByBases(in *archive.Input, c archive.Column) bool {
	if c != archive.Forms {
		return in.QualsByBases
	}
	return in.Kind == record.BAM && in.Mate < 0 && !in.Further && !in.Interleaved && in.Records > 0 && in.Bases >= MinMeanLong*in.Records
}

// fromBins returns what is to be read of the bins for these columns.
func (k *Kept) fromBins() (want bins.Columns) {
	for _, c := range table {
		if k[c.id] {
			want |= c.fromBins
		}
	}
	return want
}

// Sums are XXH3-64 of columns before they were coded; 0 where column.sum is nil.
type Sums [archive.Columns]uint64

// SumsOf returns those of c.
func SumsOf(c *Columns) (sums Sums) {
	for _, col := range table {
		if col.sum != nil {
			sums[col.id] = col.sum(c)
		}
	}
	return sums
}

// Work says how many units of a SliceMeter a quality and a base of a slice are: about as many as coding it takes nanoseconds.
type Work struct{ qual, base int }

// ByteWork is how many units a byte of coded bases is, NameWork one of names.
const ByteWork, NameWork = 500, 350

// WorkOf returns the work of the members of a slice, and how much all of it is. While the slice has no sections yet, these are taken to
// have as many bytes as is usual.
func WorkOf(man *archive.Manifest, s *archive.Slice) (of [2]Work, all uint64) {
	for m, mem := range s.Members() {
		of[m].base = 2 + int(ByteWork*cmp.Or(s.Seqs.Len, mem.Bases/32)/(max(mem.Bases, 1)*uint64(len(s.Members()))))
		if KeptOf(man.Options, man.Inputs[mem.Input].Kind)[archive.Quals] {
			of[m].qual = 9 + int(80*cmp.Or(mem.Sections[archive.Quals].Len, mem.Bases/5)/max(mem.Bases, 1))
		}
		all += uint64(of[m].base+of[m].qual)*mem.Bases + NameWork*mem.Sections[archive.Names].Len
	}
	return of, all
}

// QualsCoded notes that n more qualities were coded or decoded.
func (c *Columns) QualsCoded(n int) { c.WorkDone(c.Work.qual * n) }

// BasesCoded is QualsCoded for bases.
func (c *Columns) BasesCoded(n int) { c.WorkDone(c.Work.base * n) }

// WorkDone notes that so many more units were coded or decoded.
func (c *Columns) WorkDone(work int) {
	if c.Coded != nil {
		c.Coded(work)
	}
}

// LoadBlock loads a block, of an input whose columns are k, for a reader of names, qualities and exceptions; with its reads if these
// are wanted.
func LoadBlock(r *bins.Reader, block int, k Kept, letters bool) (*Block, error) {
	l, want := &Block{From: r, Number: block, letters: letters}, k.fromBins()
	if err := r.ReadColumns(block, want, &l.Block); err != nil {
		return nil, err
	}
	if letters {
		if err := r.ReadBins(block, 0, bins.NBin, &l.Block); err != nil {
			return nil, err
		}
	}
	return l, l.Mark(k)
}

// Gather returns the columns k of records [from, from+n) of an input, in input order; bs are
// the consecutive blocks that hold them. They have letters where the blocks have their reads.
func Gather(input int, from uint64, n int, bs []*Block, k Kept) (*Columns, error) {
	c := &Columns{Input: input, From: from, Records: n}
	if n == 0 {
		return c, nil
	}
	var stretches []stretch
	for at, end := from, from+uint64(n); at < end; {
		b := bs[len(stretches)]
		lo := int(at - b.FirstRecord)
		hi := int(min(end-b.FirstRecord, uint64(b.Records)))
		stretches = append(stretches, stretch{b, lo, hi})
		at += uint64(hi - lo)
	}
	for _, col := range table {
		if k[col.id] {
			if err := col.gather(c, stretches); err != nil {
				return nil, err
			}
		}
	}
	return c, nil
}

// Permute puts c's records in the order of perm, in memory of its own.
func (c *Columns) Permute(perm []uint32) {
	p := &Permutation{Perm: perm, lengths: c.Lengths}
	c.Perm = perm
	for _, col := range table {
		col.permute(c, p)
	}
}
