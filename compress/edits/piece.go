package edits

// Kinds of Edit.
const (
	Substitution uint8 = iota // Base is in place of the base of the shared sequence
	Insertion                 // Base is before the base of the shared sequence
	Deletion                  // the base of the shared sequence is missing
)

// Piece is a stretch of a read that is aligned to the shared sequence. A read is its pieces in order of Start, which don't overlap;
// what lies between pieces and at the ends of the read is literal, and coded elsewhere. A piece has at least one base of the read and
// one of the shared sequence that is not deleted.
//
// The oriented stretch is the piece's stretch of the shared sequence in the direction of the read: its reverse complement if
// Reverse is set. The edits turn the oriented stretch into the bases of the read.
type Piece struct {
	Start, End uint32 // the bases [Start, End) of the read, in the read's direction
	Place      uint64 // first base of the stretch of the shared sequence, on its forward strand
	Length     uint32 // bases of that stretch
	Reverse    bool   // the read's stretch is the reverse complement of the shared sequence's
	Edits      []Edit // in the order of the read; positions count in the oriented stretch
}

// Edit is a difference of one base. A run of n inserted bases is n edits with the same At, in the order of the read. At most one edit
// that is not an insertion has the same At; it comes after the insertions there. An insertion at Length is after the last base.
type Edit struct {
	At   uint32 // offset in the oriented stretch
	Kind uint8  // Substitution, Insertion or Deletion
	Base uint8  // the base that is put there, 0..3; unused for deletions
}

// Anchor returns the first base of the oriented stretch, as a position of the shared sequence's forward strand.
func (p *Piece) Anchor() uint64 {
	if p.Reverse {
		return p.Place + uint64(p.Length) - 1
	}
	return p.Place
}

// check reports whether a piece is one of a read of so many bases and of a shared sequence of so many, and after the base `after`.
func (p *Piece) check(after, length uint32, bases uint64) bool {
	if p.Start < after || p.End <= p.Start || p.End > length || p.Length == 0 || p.Place >= bases || uint64(p.Length) > bases-p.Place {
		return false
	}
	read, deleted := int64(p.Length), uint32(0)
	at := uint32(0) // the first base that no edit before has used
	for _, e := range p.Edits {
		if e.At < at || e.At > p.Length || e.Kind > Deletion || e.Kind != Deletion && e.Base > 3 {
			return false
		}
		if at = e.At; e.Kind == Insertion {
			read++
			continue
		}
		if at++; at > p.Length {
			return false
		}
		if e.Kind == Deletion {
			read--
			deleted++
		}
	}
	return read == int64(p.End-p.Start) && deleted < p.Length
}
