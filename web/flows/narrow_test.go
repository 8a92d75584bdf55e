package flows

import (
	"fmt"
	"strings"
	"testing"

	"wirebench/web/browsertest"
)

// manyTypes is a text of ProtoDef with n messages on four lines each.
func manyTypes(n int) string {
	var b strings.Builder
	b.WriteString("{\n  \"types\": {\n")
	for i := range n {
		fmt.Fprintf(&b, "    \"told_%d\": [\"container\", [\n      {\"name\": \"id\", \"type\": \"u8\"},\n      {\"name\": \"value\", \"type\": \"u16\"}\n    ]]", i)
		if i < n-1 {
			b.WriteString(",")
		}
		b.WriteString("\n")
	}
	return b.String() + "  }\n}\n"
}

// Of a large text one message is shown at a time; typing, selecting and erasing stay in it; the whole text is a click away.
func TestFlowOneMessageAtATime(t *testing.T) {
	browsertest.Require(t)
	t.Parallel()
	all := manyTypes(150)
	f, _ := beginAs(t, "protodef", map[string]string{"game.json": all}, "/p/one/definitions/told_40")
	p := f.page()
	f.shots("narrow")
	alone := `document.querySelectorAll(".cm-line").length === 4 && document.querySelector(".cm-content").innerText.includes("told_40")`
	f.is("the message stands alone", alone)
	p.Visible("button", "162 lines above: show the whole text")
	p.Visible("button", "439 lines below: show the whole text")
	f.is("lines have their numbers", `document.querySelector(".cm-lineNumbers").innerText.includes("163")`)

	// All that is selected is the message.
	p.Click("textbox", "Definition text")
	f.press("Ctrl+a")
	f.press("Backspace")
	f.says("nothing else is erased", "")
	f.press("Ctrl+z")
	p.Visible("button", "439 lines below: show the whole text")
	f.is("it is back, alone", alone)

	// Arrows do not leave it.
	for range 6 {
		f.press("ArrowUp")
	}
	f.is("still alone", alone)

	p.Choose("Message in this file", "told_7")
	f.is("another one stands alone", `document.querySelectorAll(".cm-line").length === 4 && document.querySelector(".cm-content").innerText.includes("told_7\"")`)
	p.Click("button", "571 lines below: show the whole text")
	f.is("all of it", `document.querySelector(".cm-content").innerText.includes("told_8")`)
	f.shots("whole")
}
