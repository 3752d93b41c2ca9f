package report

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"orcomgo/bins/record"
	"orcomgo/internal/testrun"
)

// lookAround is added to a page for the test: it lists what is wider than the window, labels of plots that are cut off or lie over each
// other, letters that are too small to read, in pixels, and a background that is not of the theme of the system.
const lookAround = `<script>
const problems = [], root = document.documentElement;
if (root.scrollWidth > root.clientWidth) problems.push("the page is " + root.scrollWidth + " wide");
for (const e of document.querySelectorAll("main *")) {
  const r = e.getBoundingClientRect();
  if (r.width && (r.left < -1 || r.right > root.clientWidth + 1)) problems.push("outside: " + e.tagName + " " + e.textContent.slice(0, 40));
}
for (const svg of document.querySelectorAll("svg")) {
  const box = svg.getBoundingClientRect(), texts = [...svg.querySelectorAll("text")].map(t => [t.textContent, t.getBoundingClientRect()]);
  const name = svg.getAttribute("aria-label");
  if (texts.length < 4) problems.push(name + ": no labels");
  texts.forEach(([text, r], i) => {
    if (r.left < box.left - 1 || r.right > box.right + 1 || r.top < box.top - 1 || r.bottom > box.bottom + 1)
      problems.push(name + ": cut off: " + text);
    if (Math.min(r.width, r.height) < 8 && text.length > 2) problems.push(name + ": small: " + text);
    for (const [other, s] of texts.slice(0, i))
      if (Math.min(r.right, s.right) - Math.max(r.left, s.left) > 1 && Math.min(r.bottom, s.bottom) - Math.max(r.top, s.top) > 3)
        problems.push(name + ": " + text + " lies over " + other);
  });
}
const dark = matchMedia("(prefers-color-scheme: dark)").matches;
const [red, green] = getComputedStyle(document.body).backgroundColor.match(/\d+/g);
if (dark != (green < 128)) problems.push("the background does not follow the theme of the system");
parent.postMessage("width " + innerWidth + " dark " + dark + " problems " + problems.length + " " + problems.join("; "), "*");
</script></body>`

// frame shows a page at a width; a window itself may not be narrower than 500 pixels.
const frame = `<!DOCTYPE html><title></title><script>addEventListener("message", m => document.title = m.data)</script>
<iframe src="page.html" width="WIDTH" height="900" frameborder="0"></iframe>`

// TestBrowser shows pages in Chromium, at the width of a desktop and of a phone, on a light and a dark system.
func TestBrowser(t *testing.T) {
	testrun.OnlyLong(t)
	browser, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is not installed")
	}
	title := regexp.MustCompile(`<title>width (\d+) dark (\w+) problems (\d+) ([^<]*)</title>`)
	for _, files := range [][]string{{"pair41_R1.fastq", "pair41_R2.fastq"}, {"hifi.fastq"}, {"trimmed4.fastq"}} {
		for i := range files {
			files[i] = fixtures + files[i]
		}
		var b bytes.Buffer
		if err := figuresOf(t, archiveOf(t, record.Options{}, files...), 2).Page(&b, "test"); err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		write := func(name, text string) string {
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
			return path
		}
		write("page.html", strings.Replace(b.String(), "</body>", lookAround, 1))
		for _, look := range []struct {
			width string
			dark  bool
		}{{"1280", false}, {"1280", true}, {"400", false}} {
			args := []string{"--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1400,1000", "--virtual-time-budget=10000",
				"--dump-dom", "file://" + write("frame.html", strings.Replace(frame, "WIDTH", look.width, 1))}
			if look.dark {
				args = append(args, "--force-dark-mode")
			}
			c := exec.Command(browser, args...)
			dom, err := c.Output()
			if err != nil {
				t.Fatal(err)
			}
			m := title.FindSubmatch(dom)
			if m == nil || string(m[1]) != look.width || string(m[2]) != strconv.FormatBool(look.dark) || string(m[3]) != "0" {
				t.Errorf("%s at %s pixels: %q", files[0], look.width, m)
			}
		}
	}
}
