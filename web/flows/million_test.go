package flows

import (
	"testing"
	"time"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"wirebench/defs/benchtest"
	"wirebench/server/servertest"
	"wirebench/web/browsertest"
)

// countTasks counts from now on how long the thread of the page was blocked at a time: tasks of 50 ms and more are reported by the browser,
// shorter ones show as late messages.
const countTasks = `{
	window.tasks = []
	new PerformanceObserver(list => { for (const e of list.getEntries()) window.tasks.push(e.duration) }).observe({type: "longtask"})
	const channel = new MessageChannel()
	let last = performance.now()
	window.late = 0
	channel.port1.onmessage = () => {
		const now = performance.now()
		window.late = Math.max(window.late, now - last)
		last = now
		setTimeout(() => { last = performance.now(); channel.port2.postMessage(0) }, 0)
	}
	channel.port2.postMessage(0)
}`

// awaited makes an evaluation wait for its promise.
func awaited(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }

// TestFlowMillion performs typical actions on a million frames, and logs how long the thread of the page was blocked at a time. It fails
// only if the page hangs: the machine may have other load, so times are logged, not judged.
func TestFlowMillion(t *testing.T) {
	browsertest.Require(t)
	if testing.Short() {
		t.Skip("a million frames, with -short")
	}
	if benchtest.Raced {
		t.Skip("what is measured with the race detector says nothing: .ci/run runs it without")
	}
	const n, gross = 1_000_000, 8000 // gross: milliseconds of one task
	s := captureServer(t, "tera", servertest.MillionFiles)
	x := servertest.Keep(t, s, "million.pcapng", servertest.Million(t, n))
	srv := serve(t, s)
	from := time.Now()
	f := flow{t, browsertest.Open(t, srv.URL+"/p/one/definitions", openSelector)}
	browsertest.Run(t, f.ctx, chromedp.Navigate(srv.URL+"/p/one/captures/"+x.ID))
	browsertest.Arrive(t, f.ctx, ".frame .fc-name")
	t.Logf("first rows after %v", time.Since(from).Round(time.Millisecond))
	f.do(countTasks)
	step := func(what string, do func()) {
		t.Helper()
		f.do(`window.tasks = []; window.late = 0`)
		from := time.Now()
		do()
		took := time.Since(from)
		browsertest.Run(t, f.ctx, chromedp.Sleep(120*time.Millisecond)) // so that the browser reports it
		longest := browsertest.Value[float64](t, f.ctx, `Math.max(0, ...window.tasks)`)
		many := browsertest.Value[int](t, f.ctx, `window.tasks.length`)
		late := browsertest.Value[float64](t, f.ctx, `window.late`)
		t.Logf("%-28s %5d ms; longest task %3.0f ms (%d over 50 ms), longest wait %3.0f ms", what, took.Milliseconds(), longest, many, late)
		if longest > gross {
			t.Errorf("%s: the page is taken for %.0f ms", what, longest)
		}
	}
	step("reading to the end", func() { f.shows(".frames-line .counts", "1,000,000 frames") })
	f.is("all is there", `!document.querySelector(".frames-line .counts").textContent.includes("shown") && document.querySelector(".frames-line progress").hidden`)
	const rowsThere = `document.querySelectorAll(".frame").length > 5 && document.querySelector(".frame.coming") === null && [...document.querySelectorAll(".frame .fc-name")].every(e => e.textContent !== "")`
	step("scrolling anywhere", func() {
		browsertest.Run(t, f.ctx, chromedp.Evaluate(`new Promise(done => {
			const box = document.querySelector(".frames-scroll")
			let n = 0
			const step = () => { box.dispatchEvent(new WheelEvent("wheel")); box.scrollTop = box.scrollHeight * ((n * 37) % 100) / 100; n++ < 60 ? requestAnimationFrame(step) : done(true) }
			step()
		})`, nil, awaited))
		f.is("rows", rowsThere)
	})
	step("scrolling by the wheel", func() {
		browsertest.Run(t, f.ctx, chromedp.Evaluate(`new Promise(done => {
			const box = document.querySelector(".frames-scroll")
			let n = 0
			const step = () => { box.dispatchEvent(new WheelEvent("wheel")); box.scrollTop += 120; n++ < 90 ? requestAnimationFrame(step) : done(true) }
			step()
		})`, nil, awaited))
		f.is("rows", rowsThere)
	})
	f.focus(".frames-scroll")
	step("to the end and choosing", func() {
		f.press("End")
		f.shows(".frames-line .chosen", "at 1,000,000")
		f.shows("#definition-head", "C_SAY.1")
	})
	step("a filter by a field", func() {
		f.page().Fill("textbox", "Filter", ".gold > 500000")
		f.press("Enter")
		f.is("all of them", `document.querySelector(".frames-line .counts").textContent.endsWith("333,333 shown") && document.querySelector(".frames-line progress").hidden`)
		f.is("rows", rowsThere)
	})
	step("a filter that few fit", func() {
		f.page().Fill("textbox", "Filter", ".gold == 500001")
		f.press("Enter")
		f.shows(".frames-line .counts", "1 shown")
	})
	step("no filter", func() {
		f.page().Fill("textbox", "Filter", "")
		f.press("Enter")
		f.is("all", `!document.querySelector(".frames-line .counts").textContent.includes("shown")`)
		f.is("rows", rowsThere)
	})
	for _, by := range []string{"len", "name", "info"} {
		step("sorting by "+by, func() {
			f.do(`document.querySelector('.fh[data-column=` + by + `] .fh-text').click()`)
			f.shows(".frames-line .order", "sorted by")
			f.is("it is the order", `document.querySelector('.fh[data-column=`+by+`]').matches(".sorted:not(.pending)")`)
			f.is("rows", rowsThere)
		})
	}
	step("as the frames came", func() {
		f.focus(".frames-scroll")
		f.press("Escape")
		f.is("no order", `document.querySelector(".frames-line .order").textContent === ""`)
		f.is("rows", rowsThere)
	})
	step("types", func() {
		f.do(`[...document.querySelectorAll(".frames-tools .btn")].find(b => b.textContent === "Types").click()`)
		f.shows(".frames-types", "C_SAY")
	})
	step("field table", func() {
		f.do(`[...document.querySelectorAll(".frames-tools .btn")].find(b => b.textContent === "Fields").click()`)
		f.is("rows of the table", `document.querySelectorAll(".ft-row .ft-cell").length > 5`)
	})
	step("timeline", func() {
		f.do(`[...document.querySelectorAll(".frames-tools .btn")].find(b => b.textContent === "Timeline").click()`)
		f.is("a plot", `document.querySelector(".tl-plot canvas") !== null`)
		browsertest.Run(t, f.ctx, chromedp.Sleep(300*time.Millisecond))
	})
	f.do(`[...document.querySelectorAll(".frames-tools .btn")].find(b => b.textContent === "Timeline").click()`)
	f.focus(".frames-scroll")
	f.press("Home")
	f.shows("#definition-head", "C_SAY.1")
	step("an edit of the definition", func() {
		f.caret(2)
		f.types("2")
		f.is("the list says it", `[...document.querySelectorAll(".frame .fc-info")].some(e => e.textContent.includes("gold2"))`)
		f.is("rows", rowsThere)
	})
}
