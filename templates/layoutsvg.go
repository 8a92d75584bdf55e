package templates

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"wirebench/codec"
)

// Measures of the picture, in pixels.
const (
	svgColumn  = 44
	svgRow     = 40
	svgGap     = 3
	svgMargin  = 12
	svgHeading = 46 // title and the numbers of the columns
	svgCaption = 24
)

// svgStyle has the colours of web/src/app.css, light and dark.
const svgStyle = `
text{font:11px ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#1b2129}
.small{font-size:10px;fill:#4f5a66}.title{font-size:13px;font-weight:600}.ground{fill:#fff}
rect{stroke:#86909c;stroke-opacity:.45}.var{stroke-dasharray:4 3}.none{fill:#fff}
.head{fill:#e6e8ec}.int{fill:#d9e7ff}.float{fill:#cdeef2}.ptr{fill:#ffe9c7}.text{fill:#d6f2df}.chain{fill:#eadcf8}.gap{fill:#fff}
@media(prefers-color-scheme:dark){
text{fill:#d9dfe7}.small{fill:#b0bac6}.ground{fill:#151a20}.none,.gap{fill:#151a20}
.head{fill:#2a313a}.int{fill:#1d3357}.float{fill:#123c44}.ptr{fill:#463413}.text{fill:#173d2a}.chain{fill:#362348}}
`

// LayoutSVG is the diagram of a layout as a picture of its own, to be saved or put into a document.
func LayoutSVG(l *codec.LayoutInfo) string {
	width := 2*svgMargin + columns*svgColumn
	var body strings.Builder
	y, col := svgHeading, 0
	open := false // a row of cells has begun
	endRow := func() {
		if open {
			y += svgRow + svgGap
		}
		col, open = 0, false
	}
	for _, c := range diagram(l) {
		if c.Width == 0 {
			endRow()
			fmt.Fprintf(&body, "<text class=\"small\" x=\"%d\" y=\"%d\">%s</text>\n", svgMargin, y+16, svgText(c.Caption, width-2*svgMargin))
			y += svgCaption
			continue
		}
		if col+c.Width > columns {
			endRow()
		}
		x, w := svgMargin+col*svgColumn, c.Width*svgColumn-svgGap
		top := c.Top
		if len(c.Bits) > 0 {
			var names []string
			for _, b := range c.Bits {
				names = append(names, b.Name)
			}
			top = strings.Join(names, " · ")
		}
		fmt.Fprintf(&body, "<g><title>%s</title><rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"4\"/>", escaped(c.Title), svgClass(c.Class), x, y, w, svgRow)
		fmt.Fprintf(&body, "<text x=\"%d\" y=\"%d\">%s</text><text class=\"small\" x=\"%d\" y=\"%d\">%s</text></g>\n", x+6, y+16, svgText(top, w-10), x+6, y+31, svgText(c.Low, w-10))
		col, open = col+c.Width, true
		if col == columns {
			endRow()
		}
	}
	endRow()
	height := y + svgMargin
	var b strings.Builder
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\">\n<title>%s</title>\n<style>%s</style>\n", width, height, width, height, escaped(layoutTitle(l)), svgStyle)
	fmt.Fprintf(&b, "<rect class=\"ground\" width=\"%d\" height=\"%d\" stroke=\"none\"/>\n<text class=\"title\" x=\"%d\" y=\"20\">%s</text>\n", width, height, svgMargin, svgText(layoutTitle(l), (width-2*svgMargin)*11/13))
	for i := range columns {
		fmt.Fprintf(&b, "<text class=\"small\" text-anchor=\"middle\" x=\"%d\" y=\"%d\">%x</text>\n", svgMargin+i*svgColumn+svgColumn/2, svgHeading-6, i)
	}
	b.WriteString(body.String())
	b.WriteString("</svg>\n")
	return b.String()
}

// layoutTitle is the name of the message and its size.
func layoutTitle(l *codec.LayoutInfo) string {
	if l.Message == "" {
		return layoutSummary(l)
	}
	return fmt.Sprintf("%s.%d · %s", l.Message, l.Version, layoutSummary(l))
}

