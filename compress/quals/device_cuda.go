//go:build cuda

package quals

import (
	"errors"
	"slices"
	"unsafe"

	"orcomgo/cudakern"
	"orcomgo/internal/largepages"
)

// openGPU opens the first GPU.
var openGPU = openCUDA

// What package cudakern has in common with this one. An index other than 0 does not compile.
var (
	_ = [1]int{}[cudakern.QualityLanes-numLanes]
	_ = [1]int{}[cudakern.QualityBlock-blockSymbols]
	_ = [1]int{}[cudakern.QualityPiece-pieceSymbols]
	_ = [1]int{}[cudakern.QualityFeatures-numFeatures]
	_ = [1]int{}[cudakern.QualityLine-lineBytes]
	_ = [1]int{}[cudakern.QualityLast-lastFeature]
	_ = [1]int{}[cudakern.QualityLessBits-lessBits]
	_ = [1]int{}[cudakern.QualityFirst-firstFurther]
)

// cuda is the first NVIDIA GPU.
type cuda struct {
	device *cudakern.Device
	memory int // of each coder
}

// mostMemory is how much memory of the device a coder has at most.
const mostMemory = 4 << 30

func openCUDA() (gpu, error) {
	d, err := cudakern.Open(0)
	if err != nil {
		return nil, err
	}
	// Half is for what else uses the device.
	return &cuda{d, int(min(d.Description().FreeMemory/(2*2*sideBySide), mostMemory))}, nil
}

func (c *cuda) close() error { return c.device.Close() }

func (c *cuda) coder() (gpuCoder, error) {
	q, err := c.device.NewQualityCoder(c.memory)
	return &cudaCoder{q, c.memory}, err
}

type cudaCoder struct {
	*cudakern.QualityCoder
	memory int
}

func (c *cudaCoder) close() error { return c.Close() }

func (c *cudaCoder) code(columns []*deviceColumn, copied func(n int)) (n int, err error) {
	encode, models, used := columns[0].encode, make(map[*model]*cudakern.QualityModel), 0
	var on []*cudakern.QualityColumn
	if !encode {
		makeRoom(columns)
	}
	for _, column := range columns {
		in := column.in
		m := in.Primer.model
		if models[m] == nil {
			models[m] = cudaModel(m)
			used += len(models[m].Slots)
		}
		shortest, longest := in.Lengths.Range(in.Records)
		q := &cudakern.QualityColumn{Model: models[m], Records: in.Records, Lengths: in.Lengths.Each, Length: int(shortest),
			Longest: int(longest), Quals: column.quals, Coded: column.coded}
		if encode {
			size := len(column.quals)
			q.Coded = make([]byte, 0, (size+size/4)&^1+4096) // more only if the model is much worse than none
		}
		if used += q.Memory(encode); used > c.memory {
			break
		}
		on = append(on, q)
	}
	err = c.Code(on, encode, func() { copied(len(on)) })
	if errors.Is(err, cudakern.ErrMemory) { // others took it since
		c.memory = c.memory / 2
		return 0, nil
	}
	for i, q := range on {
		columns[i].coded, columns[i].right = q.Coded, err == nil && !q.Failed
	}
	return len(on), err
}

// makeRoom makes room for the qualities of columns that are to be decoded and have none, in large pages.
func makeRoom(columns []*deviceColumn) {
	n := 0
	for _, c := range columns {
		if c.quals == nil {
			n += c.n
		}
	}
	all := largepages.AskForMany(largepages.Uncleared(n))
	for _, c := range columns {
		if c.quals == nil {
			c.quals, all = all[:c.n:c.n], all[c.n:]
		}
	}
}

// cudaModel returns a model as the kernels take it.
func cudaModel(m *model) *cudakern.QualityModel {
	t, values := m.ranks, make([]byte, 256)
	copy(values, t.values)
	table := func(rows [][256]uint8) (all []byte) {
		for i := range rows {
			all = append(all, rows[i][:]...)
		}
		return
	}
	return &cudakern.QualityModel{
		Slots: unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(m.slots))), len(m.slots)*lineBytes),
		Ranks: table(t.rank), Symbols: table(t.byRank), SymbolOf: slices.Clone(t.symbol[:]), Values: values,
		Count: len(t.values), Bits: int(m.bits), Groups: int(m.groups()), GroupRounds: int(m.groupRounds()),
		Stepped: m.kind == stepped, Steps: m.steps, Rate: m.rate, Span: m.span,
	}
}
