package numbers

import "math"

// regress predicts by least squares over the rows before, of which older ones weigh less. All arithmetic is in float64 with each product
// rounded by itself, so that every platform computes the same. Matrices are symmetric or triangular: of row i, elements i to n-1 are kept,
// at i*stride.
type regress struct {
	n, stride int
	x         []float64 // regressors of this row
	a         []float64 // weighted sums of products of regressors
	b         []float64 // those of regressors and what they predict
	w         []float64
	u         []float64 // Cholesky factor
	y         []float64 // what solves the factor for b
	rows      int
}

// The weights are computed anew after each multiple of solveOften rows up to row solveOftenTo, and of solveLater.
const (
	solveOften   = 6
	solveOftenTo = 96
	solveLater   = 16
)

const (
	forget     = 0.998 // the weight of a row relative to the row after it
	ridge      = 1e-7  // share of the diagonal that is added to it
	ridgeAdd   = 1e-6
	leastPivot = 1e-9
)

func newRegress(n int) *regress {
	stride := (n+3)&^3 + 4 // vector instructions take four elements
	list := make([]float64, (4+2*n)*stride)
	part := func(rows int) []float64 {
		p := list[: rows*stride : rows*stride]
		list = list[rows*stride:]
		return p
	}
	return &regress{n: n, stride: stride, x: part(1), b: part(1), w: part(1), y: part(1), a: part(n), u: part(n)}
}

// predict returns the prediction of the regressors in g.x.
func (g *regress) predict() float64 {
	sum := 0.0
	w := g.w[:g.n]
	for i, x := range g.x[:g.n] {
		sum += float64(x * w[i])
	}
	return sum
}

// learn adds a row: what its regressors had to predict is y.
func (g *regress) learn(y float64) {
	g.update(y)
	g.rows++
	if g.rows%solveOften == 0 && g.rows <= solveOftenTo || g.rows%solveLater == 0 {
		g.solve()
	}
}

func (g *regress) updatePlain(y float64) {
	x := g.x[:g.n]
	for i, xi := range x {
		row := g.a[i*g.stride:][i:g.n]
		for j, xj := range x[i:] {
			row[j] = float64(row[j]*forget) + float64(xi*xj)
		}
		g.b[i] = float64(g.b[i]*forget) + float64(xi*y)
	}
}

// solve computes the weights. If the sums are singular all the same, it leaves them as they are.
func (g *regress) solve() {
	copy(g.y, g.b)
	for i := range g.n {
		row := g.u[i*g.stride:][i:g.n]
		copy(row, g.a[i*g.stride:][i:g.n])
		row[0] += float64(row[0]*ridge) + ridgeAdd
	}
	if !g.factor() {
		return
	}
	w := g.w[:g.n]
	for i := g.n - 1; i >= 0; i-- {
		row := g.u[i*g.stride:][i:g.n]
		sum := g.y[i]
		for k, later := range w[i+1:] {
			sum -= float64(row[1+k] * later)
		}
		w[i] = sum / row[0]
	}
}

// factorPlain is factor. Each element is subtracted from in the order of the rows before it.
func (g *regress) factorPlain() bool {
	y := g.y[:g.n]
	for k := range y {
		from := g.u[k*g.stride:][:g.n]
		if !(from[k] > leastPivot) {
			return false
		}
		d := math.Sqrt(from[k])
		from[k] = d
		y[k] /= d
		for i := k + 1; i < len(from); i++ {
			from[i] /= d
			y[i] -= float64(from[i] * y[k])
		}
		for j := k + 1; j < len(from); j++ {
			row, x := g.u[j*g.stride:][j:g.n], from[j]
			for i, z := range from[j:] {
				row[i] -= float64(x * z)
			}
		}
	}
	return true
}
