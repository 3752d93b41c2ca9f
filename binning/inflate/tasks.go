package inflate

func (z *Reader) handle(e event) {
	switch {
	case e.idle:
		z.fetching = false
	case e.seg != nil:
		e.seg.users = 1
		z.segs = append(z.segs, e.seg)
		z.spans = append(z.spans, nil)
		z.whole = e.seg.last
	default:
		s := e.span
		if s.done {
			s.ready = true // finished
			return
		}
		s.done = true
		for _, seg := range s.segs {
			z.leave(seg)
		}
		switch {
		case s.dropped:
			z.recycle(s)
		case s == z.running:
			z.running = nil
			z.extend(s)
			s.ready = true
		}
	}
}

// leave notes that a segment is used by one less.
func (z *Reader) leave(seg *segment) {
	if seg.users--; seg.users == 0 {
		z.pool.put(seg.buf[:cap(seg.buf)])
		seg.buf = nil
	}
}

// recycle frees a span whose text nobody wants.
func (z *Reader) recycle(s *span) {
	z.pool.put(s.buf)
	s.buf = nil
	z.retire(s)
}

// retire takes back what a task needed.
func (z *Reader) retire(s *span) {
	s.d.in, s.d.out = nil, nil
	z.free = append(z.free, s.work)
	s.work = nil
}

// advance begins whatever can be started.
func (z *Reader) advance() {
	if z.quit.Load() {
		return
	}
	z.fetch()
	for z.running == nil && !z.chain.done && len(z.queue) < 2*z.most && z.step() {
	}
	z.fetch()
	z.speculate()
}

// lateStart is how many bytes of text are decoded one segment after another at first, since
// many inputs may be opened long before they are read.
const lateStart = 4 << 20

// ahead is how many segments may be in work now.
func (z *Reader) ahead() int {
	if z.taken >= z.late {
		return z.most
	}
	return 2
}

// fetch begins to read segments.
func (z *Reader) fetch() {
	n := max(z.ahead()+1, z.want) - len(z.segs)
	if z.fetching || z.whole || n <= 0 || z.quit.Load() {
		return
	}
	var orders [][]byte // for a segment each
	for range n {
		own := z.chunk
		if k := z.fetched + len(orders) - 8; z.late > 0 && k < 8 {
			own = min(own, leastChunk<<max(k, 0)) // see lateStart
		}
		size := own + overlap
		// What the chain needs it gets, whatever the bound.
		buf := z.pool.get(size, len(z.segs)+len(orders) < max(2, z.want))
		if buf == nil {
			break
		}
		orders = append(orders, buf)
	}
	if len(orders) == 0 {
		return
	}
	z.fetched += len(orders)
	z.fetching = true
	go func() {
		ended := false
		for _, buf := range orders {
			if ended || z.quit.Load() {
				z.pool.put(buf)
				continue
			}
			seg := z.fetcher.next(buf)
			ended = seg.last
			z.tell(event{seg: seg})
		}
		z.tell(event{idle: true})
	}()
}

// begin starts a task of a span. Unless it is urgent it waits for one of the threads.
func (z *Reader) begin(s *span, task func(), urgent bool) {
	z.tasks.Add(1)
	go func() {
		defer z.tasks.Done()
		if urgent {
			task()
		} else {
			z.slots <- struct{}{}
			task()
			<-z.slots
		}
		z.tell(event{span: s})
	}()
}

// tell reports an event.
func (z *Reader) tell(e event) {
	select {
	case z.events <- e:
	case <-z.over:
	}
}

// newSpan returns a span that begins in the first of some segments.
func (z *Reader) newSpan(segs []*segment) *span {
	s := new(span)
	if n := len(z.free); n > 0 {
		s.work = z.free[n-1]
		z.free = z.free[:n-1]
	} else {
		s.work = &work{d: newDecoder()}
	}
	s.d.quit, s.quit = &z.quit, &z.quit
	s.segs = append([]*segment(nil), segs...)
	for _, seg := range segs {
		seg.users++
	}
	return s
}

// speculate begins tasks for the segments behind the chain.
func (z *Reader) speculate() {
	waiting := len(z.queue)
	for i, seg := range z.segs {
		if waiting >= z.ahead() {
			return
		}
		if z.spans[i] != nil {
			waiting++
			continue
		}
		if i == 0 || !z.speculative {
			if z.running != nil {
				waiting++
			}
			continue
		}
		if i+1 == len(z.segs) && !seg.last {
			return
		}
		text := z.chunk * z.ratio / 16
		buf := z.pool.get(2*(windowSize+text+text/8)+slack, false)
		if buf == nil {
			return
		}
		s := z.newSpan(z.segs[i:min(i+2, len(z.segs))])
		s.speculative, s.buf, s.stop, s.grow = true, buf, seg.end()*8, z.pool.grow
		z.spans[i] = s
		z.begin(s, s.run, false)
		waiting++
	}
}

// step takes the chain on: by what a task has found, or a task of its own. It returns false
// if it must wait.
func (z *Reader) step() bool {
	c := &z.chain
	if c.err != nil {
		c.done = true
		return true
	}
	for len(z.segs) > 0 && c.at >= z.segs[0].end()*8 && !z.segs[0].last {
		z.discard()
		z.leave(z.segs[0])
		z.segs[0] = nil
		z.segs, z.spans = z.segs[1:], z.spans[1:]
	}
	if len(z.segs) == 0 {
		return false
	}
	seg, s := z.segs[0], z.spans[0]
	if len(z.segs) < 2 && !seg.last {
		return false
	}
	if c.phase == atFirst || c.phase == behind {
		if ok, wait := z.member(); !ok {
			return !wait
		}
	}
	stop := seg.end() * 8
	if s != nil {
		if !s.done {
			return false
		}
		if s.err != nil || s.from < c.at {
			z.discard()
		} else if s.from > c.at {
			stop = s.from
		} else if z.accept(s) {
			return true
		} else {
			z.discard()
		}
	}
	z.direct(stop)
	return false
}

// discard gives up what was started in the first segment.
func (z *Reader) discard() {
	s := z.spans[0]
	if s == nil {
		return
	}
	z.spans[0] = nil
	z.stats.discarded++
	if s.done {
		z.recycle(s)
	} else {
		s.dropped = true
	}
}
