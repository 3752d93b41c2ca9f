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
	rows   int
	forget float64
}

const (
	solveEvery = 6    // rows
	ridge      = 1e-7 // share of the diagonal that is added to it
)

func newRegress(n int) *regress {
	g := &regress{n: n, x: make([]float64, n), b: make([]float64, n), w: make([]float64, n), scale: make([]float64, n), forget: 0.998}
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
		xi := g.x[i]
		for j := range row {
			row[j] = float64(row[j]*g.forget) + float64(xi*g.x[j])
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
	for i, row := range g.a {
		for j := range row {
			sum := row[j]
			if i == j {
				sum += float64(sum*ridge) + 1e-6
			}
			for k := range j {
				sum -= float64(g.l[i][k] * g.l[j][k])
			}
			if i == j {
				if !(sum > 1e-9) {
					return
				}
				g.l[i][i] = math.Sqrt(sum)
			} else {
				g.l[i][j] = sum / g.l[j][j]
			}
		}
	}
	y := g.scale
	for i := range g.n {
		sum := g.b[i]
		for k := range i {
			sum -= float64(g.l[i][k] * y[k])
		}
		y[i] = sum / g.l[i][i]
	}
	for i := g.n - 1; i >= 0; i-- {
		sum := y[i]
		for k := i + 1; k < g.n; k++ {
			sum -= float64(g.l[k][i] * g.w[k])
		}
		g.w[i] = sum / g.l[i][i]
	}
}
