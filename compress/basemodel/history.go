package basemodel

// history is bases by place, 32 in each word, the first lowest; 0 where none was entered yet.
type history struct {
	words []uint64
}

func newHistory(n int) history { return history{make([]uint64, historyWords(n))} }

// historyWords returns how many words the history of n bases has.
func historyWords(n int) int { return n/32 + 3 }

// grow makes room for so many words.
func (h *history) grow(words int) {
	all := make([]uint64, words)
	copy(all, h.words)
	h.words = all
}

// undo makes n bases from place `at` on what they are in from, which may be shorter.
func (h *history) undo(from *history, at, n int) {
	words := h.words[at>>5 : (at+n)>>5+1]
	clear(words[copy(words, from.words[at>>5:]):])
}

// set enters base b at place i. If a base was entered there before, the place holds the bitwise or of both.
func (h *history) set(i int, b uint32) { h.words[i>>5] |= uint64(b) << (2 * (i & 31)) }

// setAll enters bases, as set does, the first at place i.
func (h *history) setAll(i int, bases []byte) {
	words, word, shift := h.words[i>>5:], uint64(0), uint(2*(i&31))
	for _, b := range bases {
		word |= uint64(b) << (shift & 63)
		if shift += 2; shift == 64 {
			words[0] |= word
			words, word, shift = words[1:], 0, 0
		}
	}
	words[0] |= word
}

func (h *history) at(i int) uint32 { return uint32(h.words[i>>5]>>(2*(i&31))) & 3 }

// from returns the 32 bases from i on.
func (h *history) from(i int) uint64 {
	w, s := h.words[i>>5:], uint(2*(i&31))
	v := w[0] >> s
	if s != 0 {
		v |= w[1] << (64 - s)
	}
	return v
}
