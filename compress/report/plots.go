package report

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"html/template"
	"image/color"
	"regexp"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Size of a plot, in units of its own: the page scales it to the width that there is. Text of 13 units is more than 10 pixels high on a
// screen of 400 pixels.
const (
	plotWidth  = 440
	plotHeight = 285
	labelSize  = 14.5
	tickSize   = 13
	plotMargin = 5
)

// maxPoints is how many cycles a plot shows at most.
const maxPoints = 400

// The colours are those of Okabe and Ito, which nearly everybody can tell apart.
var (
	colourA    = color.NRGBA{0x00, 0x9e, 0x73, 255}
	colourC    = color.NRGBA{0x00, 0x72, 0xb2, 255}
	colourG    = color.NRGBA{0xe6, 0x9f, 0x00, 255}
	colourT    = color.NRGBA{0xd5, 0x5e, 0x00, 255}
	colourN    = color.NRGBA{0x55, 0x55, 0x55, 255}
	colourMean = color.NRGBA{0xd5, 0x5e, 0x00, 255}
	colourBand = color.NRGBA{0x9c, 0xc9, 0xe8, 255}
	colourPale = color.NRGBA{0xdc, 0xec, 0xf7, 255}
	colourGrid = color.NRGBA{0xd6, 0xd6, 0xd6, 255}
)

// figure is a plot of a page.
type figure struct {
	Title  string
	Text   string // what it shows, a sentence or two
	Legend []legendEntry
	SVG    template.HTML // "" if the text says all
}

type legendEntry struct {
	Name   string
	Colour string // of CSS
}

// chart is a figure that is being drawn. A nil chart is none.
type chart struct {
	figure
	plot *plot.Plot // nil if the text says all
	err  error      // the first one
}

var (
	svgProlog = regexp.MustCompile(`(?s)^.*?<svg[^>]*>`)
	svgFonts  = regexp.MustCompile(`\s*style="font-family:[^;"]*;(?:font-(?:variant|weight|style):[a-z]*;){3}font-size:([0-9.]+)px"`)
)

// newChart returns a chart with labels of the axes and a grid. y begins at 0.
func newChart(title, x, y string) *chart {
	p := plot.New()
	p.X.Label.Text, p.Y.Label.Text = x, y
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Label.TextStyle.Font.Variant, axis.Tick.Label.Font.Variant = "Sans", "Sans"
		axis.Label.TextStyle.Font.Size, axis.Tick.Label.Font.Size = labelSize, tickSize
		axis.Label.Padding, axis.Padding = 3, 0
	}
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = colourGrid, colourGrid
	p.Add(grid)
	p.Y.Min = 0
	return &chart{figure: figure{Title: title}, plot: p}
}

// add adds what err says could be made, and an entry of the legend if it has a name.
func (c *chart) add(p plot.Plotter, err error, name string, colour color.NRGBA) {
	if c.err = cmp.Or(c.err, err); err != nil {
		return
	}
	c.plot.Add(p)
	if name != "" {
		c.Legend = append(c.Legend, legendEntry{name, fmt.Sprintf("#%02x%02x%02x", colour.R, colour.G, colour.B)})
	}
}

// line adds a line, whose name is in the legend unless it is "".
func (c *chart) line(name string, points plotter.XYs, colour color.NRGBA, dashes ...vg.Length) {
	l, err := plotter.NewLine(points)
	if err == nil {
		l.Color, l.Width, l.Dashes = colour, 1.6, dashes
	}
	c.add(l, err, name, colour)
}

// band adds the area between two lines over the same x.
func (c *chart) band(name string, low, high plotter.XYs, colour color.NRGBA) {
	outline := slices.Clone(low)
	slices.Reverse(outline)
	a, err := plotter.NewPolygon(append(outline, high...))
	if err == nil {
		a.Color, a.LineStyle.Width = colour, 0
	}
	c.add(a, err, name, colour)
}

// bars adds bars. If there is only one, the text of the figure says all, and nothing is drawn.
func (c *chart) bars(bins []plotter.HistogramBin, colour color.NRGBA) {
	none := func(b plotter.HistogramBin) bool { return b.Weight == 0 }
	if len(slices.DeleteFunc(slices.Clone(bins), none)) == 1 {
		c.plot = nil
		return
	}
	c.add(&plotter.Histogram{Bins: bins, FillColor: colour, LineStyle: draw.LineStyle{Color: color.White, Width: 0.5}}, nil, "", colour)
}

// logarithmic makes the axis of x, which begins at 1, logarithmic.
func (c *chart) logarithmic() {
	c.plot.X.Label.Text += " (logarithmic)"
	c.plot.X.Scale, c.plot.X.Tick.Marker, c.plot.X.Min = plot.LogScale{}, plot.LogTicks{Prec: -1}, 1
}

// draw returns the figure. What it is called is for readers that can't see it.
func (c *chart) draw() (figure, error) {
	if c.err != nil || c.plot == nil {
		return c.figure, c.err
	}
	canvas := vgsvg.New(plotWidth, plotHeight)
	c.plot.Draw(draw.Crop(draw.New(canvas), plotMargin, -plotMargin-4, plotMargin, -plotMargin))
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return figure{}, err
	}
	text := svgFonts.ReplaceAll(b.Bytes(), []byte(` font-size="$1"`))
	head := fmt.Sprintf(`<svg viewBox="0 0 %d %d" role="img" aria-label="%s">`, plotWidth, plotHeight, html.EscapeString(c.Title))
	c.SVG = template.HTML(svgProlog.ReplaceAllLiteral(text, []byte(head)))
	return c.figure, nil
}

// drawAll returns the figures of charts, without those that are nil.
func drawAll(charts ...*chart) (list []figure, err error) {
	for _, c := range charts {
		if c == nil {
			continue
		}
		f, err := c.draw()
		if err != nil {
			return nil, err
		}
		list = append(list, f)
	}
	return list, nil
}
