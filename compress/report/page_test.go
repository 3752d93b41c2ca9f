package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"io"
	"strings"
	"testing"
	"unicode"

	"orcomgo/bins/record"
	"orcomgo/compress"
)

// TestPage: the page needs no other file, its plots are well-formed, and it is small.
func TestPage(t *testing.T) {
	f := figuresOf(t, archiveOf(t, record.Options{}, fixtures+"pair41_R1.fastq", fixtures+"pair41_R2.fastq"), 2)
	f.Archive.Inputs[0].Name = `<script>alert("&")</script>` + "\x1b[2J\r\x9b" // names of files are whatever somebody wrote
	var b bytes.Buffer
	if err := f.Page(&b, "test"); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	if b.Len() > 1_500_000 {
		t.Errorf("%d bytes", b.Len())
	}
	for _, no := range []string{"<script", "<link", "<img", "src=", "@import", "url(", "http:", "https:"} {
		if strings.Contains(page, no) {
			t.Errorf("the page has %q", no)
		}
	}
	if i := strings.IndexFunc(page, func(r rune) bool { return r != '\n' && unicode.IsControl(r) }); i >= 0 {
		t.Errorf("a control character: %q", page[i:i+10])
	}
	plots := strings.Split(page, "<svg")[1:]
	if want := 2*6 + 1; len(plots) != want {
		t.Errorf("%d plots, want %d", len(plots), want)
	}
	for _, has := range []string{
		`<p class="alone">Duplicates among pairs: 0.0 % of the pairs repeat an earlier one.</p>`, // all are in one bar
		"@media (prefers-color-scheme: dark)", "thead, tr.none { display: none; }",
		"figure svg { display: block; width: 100%;",
		`<tr class="none"><td data-label="column">forms</td><td class="n" data-label="bytes">0</td>`,
	} {
		if !strings.Contains(page, has) {
			t.Errorf("the page does not have %q", has)
		}
	}
	if n := strings.Count(page, `class="none"`); n != strings.Count(page, `data-label="bytes">0</td>`) {
		t.Errorf("%d rows of columns without bytes are left out on a phone", n)
	}
	for _, p := range plots {
		text, _, ok := strings.Cut(p, "</svg>")
		if !ok || !strings.Contains(text, "</text>") || !strings.Contains(text, "<path") {
			t.Fatalf("a plot without labels or lines: %s", text)
		}
		d := xml.NewDecoder(strings.NewReader("<svg" + text + "</svg>"))
		for {
			if _, err := d.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestSaved: the first figure compares the archive with what was stored before, or with the text where that is not known.
func TestSaved(t *testing.T) {
	for _, c := range []struct {
		stored     uint64
		compressed int
		archive    uint64
		want       tile
	}{
		{22_600_000, 2, 13_100_000, tile{"% of the compressed files", "58", "9.5 MB saved"}},
		{60_000_000, 0, 13_200_000, tile{"% of the files that were archived", "22", "47 MB saved"}},
		{0, 0, 13_000_000, tile{"% of the text", "20", "52 MB saved"}},
		{10_000_000, 1, 13_000_000, tile{"% of the compressed files", "130", "3.0 MB more"}},
	} {
		f := &Figures{Archive: &compress.Information{TextBytes: 65_000_000, ArchiveBytes: c.archive}}
		f.Gzip.StoredBytes, f.Gzip.StoredCompressed = c.stored, c.compressed
		if got := f.tiles()[0]; got != c.want {
			t.Errorf("%d bytes that were %d before: %v, want %v", c.archive, c.stored, got, c.want)
		}
	}
}

// TestMultiQC: the sections have what the custom content of MultiQC needs, and the same figures.
func TestMultiQC(t *testing.T) {
	f := figuresOf(t, archiveOf(t, record.Options{}, fixtures+"pair41_R1.fastq", fixtures+"pair41_R2.fastq"), 2)
	ids := map[string]bool{}
	for _, s := range f.MultiQC() {
		name, content, err := s.File(f.Archive.Name)
		if err != nil || !strings.HasSuffix(name, "_mqc.json") {
			t.Fatal(name, err)
		}
		var v struct {
			ID       string                    `json:"id"`
			PlotType string                    `json:"plot_type"`
			PConfig  any                       `json:"pconfig"`
			Data     map[string]map[string]any `json:"data"`
		}
		if err := json.Unmarshal(content, &v); err != nil {
			t.Fatal(err)
		}
		if v.ID == "" || ids[v.ID] || v.PConfig == nil || len(v.Data) == 0 {
			t.Errorf("%s: %+v", name, v)
		}
		ids[v.ID] = true
		switch v.PlotType {
		case "generalstats":
			if got := v.Data[f.Archive.Name]["orcomgo_records"]; got != float64(f.Archive.Records) {
				t.Errorf("%v records", got)
			}
			headers := 0
			for _, h := range v.PConfig.([]any) {
				for id := range h.(map[string]any) {
					headers++
					if _, ok := v.Data[f.Archive.Name][id]; !ok {
						t.Errorf("no value of %s", id)
					}
				}
			}
			if headers != len(v.Data[f.Archive.Name]) {
				t.Errorf("%d headers", headers)
			}
		case "linegraph":
			if len(v.Data) != 2 {
				t.Errorf("%s: %d lines", name, len(v.Data))
			}
			if v.ID == "orcomgo_quality" && v.Data[f.Archive.Name+" read 2"]["1"] != f.Reads[1].Cycles[0].Quality.Mean {
				t.Error("another mean quality at cycle 1")
			}
		case "bargraph":
		default:
			t.Errorf("%s: plot type %s", name, v.PlotType)
		}
	}
	if len(ids) != 5 {
		t.Errorf("sections %v", ids)
	}
}
