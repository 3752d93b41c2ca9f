//go:build cuda

package cudakern

// roomyQueue is a queue with memory on the device, which grows to what the largest job needs.
type roomyQueue struct {
	queue
	memory buffer
}

// make makes the queue. The error wraps ErrMemory if there is too little memory.
func (q *roomyQueue) make(d *Device) error {
	leave, err := d.enter()
	if err != nil {
		return err
	}
	defer leave()
	return q.open(d)
}

// Close waits for the stream and frees the memory.
func (q *roomyQueue) Close() error {
	leave, err := q.dev.enter()
	if err != nil {
		return err
	}
	defer leave()
	return q.close(&q.memory)
}

// room is a part of the memory of a roomyQueue: its address is set by place.
type room struct {
	at   *uint64
	size int
}

const roomAlign = 256 // of device memory

// place gives rooms their addresses, one after another, in memory that has as many bytes as needed. Nothing moves if it has them.
func (q *roomyQueue) place(rooms []room, what string) error {
	total := 0
	for _, r := range rooms {
		total += (r.size + roomAlign - 1) / roomAlign * roomAlign
	}
	if err := q.room(&q.memory, total, what); err != nil {
		return err
	}
	at := q.memory.at()
	for _, r := range rooms {
		*r.at = at
		at += uint64((r.size + roomAlign - 1) / roomAlign * roomAlign)
	}
	return nil
}
