package flows

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"wirebench/server/servertest"
	"wirebench/web/browsertest"
)

// libraryOf returns a library of n definitions with a code map, half of them from the server.
func libraryOf(n int) map[string]string {
	files, codes := map[string]string{}, ""
	for i := range n {
		name := libraryName(i)
		files[name+".1.def"] = fmt.Sprintf("uint32 id\nstring name_%d\n", i)
		codes += fmt.Sprintf("%s %d\n", name, 1000+i)
	}
	files["protocol.1.map"] = codes
	return files
}

func libraryName(i int) string { return fmt.Sprintf("%c_MESSAGE_%04d", "CS"[i%2], i) }

// A library of 1,192 definitions: the list, its settings and a new definition can be reached by mouse and keyboard, and the page does not
// scroll.
func TestFlowLibrary(t *testing.T) {
	browsertest.Require(t)
	t.Parallel()
	const n = 1192
	f, _, _ := begin(t, libraryOf(n), "/p/one/definitions")
	p := f.page()
	still := func(when string) {
		t.Helper()
		if top := browsertest.Value[float64](t, f.ctx, `document.documentElement.scrollTop + document.body.scrollTop`); top != 0 {
			t.Errorf("%s: the page is scrolled by %v pixels", when, top)
		}
	}
	opened := func(name string) {
		t.Helper()
		p.Visible("heading", name+".1.def")
		p.Visible("link", name+" v1")
		still(name)
	}
	for _, size := range []struct {
		width, height int64
		choices       int
	}{{1440, 900, 30}, {1280, 720, 5}} {
		browsertest.Run(t, f.ctx, emulation.SetDeviceMetricsOverride(size.width, size.height, 1, false))

		// By mouse: scroll to the end of the list, select the last one.
		p.Wheel("complementary", "Messages", 1e6)
		p.Visible("link", libraryName(n-1)+" v1")
		p.Click("link", libraryName(n-1)+" v1")
		opened(libraryName(n - 1))
		p.Click("button", "Library")
		p.Click("textbox", "Game version")
		p.Visible("button", "Apply")
		p.Visible("button", "Library")
		p.Wheel("textbox", "Game version", 1e6)
		p.Visible("button", "Upload")
		p.Click("button", "Library")
		p.Click("link", "New definition")
		p.Visible("heading", "C_NEW_MESSAGE.1.def")
		still("a new definition")
		p.Wheel("complementary", "Messages", -1e6)
		p.Visible("link", libraryName(0)+" v1")

		// By keyboard: filter, and move down the list.
		p.Press("Escape")
		f.do(`document.activeElement.blur()`)
		p.Press("/")
		p.Focused("searchbox", "Filter messages")
		p.Type("message_07")
		p.Press("Enter")
		opened("C_MESSAGE_0700")
		p.Press("/")
		p.Focused("searchbox", "Filter messages")
		p.Press("ArrowDown", "ArrowDown", "ArrowDown")
		p.Focused("link", "C_MESSAGE_0704 v1")
		p.Press(slices.Repeat([]string{"ArrowDown"}, 40)...) // out of view
		p.Focused("link", "C_MESSAGE_0784 v1")
		p.Press(slices.Repeat([]string{"ArrowUp"}, 40)...)
		p.Focused("link", "C_MESSAGE_0704 v1")
		p.Press("Enter")
		opened("C_MESSAGE_0704")
		p.Fill("searchbox", "Filter messages", "")
		p.Press("Escape")

		// Random selections in a row.
		random := rand.New(rand.NewPCG(1, 2))
		for range size.choices {
			name := libraryName(random.IntN(n))
			p.Press("Ctrl+K")
			p.Focused("combobox", "Go to anything")
			p.Type(name[len(name)-4:])
			p.Press("Enter")
			opened(name)
		}
		browsertest.Reload(t, f.ctx, openSelector)
		p.Visible("button", "More about these fields")
		p.Visible("searchbox", "Filter messages")
		still("loaded anew")
	}

	// On a phone the list is one of the tabs.
	browsertest.Run(t, f.ctx, emulation.SetDeviceMetricsOverride(390, 844, 1, true))
	for _, i := range []int{1190, 3, 600} {
		p.Click("tab", "Messages")
		p.Visible("link", "New definition")
		p.Visible("button", "Library")
		p.Fill("searchbox", "Filter messages", libraryName(i))
		p.Click("link", libraryName(i)+" v1")
		p.Visible("heading", libraryName(i)+".1.def")
	}
	if wide := browsertest.Value[int](t, f.ctx, `document.documentElement.scrollWidth`); wide > 390 {
		t.Errorf("the page is %d pixels wide", wide)
	}
}

