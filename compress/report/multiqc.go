package report

import (
	"encoding/json"
	"strconv"
)

// Section is a section of custom content of MultiQC: the content of a file whose name ends in _mqc.json. MultiQC puts sections with the
// same ID together, so that those of many archives make one plot.
type Section struct {
	ID          string                    `json:"id"`
	ParentID    string                    `json:"parent_id,omitempty"`   // of the sections under one heading
	ParentName  string                    `json:"parent_name,omitempty"` // that heading
	Name        string                    `json:"section_name,omitempty"`
	Description string                    `json:"description,omitempty"`
	PlotType    string                    `json:"plot_type"`
	Config      any                       `json:"pconfig"`
	Data        map[string]map[string]any `json:"data"` // by sample
}

// plotConfig are the settings of a plot.
type plotConfig struct {
	ID    string  `json:"id"`
	Title string  `json:"title"`
	XLab  string  `json:"xlab,omitempty"`
	YLab  string  `json:"ylab"`
	YMin  float64 `json:"ymin"`
}

// statHeader describes a column of the general statistics.
type statHeader struct {
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Format      string   `json:"format"`
	Suffix      string   `json:"suffix,omitempty"`
	Min         float64  `json:"min"`
	Max         *float64 `json:"max,omitempty"`
}

// The IDs of sections.
const (
	statsID   = "orcomgo_stats"
	columnsID = "orcomgo_columns"
	qualityID = "orcomgo_quality"
	gcID      = "orcomgo_gc"
	nID       = "orcomgo_n"
)

// SectionFiles returns the names of the files that the sections of an archive may have.
func SectionFiles(archive string) (names []string) {
	for _, id := range []string{statsID, columnsID, qualityID, gcID, nID} {
		names = append(names, sectionFile(archive, id))
	}
	return names
}

func sectionFile(archive, id string) string { return archive + "." + id + "_mqc.json" }

// MultiQC returns sections for MultiQC: columns of the general statistics, bytes by column, and qualities, GC and N by cycle. A section
// without data is left out.
func (f *Figures) MultiQC() []Section {
	sections := []Section{f.generalStatistics(), f.columnBars()}
	for _, s := range []struct {
		id, name, description, y string
		value                    func(c *Cycle) (float64, bool)
	}{
		{qualityID, "Mean quality by cycle", "Of all reads in the archive.", "quality (Phred)", func(c *Cycle) (float64, bool) {
			if c.Quality == nil {
				return 0, false
			}
			return c.Quality.Mean, true
		}},
		{gcID, "GC by cycle", "Share of G and C among A, C, G and T.", "% GC", func(c *Cycle) (float64, bool) {
			n := c.Letters.acgt()
			return percent(c.Letters.gc(), n), n > 0
		}},
		{nID, "N by cycle", "Share of the bases that the sequencer could not tell.", "% N", func(c *Cycle) (float64, bool) {
			n := c.Letters.total()
			return percent(c.Letters.N, n), n > 0
		}},
	} {
		data := make(map[string]map[string]any)
		for i := range f.Reads {
			r := &f.Reads[i]
			points := make(map[string]any)
			for _, c := range r.shownCycles() {
				if v, ok := s.value(c); ok {
					points[strconv.FormatFloat(c.middle(), 'g', -1, 64)] = v
				}
			}
			if len(points) > 0 {
				data[f.sample(r.Number)] = points
			}
		}
		if len(data) > 0 {
			sections = append(sections, plotSection(s.id, s.name, s.description, "linegraph", "cycle", s.y, data))
		}
	}
	return sections
}

// plotSection returns a section with a plot, whose axes are x and y, under the heading of all sections of orcomgo.
func plotSection(id, name, description, plotType, x, y string, data map[string]map[string]any) Section {
	const heading = "orcomgo"
	return Section{ID: id, ParentID: heading, ParentName: heading, Name: name, Description: description, PlotType: plotType,
		Config: plotConfig{id + "_plot", heading + ": " + name, x, y, 0}, Data: data}
}

// sample is the name of the sample that reads are shown under.
func (f *Figures) sample(number int) string {
	if len(f.Reads) == 1 {
		return f.Archive.Name
	}
	return f.Archive.Name + " read " + strconv.Itoa(number)
}

// columnBars is a bar of the bytes of each column.
func (f *Figures) columnBars() Section {
	bytes := make(map[string]any)
	for _, c := range f.Columns {
		bytes[c.Name] = c.Bytes
	}
	return plotSection(columnsID, "What each column costs", "Bytes of the archive.", "bargraph", "", "bytes",
		map[string]map[string]any{f.Archive.Name: bytes})
}

// generalStatistics are columns of the first table. One that is not known has no value.
func (f *Figures) generalStatistics() Section {
	var all Letters
	var reads, duplicates, bases, q30 float64
	for i := range f.Reads {
		r := &f.Reads[i]
		all.add(&r.Letters)
		if r.Duplication != nil {
			reads += float64(r.Records)
			duplicates += float64(r.Records) * r.Duplication.Duplicates
		}
		if r.Qualities != nil {
			bases += float64(r.Bases)
			q30 += float64(r.Bases) * r.Qualities.Q30
		}
	}
	verified, depth := "yes", 0.0
	if !f.Verification.OK {
		verified = "no"
	}
	if f.Pseudogenome != nil {
		depth = f.Pseudogenome.MeanDepth
	}
	acgt, hundred := all.acgt(), 100.0
	var headers []map[string]statHeader
	values := make(map[string]any)
	for _, s := range []struct {
		id     string
		header statHeader
		value  any
		known  bool
	}{
		{"verified", statHeader{"Verified", "Whether everything in the archive is as it was when it was written", "{}", "", 0, nil},
			verified, true},
		{"ratio", statHeader{"Ratio", "Bytes of text to bytes of the archive", "{:,.2f}", "", 0, nil}, f.Archive.Ratio, true},
		{"bytes", statHeader{"Archive", "Bytes of the archive", "{:,.0f}", "", 0, nil}, f.Archive.ArchiveBytes, true},
		{"records", statHeader{"Reads", "Records in the archive", "{:,.0f}", "", 0, nil}, f.Archive.Records, true},
		{"gc", statHeader{"GC", "Share of G and C", "{:,.1f}", "%", 0, &hundred}, percent(all.gc(), acgt), acgt > 0},
		{"n", statHeader{"N", "Share of N among all bases", "{:,.3f}", "%", 0, &hundred}, percent(all.N, all.total()), acgt > 0},
		{"q30", statHeader{"Q30", "Bases with a quality of 30 or more", "{:,.1f}", "%", 0, &hundred}, q30 / bases, bases > 0},
		{"duplicates", statHeader{"Dups", "Reads that repeat an earlier one", "{:,.1f}", "%", 0, &hundred}, duplicates / reads, reads > 0},
		{"coverage", statHeader{"Coverage", "Mean number of reads over a base of the sequence that they were joined to", "{:,.1f}", "X", 0, nil},
			depth, f.Pseudogenome != nil},
	} {
		headers = append(headers, map[string]statHeader{"orcomgo_" + s.id: s.header})
		if s.known {
			values["orcomgo_"+s.id] = s.value
		}
	}
	return Section{ID: statsID, PlotType: "generalstats", Config: headers, Data: map[string]map[string]any{f.Archive.Name: values}}
}

// File returns the name of the file that MultiQC finds the section of an archive in, and its content.
func (s *Section) File(archive string) (name string, content []byte, err error) {
	content, err = json.MarshalIndent(s, "", "  ")
	return sectionFile(archive, s.ID), append(content, '\n'), err
}
