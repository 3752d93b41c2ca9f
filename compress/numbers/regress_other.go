//go:build !amd64

package numbers

// update adds a row to the sums: what its regressors had to predict is y.
func (g *regress) update(y float64) { g.updatePlain(y) }

// factor replaces g.u by its Cholesky factor and g.y by what solves the factor for it. It reports false if g.u is singular.
func (g *regress) factor() bool { return g.factorPlain() }
