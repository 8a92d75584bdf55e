package templates

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"wirebench/codec/view"
)

// Measures of the picture, in pixels.
const (
	svgColumn  = 44
	svgRow     = 40
	svgGap     = 3
	svgMargin  = 12
	svgHeading = 46 // title and column numbers
	svgCaption = 24
)

// svgStyle has the colors of web/src/kit/css/tokens.css, light and dark. Its rules apply to this picture only, also when it is part of a page.
const svgStyle = `
.layout text{font:11px ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#1b2129}
.layout .small{font-size:10px;fill:#4f5a66}.layout .title{font-size:13px;font-weight:600}.layout .ground,.layout .none,.layout .gap{fill:#fff}
.layout g>rect{stroke:#86909c;stroke-opacity:.45}.layout g>.var{stroke-dasharray:4 3;stroke-opacity:1}.layout g>.hatched{fill:url(#hatch);stroke:none}.layout .stripe{fill:#000;fill-opacity:.06}
.layout .head{fill:#e6e8ec}.layout .int{fill:#d9e7ff}.layout .float{fill:#cdeef2}.layout .ptr{fill:#ffe9c7}.layout .text{fill:#d6f2df}.layout .chain{fill:#eadcf8}
.layout .head.alt{fill:#d9dce2}.layout .int.alt{fill:#c6dafc}.layout .float.alt{fill:#b5e3e9}.layout .ptr.alt{fill:#ffdda6}.layout .text.alt{fill:#bfe8cd}.layout .chain.alt{fill:#dfcbf3}
@media(prefers-color-scheme:dark){
.layout text{fill:#d9dfe7}.layout .small{fill:#b0bac6}.layout .ground,.layout .none,.layout .gap{fill:#151a20}.layout .stripe{fill:#fff}
.layout .head{fill:#2a313a}.layout .int{fill:#1d3357}.layout .float{fill:#123c44}.layout .ptr{fill:#463413}.layout .text{fill:#173d2a}.layout .chain{fill:#362348}
.layout .head.alt{fill:#343d48}.layout .int.alt{fill:#254371}.layout .float.alt{fill:#194e58}.layout .ptr.alt{fill:#5a4218}.layout .text.alt{fill:#1e4f37}.layout .chain.alt{fill:#45305a}}
`

// svgHatch fills parts of variable size.
const svgHatch = `<defs><pattern id="hatch" width="10" height="10" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="stripe" width="5" height="10"/></pattern></defs>`

// LayoutSVG is the diagram of a layout as an SVG document.
func LayoutSVG(name string, l *view.LayoutInfo) string {
	width := 2*svgMargin + view.Columns*svgColumn
	var body strings.Builder
	y, col := svgHeading, 0
	open := false // a row of cells has begun
	endRow := func() {
		if open {
			y += svgRow + svgGap
		}
		col, open = 0, false
	}
	for _, c := range l.Cells() {
		if c.Width == 0 {
			endRow()
			fmt.Fprintf(&body, "<text class=\"small\" x=\"%d\" y=\"%d\">%s</text>\n", svgMargin, y+16, svgText(c.Caption, width-2*svgMargin))
			y += svgCaption
			continue
		}
		if col+c.Width > view.Columns {
			endRow()
		}
		x, w := svgMargin+col*svgColumn, c.Width*svgColumn-svgGap
		top := c.Top
		if len(c.Bits) > 0 {
			top = strings.Join(c.Bits, " · ")
		}
		class := svgClass(c)
		place := fmt.Sprintf("x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"", x, y, w, svgRow)
		fmt.Fprintf(&body, "<g><title>%s</title><rect class=\"%s\" %s rx=\"4\"/>", escaped(c.Title), class, place)
		if c.Kind.Variable() {
			fmt.Fprintf(&body, "<rect class=\"hatched\" %s rx=\"4\"/>", place)
		}
		// A nested picture clips text drawn in a wider font than expected.
		fmt.Fprintf(&body, "<svg %s><text x=\"6\" y=\"16\">%s</text><text class=\"small\" x=\"6\" y=\"31\">%s</text></svg></g>\n", place, svgText(top, w-10), svgText(c.Low, w-10))
		col, open = col+c.Width, true
		if col == view.Columns {
			endRow()
		}
	}
	endRow()
	height := y + svgMargin
	var b strings.Builder
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\" class=\"layout\">\n<title>%s</title>\n<style>%s</style>\n%s\n", width, height, width, height, escaped(layoutTitle(name, l)), svgStyle, svgHatch)
	fmt.Fprintf(&b, "<rect class=\"ground\" width=\"%d\" height=\"%d\" stroke=\"none\"/>\n<text class=\"title\" x=\"%d\" y=\"20\">%s</text>\n", width, height, svgMargin, svgText(layoutTitle(name, l), (width-2*svgMargin)*11/13))
	for i := range view.Columns {
		fmt.Fprintf(&b, "<text class=\"small\" text-anchor=\"middle\" x=\"%d\" y=\"%d\">%x</text>\n", svgMargin+i*svgColumn+svgColumn/2, svgHeading-6, i)
	}
	b.WriteString(body.String())
	b.WriteString("</svg>\n")
	return b.String()
}

