package binning

import (
	"bytes"
	"sync"

	"orcomgo/binning/inflate"
	"orcomgo/internal/tasks"
)

// memberPool is what the texts in memory of the host inflate members of BGZF with: as many goroutines for
// each text that is being filled as the run has threads, as an inflate.Reader has.
type memberPool struct {
	threads    int
	regionSize int

	mu      sync.Mutex
	regions []*[2][]byte // not in use
}

// memberDecoders are used again, by one goroutine at a time.
var memberDecoders = sync.Pool{New: func() any { return inflate.NewMemberDecoder() }}

// regionPerThread is how many bytes of BGZF are read for each thread before they are inflated: some dozen
// members, so that no thread waits long for the others.
const regionPerThread = 256 << 10

// newMemberPool returns a pool whose regions take at most so many bytes for an input, 0 for as many as
// are of use.
func newMemberPool(threads, memory int) *memberPool {
	threads = max(threads, 1)
	size := max(threads, 2) * regionPerThread
	if memory > 0 {
		size = min(size, max(memory/2, 2*memberSlack))
	}
	return &memberPool{threads: threads, regionSize: size}
}

// membersPerTask is how many members, end to end, a goroutine inflates in one go.
const membersPerTask = 8

// memberBatch is the members that a text inflates.
type memberBatch struct {
	lines []int // line ends of each
	tasks []memberTask
	done  chan struct{} // closed when all tasks are done
}

// memberTask is a few members, end to end.
type memberTask struct {
	first, end int // of the batch's members
	at         int // where their text begins
	right      int // how many are right, from the first on
}

func (t *hostText) Inflates() bool { return t.pool != nil && t.pool.members != nil }

func (t *hostText) Regions() (regions [][]byte, release func(), err error) {
	p := t.pool.members
	p.mu.Lock()
	defer p.mu.Unlock()
	var r *[2][]byte
	if n := len(p.regions); n > 0 {
		r, p.regions = p.regions[n-1], p.regions[:n-1]
	} else {
		r = &[2][]byte{make([]byte, p.regionSize), make([]byte, p.regionSize)}
	}
	t.regions = r
	return r[:], func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.regions = append(p.regions, r)
	}, nil
}

// clear frees what is not in use.
func (p *memberPool) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.regions = nil
}

func (t *hostText) Inflate(region int, members []inflate.Member, at int) error {
	b, compressed := &t.inflating[region], t.regions[region]
	b.lines, b.tasks = resize(b.lines, len(members)), b.tasks[:0]
	for i := 0; i < len(members); {
		task := memberTask{first: i, end: min(i+membersPerTask, len(members)), at: at}
		for ; i < task.end; i++ {
			at += int(members[i].Length)
		}
		b.tasks = append(b.tasks, task)
	}
	p := t.pool.members
	done := make(chan struct{})
	b.done = done
	go func() {
		defer close(done)
		tasks.NewPool(p.threads).Run(len(b.tasks), func(i int) {
			task := &b.tasks[i]
			d := memberDecoders.Get().(*inflate.MemberDecoder)
			task.right = d.Inflate(t.buf[task.at:], compressed, members[task.first:task.end], func(k int, text []byte) {
				b.lines[task.first+k] = bytes.Count(text, []byte{'\n'})
			})
			memberDecoders.Put(d)
		})
	}()
	return nil
}

func (t *hostText) Inflated(region int) (right int, lines []int, err error) {
	b := &t.inflating[region]
	<-b.done
	for i := range b.tasks {
		task := &b.tasks[i]
		right += task.right
		if task.right < task.end-task.first {
			break
		}
	}
	return right, b.lines, nil
}
