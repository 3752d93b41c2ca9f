package binning

import (
	"orcomgo/bases"
	"orcomgo/bins/record"
	"orcomgo/minimizer"
)

// The letters of a long read are packed by several threads, which also find its signature, before the other reads of its segment are.

// longReads says how long reads are packed.
type longReads struct {
	least int // how many bases are worth several threads
	piece int // how many bases one call of a task packs: a multiple of 32, so that pieces share no word
}

// packedRead is a long read that was packed.
type packedRead struct {
	exceptions []record.Exception
	bad        byte // as of packRead
	sig, pos   uint32
	reverse    bool
}

// packLong packs the long reads of all segments.
func (j *job) packLong() {
	for i := range j.segments {
		s := &j.segments[i]
		s.long = s.long[:0]
		if s.first == s.end || s.maxLen < uint32(j.long.least) {
			continue
		}
		at := s.packedAt
		for k := s.first; k < s.end; k++ {
			n := int(j.lengths[k])
			if n >= j.long.least {
				s.long = append(s.long, j.packPieces(j.packed[at:], j.Data[j.lineStarts[k].seq:][:n], uint32(k)))
			}
			at += bases.PackedLen(n)
		}
	}
}

// packPieces packs the letters of a read into dst and finds its signature.
func (j *job) packPieces(dst, seq []byte, read uint32) (p packedRead) {
	type piece struct {
		exceptions []record.Exception
		bad        byte
	}
	pieces := make([]piece, (len(seq)+j.long.piece-1)/j.long.piece)
	j.run(len(pieces), func(i int) {
		from, to := i*j.long.piece, min((i+1)*j.long.piece, len(seq))
		room := dst[from/4:]
		if to < len(seq) {
			room = room[:j.long.piece/4] // the next piece is not this call's
		}
		x := &pieces[i]
		x.exceptions, x.bad = packRead(room, seq[from:to], read, nil)
		for e := range x.exceptions {
			x.exceptions[e].Start += uint32(from)
		}
	})
	for _, x := range pieces {
		if p.bad = x.bad; p.bad != 0 {
			return p
		}
		for _, e := range x.exceptions {
			if n := len(p.exceptions); n > 0 {
				if last := &p.exceptions[n-1]; last.Byte == e.Byte && last.Start+last.Len == e.Start {
					last.Len += e.Len // a run that two pieces share
					continue
				}
			}
			p.exceptions = append(p.exceptions, e)
		}
	}
	p.sig, p.pos, p.reverse = minimizer.FindLong(dst, len(seq), appendGaps(nil, p.exceptions), j.run)
	return p
}

// appendGaps appends the runs of letters that are not A, C, G or T.
func appendGaps(gaps []minimizer.Gap, exceptions []record.Exception) []minimizer.Gap {
	for _, e := range exceptions {
		if e.Byte != record.Lower {
			gaps = append(gaps, minimizer.Gap{Start: int(e.Start), End: int(e.Start + e.Len)})
		}
	}
	return gaps
}
