package flows

import (
	"os"
	"testing"

	"wirebench/server/servertest"
)

// The drawers that explain a capture: problems, connections, a conversation, numbers over time, and the flow between client and server.
func TestFlowExplain(t *testing.T) {
	t.Parallel()
	f := beginCapture(t, servertest.ChatFiles, servertest.Chat(t, 100), "")
	p := f.page()
	f.counts("100 frames")

	f.tool("Problems")
	f.shows(".frames-problems", "unknown-message")
	p.Click("button", "Frame 5")
	f.shows(".frames-line .chosen", "at 5")
	p.In("Problems").Click("button", "20")
	f.shows(".frames-line .counts", "20 shown")
	p.Fill("textbox", "Filter", "")
	p.Press("Enter")
	f.counts("100 frames")

	f.tool("Connections")
	f.shows(".frames-conns", "1 connection")
	f.is("bytes and rate of the connection", `[...document.querySelectorAll(".frames-conns tbody td")].map(e => e.textContent).some(text => text.endsWith("B/s"))`)
	p.Click("button", "Follow 10…")
	f.shows(".frames-follow", `C_SAY  text "text 0"`)
	p.Click("button", "Text")
	f.shows(".follow-box", "text 1")
	p.Click("button", "Hex")
	f.shows(".follow-box", "0000  ")
	p.In("Conversation").Click("button", "C→S 7 0.0…")
	f.shows(".frames-line .chosen", "at 7")

	if os.Getenv("WIREBENCH_LOOK") != "" {
		f.shots("follow")
	}
	f.tool("Flow")
	f.shows(".frames-flow", "94 frames from 7 to 100")
	f.is("arrows both ways", `document.querySelectorAll(".flow-row.c2s").length > 0 && document.querySelectorAll(".flow-row.s2c").length > 0`)
	p.Click("button", "C→S C_SAY, frame 9")
	f.shows(".frames-line .chosen", "at 9")
	if os.Getenv("WIREBENCH_LOOK") != "" {
		f.shots("flow")
	}
}

// Numbers over time: fields are added by their names or from the fields of a message, points lead to frames by mouse and keyboard.
func TestFlowGraph(t *testing.T) {
	t.Parallel()
	f := beginCapture(t, servertest.NumberFiles, servertest.Numbers(t, 60), "")
	p := f.page()
	f.counts("60 frames")
	f.tool("Graph")
	p.Fill("textbox", "Field of the graph", ".level")
	p.Press("Enter")
	f.shows(".frames-graph", "60 values")
	f.is("it is drawn", `document.querySelector(".frames-graph canvas") !== null`)
	p.Focused("textbox", "Field of the graph")
	f.focus(".frames-graph [role=slider]")
	f.press("Home", "ArrowRight", "ArrowRight")
	f.is("its value is told", `document.querySelector(".frames-graph [role=slider]").ariaValueText.startsWith(".level ")`)
	f.press("Enter")
	f.shows(".frames-line .chosen", "at 3")
	p.Click("button", "Table")
	f.is("the same as a table", `document.querySelectorAll(".graph-list tbody tr").length === 60`)
	p.In("Values over time").Click("button", "40")
	f.shows(".frames-line .chosen", "at 40")
	p.Click("button", "Remove .level")
	f.lacks(".graph-list tr + tr")
	p.RightClick("row", "level…")
	p.Click("menuitem", "Show over time")
	f.shows(".frames-graph", "60 values")

	// The timeline with lines of filters, its unit and its interval.
	f.tool("Timeline")
	p.Fill("textbox", "Filter of another line", "level > 30")
	p.Press("Enter")
	f.shows(".frames-timeline", "level > 30")
	p.Fill("textbox", "Filter of another line", ".levle > 30")
	p.Press("Enter")
	f.shows(".frames-timeline", "no message has a field")
	p.Choose("Unit of the timeline", "bytes/s")
	p.Choose("Interval of the timeline", "100 ms")
	f.is("it is drawn", `document.querySelector(".frames-timeline canvas") !== null`)
	if dir := os.Getenv("WIREBENCH_LOOK"); dir != "" {
		f.shots("timeline")
		f.tool("Graph")
		f.shots("graph")
	}
}

