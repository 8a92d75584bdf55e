package flows

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"

	"wirebench/defs/corpora"
	"wirebench/server/servertest"
	"wirebench/web/browsertest"
)

// bigList returns a message of 64 KB: a linked list of 8,100 elements.
func bigList() string {
	const n, first = 8100, 12
	b := binary.LittleEndian.AppendUint16(nil, 0)
	for _, v := range []uint16{2, n, first, first + 8*n, 1234} {
		b = binary.LittleEndian.AppendUint16(b, v)
	}
	for i := range n {
		here, next := first+8*i, first+8*(i+1)
		if i == n-1 {
			next = 0
		}
		b = binary.LittleEndian.AppendUint16(b, uint16(here))
		b = binary.LittleEndian.AppendUint16(b, uint16(next))
		b = binary.LittleEndian.AppendUint32(b, uint32(1000+i))
	}
	b = append(b, 'L', 0, 0, 0)
	binary.LittleEndian.PutUint16(b, uint16(len(b)))
	return hex.EncodeToString(b)
}

// bigBlob returns a message of 64 KB: one run of bytes.
func bigBlob() string {
	const n = 65_000
	b := binary.LittleEndian.AppendUint16(nil, 4+4+n)
	for _, v := range []uint16{4, 8, n} {
		b = binary.LittleEndian.AppendUint16(b, v)
	}
	for i := range n {
		b = append(b, byte(i*7))
	}
	return hex.EncodeToString(b)
}

// threeHundred returns a definition of 300 lines, with lists.
func threeHundred() string {
	types := []string{"uint32", "int32", "uint16", "byte", "float", "bool", "uint64", "vec3", "string", "angle"}
	var b strings.Builder
	for line := 1; line <= 300; line++ {
		switch {
		case line%30 == 10:
			fmt.Fprintf(&b, "array list%d\n", line)
		case line%30 > 10 && line%30 < 16:
			fmt.Fprintf(&b, "- %s f%d # a field\n", types[line%len(types)], line)
		default:
			fmt.Fprintf(&b, "%s field%d\n", types[line%len(types)], line)
		}
	}
	return b.String()
}

// watchAnswers records for each change of the page, in milliseconds, when the new parts were inserted and when they were painted.
const watchAnswers = `{
	let since = 0
	window.changes = []
	window.longest = 0
	new PerformanceObserver(list => { for (const e of list.getEntries()) window.longest = Math.max(window.longest, e.duration) }).observe({type: "longtask"})
	for (const type of ["beforeinput", "measured"]) document.addEventListener(type, () => { since = performance.now() }, true)
	document.addEventListener("wb:answered", () => {
		if (since === 0) return
		const change = {inPage: performance.now() - since}, from = since
		since = 0
		requestAnimationFrame(() => {
			const channel = new MessageChannel()
			channel.port1.onmessage = () => { change.painted = performance.now() - from; window.changes.push(change) }
			channel.port2.postMessage(0)
		})
	})
}`

// TestFlowSpeed measures response times, and fails only for grossly slow ones: the machine may have other load, so times are logged, not
// judged.
func TestFlowSpeed(t *testing.T) {
	f, _, _ := begin(t, map[string]string{
		"C_BIG.1.def":  "array members\n- uint32 id\nstring name\nuint16 flags\n",
		"C_BLOB.1.def": "bytes content\n",
		"S_LONG.1.def": threeHundred(), "protocol.1.map": "C_BIG 2\nS_LONG 3\nC_BLOB 4\n",
	}, "/p/one/definitions/C_BIG.1")
	f.do(watchAnswers)
	const gross = 8000 // milliseconds; the target is a fiftieth

	big := bigList()
	for i := range 5 {
		f.do(`document.dispatchEvent(new Event("measured"))`)
		f.paste(big + strings.Repeat("00", i%2))
		f.is("the big message is shown", fmt.Sprintf(`window.changes.length >= %d && document.querySelector("#tree-rows tr") !== null`, i+1))
	}
	f.tell("paste of 64 KB to its tree, 8100 elements", gross)
	f.do(`document.querySelector('#rail-list a[href$="C_BLOB.1"]').click()`)
	f.shows("#definition-head", "C_BLOB.1.def")
	f.do(`window.changes = []`)
	blob := bigBlob()
	for i := range 5 {
		f.do(`document.dispatchEvent(new Event("measured"))`)
		f.paste(blob[:len(blob)-2] + fmt.Sprintf("%02x", i))
		f.is("the big message is shown", fmt.Sprintf(`window.changes.length >= %d && document.querySelector("#tree-rows tr") !== null`, i+1))
	}
	f.shows("#fields-head", "ok")
	f.tell("paste of 64 KB to its tree, one run of bytes", gross)

	// The grid of bytes is scrolled to its end.
	f.do(`window.longest = 0`)
	browsertest.Run(t, f.ctx, chromedp.Evaluate(`new Promise(done => {
		const box = document.querySelector(".hex-scroll")
		let n = 0
		const step = () => { box.scrollTop += 700; n++ < 120 ? requestAnimationFrame(step) : done(true) }
		step()
	})`, nil, chromedp.EvalAsValue))
	longest := 0.0
	browsertest.Run(t, f.ctx, chromedp.Sleep(100*time.Millisecond), chromedp.Evaluate(`window.longest`, &longest))
	t.Logf("scrolling 64 KB: longest task %.0f ms (0: none over 50)", longest)

	f.do(`document.querySelector('#rail-list a[href$="S_LONG.1"]').click()`)
	f.shows("#definition-head", "S_LONG.1.def")
	f.paste("")
	f.do(`document.querySelector('#samples button[value="build"]').click()`)
	f.shows("#fields-head", "S_LONG.1")
	f.caret(3)
	f.do(`window.changes = []`)
	const keys = 50
	browsertest.Run(t, f.ctx, performance.Enable())
	before := f.metrics()
	for i := range keys {
		f.types(string(rune('a' + i%26)))
		f.is("the key has its answer", fmt.Sprintf(`window.changes.length >= %d`, i+1))
	}
	after := f.metrics()
	styles, layouts := (after["RecalcStyleCount"]-before["RecalcStyleCount"])/keys, (after["LayoutCount"]-before["LayoutCount"])/keys
	f.tell("keystroke to layout and tree, 300 lines", gross)
	// Of these, a key itself and three frames need eight and five. Each list that reads what another has written needs more.
	if t.Logf("styles are computed %.1f times for a key, layouts %.1f times", styles, layouts); styles > 11 || layouts > 7 {
		t.Errorf("styles are computed %.1f times for a key, layouts %.1f times; want at most 11 and 7", styles, layouts)
	}
}

