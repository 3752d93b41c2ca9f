package numbers

import "math"

// regress predicts by least squares over the rows before, of which older ones weigh less. All arithmetic is in float64 with each product
// rounded by itself, so that every platform computes the same.
type regress struct {
	n      int
	x      []float64   // regressors of this row
	a      [][]float64 // lower triangle of the weighted sums of products of regressors
	b      []float64   // those of regressors and what they predict
	w      []float64
	l      [][]float64 // Cholesky factor
	scale  []float64
	column []float64 // of the factor
	rows   int
	forget float64
}

const (
	solveEvery = 6    // rows
	ridge      = 1e-7 // share of the diagonal that is added to it
)

func newRegress(n int) *regress {
	list := func() []float64 { return make([]float64, n) }
	g := &regress{n: n, x: list(), b: list(), w: list(), scale: list(), column: list(), forget: 0.998}
	for i := range n {
		g.a = append(g.a, make([]float64, i+1))
		g.l = append(g.l, make([]float64, i+1))
	}
	return g
}

// predict returns the prediction of the regressors in g.x.
func (g *regress) predict() float64 {
	sum := 0.0
	for i, x := range g.x {
		sum += float64(x * g.w[i])
	}
	return sum
}

// learn adds a row: what its regressors had to predict is y.
func (g *regress) learn(y float64) {
	for i, row := range g.a {
		xi, x := g.x[i], g.x[:len(row)]
		for j := range row {
			row[j] = float64(row[j]*g.forget) + float64(xi*x[j])
		}
		g.b[i] = float64(g.b[i]*g.forget) + float64(xi*y)
	}
	g.rows++
	if g.rows%solveEvery == 0 {
		g.solve()
	}
}

// solve computes the weights. If the sums are singular all the same, it leaves them as they are.
func (g *regress) solve() {
	// The factor is computed column by column: each sum is subtracted from in the same order as row by row, but the sums do not wait
	// for each other.
	y := g.scale
	copy(y, g.b)
	for i, row := range g.a {
		copy(g.l[i], row)
		g.l[i][i] += float64(row[i]*ridge) + 1e-6
	}
	for k, row := range g.l {
		if !(row[k] > 1e-9) {
			return
		}
		d := math.Sqrt(row[k])
		row[k] = d
		y[k] /= d
		column := g.column[:g.n]
		for i := k + 1; i < len(column); i++ {
			x := g.l[i][k] / d
			g.l[i][k], column[i] = x, x
			y[i] -= float64(x * y[k])
			rest := g.l[i][k+1 : i+1]
			for j, z := range column[k+1 : i+1] {
				rest[j] -= float64(x * z)
			}
		}
	}
	for i := g.n - 1; i >= 0; i-- {
		sum := y[i]
		for k := i + 1; k < g.n; k++ {
			sum -= float64(g.l[k][i] * g.w[k])
		}
		g.w[i] = sum / g.l[i][i]
	}
}
