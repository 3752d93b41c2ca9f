package report

import (
	"fmt"
	"image/color"

	"github.com/dustin/go-humanize"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
)

// maxBars is how many bars a plot of lengths has at most.
const maxBars = 60

// plots draws what there is of reads.
func (r *ReadFigures) plots() ([]figure, error) {
	return drawAll(r.plotQualities(), r.plotLetters(), r.plotN(), r.plotLengths(), r.plotGC(), r.plotMeans(),
		r.Duplication.plot("reads"))
}

// shownCycles returns the cycles that plots show: all, or of many every second, third and so on.
func (r *ReadFigures) shownCycles() (list []*Cycle) {
	step := (len(r.Cycles) + maxPoints - 1) / maxPoints
	for i := 0; i < len(r.Cycles); i += step {
		list = append(list, &r.Cycles[i])
	}
	return list
}

// middle is where a cycle, or a group of them, is on the axis.
func (c *Cycle) middle() float64 { return float64(c.From+c.To) / 2 }

// linearCycles is how many cycles are shown on a linear axis at most. Of longer reads the first cycles, where most happens, would be
// too narrow.
const linearCycles = 1000

// cycleChart returns a chart by cycle.
func (r *ReadFigures) cycleChart(title, y string) *chart {
	c := newChart(title, "cycle", y)
	if n := len(r.Cycles); n > 0 && r.Cycles[n-1].middle() > linearCycles {
		c.logarithmic()
	}
	return c
}

func (r *ReadFigures) plotQualities() *chart {
	var low, quarter, median, threeQuarters, high, mean plotter.XYs
	for _, c := range r.shownCycles() {
		q := c.Quality
		if q == nil {
			continue
		}
		at := func(y float64) plotter.XY { return plotter.XY{X: c.middle(), Y: y} }
		low, high = append(low, at(float64(q.P10))), append(high, at(float64(q.P90)))
		quarter, threeQuarters = append(quarter, at(float64(q.P25))), append(threeQuarters, at(float64(q.P75)))
		median, mean = append(median, at(float64(q.Median))), append(mean, at(q.Mean))
	}
	if len(mean) == 0 {
		return nil
	}
	c := r.cycleChart("Qualities by cycle", "quality (Phred)")
	c.Text = "Of all bases at a cycle. Qualities of 30 mean one wrong base in a thousand."
	c.band("10 to 90 %", low, high, colourPale)
	c.band("25 to 75 %", quarter, threeQuarters, colourBand)
	c.line("median", median, colourC)
	c.line("mean (dashed)", mean, colourMean, 5, 3)
	return c
}

// shares returns the share of the letters at each cycle that count returns, in percent.
func (r *ReadFigures) shares(count func(l *Letters) uint64) (points plotter.XYs) {
	for _, c := range r.shownCycles() {
		if n := c.Letters.total(); n > 0 {
			points = append(points, plotter.XY{X: c.middle(), Y: percent(count(&c.Letters), n)})
		}
	}
	return points
}

func (r *ReadFigures) plotLetters() *chart {
	if r.Bases == 0 {
		return nil
	}
	c := r.cycleChart("Bases by cycle", "% of the bases")
	c.Text = "The share of each base at a cycle."
	for _, l := range []struct {
		name   string
		colour color.NRGBA
		count  func(l *Letters) uint64
	}{
		{"A", colourA, func(l *Letters) uint64 { return l.A }},
		{"C", colourC, func(l *Letters) uint64 { return l.C }},
		{"G", colourG, func(l *Letters) uint64 { return l.G }},
		{"T", colourT, func(l *Letters) uint64 { return l.T }},
	} {
		c.line(l.name, r.shares(l.count), l.colour)
	}
	return c
}

func (r *ReadFigures) plotN() *chart {
	if r.Bases == 0 {
		return nil
	}
	c := r.cycleChart("N by cycle", "% that are N")
	c.plot.Y.Max = 0.1 // at least
	c.Text = fmt.Sprintf("Bases that the sequencer could not tell: %s %% of all.", decimals(r.N, 3))
	c.line("", r.shares(func(l *Letters) uint64 { return l.N }), colourN)
	return c
}

