package overlap

import (
	"sync"
	"sync/atomic"

	"orcomgo/internal/tasks"
)

// window is a range of the pseudogenome whose k-mers are indexed together: bases from..n-1.
type window struct {
	from, n int
	mode    placeMode
	index   func() *kmerIndex // makes the index when it is called for the first time
}

func newWindow(b *builder, from, n int, mode placeMode, retry retryRule) *window {
	return &window{from, n, mode, sync.OnceValue(func() *kmerIndex {
		var wanted *wantedKmers
		if retry == retryNone {
			wanted = b.seedsOfRest(mode, n-from)
		}
		return newKmerIndex(b.seq.packed, from, n, mode.k, mode.sampleMask, mode.maxCandidates, wanted, b.config.Threads)
	})}
}

// seedsOfRest returns the seeds of the reads that have no place, if they are few beside the k-mers of a window of n bases: it takes
// less time to find them than to index all of the window. Else, and if not all reads are in memory, it returns nil.
func (b *builder) seedsOfRest(mode placeMode, n int) *wantedKmers {
	rd, most := b.allReads, int64(min(n, 1<<(2*mode.k))/4)
	if rd == nil {
		return nil
	}
	hashes := make([][]uint32, (rd.Count()+placeBatch-1)/placeBatch) // their upper halves, by batch
	var found atomic.Int64
	tasks.EachWorker(len(hashes), b.config.Threads, func(int) func(k int) {
		p := &placer{rd: rd, mode: mode, index: &kmerIndex{k: mode.k, sampleMask: mode.sampleMask}}
		s, memory := &p.searches[0], make([]uint8, placeBatch)
		return func(k int) {
			if found.Load() > most {
				return
			}
			from := k * placeBatch
			limits := memory[:min(placeBatch, rd.Count()-from)]
			b.setLimits(limits, rd, from, mode, retryNone)
			for i, limit := range limits {
				if limit == 0 {
					continue
				}
				p.begin(s, from+i, int(limit))
				for at, w, r := p.nextKmer(s); at >= 0; at, w, r = p.nextKmer(s) {
					hashes[k] = append(hashes[k], uint32(mix64(min(w, r))>>32))
				}
			}
			found.Add(int64(len(hashes[k])))
		}
	})
	if found.Load() > most {
		return nil
	}
	return newWantedKmers(hashes, int(found.Load()), b.config.Threads)
}
