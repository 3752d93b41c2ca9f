package basemodel

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sync"

	"orcomgo/compress/ans"
)

// block is bases that are coded side by side, in lanes of about as many.
type block struct {
	at    int    // place of the first one in the history
	bases []byte // one a byte
	quals []byte // their qualities, bytes of FASTQ; nil if there are none
	// leads are where stretches of LeadBases known bases begin, ascending. They are in the history.
	leads []int
}

// LeadBases is how many bases a lead has.
const LeadBases = 16

// begin gives the lanes their parts of a block, and the first of them the last bases of the block before, if goOn.
func (m *Model) begin(b *block, goOn bool) {
	n, last := len(b.bases), m.lanes[m.count-1]
	m.count = lanesOf(n)
	m.active = [numLanes]uint32{}
	for l := range m.count {
		x := &m.lanes[l]
		*x = lane{match: noMatch}
		if l == 0 && goOn {
			*x = last
		}
		x.place, x.end = b.at+n*l/m.count, b.at+n*(l+1)/m.count
		x.leads = b.leads
		for len(x.leads) > 0 && x.leads[0]+LeadBases <= x.place {
			x.leads = x.leads[1:]
		}
		m.next(l, b)
	}
}

// next passes the leads at the next base of a lane, and sets what the predictor needs of the base after them.
func (m *Model) next(l int, b *block) {
	x := &m.lanes[l]
	for len(x.leads) > 0 && x.leads[0] <= x.place {
		m.passLead(x)
	}
	if x.place >= x.end {
		m.active[l] = 0
		return
	}
	c := x.context(x.h)
	m.active[l], m.last[l], m.strand[l] = 1<<32-1, uint32(x.h), uint32(x.r>>(2*(registerBases-strandBases)))
	m.match[l], m.joint[l], m.set[l] = c.match, c.joint, c.set
	if b.quals != nil {
		m.set[l] += QualityClass(b.quals[x.place-b.at]) * weightSets
	}
	m.bases[l] = uint16(b.bases[x.place-b.at])
	m.slot[l], m.word[l] = x.ended[0].slot, x.ended[slotLag].old>>6
}

// passLead moves a lane past the rest of the next lead, or as much of it as it has.
func (m *Model) passLead(x *lane) {
	end := min(x.leads[0]+LeadBases, x.end)
	x.leads = x.leads[1:]
	for ; x.place < end; x.place++ {
		x.h, x.r = shiftIn(x.h, x.r, byte(m.hist.at(x.place)))
		x.known = min(x.known+1, registerBases)
	}
	x.match, x.ended = noMatch, [1 + tryLag]kmer{}
	m.endKmer(x)
}

// code codes a block, and learns it. Encoding, it appends the decisions to out. Decoding, it stops if there are too few words.
func (m *Model) code(b *block, goOn, decoding bool, out []uint16) []uint16 {
	for m.begin(b, goOn); m.active != [numLanes]uint32{} && (!decoding || m.unread() >= 0); {
		m.fetch(m.slots, m.hist.words)
		if m.logging {
			m.log = append(append(m.log, m.last[:]...), m.strand[:]...)
		}
		m.codeStep(decoding)
		if !decoding {
			out = append(append(out, m.intervals[0][:]...), m.intervals[1][:]...)
		}
		for l, active := range m.active[:m.count] {
			if active != 0 {
				v := m.bases[l]
				if decoding {
					b.bases[m.lanes[l].place-b.at] = byte(v)
				}
				m.pass(&m.lanes[l], uint32(v))
				m.next(l, b)
			}
		}
	}
	return out
}

// unread returns how many bytes of words are left; it is negative if more were read than there are.
func (m *Model) unread() int { return len(m.words) - wordsAhead - m.at }

// lanesOf returns how many lanes a block of n bases has.
func lanesOf(n int) int { return min(max(n/laneBases, 1), numLanes) }

// unusedDecisions are the memory for decisions that is not used again.
var unusedDecisions sync.Pool

// encodeBlock appends a block to out.
func (m *Model) encodeBlock(out []byte, b *block, goOn bool) []byte {
	var decisions []uint16
	if d, ok := unusedDecisions.Get().(*[]uint16); ok {
		decisions = *d
	}
	decisions = slices.Grow(decisions[:0], (len(b.bases)/lanesOf(len(b.bases))+1)*ans.RoundValues)
	decisions = m.code(b, goOn, false, decisions)
	for l := range m.states {
		m.states[l] = ans.Start
	}
	words := decisions[ans.Encode(decisions, &m.states, shareBits):]
	for _, x := range m.states[:m.count] {
		out = binary.LittleEndian.AppendUint32(out, x)
	}
	for _, w := range words {
		out = binary.LittleEndian.AppendUint16(out, w)
	}
	unusedDecisions.Put(&decisions)
	return out
}

// decodeBlock decodes the bases of a block from the next words.
func (m *Model) decodeBlock(b *block, goOn bool) error {
	count := lanesOf(len(b.bases))
	if m.unread() < 4*count {
		return fmt.Errorf("%w: a block is cut off", ErrCorrupt)
	}
	for l := range m.states {
		m.states[l] = ans.Start
		if l < count {
			m.states[l] = binary.LittleEndian.Uint32(m.words[m.at:])
			m.at += 4
		}
	}
	if slices.Min(m.states[:]) < ans.Start {
		return fmt.Errorf("%w: a state is too small", ErrCorrupt)
	}
	m.code(b, goOn, true, nil)
	if m.unread() < 0 {
		return fmt.Errorf("%w: a block is cut off", ErrCorrupt)
	}
	for _, x := range m.states {
		if x != ans.Start {
			return fmt.Errorf("%w: a block does not end where its lanes do", ErrCorrupt)
		}
	}
	return nil
}

// Literals are bases that are coded after those of a model.
type Literals struct {
	Bases []byte // one a byte
	Quals []byte // their qualities, bytes of FASTQ; nil if there are none
	Leads []int  // where stretches of LeadBases bases begin that both sides know, ascending
}

// blocks calls f with the blocks of literals.
func (m *Model) blocks(x *Literals, f func(b *block, goOn bool) error) error {
	leads := slices.Clone(x.Leads)
	for i, at := range leads {
		leads[i] = m.learnt + at
		m.hist.setAll(leads[i], x.Bases[at:at+LeadBases])
	}
	for at := 0; at < len(x.Bases); at += blockBases {
		end := min(at+blockBases, len(x.Bases))
		b := &block{at: m.learnt + at, bases: x.Bases[at:end], leads: leads}
		if x.Quals != nil {
			b.quals = x.Quals[at:end]
		}
		if err := f(b, at > 0); err != nil {
			return err
		}
	}
	return nil
}

// Append appends literals, coded, to out. The model must be a clone with room for them, and is not used again.
func (m *Model) Append(out []byte, x *Literals) []byte {
	m.blocks(x, func(b *block, goOn bool) error {
		out = m.encodeBlock(out, b, goOn)
		return nil
	})
	return out
}

// Decode decodes literals, all of data, of which all but the bases after leads are set. An error wraps ErrCorrupt.
func (m *Model) Decode(data []byte, x *Literals) error {
	m.words, m.at = padded(data), 0
	if err := m.blocks(x, m.decodeBlock); err != nil {
		return err
	}
	if m.unread() > 0 {
		return fmt.Errorf("%w: more follows", ErrCorrupt)
	}
	return nil
}