// tell logs the measurements, and fails if their median is over a bound.
func (f flow) tell(what string, most float64) {
	f.Helper()
	type change struct{ InPage, Painted float64 }
	all := browsertest.Value[[]change](f.T, f.ctx, `window.changes`)
	at := func(part float64, of func(change) float64) float64 {
		list := make([]float64, len(all))
		for i, c := range all {
			list[i] = of(c)
		}
		slices.Sort(list)
		return list[min(int(part*float64(len(list))), len(list)-1)]
	}
	inPage, painted := func(c change) float64 { return c.InPage }, func(c change) float64 { return c.Painted }
	f.Logf("%s: in the page after %.0f ms (median), %.0f ms (99%%); painted after %.0f and %.0f ms; %d changes", what, at(0.5, inPage), at(0.99, inPage), at(0.5, painted), at(0.99, painted), len(all))
	if at(0.5, painted) > most {
		f.Errorf("%s takes %.0f ms", what, at(0.5, painted))
	}
	f.do(`window.changes = []`)
}

// A real library: it opens, filters immediately, and opened definitions are laid out.
func TestFlowCorpus(t *testing.T) {
	browsertest.Require(t)
	t.Parallel()
	dir := t.TempDir()
	for name, text := range realLibrary(t) {
		servertest.WriteFile(t, filepath.Join(dir, name), text)
	}
	servertest.WriteFile(t, filepath.Join(dir, "protocol.387396.map"), corpora.Own().Text(t, "tera/toolbox/protocol.387396.map"))
	srv := serve(t, serverOf(t, servertest.OpenWorkspace(t, dir, nil)))
	f := flow{t, browsertest.Open(t, srv.URL+"/p/one/definitions", openSelector)}
	listed := func() int { // the rows in view say how many there are
		return browsertest.Value[int](t, f.ctx, `[...document.querySelectorAll("#rail-list section:not([hidden]) .items")].map(e => Number(e.firstElementChild.ariaSetSize)).reduce((a, b) => a + b, 0)`)
	}
	all := listed()
	took := browsertest.Value[float64](t, f.ctx, `(() => {
		const box = document.querySelector("#filter"), from = performance.now()
		box.value = "party"
		box.dispatchEvent(new Event("input", {bubbles: true}))
		document.body.offsetHeight
		return performance.now() - from
	})()`)
	shown := listed()
	t.Logf("%d names; narrowed to %d in %.0f ms", all, shown, took)
	if all < 800 || shown == 0 || shown > all/5 || took > 8000 {
		t.Errorf("%d names, narrowed to %d in %.0f ms", all, shown, took)
	}
	f.do(`{ const box = document.querySelector("#filter"); box.value = ""; box.dispatchEvent(new Event("input", {bubbles: true})) }`)
	for i := range 40 {
		f.do(fmt.Sprintf(`{ const part = document.querySelector(".rail-scroll"); part.scrollTop = %d / 40 * (part.scrollHeight - part.clientHeight) }`, i))
		browsertest.Run(t, f.ctx, browsertest.Painted())
		name := browsertest.Value[string](t, f.ctx, `(() => {
			const part = document.querySelector(".rail-scroll").getBoundingClientRect()
			const link = [...document.querySelectorAll("#rail-list section .item > a:first-child")].find(a => a.getBoundingClientRect().top > part.top)
			link.click()
			return link.closest(".item").dataset.name
		})()`)
		f.shows("#definition-head", name)
		f.is(name+" is laid out", `document.querySelector("#layout-rows tr") !== null`)
	}
}