// The field table of messages without a definition has a narrow column for each byte, with what the bytes may be.
func TestFlowFieldTableOfBytes(t *testing.T) {
	t.Parallel()
	f := beginCapture(t, map[string]string{"protocol.1.map": "C_OTHER 9\n", "C_OTHER.1.def": "int32 x\n"}, servertest.Numbers(t, 60), "")
	p := f.page()
	f.counts("60 frames")
	f.choose(2, false)
	f.tool("Fields")
	f.is("narrow columns", `[...document.querySelectorAll(".ft-column.byte")].length === 12 && [...document.querySelectorAll(".ft-column.byte")].every(e => e.getBoundingClientRect().width < 40)`)
	f.is("a heat strip", `["constant", "counter"].every(name => document.querySelector(".ft-column." + name) !== null)`)
	f.shows(".ft-guesses", "0x04: ")
	f.is("the values", `document.querySelectorAll(".ft-row")[3].textContent.includes("03")`)

	// Bytes are read together: as guessed, in another way, and as bytes again.
	p.Click("button", "0x04: …")
	f.is("a number", `document.querySelectorAll(".ft-column.byte").length === 11`)
	p.RightClick("columnheader", "0x04 u8…")
	p.Click("menuitem", "u32")
	f.is("one column of the four bytes", `document.querySelectorAll(".ft-column.byte").length === 8`)
	f.is("the numbers", `[...(document.querySelectorAll(".ft-row")[3]?.children ?? [])].some(e => e.textContent === "3")`)
	p.RightClick("columnheader", "0x04 u32le…")
	p.Click("menuitem", "u16, big-endian")
	f.is("two bytes", `document.querySelectorAll(".ft-column.byte").length === 10`)
	p.Click("gridcell", "768")
	p.Click("menuitem", "Only u16be(bytes[4:2]) == 768")
	f.counts("60 frames · 1 shown")
	f.filter("")
	if os.Getenv("WIREBENCH_LOOK") != "" {
		f.shots("bytes")
	}
	p.RightClick("columnheader", "0x04 u16be…")
	p.Click("menuitem", "bytes")
	f.is("bytes again", `document.querySelectorAll(".ft-column.byte").length === 12`)
}

// The lengths of frames, the ends of connections and the times between requests and answers are views of the tools; their rows become chips.
func TestFlowSums(t *testing.T) {
	t.Parallel()
	f := beginCapture(t, servertest.ChatFiles, servertest.Chat(t, 200), "")
	p := f.page()
	f.counts("200 frames")
	f.tool("Types")
	f.shows(".frames-types", "C_SAY")
	p.Click("button", "Lengths")
	f.shows(".frames-sums", "200 frames by their length in bytes")
	p.In("Frames by length").Click("button", "24 to 27")
	f.shows(".frames-chips", "24 to 27 bytes")
	f.axe("lengths of frames")
	f.counts("200 frames · 100 shown")
	p.In("Frames by length").Click("button", "24 to 27")
	f.counts("200 frames")
	p.Click("button", "Answer times")
	f.shows(".frames-sums", "1 type that is answered")
	f.axe("times of answers")
	f.is("four of five are not answered", `[...document.querySelectorAll(".frames-sums tbody td")].some((e) => e.textContent === "40")`)

	f.tool("Connections")
	f.shows(".frames-conns", "1 connection")
	p.Click("button", "Endpoints")
	f.shows(".frames-sums", "2 endpoints")
	p.In("Endpoints").Click("button", "10.0.0.2:4000")
	f.shows(".frames-chips", "only: 10.0.0.2:4000")
	f.axe("ends of connections")
	f.counts("200 frames")
	p.Click("button", "Addresses")
	f.shows(".frames-sums", "2 addresses")
	f.reload()
	f.counts("200 frames")
	f.shows(".frames-sums", "2 addresses") // the tool and its view are kept
	p.In("Show").Click("button", "Connections")
	f.shows(".frames-conns", "1 connection")
}