// Enter and the arrow keys in the filter of the list select messages, whatever else the side panel contains.
func TestFlowLibraryFilter(t *testing.T) {
	t.Parallel()
	f := beginCapture(t, flowFiles(), servertest.Chat(t, 20), "")
	browsertest.Run(t, f.ctx, chromedp.Navigate(browsertest.Value[string](t, f.ctx, `location.origin + "/p/one/definitions"`)))
	browsertest.Arrive(t, f.ctx, openSelector)
	p := f.page()
	p.Click("searchbox", "Filter messages")
	p.Press("ArrowDown")
	p.Focused("link", "C_…")
	p.Click("searchbox", "Filter messages")
	p.Type("list")
	p.Press("Enter")
	p.Visible("heading", "C_LIST.1.def")
}

// A page that is opened at the address of a message shows it in the list.
func TestFlowLibraryAtAddress(t *testing.T) {
	browsertest.Require(t)
	t.Parallel()
	f, _, _ := begin(t, libraryOf(400), "/p/one/definitions/"+libraryName(311)+".1")
	f.is("the list is at the message", openInView)
}

// sayBothWays has messages of one name in both directions, and one with a mistake.
const sayBothWays = `{"types": {}, "play": {
"toServer": {"types": {
  "packet_say": ["container", [{"name": "text", "type": "u8"}]],
  "packet_bad": ["container", [{"name": "text", "type": "nothing"}]],
  "packet": ["container", [
    {"name": "name", "type": ["mapper", {"type": "varint", "mappings": {"0x01": "say", "0x02": "bad"}}]},
    {"name": "params", "type": ["switch", {"compareTo": "name", "fields": {"say": "packet_say", "bad": "packet_bad"}}]}]]}},
"toClient": {"types": {
  "packet_say": ["container", [{"name": "text", "type": "u8"}]],
  "packet": ["container", [
    {"name": "name", "type": ["mapper", {"type": "varint", "mappings": {"0x01": "say"}}]},
    {"name": "params", "type": ["switch", {"compareTo": "name", "fields": {"say": "packet_say"}}]}]]}}}}`

// The rows that scripts draw are those that the server draws, and the open message is at the same place in the view before and after.
func TestFlowLibraryDrawnAsSent(t *testing.T) {
	browsertest.Require(t)
	t.Parallel()
	tera := libraryOf(400)
	tera["protocol.1.map"] += "S_TODO 4000\n"
	tera["C_MESSAGE_0310.2.def"], tera["C_MESSAGE_0312.1.def"], tera["C_UNMAPPED.1.def"], tera["own.envelope"] = "in32 wrong\n", "in32 wrong\n", "byte a\n", "code u16\n"
	tera["C_MESSAGE_0314.1.samples.jsonl"] = `{"message":"C_MESSAGE_0314.1","hex":"0800010007000000"}` + "\n"
	for _, c := range []struct {
		what, dialect, open string
		files               map[string]string
	}{
		{"versions", "tera", "/" + libraryName(312) + ".1", tera},
		{"a name without a definition", "tera", "?filter=todo", tera},
		{"an envelope, and the start", "tera", "/" + libraryName(0) + ".1", tera},
		{"codes and several messages in a file", "protodef", "/c2s%2Fsay", map[string]string{"game.json": sayBothWays}},
	} {
		t.Run(c.what, func(t *testing.T) {
			f, _ := beginAs(t, c.dialect, c.files, "/p/one/definitions"+c.open)
			const at = `Math.round((a => a === null ? 0 : a.getBoundingClientRect().top)(document.querySelector("#rail-list a[aria-current]")))`
			browsertest.Run(t, f.ctx, emulation.SetScriptExecutionDisabled(true), chromedp.Reload(), chromedp.WaitVisible("#rail-list .item"))
			browsertest.Run(t, f.ctx, chromedp.Evaluate(`document.documentElement.classList.add("js")`, nil)) // as the first script does
			before := browsertest.Value[int](t, f.ctx, at)
			browsertest.Run(t, f.ctx, emulation.SetScriptExecutionDisabled(false))
			browsertest.Reload(t, f.ctx, openSelector)
			f.is("the open message stays where it is", fmt.Sprintf(`Math.abs(%s - %d) <= 1`, at, before))
			f.do(`window.differ = undefined`)
			f.do(fmt.Sprintf(`(async () => {
				const clean = (e) => { for (const name of ["aria-setsize", "aria-posinset", "style"]) e.removeAttribute(name); e.classList.remove("apart"); e.querySelectorAll("a").forEach((a) => a.removeAttribute("data-people")); return e.outerHTML.replace(/\s+/g, " ").replaceAll("> <", "><").replaceAll("> ", ">").replaceAll(" <", "<") }
				const sent = new DOMParser().parseFromString(await (await fetch(%q)).text(), "text/html")
				const of = (d) => new Map([...d.querySelectorAll("#rail-list .item")].map((e) => [e.parentElement.parentElement.querySelector("h2").textContent.trim() + e.dataset.name, clean(e.cloneNode(true))]))
				const [a, b] = [of(sent), of(document)]
				const both = [...a.keys()].filter((k) => b.has(k))
				window.differ = both.length === 0 ? "few rows: " + both : both.filter((k) => a.get(k) !== b.get(k)).map((k) => a.get(k) + "\n" + b.get(k)).join("\n")
			})()`, "/p/one/definitions"+c.open))
			f.is("the rows are compared", `window.differ !== undefined`)
			if differ := browsertest.Value[string](t, f.ctx, `window.differ`); differ != "" {
				t.Errorf("sent and drawn rows differ:\n%s", differ)
			}
		})
	}
}