// svgClass is the class of a cell: its family, and whether its size is fixed.
func svgClass(class string) string {
	var out []string
	for _, c := range strings.Fields(class) {
		if family, ok := strings.CutPrefix(c, "t-"); ok {
			out = append(out, family)
		} else if c == "var" {
			out = append(out, c)
		}
	}
	if len(out) == 0 || out[0] == "var" {
		out = append(out, "none")
	}
	return strings.Join(out, " ")
}

// svgText is a text cut to a width in pixels, escaped.
func svgText(text string, width int) string {
	const letter = 6.7
	if most := max(int(float64(width)/letter), 1); utf8.RuneCountInString(text) > most {
		text = string([]rune(text)[:most-1]) + "…"
	}
	return escaped(text)
}

// escaped is a text for XML: what XML cannot hold at all is shown as unknown.
func escaped(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < 0x20 && r != '\t' && r != '\n' || r == 0xfffe || r == 0xffff || r == utf8.RuneError {
			return '\ufffd'
		}
		return r
	}, text)
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;").Replace(text)
}

// LayoutText is the diagram of a layout in plain text, as in the documents of protocols, and the table of its parts below.
//
//	+----+----+----------+
//	| length  | code     |
//	+----+----+----------+
func LayoutText(l *codec.LayoutInfo) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", plain(layoutTitle(l)))
	b.WriteString(textHeads())
	col, above := 0, ""
	var row textRow
	flush := func() {
		if len(row.cells) > 0 {
			above = row.write(&b, above)
		}
		row, col = textRow{}, 0
	}
	for _, c := range diagram(l) {
		if c.Width == 0 {
			flush()
			if above != "" {
				b.WriteString(above + "\n")
				above = ""
			}
			fmt.Fprintf(&b, "\n%s\n", plain(c.Caption))
			continue
		}
		if col+c.Width > columns {
			flush()
		}
		row.cells = append(row.cells, c)
		if col += c.Width; col == columns {
			flush()
		}
	}
	flush()
	if above != "" {
		b.WriteString(above + "\n")
	}
	b.WriteByte('\n')
	for line := range strings.Lines(l.Text()) {
		b.WriteString(plain(strings.TrimSuffix(line, "\n")) + "\n")
	}
	return b.String()
}

// textColumn is the width of a byte in letters, its border included.
const textColumn = 5

func textHeads() string {
	var b strings.Builder
	for i := range columns {
		fmt.Fprintf(&b, "%*x", textColumn, i)
	}
	return strings.TrimRight(b.String(), " ") + "\n"
}

// textRow is a row of cells in the making.
type textRow struct{ cells []cell }

// write writes a row below the border above it, which gets the corners of both; it returns the border below.
func (r *textRow) write(b *strings.Builder, above string) string {
	border, top, low := "+", "|", "|"
	for _, c := range r.cells {
		n := c.Width*textColumn - 1
		name := c.Top
		if len(c.Bits) > 0 {
			var names []string
			for _, x := range c.Bits {
				names = append(names, x.Name)
			}
			name = strings.Join(names, "/")
		}
		end := "|"
		if strings.Contains(c.Class, "var") {
			end = ":"
		}
		border += strings.Repeat("-", n) + "+"
		top += cutTo(" "+plain(name), n) + end
		low += cutTo(" "+plain(c.Low), n) + end
	}
	fmt.Fprintf(b, "%s\n%s\n%s\n", merged(above, border), top, low)
	return border
}

// merged is a border that two rows share.
func merged(a, b string) string {
	if len(a) < len(b) {
		a, b = b, a
	}
	out := []byte(a)
	for i := range b {
		if b[i] == '+' {
			out[i] = '+'
		}
	}
	return string(out)
}

// cutTo is a text of exactly n letters.
func cutTo(text string, n int) string {
	letters := []rune(text)
	if len(letters) > n {
		letters = append(letters[:max(n-1, 0)], '~')
	}
	return string(letters) + strings.Repeat(" ", max(n-len(letters), 0))
}

// plain is a text on one line, without control characters.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r >= 0x7f && r < 0xa0 {
			return '\ufffd'
		}
		return r
	}, text)
}
