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
func (r *ReadFigures) plots() (list []figure, err error) {
	for _, draw := range []func() (*figure, error){r.plotQualities, r.plotLetters, r.plotN, r.plotLengths, r.plotGC, r.plotMeans,
		func() (*figure, error) { return plotDuplication(r.Duplication, "reads") }} {
		f, err := draw()
		if err != nil {
			return nil, err
		}
		if f != nil {
			list = append(list, *f)
		}
	}
	return list, nil
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

// scaleCycles sets the ranges of a plot by cycle.
func (r *ReadFigures) scaleCycles(p *plot.Plot, maxY float64) {
	last := 1.0
	if n := len(r.Cycles); n > 0 {
		last = r.Cycles[n-1].middle()
	}
	if last <= linearCycles {
		scale(p, 0, last, 0, maxY)
		return
	}
	scale(p, 1, last, 0, maxY)
	p.X.Label.Text += " (logarithmic)"
	p.X.Scale = plot.LogScale{}
	p.X.Tick.Marker = decades(last)
}

// finish draws a plot for a figure.
func (f *figure) finish(p *plot.Plot) (*figure, error) {
	drawn, err := svg(p, f.Title)
	f.SVG = drawn
	return f, err
}

func (r *ReadFigures) plotQualities() (*figure, error) {
	if r.Qualities == nil {
		return nil, nil
	}
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
		return nil, nil
	}
	p := newPlot("cycle", "quality (Phred)")
	if err := band(p, low, high, colourPale); err != nil {
		return nil, err
	}
	if err := band(p, quarter, threeQuarters, colourBand); err != nil {
		return nil, err
	}
	if err := line(p, median, colourC, 1.6); err != nil {
		return nil, err
	}
	if err := line(p, mean, colourMean, 1.6, 5, 3); err != nil {
		return nil, err
	}
	r.scaleCycles(p, highest(high, mean)*1.04)
	f := &figure{Title: "Qualities by cycle", Text: "Of all bases at a cycle. Qualities of 30 mean one wrong base in a thousand.",
		Legend: []legendEntry{entry("median", colourC), entry("mean (dashed)", colourMean), entry("25 to 75 %", colourBand),
			entry("10 to 90 %", colourPale)}}
	return f.finish(p)
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

func (r *ReadFigures) plotLetters() (*figure, error) {
	if r.Bases == 0 {
		return nil, nil
	}
	p := newPlot("cycle", "% of the bases")
	f := &figure{Title: "Bases by cycle", Text: "The share of each base at a cycle."}
	top := 0.0
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
		points := r.shares(l.count)
		if err := line(p, points, l.colour, 1.5); err != nil {
			return nil, err
		}
		f.Legend = append(f.Legend, entry(l.name, l.colour))
		top = max(top, highest(points))
	}
	r.scaleCycles(p, min(top*1.08, 100))
	return f.finish(p)
}

func (r *ReadFigures) plotN() (*figure, error) {
	if r.Bases == 0 {
		return nil, nil
	}
	points := r.shares(func(l *Letters) uint64 { return l.N })
	p := newPlot("cycle", "% that are N")
	if err := line(p, points, colourN, 1.6); err != nil {
		return nil, err
	}
	r.scaleCycles(p, min(max(highest(points)*1.08, 0.1), 100))
	f := &figure{Title: "N by cycle", Text: fmt.Sprintf("Bases that the sequencer could not tell: %s %% of all.", decimals(r.N, 3))}
	return f.finish(p)
}

func (r *ReadFigures) plotLengths() (*figure, error) {
	if len(r.Lengths) < 2 {
		return nil, nil // a sentence says it
	}
	least, greatest := r.Lengths[0].From, r.Lengths[len(r.Lengths)-1].To
	width := max((greatest-least+maxBars)/maxBars, 1)
	points := make(plotter.XYs, (greatest-least)/width+1)
	for i := range points {
		points[i].X = float64(least+i*width) - 0.5
	}
	for _, l := range r.Lengths {
		points[((l.From+l.To)/2-least)/width].Y += percent(l.Count, r.Records)
	}
	p := newPlot("length (bases)", "% of the reads")
	if err := bars(p, points, float64(width), colourC); err != nil {
		return nil, err
	}
	scale(p, float64(least)-0.5, float64(least+len(points)*width)-0.5, 0, highest(points)*1.05)
	f := &figure{Title: "Lengths", Text: fmt.Sprintf("Reads by their length, %s to %s bases.", humanize.Comma(int64(least)),
		humanize.Comma(int64(greatest)))}
	if width > 1 {
		f.Text += fmt.Sprintf(" A bar is %d bases wide.", width)
	}
	return f.finish(p)
}