// layoutTitle is the name of the message and its size.
func layoutTitle(name string, l *view.LayoutInfo) string {
	if name == "" {
		return l.Summary()
	}
	return name + " · " + l.Summary()
}

// svgClass is the class of a cell: its family, its tint, and whether its size is variable.
func svgClass(c view.Cell) string {
	class := cmp.Or(string(c.Family), "none")
	if c.Alt {
		class += " alt"
	}
	if c.Kind.Variable() {
		class += " var"
	}
	return class
}

// svgText is a text cut to a width in pixels, escaped.
func svgText(text string, width int) string {
	const letter = 6.7
	if most := max(int(float64(width)/letter), 1); utf8.RuneCountInString(text) > most {
		text = string([]rune(text)[:most-1]) + "…"
	}
	return escaped(text)
}

// escaped escapes a text for XML. Characters that XML cannot represent are replaced.
func escaped(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < 0x20 && r != '\t' && r != '\n' || r == 0xfffe || r == 0xffff || r == utf8.RuneError {
			return '\ufffd'
		}
		return r
	}, text)
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;").Replace(text)
}

// LayoutText is the diagram of a layout in plain text, as in protocol documents, followed by the table.
//
//	+----+----+----------+
//	| length  | code     |
//	+----+----+----------+
func LayoutText(name string, l *view.LayoutInfo) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", plain(layoutTitle(name, l)))
	b.WriteString(textHeads())
	col, above := 0, ""
	var row textRow
	flush := func() {
		if len(row.cells) > 0 {
			above = row.write(&b, above)
		}
		row, col = textRow{}, 0
	}
	for _, c := range l.Cells() {
		if c.Width == 0 {
			flush()
			if above != "" {
				b.WriteString(above + "\n")
				above = ""
			}
			fmt.Fprintf(&b, "\n%s\n", plain(c.Caption))
			continue
		}
		if col+c.Width > view.Columns {
			flush()
		}
		row.cells = append(row.cells, c)
		if col += c.Width; col == view.Columns {
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

// textColumn is the width of a byte in characters, with its border.
const textColumn = 5

func textHeads() string {
	var b strings.Builder
	for i := range view.Columns {
		fmt.Fprintf(&b, "%*x", textColumn, i)
	}
	return strings.TrimRight(b.String(), " ") + "\n"
}

// textRow is a row of cells being drawn.
type textRow struct{ cells []view.Cell }

// write draws a row below the border above, which gets the corners of both rows; it returns the border below.
func (r *textRow) write(b *strings.Builder, above string) string {
	border, top, low := "+", "|", "|"
	for _, c := range r.cells {
		n := c.Width*textColumn - 1
		name := c.Top
		if len(c.Bits) > 0 {
			name = strings.Join(c.Bits, "/")
		}
		end := "|"
		if c.Kind.Variable() {
			end = ":"
		}
		border += strings.Repeat("-", n) + "+"
		top += cutTo(" "+plain(name), n) + end
		low += cutTo(" "+plain(c.Low), n) + end
	}
	fmt.Fprintf(b, "%s\n%s\n%s\n", merged(above, border), top, low)
	return border
}

// merged is a border shared by two rows.
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

// cutTo is a text of exactly n characters.
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
