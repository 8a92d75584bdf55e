// Package docs holds the manual: Markdown pages for the repository and for /docs of the server.
package docs

import (
	"bytes"
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

//go:embed *.md
var files embed.FS

// order lists the pages in reading order; it names every file.
var order = []string{"start", "define", "cstructs", "formats", "protos", "captures", "filters", "wireshark", "analysis", "live", "replay", "protocol", "headers", "drones", "team", "collect", "cluster", "operate", "cli", "api", "clients", "agents", "limits", "contributing"}

// Page is one page of the manual.
type Page struct {
	Name     string // of its file, and in its address: /docs/NAME
	Title    string
	HTML     string // safe HTML
	Sections []Section
}

// Section is a heading with the text below it, up to the next heading.
type Section struct {
	Title  string
	Anchor string // id of the heading
	Text   string // without markup, words separated by one space
}

// Hit is a section that contains all words of a search.
type Hit struct {
	Page    Page
	Section Section
	Excerpt string // around the first word found in the text
}

// Pages returns all pages in reading order. The result is shared and must not be changed.
var Pages = sync.OnceValue(func() []Page {
	pages := make([]Page, len(order))
	for i, name := range order {
		source, err := files.ReadFile(name + ".md")
		if err != nil {
			panic(fmt.Sprintf("docs: %v", err)) // a test reads each
		}
		pages[i] = render(name, source)
	}
	return pages
})

// Find returns the page of that name.
func Find(name string) (Page, bool) {
	for _, p := range Pages() {
		if p.Name == name {
			return p, true
		}
	}
	return Page{}, false
}

// Limits of Search.
const (
	maxQuery   = 200 // bytes; the rest is ignored
	maxHits    = 50
	maxExcerpt = 160 // bytes
)

// Search returns the sections that contain every word of the query, ignoring case: first those with all words in the title, then those with
// some, then the others, each group in reading order.
func Search(query string) []Hit {
	words := strings.Fields(strings.ToLower(query[:min(len(query), maxQuery)]))
	if len(words) == 0 {
		return nil
	}
	var ranked [3][]Hit
	for _, page := range Pages() {
		for _, s := range page.Sections {
			title, body := strings.ToLower(page.Title+" "+s.Title), strings.ToLower(s.Text)
			inTitle := 0
			found := !slices.ContainsFunc(words, func(w string) bool {
				if strings.Contains(title, w) {
					inTitle++
					return false
				}
				return !strings.Contains(body, w)
			})
			if !found {
				continue
			}
			rank := 1
			switch inTitle {
			case len(words):
				rank = 0
			case 0:
				rank = 2
			}
			ranked[rank] = append(ranked[rank], Hit{Page: page, Section: s, Excerpt: excerpt(s.Text, words)})
		}
	}
	hits := slices.Concat(ranked[:]...)
	return hits[:min(len(hits), maxHits)]
}

// excerpt cuts text around the first of the words, at spaces.
func excerpt(text string, words []string) string {
	lower := strings.ToLower(text)
	at := 0
	for _, w := range words {
		if i := strings.Index(lower, w); i >= 0 && len(lower) == len(text) { // ToLower may change the length of other scripts
			at = i
			break
		}
	}
	start := max(0, at-maxExcerpt/3)
	if start > 0 {
		start += strings.IndexByte(text[start:], ' ') + 1
	}
	end := min(len(text), start+maxExcerpt)
	cut := text[start:end]
	if end < len(text) {
		if i := strings.LastIndexByte(cut, ' '); i > 0 {
			cut = cut[:i]
		}
		cut += " …"
	}
	if start > 0 {
		cut = "… " + cut
	}
	return strings.ToValidUTF8(cut, "")
}

// render converts a page to HTML and sections. Links between files become links between pages.
func render(name string, source []byte) Page {
	md := goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithParserOptions(parser.WithAutoHeadingID()))
	root := md.Parser().Parse(text.NewReader(source))
	page := Page{Name: name}
	section := -1
	words := map[int]*strings.Builder{}
	ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			id, _ := n.AttributeString("id")
			anchor, _ := id.([]byte)
			page.Sections = append(page.Sections, Section{Title: plain(n, source), Anchor: string(anchor)})
			section++
			words[section] = &strings.Builder{}
			if n.Level == 1 {
				page.Title = page.Sections[section].Title
			}
			return ast.WalkSkipChildren, nil
		case *ast.Link:
			n.Destination = []byte(address(string(n.Destination)))
		case *ast.Text:
			if section >= 0 {
				words[section].Write(n.Segment.Value(source))
				words[section].WriteByte(' ')
			}
		case *ast.FencedCodeBlock:
			for i := 0; i < n.Lines().Len() && section >= 0; i++ {
				line := n.Lines().At(i)
				words[section].Write(line.Value(source))
			}
		}
		return ast.WalkContinue, nil
	})
	for i, b := range words {
		page.Sections[i].Text = strings.Join(strings.Fields(b.String()), " ")
	}
	var out bytes.Buffer
	if err := md.Renderer().Render(&out, source, root); err != nil {
		panic(fmt.Sprintf("docs: render %s: %v", name, err)) // writing to a buffer does not fail
	}
	page.HTML = out.String()
	return page
}

// plain returns the text of a heading.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := n.(*ast.Text); ok && entering {
			b.Write(t.Segment.Value(source))
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// address converts a link between files to a link between pages: "filters.md#fields" is /docs/filters#fields.
func address(link string) string {
	file, anchor, found := strings.Cut(link, "#")
	if path.Ext(file) != ".md" || strings.Contains(file, "/") {
		return link
	}
	link = "/docs/" + strings.TrimSuffix(file, ".md")
	if found {
		link += "#" + anchor
	}
	return link
}