func (r *ReadFigures) plotLengths() *chart {
	if len(r.Lengths) < 2 {
		return nil // a sentence says it
	}
	least, greatest := r.Lengths[0].From, r.Lengths[len(r.Lengths)-1].To
	width := max((greatest-least+maxBars)/maxBars, 1)
	list := make([]plotter.HistogramBin, (greatest-least)/width+1)
	for i := range list {
		list[i].Min = float64(least+i*width) - 0.5
		list[i].Max = list[i].Min + float64(width)
	}
	for _, l := range r.Lengths {
		list[((l.From+l.To)/2-least)/width].Weight += percent(l.Count, r.Records)
	}
	c := newChart("Lengths", "length (bases)", "% of the reads")
	c.Text = fmt.Sprintf("Reads by their length, %s to %s bases.", humanize.Comma(int64(least)), humanize.Comma(int64(greatest)))
	if width > 1 {
		c.Text += fmt.Sprintf(" A bar is %d bases wide.", width)
	}
	c.bars(list, colourC)
	return c
}

func (r *ReadFigures) plotGC() *chart {
	points, total := plotter.XYs{}, 0.0
	for _, n := range r.GCByRead {
		total += n
	}
	if total == 0 {
		return nil
	}
	for gc, n := range r.GCByRead {
		points = append(points, plotter.XY{X: float64(gc), Y: 100 * n / total})
	}
	c := newChart("GC of reads", "% G and C of a read", "% of the reads")
	c.Text = fmt.Sprintf("Reads by the share of G and C among their A, C, G and T. Of all bases it is %s %%.", decimals(r.GC, 1))
	c.line("", points, colourA)
	return c
}

func (r *ReadFigures) plotMeans() *chart {
	if r.Qualities == nil || len(r.Qualities.ByRead) == 0 {
		return nil
	}
	var list []plotter.HistogramBin
	for _, l := range r.Qualities.ByRead {
		list = append(list, plotter.HistogramBin{Min: float64(l.From) - 0.5, Max: float64(l.From) + 0.5,
			Weight: percent(l.Count, r.Records-r.Qualities.Without)})
	}
	c := newChart("Mean qualities of reads", "mean quality of a read", "% of the reads")
	c.Text = "Reads by the mean of their qualities, rounded."
	if len(list) == 1 {
		c.Text = fmt.Sprintf("All reads have a mean quality of %d.", r.Qualities.ByRead[0].From)
	}
	c.plot.X.Min = 0
	c.bars(list, colourC)
	return c
}

// plot shows the levels of duplicates of reads, or of pairs.
func (d *Duplication) plot(what string) *chart {
	if d == nil {
		return nil
	}
	var list []plotter.HistogramBin
	var labels plot.ConstantTicks
	for i, l := range d.Levels {
		list = append(list, plotter.HistogramBin{Min: float64(i) + 0.1, Max: float64(i) + 0.9, Weight: l.Percent})
		label := fmt.Sprint(l.From)
		if l.From >= 1000 {
			label = fmt.Sprintf("%dk", l.From/1000)
		}
		if l.To != l.From {
			label = "≥" + label
		}
		if i%2 == 0 && l.From < 9 || i%2 == 1 && l.From >= 10 {
			labels = append(labels, plot.Tick{Value: float64(i) + 0.5, Label: label})
		}
	}
	c := newChart("Duplicates among "+what, "how often the sequence occurs", "% of the "+what)
	c.Text = fmt.Sprintf("%s %% of the %s repeat an earlier one.", decimals(d.Duplicates, 1), what)
	if d.OneIn > 1 {
		c.Text += fmt.Sprintf(" Counted for one in %d sequences.", d.OneIn)
	}
	c.plot.X.Tick.Marker = labels
	c.bars(list, colourG)
	return c
}

// plot shows which share of the pseudogenome has which depth.
func (p *PseudogenomeFigures) plot() *chart {
	if p == nil || len(p.AtLeast) < 2 {
		return nil
	}
	var points plotter.XYs
	for _, s := range p.AtLeast[1:] {
		points = append(points, plotter.XY{X: s.Depth, Y: s.Percent})
	}
	c := newChart("Coverage of the pseudogenome", "reads over a base", "% of the pseudogenome")
	c.logarithmic()
	c.plot.X.Max = 10 // at least
	c.Text = fmt.Sprintf("The share of it that lies under so many reads or more, in windows of %d bases. On average %s reads lie over a base.",
		p.Window, decimals(p.MeanDepth, 1))
	c.line("", points, colourC)
	return c
}
