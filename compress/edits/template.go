package edits

import "slices"

const (
	// longestRun is the longest run of equal bases that the classes distinguish.
	longestRun = 8
	runClasses = 2 * longestRun // classes of bases by their run: its length less one, twice; 1 more if the base is not its first
	// ahead is how many bases of the shared sequence are read beyond the bases that a read has at least.
	ahead = 64
)

// template is an oriented stretch of the shared sequence that begins at an anchor, as long as it is needed.
type template struct {
	o       *Options
	anchor  uint64
	reverse bool
	room    int     // bases from the anchor to the end of the shared sequence
	bases   []byte  // the first ones, one a byte. If it has all of them, a base 0 follows that is not there
	runs    []uint8 // of the first bases, their class by run. They are fewer than bases, unless it has all
	class   uint8   // of the last one of runs
	turned  []byte
}

// begin sets the anchor, which is in the shared sequence, and reads n bases and some more.
func (t *template) begin(anchor uint64, reverse bool, n int) {
	t.anchor, t.reverse = anchor, reverse
	t.room = int(t.o.Bases - anchor)
	if reverse {
		t.room = int(anchor) + 1
	}
	t.bases, t.runs = t.bases[:0], t.runs[:0]
	t.extend(n)
}

// complete reports whether there are no more bases than those read, and the one that is not there.
func (t *template) complete() bool { return len(t.bases) > t.room }

// extend reads n more bases, and some beyond them.
func (t *template) extend(n int) {
	at := len(t.bases)
	n = min(n+ahead, t.room-at)
	if t.reverse {
		t.turned = t.o.Source(t.turned[:0], int(t.anchor)-at-n+1, n)
		t.bases = slices.Grow(t.bases, n+1)[:at+n]
		dst := t.bases[at:]
		for i, b := range t.turned {
			dst[n-1-i] = 3 - b
		}
	} else {
		t.bases = t.o.Source(t.bases, int(t.anchor)+at, n)
	}
	end := len(t.bases) - longestRun + 1
	if len(t.bases) == t.room {
		end = t.room
	}
	t.classify(end)
	if len(t.bases) == t.room {
		t.bases = append(t.bases, 0)
		t.runs = append(t.runs, 0)
	}
}

// classify sets the classes of the bases before end.
func (t *template) classify(end int) {
	at := len(t.runs)
	if end <= at {
		return
	}
	t.runs = slices.Grow(t.runs, end-at+1)[:end]
	bases, class := t.bases, t.class
	for i := at; i < end; i++ {
		b := bases[i]
		if i > 0 && bases[i-1] == b {
			t.runs[i] = class | 1
			continue
		}
		n := i + 1
		for most := min(i+longestRun, len(bases)); n < most && bases[n] == b; n++ {
		}
		class = uint8(2 * (n - i - 1))
		t.runs[i] = class
	}
	t.class = class
}
