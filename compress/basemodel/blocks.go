package basemodel

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sort"
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

// lane is a part of a block, whose bases are coded one after another.
type lane struct {
	end   int   // place after its last base
	stop  int   // where it ends, or comes to a lead
	leads []int // that follow: see block
}

// begin gives the lanes their parts of a block.
func (m *Model) begin(b *block) {
	n := len(b.bases)
	count := lanesOf(n)
	m.active = [numLanes]uint32{}
	for l := range count {
		x := &m.lanes[l]
		place := b.at + n*l/count
		*x = lane{end: b.at + n*(l+1)/count, leads: b.leads}
		x.leads = x.leads[sort.Search(len(x.leads), func(i int) bool { return x.leads[i]+LeadBases > place }):]
		m.active[l] = 1<<32 - 1
		m.startLane(l, place)
		m.prepare(l)
		m.passLeads(l)
	}
}

// passLeads moves lane l past leads that begin where it is, and finds where it stops next.
func (m *Model) passLeads(l int) {
	x := &m.lanes[l]
	place := int(m.place[l])
	for len(x.leads) > 0 && x.leads[0] <= place {
		end := min(x.leads[0]+LeadBases, x.end)
		x.leads = x.leads[1:]
		for ; place < end; place++ {
			m.append(l, m.hist.at(place))
		}
		m.place[l], m.found[l] = uint32(place), 0
		m.slot[l], m.turned[l] = m.kmer(m.forward[l], m.reverse[l])
		m.noMatch(l)
		m.prepare(l)
	}
	x.stop = x.end
	if len(x.leads) > 0 {
		x.stop = min(x.leads[0], x.end)
	}
	if place >= x.end {
		m.active[l] = 0
	}
}

// stretch returns how many bases all active lanes code before one of them stops; 0 if none is active.
func (m *Model) stretch() int {
	n := 0
	for l, active := range m.active {
		if left := m.lanes[l].stop - int(m.place[l]); active != 0 && (n == 0 || left < n) {
			n = left
		}
	}
	return n
}

// code codes a block, and learns it. Encoding, it appends the decisions to out. Decoding, it stops if there are too few words.
func (m *Model) code(b *block, decoding bool, out []uint16) []uint16 {
	m.begin(b)
	for n := m.stretch(); n > 0; n = m.stretch() {
		for range n {
			if decoding && m.unread() < 0 {
				return out
			}
			if !decoding || b.quals != nil {
				m.input(b)
			}
			m.fetch(m.slots, m.hist.words)
			if m.logging {
				k := lanesOf(len(b.bases))
				m.log = append(append(append(m.log, m.last[:k]...), m.strand[:k]...), m.slot[:k]...)
			}
			m.codeStep(decoding)
			if decoding {
				for l, active := range m.active {
					if active != 0 {
						b.bases[int(m.place[l])-b.at] = byte(m.bases[l])
					}
				}
			} else {
				out = append(append(out, m.intervals[0][:]...), m.intervals[1][:]...)
			}
			m.passStep()
		}
		for l, active := range m.active {
			if active != 0 && int(m.place[l]) == m.lanes[l].stop {
				m.passLeads(l)
			}
		}
	}
	return out
}

// input gives the lanes their bases, and sets of weights by their qualities.
func (m *Model) input(b *block) {
	for l, active := range m.active {
		if active == 0 {
			continue
		}
		i := int(m.place[l]) - b.at
		m.bases[l] = uint16(b.bases[i])
		if b.quals != nil {
			m.set[l] += QualityClass(b.quals[i]) * weightSets
		}
	}
}

// unread returns how many bytes of words are left; it is negative if more were read than there are.
func (m *Model) unread() int { return len(m.words) - wordsAhead - m.at }

// lanesOf returns how many lanes a block of n bases has.
func lanesOf(n int) int { return min(max(n/laneBases, 1), numLanes) }

// unusedDecisions are the memory for decisions that is not used again.
var unusedDecisions sync.Pool

// encodeBlock appends a block to out.
func (m *Model) encodeBlock(out []byte, b *block) []byte {
	var decisions []uint16
	if d, ok := unusedDecisions.Get().(*[]uint16); ok {
		decisions = *d
	}
	decisions = slices.Grow(decisions[:0], (len(b.bases)/lanesOf(len(b.bases))+1)*ans.RoundValues)
	decisions = m.code(b, false, decisions)
	for l := range m.states {
		m.states[l] = ans.Start
	}
	words := decisions[ans.Encode(decisions, &m.states, shareBits):]
	for _, x := range m.states[:lanesOf(len(b.bases))] {
		out = binary.LittleEndian.AppendUint32(out, x)
	}
	for _, w := range words {
		out = binary.LittleEndian.AppendUint16(out, w)
	}
	unusedDecisions.Put(&decisions)
	return out
}

// decodeBlock decodes the bases of a block from the next words.
func (m *Model) decodeBlock(b *block) error {
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
	m.code(b, true, nil)
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
func (m *Model) blocks(x *Literals, f func(b *block) error) error {
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
		if err := f(b); err != nil {
			return err
		}
	}
	return nil
}

// Append appends literals, coded, to out. The model must be a clone with room for them, and is not used again.
func (m *Model) Append(out []byte, x *Literals) []byte {
	m.blocks(x, func(b *block) error {
		out = m.encodeBlock(out, b)
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
