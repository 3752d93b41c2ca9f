package edits

import "math/rand"

// randomReads makes reads of random pieces of a random shared sequence: with runs and repeats or without, with few edits or mostly
// edits, of one base or of all of the shared sequence, at its ends, one piece after another.
func randomReads(seed int64) *drawn {
	r := rand.New(rand.NewSource(seed))
	d := &drawn{shared: make([]byte, 1+r.Intn(1<<r.Intn(12)))}
	repeat := 1 + r.Intn(3)
	same := r.Float64()
	for i := range d.shared {
		if d.shared[i] = byte(r.Intn(4)); i >= repeat && r.Float64() < same {
			d.shared[i] = d.shared[i-repeat]
		}
	}
	for range r.Intn(30) {
		x := read{}
		next := func(n int) {
			for range n {
				x.bases, x.quals = append(x.bases, byte(r.Intn(4))), append(x.quals, byte(33+r.Intn(94)))
			}
		}
		for range r.Intn(4) {
			if r.Intn(2) == 0 {
				next(r.Intn(20))
			}
			p := randomPiece(r, d.shared)
			p.Start = uint32(len(x.bases))
			p.End = p.Start + uint32(pieceBases(p))
			next(pieceBases(p))
			x.pieces = append(x.pieces, p)
		}
		if r.Intn(2) == 0 {
			next(r.Intn(20))
		}
		made := apply(d.shared, x.pieces, len(x.bases))
		for _, p := range x.pieces {
			copy(x.bases[p.Start:p.End], made[p.Start:p.End])
		}
		d.bases += uint64(len(x.bases))
		d.reads = append(d.reads, x)
	}
	return d
}

// randomPiece returns a piece of the shared sequence without Start and End.
func randomPiece(r *rand.Rand, shared []byte) Piece {
	for {
		n := 1 + r.Intn(len(shared))
		p := Piece{Place: uint64(r.Intn(len(shared) - n + 1)), Length: uint32(n), Reverse: r.Intn(2) == 1}
		dense := r.Float64() * r.Float64()
		deleted := 0
		for at := 0; at <= n; at++ {
			for r.Float64() < dense/2 {
				p.Edits = append(p.Edits, Edit{uint32(at), Insertion, byte(r.Intn(4))})
			}
			if at == n || r.Float64() >= dense {
				continue
			}
			e := Edit{uint32(at), uint8(r.Intn(2)) * Deletion, byte(r.Intn(4))}
			if e.Kind == Deletion {
				e.Base = 0
				deleted++
			}
			p.Edits = append(p.Edits, e)
		}
		if deleted < n {
			return p
		}
	}
}

// pieceBases returns how many bases of the read a piece has.
func pieceBases(p Piece) int {
	n := int(p.Length)
	for _, e := range p.Edits {
		switch e.Kind {
		case Insertion:
			n++
		case Deletion:
			n--
		}
	}
	return n
}
