package numbers

import (
	"math"
	"math/bits"
	"sync"

	"orcomgo/bins/parse"
)

// kind is the kind of a model of a column.
type kind byte

// What pays is said as the share that the number tables of tables of text, or of InterOp, grow by without a kind. x and y are other
// columns; "like" is the last row that had the same values in the columns of the key, or the row before if there is none, or no key.
const (
	like      kind = iota // the value of the row like
	line                  // the value before plus the last difference: what counts, 6 % of StaticRun
	likeRatio             // the value of the row like, times x, divided by x of that row: 10 % of InterOp
	likeSum               // the value that changes as much as the sum of columns since the row like, or as much the other way: 7 % of InterOp
	quotient              // a times x, divided by y: 40 % of tables of quotients
	kinds
)

const (
	maxRefs = 12 // columns of a model
	maxKey  = 3  // columns of a key
)

// model is a model of a column.
type model struct {
	kind   kind
	key    []int   // columns, not of line and quotient
	refs   []int   // columns: of likeSum any number, of likeRatio one, of quotient two
	factor float64 // of quotient; of likeSum 1 or -1
}

// hasKey reports whether models of the kind have a key.
func (k kind) hasKey() bool { return k != line && k != quotient }

// numRefs returns how few and how many columns a model of the kind has.
func (k kind) numRefs() (least, most int) {
	return [kinds]int{likeRatio: 1, quotient: 2}[k], [kinds]int{likeRatio: 1, likeSum: maxRefs, quotient: 2}[k]
}

// code codes a model of a column, one of so many.
func (m *model) code(f *parse.Fields, columns int) {
	parse.Byte(f, &m.kind, kinds-1)
	if m.kind.hasKey() {
		codeColumns(f, &m.key, 0, maxKey, columns)
	}
	if least, most := m.kind.numRefs(); most > 0 {
		codeColumns(f, &m.refs, least, most, columns)
	}
	if m.kind == likeSum || m.kind == quotient {
		bits := math.Float64bits(m.factor)
		f.Uint64(&bits)
		m.factor = math.Float64frombits(bits)
	}
}

// codeColumns codes the numbers of at least and at most so many of the columns.
func codeColumns(f *parse.Fields, list *[]int, least, most, columns int) {
	parse.List(f, list, 1, "columns", func(i *int) { parse.Number(f, i, uint64(columns-1)) })
	if n := len(*list); n < least || n > most {
		f.Fail("%d columns where %d to %d are possible", n, least, most)
	}
}

// table are the columns of a table: those that the models of a column use are complete.
type table struct {
	float32s []bool
	values   [][]int64
	rows     int
	mutex    sync.Mutex
	likes    map[[1 + maxKey]int]func() []int32 // by how many columns the key has, and these
}

func newTable(float32s []bool, values [][]int64, rows int) *table {
	return &table{float32s: float32s, values: values, rows: rows, likes: map[[1 + maxKey]int]func() []int32{}}
}

// like returns for each row the last one before it that has the same values in the columns of key, or the row before.
func (t *table) like(key []int) []int32 {
	name := [1 + maxKey]int{len(key)}
	copy(name[1:], key)
	t.mutex.Lock()
	list := t.likes[name]
	if list == nil {
		list = sync.OnceValue(func() []int32 { return likeRows(t.values, key, t.rows) })
		t.likes[name] = list
	}
	t.mutex.Unlock()
	return list()
}

// likeRows is like for rows rows.
func likeRows(values [][]int64, key []int, rows int) []int32 {
	list := make([]int32, rows)
	for r := range list {
		list[r] = int32(r - 1)
	}
	if len(key) == 0 {
		return list
	}
	logSize := bits.Len(uint(rows)) + 1
	type entry struct {
		hash uint64
		row  int32
	}
	entries := make([]entry, 1<<logSize)
	for r := range rows {
		h := uint64(1)
		for _, c := range key {
			h = mix(h, uint64(values[c][r]))
		}
		h |= 1
		at := h >> (64 - logSize)
		for entries[at].hash != h && entries[at].hash != 0 {
			at = (at + 1) & (1<<logSize - 1)
		}
		if entries[at].hash == h {
			list[r] = entries[at].row
		}
		entries[at] = entry{h, int32(r)}
	}
	return list
}

// mix returns a hash of two numbers.
func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a^0x9E3779B97F4A7C15, b^0xD6E8FEB86659FD93)
	h := hi ^ lo
	h ^= h >> 32
	return h * 0x94D049BB133111EB
}

// predictor is a model of a column at work.
type predictor struct {
	*model
	own      []int64
	low      int64   // the value before the first row
	like     []int32 // of models with a key
	refs     [][]int64
	float32s [2]bool // whether the column and the first of refs are
}

// newPredictor returns the model of column i, whose values may be incomplete.
func (t *table) newPredictor(m *model, i int, own []int64, low int64) predictor {
	d := predictor{model: m, own: own, low: low}
	if m.kind.hasKey() {
		d.like = t.like(m.key)
	}
	for _, x := range m.refs {
		d.refs = append(d.refs, t.values[x])
	}
	if d.float32s[0] = t.float32s[i]; len(m.refs) > 0 {
		d.float32s[1] = t.float32s[m.refs[0]]
	}
	return d
}

// at returns a value of the column, or the smallest value before the first row.
func (d *predictor) at(r int) int64 {
	if r < 0 {
		return d.low
	}
	return d.own[r]
}

// predict returns the value that the model predicts for row r, given those before.
func (d *predictor) predict(r int) int64 {
	switch d.kind {
	case line:
		return d.at(r-1) + (d.at(r-1) - d.at(r-2))
	case quotient:
		return toInt(float64(d.factor*float64(d.refs[0][r])) / float64(d.refs[1][r]))
	}
	similar := int(d.like[r])
	v := d.at(similar)
	switch d.kind {
	case likeRatio:
		f := float64(numberOf(v, d.float32s[0]) * numberOf(d.refs[0][r], d.float32s[1]))
		return valueOf(f/numberOf(valueOr(d.refs[0], similar), d.float32s[1]), d.float32s[0])
	case likeSum:
		sum := int64(0)
		for _, y := range d.refs {
			sum += y[r] - valueOr(y, similar)
		}
		if d.factor < 0 {
			sum = -sum
		}
		return v + sum
	}
	return v
}

// toInt converts a prediction to an integer that differences don't overflow with.
func toInt(f float64) int64 {
	if f > 1<<61 {
		return 1 << 61
	}
	if f > -1<<61 {
		return int64(math.Floor(f + 0.5))
	}
	return -1 << 61 // NaN as well
}

// numberOf returns the number that is coded as a value.
func numberOf(v int64, float32s bool) float64 {
	if float32s {
		return float64(math.Float32frombits(Float32Bits(v)))
	}
	return float64(v)
}

// valueOf is the inverse of numberOf.
func valueOf(f float64, float32s bool) int64 {
	if float32s {
		if math.IsNaN(f) {
			return 0 // the bits of a NaN depend on the platform
		}
		return OrderedFloat32(math.Float32bits(float32(f)))
	}
	return toInt(f)
}

func valueOr(x []int64, r int) int64 {
	if r < 0 {
		return 0
	}
	return x[r]
}
