package docs

import (
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestEveryFileIsAPage(t *testing.T) {
	names, err := fs.Glob(files, "*.md")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, name := range order {
		want = append(want, name+".md")
	}
	if slices.Sort(want); !slices.Equal(names, want) {
		t.Errorf("files %v, pages %v", names, want)
	}
	for _, p := range Pages() {
		if p.Title == "" || len(p.Sections) < 2 || !strings.Contains(p.HTML, "<h1") {
			t.Errorf("%s: title %q, %d sections", p.Name, p.Title, len(p.Sections))
		}
	}
}

var link = regexp.MustCompile(`href="([^"]+)"`)

// TestLinks follows every link between pages to its page and heading.
func TestLinks(t *testing.T) {
	for _, p := range Pages() {
		for _, m := range link.FindAllStringSubmatch(p.HTML, -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			name, ok := strings.CutPrefix(target, "/docs/")
			switch {
			case strings.HasPrefix(target, "http") || strings.HasPrefix(target, "/api/"):
				continue
			case target == "":
				name = p.Name
			case !ok:
				t.Errorf("%s: a link leads to %q", p.Name, m[1])
				continue
			}
			page, found := Find(name)
			if !found {
				t.Errorf("%s: no page %q", p.Name, name)
			}
			if anchor != "" && !slices.ContainsFunc(page.Sections, func(s Section) bool { return s.Anchor == anchor }) {
				t.Errorf("%s: no heading %q", p.Name, m[1])
			}
		}
	}
}

func TestSearch(t *testing.T) {
	for _, c := range []struct{ query, page, section string }{
		{"regular expression", "filters", "Operators"},
		{"KEYS cipher", "captures", "Cipher keys"},
		{"viewer-token", "api", "Access"},
	} {
		hits := Search(c.query)
		if len(hits) == 0 || hits[0].Page.Name != c.page || hits[0].Section.Title != c.section {
			t.Errorf("%q: %+v", c.query, hits)
		}
	}
	for _, nothing := range []string{"", "   ", "zyzzyva", "filters zyzzyva"} {
		if hits := Search(nothing); len(hits) != 0 {
			t.Errorf("%q: %d hits", nothing, len(hits))
		}
	}
	Search(strings.Repeat("é", 1000))
}

func TestExcerpt(t *testing.T) {
	text := strings.Repeat("before ", 40) + "needle" + strings.Repeat(" after", 40)
	got := excerpt(text, []string{"needle"})
	if !strings.Contains(got, "needle") || !strings.HasPrefix(got, "… ") || !strings.HasSuffix(got, " …") || len(got) > maxExcerpt+16 {
		t.Errorf("%q", got)
	}
}
