package report

import (
	"bytes"
	"fmt"
	"html"
	"html/template"
	"image/color"
	"math"
	"regexp"
	"strconv"

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
	SVG    template.HTML
}

type legendEntry struct {
	Name   string
	Colour string // of CSS
}

func entry(name string, c color.NRGBA) legendEntry {
	return legendEntry{name, fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B)}
}

// newPlot returns a plot with labels of the axes and a grid.
func newPlot(x, y string) *plot.Plot {
	p := plot.New()
	p.X.Label.Text, p.Y.Label.Text = x, y
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Label.TextStyle.Font.Variant, axis.Tick.Label.Font.Variant = "Sans", "Sans"
		axis.Label.TextStyle.Font.Size, axis.Tick.Label.Font.Size = labelSize, tickSize
		axis.Label.Padding = 3
	}
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = colourGrid, colourGrid
	p.Add(grid)
	p.X.Padding, p.Y.Padding = 0, 0
	return p
}

var (
	svgProlog = regexp.MustCompile(`(?s)^.*?<svg[^>]*>`)
	svgFonts  = regexp.MustCompile(`\s*style="font-family:[^;"]*;(?:font-(?:variant|weight|style):[a-z]*;){3}font-size:([0-9.]+)px"`)
)

// svg draws a plot. What it is called is for readers that can't see it.
func svg(p *plot.Plot, title string) (template.HTML, error) {
	c := vgsvg.New(plotWidth, plotHeight)
	p.Draw(draw.Crop(draw.New(c), plotMargin, -plotMargin-4, plotMargin, -plotMargin))
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return "", err
	}
	text := svgFonts.ReplaceAll(b.Bytes(), []byte(` font-size="$1"`))
	head := fmt.Sprintf(`<svg viewBox="0 0 %d %d" role="img" aria-label="%s">`, plotWidth, plotHeight, html.EscapeString(title))
	return template.HTML(svgProlog.ReplaceAllLiteral(text, []byte(head))), nil
}

// ticks are the ticks of an axis, each with a label.
func ticks(step float64, from, to float64, label func(v float64) string) plot.ConstantTicks {
	var list plot.ConstantTicks
	for v := math.Ceil(from/step) * step; v <= to+step/1e6; v += step {
		list = append(list, plot.Tick{Value: v, Label: label(v)})
	}
	return list
}

// plainNumber writes a number with thousands as k and millions as M.
func plainNumber(v float64) string {
	switch {
	case math.Abs(v) >= 1e6:
		return strconv.FormatFloat(v/1e6, 'g', 4, 64) + "M"
	case math.Abs(v) >= 1e4:
		return strconv.FormatFloat(v/1e3, 'g', 4, 64) + "k"
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

// niceStep returns 1, 2 or 5 times a power of ten, so that a range has about so many steps.
func niceStep(width float64, steps int) float64 {
	if width <= 0 {
		return 1
	}
	raw := width / float64(steps)
	power := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, k := range []float64{1, 2, 5} {
		if raw <= k*power*1.0001 {
			return k * power
		}
	}
	return 10 * power
}

// scale sets the range of both axes and their ticks.
func scale(p *plot.Plot, minX, maxX, minY, maxY float64) {
	if maxX <= minX {
		maxX = minX + 1
	}
	if maxY <= minY {
		maxY = minY + 1
	}
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = minX, maxX, minY, maxY
	p.X.Tick.Marker = ticks(niceStep(maxX-minX, 6), minX, maxX, plainNumber)
	p.Y.Tick.Marker = ticks(niceStep(maxY-minY, 5), minY, maxY, plainNumber)
}

// line adds a line.
func line(p *plot.Plot, points plotter.XYs, c color.Color, width vg.Length, dashes ...vg.Length) error {
	l, err := plotter.NewLine(points)
	if err != nil {
		return err
	}
	l.Color, l.Width, l.Dashes = c, width, dashes
	p.Add(l)
	return nil
}

// band adds the area between two lines over the same x.
func band(p *plot.Plot, low, high plotter.XYs, c color.Color) error {
	outline := append(plotter.XYs{}, high...)
	for i := len(low) - 1; i >= 0; i-- {
		outline = append(outline, low[i])
	}
	a, err := plotter.NewPolygon(outline)
	if err != nil {
		return err
	}
	a.Color, a.LineStyle.Width = c, 0
	p.Add(a)
	return nil
}

// bars adds bars, each from x to x + width.
func bars(p *plot.Plot, points plotter.XYs, width float64, c color.Color) error {
	for _, pt := range points {
		if pt.Y == 0 {
			continue
		}
		a, err := plotter.NewPolygon(plotter.XYs{{X: pt.X, Y: 0}, {X: pt.X, Y: pt.Y}, {X: pt.X + width, Y: pt.Y}, {X: pt.X + width, Y: 0}})
		if err != nil {
			return err
		}
		a.Color, a.LineStyle.Width, a.LineStyle.Color = c, 0.5, color.White
		p.Add(a)
	}
	return nil
}

// highest returns the highest y.
func highest(lists ...plotter.XYs) (y float64) {
	for _, l := range lists {
		for _, pt := range l {
			y = max(y, pt.Y)
		}
	}
	return y
}
