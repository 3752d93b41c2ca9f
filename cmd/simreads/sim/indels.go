package sim

import "math"

// Insertions and deletions of long reads. Each base of the template begins one with a probability that grows with the length of
// its run of equal bases, since sequencers misjudge how long a run is, and with the cube root of the probability that its quality
// states. So most are in runs, and the worst reads have several times as many as the best.

// runWeights is how often a base in a run of 0, 1, 2 ... equal bases begins an insertion or a deletion, relative to a base that differs
// from its neighbours; the last is for all longer runs. Index 0 is a letter N.
var runWeights = [...]float64{0, 1, 2, 6, 10, 14, 18, 22, 26}

const (
	longestRun     = len(runWeights) - 1
	maxIndelChance = 0.5  // of one base
	sameBase       = 0.9  // share of the insertions in a run of two or more that have its base
	longerIndel    = 0.15 // chance that an insertion or deletion goes on for another base
)

// indels draws insertions and deletions.
type indels struct {
	begins       [maxQuality + 1][longestRun + 1]uint32 // threshold, of 1<<32, by quality and run
	same, longer chance
}

// newIndels returns the draws that insert or delete share bases per base of a read of the profile.
func newIndels(share float64, q *qualities, g *Genome) *indels {
	var runs [longestRun + 1]float64
	for from := 0; from < len(g.letters); {
		n, class := runAt(g.letters, from)
		runs[class] += float64(n) / float64(len(g.letters))
		from += n
	}
	var values [maxQuality + 1]float64
	for _, k := range q.pick {
		for _, d := range q.classes[k].drops {
			values[max(int(q.start[0])-int(d), noCall)] += 1. / 256 / tableSize
		}
	}
	chances := func(scale float64) (begins [maxQuality + 1][longestRun + 1]float64, mean float64) {
		for v := range begins {
			for run := range begins[v] {
				begins[v][run] = math.Min(scale*runWeights[run]*math.Pow(10, -float64(v)/30), maxIndelChance)
				mean += begins[v][run] * values[v] * runs[run]
			}
		}
		return
	}
	lo, hi := 1e-9, 1e3
	for range 60 {
		mid := math.Sqrt(lo * hi)
		if _, mean := chances(mid); mean < share*(1-longerIndel) {
			lo = mid
		} else {
			hi = mid
		}
	}
	d := &indels{same: chanceOf(sameBase), longer: chanceOf(longerIndel)}
	begins, _ := chances(lo)
	for v := range begins {
		for run, p := range begins[v] {
			d.begins[v][run] = uint32(p * (1 << 32))
		}
	}
	return d
}

// runAt returns how many bases of the run of equal bases that begins at a place are left, and its class.
func runAt(letters []byte, from int) (n, class int) {
	b := letters[from]
	for n = 1; from+n < len(letters) && letters[from+n] == b; n++ {
	}
	if b == 'N' {
		return n, 0
	}
	return n, min(n, longestRun)
}

// print appends the bases and printed qualities of a read of the template to seq and qual, and its errors to errors if that is not nil.
func (d *indels) print(q *qualities, template, seq, qual []byte, errors *[]Error, r *random) ([]byte, []byte) {
	c := &q.classes[q.pick[r.next()&255]]
	drop := int(c.drops[r.next()>>54])
	v, u := 0, uint64(0)
	next := func() { // the quality of the next base of the read
		u = r.next()
		if uint32(uint16(u>>32)) >= c.stay {
			drop = int(c.drops[u>>54])
		}
		v = max(int(q.start[0])-drop, noCall)
	}
	put := func(b byte) {
		seq, qual = append(seq, b), append(qual, q.letter[v])
		next()
	}
	note := func(at int, kind ErrorKind, b byte) {
		if errors != nil {
			*errors = append(*errors, Error{at, kind, b})
		}
	}
	next()
	run, class, runEnd := 0, 0, 0
	deleted := false
	for t := 0; t < len(template); t++ {
		if t == runEnd {
			run, class = runAt(template, t)
			runEnd += run
		}
		if w := r.next(); uint32(w>>32) < d.begins[v][class] && !deleted {
			if w&1 != 0 {
				note(t, Deletion, 0)
				for t+1 < len(template) && r.hit(d.longer) {
					t++
					if t == runEnd {
						run, class = runAt(template, t)
						runEnd += run
					}
					note(t, Deletion, 0)
				}
				deleted = true // the next base is one of the read
				continue
			}
			b := template[t]
			if run < 2 || !r.hit(d.same) {
				b = "ACGT"[r.next()&3]
			}
			for {
				note(t, Insertion, b)
				put(b)
				if !r.hit(d.longer) {
					break
				}
			}
		}
		deleted = false
		b := template[t]
		if uint32(u) < q.errors[v] {
			if b = substitute(b, r.next()); b != template[t] {
				note(t, Substitution, b)
			}
		}
		put(b)
	}
	return seq, qual
}