func (r *ReadFigures) plotGC() (*figure, error) {
	points, total := plotter.XYs{}, 0.0
	for _, n := range r.GCByRead {
		total += n
	}
	if total == 0 {
		return nil, nil
	}
	for gc, n := range r.GCByRead {
		points = append(points, plotter.XY{X: float64(gc), Y: 100 * n / total})
	}
	p := newPlot("% G and C of a read", "% of the reads")
	if err := line(p, points, colourA, 1.6); err != nil {
		return nil, err
	}
	scale(p, 0, 100, 0, highest(points)*1.05)
	f := &figure{Title: "GC of reads", Text: fmt.Sprintf("Reads by the share of G and C among their A, C, G and T. Of all bases it is %s %%.",
		decimals(r.GC, 1))}
	return f.finish(p)
}

func (r *ReadFigures) plotMeans() (*figure, error) {
	if r.Qualities == nil || len(r.Qualities.ByRead) == 0 {
		return nil, nil
	}
	var points plotter.XYs
	all := r.Records - r.Qualities.Without
	for _, l := range r.Qualities.ByRead {
		points = append(points, plotter.XY{X: float64(l.From) - 0.5, Y: percent(l.Count, all)})
	}
	p := newPlot("mean quality of a read", "% of the reads")
	if err := bars(p, points, 1, colourC); err != nil {
		return nil, err
	}
	scale(p, 0, points[len(points)-1].X+1.5, 0, highest(points)*1.05)
	f := &figure{Title: "Mean qualities of reads", Text: "Reads by the mean of their qualities, rounded."}
	return f.finish(p)
}

// plotDuplication shows levels of duplicates of reads, or of pairs.
func plotDuplication(d *Duplication, what string) (*figure, error) {
	if d == nil {
		return nil, nil
	}
	var points plotter.XYs
	var labels plot.ConstantTicks
	for i, l := range d.Levels {
		points = append(points, plotter.XY{X: float64(i) + 0.1, Y: l.Percent})
		label := plainNumber(float64(l.From))
		if l.To != l.From {
			label = "≥" + label
		}
		if i%2 == 0 && l.From < 9 || i%2 == 1 && l.From >= 10 {
			labels = append(labels, plot.Tick{Value: float64(i) + 0.5, Label: label})
		}
	}
	p := newPlot("how often the sequence occurs", "% of the "+what)
	if err := bars(p, points, 0.8, colourG); err != nil {
		return nil, err
	}
	scale(p, 0, float64(len(points)), 0, min(highest(points)*1.08, 100))
	p.X.Tick.Marker = labels
	f := &figure{Title: "Duplicates among " + what,
		Text: fmt.Sprintf("%s %% of the %s repeat an earlier one.", decimals(d.Duplicates, 1), what)}
	if d.OneIn > 1 {
		f.Text += fmt.Sprintf(" Counted for one in %d sequences.", d.OneIn)
	}
	return f.finish(p)
}

// plotCoverage shows which share of the pseudogenome has which depth.
func plotCoverage(c *PseudogenomeFigures) (*figure, error) {
	if c == nil || len(c.AtLeast) < 2 {
		return nil, nil
	}
	var points plotter.XYs
	for _, s := range c.AtLeast {
		if s.Depth >= 1 {
			points = append(points, plotter.XY{X: s.Depth, Y: s.Percent})
		}
	}
	top := 10.0
	for top < points[len(points)-1].X {
		top *= 10
	}
	p := newPlot("reads over a base (logarithmic)", "% of the pseudogenome")
	if err := line(p, points, colourC, 1.8); err != nil {
		return nil, err
	}
	scale(p, 1, top, 0, 100)
	p.X.Scale = plot.LogScale{}
	p.X.Tick.Marker = decades(top)
	f := &figure{Title: "Coverage of the pseudogenome",
		Text: fmt.Sprintf("The share of it that lies under so many reads or more, in windows of "+
			"%d bases. On average %s reads lie over a base.", c.Window, decimals(c.MeanDepth, 1))}
	return f.finish(p)
}

// decades are the ticks of a logarithmic axis from 1 to top; the powers of ten have labels.
func decades(top float64) (list plot.ConstantTicks) {
	for v := 1.0; v <= top; v *= 10 {
		list = append(list, plot.Tick{Value: v, Label: plainNumber(v)})
		for k := 2.0; k < 10 && k*v < top; k++ {
			list = append(list, plot.Tick{Value: k * v})
		}
	}
	return list
}
