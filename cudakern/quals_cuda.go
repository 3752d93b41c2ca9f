//go:build cuda

package cudakern

// #include "shared.h"
import "C"

import "unsafe"

// QualityModel is the model that columns of qualities begin with; package quals defines it.
type QualityModel struct {
	Slots                            []byte // lines of QualityLine bytes
	Ranks, Symbols                   []byte // 256 for each symbol: ranks by symbols, and symbols by ranks
	SymbolOf, Values                 []byte // 256 each: by value, and by symbol
	Count, Bits, Groups, GroupRounds int
	Stepped                          bool
	Steps, Rate, Span                uint32 // as they are after what the model has learnt from
}

// QualityColumn is a column of qualities.
type QualityColumn struct {
	Model   *QualityModel
	Records int
	Lengths []uint32 // nil: each is Length
	Length  int
	Longest int
	Quals   []byte // set when it is decoded
	Coded   []byte // set, within its capacity, when it is encoded
	Failed  bool   // is set if Coded is corrupt, or its capacity too small
}

// What package quals defines, and kernels use: numLanes, blockSymbols, pieceSymbols, numFeatures, lineBytes, lastFeature, lessBits,
// firstFurther.
const (
	QualityLanes    = C.QUAL_LANES
	QualityBlock    = C.QUAL_BLOCK
	QualityPiece    = C.QUAL_PIECE
	QualityFeatures = C.QUAL_FEATURES
	QualityLine     = C.QUAL_LINE
	QualityLast     = C.QUAL_LAST
	QualityLessBits = C.QUAL_LESS_BITS
	QualityFirst    = C.QUAL_FIRST_FURTHER
)

// QualityCoder codes columns of qualities, many side by side. It is used by one goroutine at a time.
type QualityCoder struct{ queue }

// modelAt is where the parts of a model are on the device.
type modelAt struct{ slots, table, values uint64 }

// NewQualityCoder makes a QualityCoder that has so much memory of the device, and what it copies through, from the start, since
// allocating some waits for all kernels. The error wraps ErrMemory if there is too little memory.
func (d *Device) NewQualityCoder(memory int) (*QualityCoder, error) {
	q := &QualityCoder{}
	if err := q.open(d); err != nil {
		return nil, err
	}
	return q, q.do(func() {
		q.room(&q.memory, memory, "qualities")
		for i := range q.copiers {
			if q.err == nil {
				q.err = q.copiers[i].open()
			}
		}
	})
}

// rows returns how many decisions of all lanes a block of the column has at most.
func (c *QualityColumn) rows() int {
	steps := min(len(c.Quals), QualityBlock+QualityPiece)/QualityLanes + min(c.Longest, QualityPiece) + 1
	if c.Model.Count <= 9 { // one round a step
		return steps
	}
	return steps * (2 + c.Model.GroupRounds)
}

// Memory returns about how many bytes of device memory the column takes.
func (c *QualityColumn) Memory(encode bool) int {
	n := len(c.Model.Slots) + len(c.Quals) + cap(c.Coded) + 4*len(c.Lengths) + 8*roomAlign
	if encode {
		n += 4 * QualityLanes * c.rows()
	}
	return n
}

// Code sets Coded of columns, or else Quals, which are as long as their reads. It calls copied when all that it reads of them is on the
// device. The error wraps ErrMemory if there is too little memory.
func (q *QualityCoder) Code(columns []*QualityColumn, encode bool, copied func()) error {
	on := make([]C.struct_QualColumn, len(columns))
	return q.do(func() {
		all, models := q.placeColumns(columns, on, encode)
		for m, at := range models {
			q.upload(at.slots, m.Slots, "a model")
			table, values := m.Symbols, m.Values
			if encode {
				table, values = m.Ranks, m.SymbolOf
			}
			q.upload(at.table, table, "ranks")
			q.upload(at.values, values, "values")
		}
		step := kernel(C.STEP_QUALS_DECODE)
		if encode {
			step = C.STEP_QUALS_ENCODE
		}
		var parts []part
		for i, c := range columns {
			parts = append(parts, part{uint64(on[i].lengths), bytesOf(c.Lengths)})
			if encode {
				parts = append(parts, part{uint64(on[i].quals), c.Quals})
			} else {
				parts = append(parts, part{uint64(on[i].coded), c.Coded})
			}
		}
		q.uploadAll(parts, "qualities")
		parts = parts[:0]
		q.upload(all, bytesOf(on), "columns")
		q.launch(step, threadBlocks(len(columns), warps), all, uint64(len(columns)))
		if q.err != nil {
			return
		}
		copied()
		q.download(bytesOf(on), all, "columns")
		for i, c := range columns {
			if c.Failed = on[i].failed != 0; c.Failed {
				continue
			}
			if encode {
				c.Coded = c.Coded[:2*int(on[i].coded_words)]
				parts = append(parts, part{uint64(on[i].coded), c.Coded})
			} else {
				parts = append(parts, part{uint64(on[i].quals), c.Quals})
			}
		}
		if q.err == nil {
			q.downloadParts(parts, "qualities")
		}
	})
}

// placeColumns makes room for columns and their models, sets what the kernels know of them, and returns where that and
// the models will be.
func (q *QualityCoder) placeColumns(columns []*QualityColumn, on []C.struct_QualColumn, encode bool) (all uint64,
	models map[*QualityModel]*modelAt) {
	models = make(map[*QualityModel]*modelAt)
	rooms := []room{{&all, len(bytesOf(on))}}
	add := func(at *C.ulonglong, size int) { rooms = append(rooms, room{(*uint64)(unsafe.Pointer(at)), size}) }
	for i, c := range columns {
		m, to := c.Model, &on[i]
		if models[m] == nil {
			at := new(modelAt)
			models[m] = at
			rooms = append(rooms, room{&at.slots, len(m.Slots)}, room{&at.table, len(m.Ranks)}, room{&at.values, len(m.Values)})
		}
		coded := len(c.Coded)
		if encode {
			coded = cap(c.Coded)
			add(&to.rows, 4*QualityLanes*c.rows())
		}
		add(&to.slots, len(m.Slots))
		add(&to.quals, len(c.Quals))
		add(&to.coded, coded)
		if c.Lengths != nil {
			add(&to.lengths, 4*len(c.Lengths))
		}
		to.length, to.records, to.coded_words = C.uint(c.Length), C.uint(c.Records), C.uint(coded/2)
		to.lines, to.bits, to.count = C.uint(len(m.Slots)/QualityLine), C.uint(m.Bits), C.uint(m.Count)
		to.groups, to.group_rounds = C.uint(m.Groups), C.uint(m.GroupRounds)
		to.steps, to.rate, to.span = C.uint(m.Steps), C.uint(m.Rate), C.uint(m.Span)
		if m.Stepped {
			to.stepped = 1
		}
	}
	q.place(rooms, "qualities")
	for i, c := range columns {
		at := models[c.Model]
		on[i].first, on[i].table, on[i].values = C.ulonglong(at.slots), C.ulonglong(at.table), C.ulonglong(at.values)
	}
	return all, models
}
