package templates

import (
	"fmt"
	"strings"
)

// maxSiteHex is the maximum number of bytes shown of a message in a page without a server.
const maxSiteHex = 4096

// siteHex is a dump of sixteen bytes a row, with their characters.
func siteHex(data []byte) string {
	var b strings.Builder
	shown := data[:min(len(data), maxSiteHex)]
	for at := 0; at < len(shown); at += 16 {
		row := shown[at:min(at+16, len(shown))]
		fmt.Fprintf(&b, "%04x  %-47s  ", at, fmt.Sprintf("% x", row))
		for _, c := range row {
			b.WriteString(printable(c))
		}
		b.WriteByte('\n')
	}
	if len(data) > len(shown) {
		fmt.Fprintf(&b, "%d bytes more\n", len(data)-len(shown))
	}
	return b.String()
}