// A library of as many definitions as there may be: the page opens, the filter answers at once, and a change by somebody else is drawn in the
// list, which has few elements.
func TestFlowLibraryLargest(t *testing.T) {
	browsertest.Require(t)
	t.Parallel()
	const n = 19_990
	s, _ := filesServer(t, libraryOf(n))
	srv := serve(t, s)
	f := flow{t, browsertest.Open(t, srv.URL+"/p/one/definitions/"+libraryName(12_345)+".1", openSelector)}
	const took = `(%s)(performance.getEntriesByType("navigation")[0], performance.getEntriesByName("first-contentful-paint")[0])`
	t.Logf("painted after %.0f ms, ready after %.0f ms", browsertest.Value[float64](t, f.ctx, fmt.Sprintf(took, `(n, p) => (p?.startTime ?? 0) - n.responseStart`)), browsertest.Value[float64](t, f.ctx, fmt.Sprintf(took, `(n) => n.domContentLoadedEventEnd - n.responseStart`)))
	f.is("the list is at the message", openInView)
	f.is("few elements", `document.querySelectorAll("#rail-list .item").length < 150`)
	filter := func(text string) float64 {
		t.Helper()
		return browsertest.Value[float64](t, f.ctx, fmt.Sprintf(`(() => {
			const box = document.querySelector("#filter"), from = performance.now()
			box.value = %q
			box.dispatchEvent(new Event("input", {bubbles: true}))
			document.body.offsetHeight
			return performance.now() - from
		})()`, text))
	}
	for _, text := range []string{"c", "message 99", ""} {
		ms := filter(text)
		t.Logf("filtered by %q in %.0f ms", text, ms)
		if ms > 1000 {
			t.Errorf("filtered by %q in %.0f ms", text, ms)
		}
	}
	filter("19987")
	if _, err := s.Projects.Find("one").Save(libraryName(19_987)+".1.def", []byte("in32 wrong\n"), nil); err != nil {
		t.Fatal(err)
	}
	f.is("the mistake is in the list", `document.querySelector('#rail-list .item[data-name="`+libraryName(19_987)+`"] .dot.err') !== null`)
	f.is("no other row", `document.querySelectorAll("#rail-list .item").length === 1`)
}

// openInView is true if the list shows the open message.
const openInView = `(a => { const box = document.querySelector(".rail-scroll").getBoundingClientRect(), at = a?.getBoundingClientRect(); return at !== undefined && at.top >= box.top && at.bottom <= box.bottom })(document.querySelector("#rail-list a[aria-current]"))`

// All rows of the list come beside the page, and may be late: what changes meanwhile is in the list once, and nothing is said of rows that are
// not here.
func TestFlowRowsArriveLate(t *testing.T) {
	browsertest.Require(t)
	t.Parallel()
	for _, late := range []string{"from before the change", "from after it"} {
		t.Run(late, func(t *testing.T) {
			s, _ := filesServer(t, flowFiles())
			asked, goOn := make(chan struct{}), make(chan struct{})
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/p/one/definitions.json" {
					s.ServeHTTP(w, r)
					return
				}
				answer := httptest.NewRecorder()
				if late == "from before the change" {
					s.ServeHTTP(answer, r)
				}
				asked <- struct{}{}
				<-goOn
				if late == "from after it" {
					s.ServeHTTP(answer, r)
				}
				maps.Copy(w.Header(), answer.Header())
				w.WriteHeader(answer.Code)
				w.Write(answer.Body.Bytes())
			}))
			t.Cleanup(srv.Close)
			arrive := sync.OnceFunc(func() { close(goOn) })
			t.Cleanup(arrive)
			f := flow{t, browsertest.Open(t, srv.URL+"/p/one/definitions/C_JOIN.1", openSelector)}
			p := f.page()
			<-asked
			p.Fill("searchbox", "Filter messages", "c_")
			f.is("nothing is said", `document.querySelector("[data-filter-none]").hidden`)
			ws := s.Projects.Find("one")
			for name, text := range map[string]string{"C_AFTER.1.def": "uint16 a\n", "C_LIST.1.def": "uin16 a\n"} {
				if _, err := ws.Save(name, []byte(text), nil); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := ws.Delete("C_WIDE.1.def", nil); err != nil {
				t.Fatal(err)
			}
			p.Press("Ctrl+K")
			p.Type("c_af")
			arrive()
			f.is("the palette knows all", `[...document.querySelectorAll("#palette-list [role=option]")].some((o) => o.innerText.startsWith("C_AFTER"))`)
			p.Press("Escape")
			f.is("the list", `[...document.querySelectorAll("#rail-list section .item")].map(i => i.dataset.name + (i.querySelector(".err") ? " wrong" : "")).join() === "C_AFTER,C_JOIN,C_LIST wrong"`)
		})
	}
}
