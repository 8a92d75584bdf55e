package flows

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/cdproto/tracing"
	"github.com/chromedp/chromedp"

	"wirebench/defs/corpora"
	"wirebench/server/servertest"
	"wirebench/web/browsertest"
)

// figures prints how long the page with a large library takes. Times depend on the load of the machine and are never judged:
//
//	go test ./web/flows -run TestFlowFigures -figures -v
var figures = flag.Bool("figures", false, "measure the page with a large library, and print the figures")

// corpusLibrary opens the library of 836 definitions, with one more of 300 lines and two for messages of 64 KB.
func corpusLibrary(t *testing.T) *httptest.Server {
	t.Helper()
	browsertest.Require(t)
	dir := t.TempDir()
	for name, text := range realLibrary(t) {
		servertest.WriteFile(t, filepath.Join(dir, name), text)
	}
	codes := corpora.Own().Text(t, "tera/toolbox/protocol.387396.map")
	servertest.WriteFile(t, filepath.Join(dir, "protocol.387396.map"), codes+"S_LONGEST 65001\nC_BIG 65002\nC_BLOB 65003\n")
	servertest.WriteFile(t, filepath.Join(dir, "S_LONGEST.1.def"), threeHundred())
	servertest.WriteFile(t, filepath.Join(dir, "C_BIG.1.def"), "array members\n- uint32 id\nstring name\nuint16 flags\n")
	servertest.WriteFile(t, filepath.Join(dir, "C_BLOB.1.def"), "bytes content\n")
	srv := serve(t, serverOf(t, servertest.OpenWorkspace(t, dir, nil)))
	return srv
}

// openLongest opens the definition of 300 lines with a message.
func openLongest(t *testing.T, srv *httptest.Server) flow {
	t.Helper()
	f := flow{t, browsertest.Open(t, srv.URL+"/p/one/definitions/S_LONGEST.1", openSelector)}
	f.do(`document.querySelector('#samples button[value="build"]').click()`)
	f.shows("#fields-head", "S_LONGEST")
	f.is("its fields are shown", `document.querySelectorAll("#tree-rows tr").length > 20`)
	return f
}

// traffic counts the bytes of the websockets of a page.
type traffic struct {
	sync.Mutex
	up, down int
	messages []string
}

func (f flow) traffic() *traffic {
	f.Helper()
	x := &traffic{}
	browsertest.Run(f.T, f.ctx, network.Enable())
	chromedp.ListenTarget(f.ctx, func(event any) {
		x.Lock()
		defer x.Unlock()
		switch e := event.(type) {
		case *network.EventWebSocketFrameSent:
			x.up += len(e.Response.PayloadData)
			x.messages = append(x.messages, "> "+e.Response.PayloadData)
		case *network.EventWebSocketFrameReceived:
			x.down += len(e.Response.PayloadData)
			x.messages = append(x.messages, "< "+e.Response.PayloadData)
		}
	})
	return x
}

func (x *traffic) take() (up, down int, messages []string) {
	x.Lock()
	defer x.Unlock()
	up, down, messages = x.up, x.down, x.messages
	x.up, x.down, x.messages = 0, 0, nil
	return up, down, messages
}

// key presses a key in the editor and waits until its answer is painted.
func (f flow) key(key string) {
	f.Helper()
	f.do(`window.keyed = new Promise(done => document.addEventListener("wb:answered", () => requestAnimationFrame(() => setTimeout(done)), {once: true}))`)
	if len(key) > 1 {
		f.press(key)
	} else {
		f.types(key)
	}
	browsertest.Run(f.T, f.ctx, chromedp.Evaluate(`window.keyed`, nil, awaited))
}

// settled waits until nothing more comes over the websockets.
func (f flow) settled() {
	f.Helper()
	browsertest.Run(f.T, f.ctx, chromedp.Evaluate(`new Promise(done => setTimeout(done, 300))`, nil, awaited))
}

// A key in a long definition of a large library sends and receives what changes, and the page has the elements in view.
func TestFlowKeyBytes(t *testing.T) {
	f := openLongest(t, corpusLibrary(t))
	if n := browsertest.Value[int](t, f.ctx, `document.querySelectorAll("*").length`); n > maxElements {
		t.Errorf("%d elements, at most %d were wanted", n, maxElements)
	}
	f.caret(3)
	f.key("a") // the first one: buttons become enabled
	f.settled()
	x := f.traffic()
	for _, typed := range []struct {
		keys   string
		fields int // new ones
	}{
		{"b|c|d|e|f|g|h", 0}, // a name
		{" |#|x|y|z", 0},
		{"End|Enter|u|i|n|t|3|2| |n|e|w|Enter|b|y|t|e| |y|Backspace|z", 2},
	} {
		keys := strings.Split(typed.keys, "|")
		x.take()
		for _, k := range keys {
			if k == "End" {
				f.press(k)
			} else {
				f.key(k)
			}
		}
		f.settled()
		up, down, messages := x.take() // together, since messages of a key may come with those of the next one
		large := 0
		for _, m := range messages {
			if len(m) > 2048 {
				large++
			}
		}
		// A new field moves all after it, in the diagram and in the message: at most 14,000 bytes, a tenth of it on the wire, where they are compressed.
		t.Logf("%q: %d bytes up, %d down in %d messages, %d large ones", keys, up, down, len(messages), large)
		if up+down > 1024*len(keys)+14_000*typed.fields || large > typed.fields {
			t.Errorf("%q: %d bytes up, %d down in %d messages, %d large ones\n%.6000s", keys, up, down, len(messages), large, strings.Join(messages, "\n"))
		}
	}
}

// maxElements bounds the elements of the page, whose lists have those in view.
const maxElements = 2500

// metrics returns the counters of the renderer. Durations are processor time of the main thread, in seconds.
func (f flow) metrics() map[string]float64 {
	f.Helper()
	out := map[string]float64{}
	browsertest.Run(f.T, f.ctx, chromedp.ActionFunc(func(ctx context.Context) error {
		list, err := performance.GetMetrics().Do(ctx)
		for _, m := range list {
			out[m.Name] = m.Value
		}
		return err
	}))
	return out
}

// timedKeys records for each key, in milliseconds, when its answer was inserted and when it was painted.
const timedKeys = `{
	window.keys = []
	window.longtasks = []
	new PerformanceObserver(list => { for (const e of list.getEntries()) window.longtasks.push(e.duration) }).observe({type: "longtask"})
	let since = 0
	for (const type of ["keydown", "measured"]) document.addEventListener(type, () => { since = performance.now() }, true)
	document.addEventListener("wb:answered", () => {
		if (since === 0) return
		const from = since, inPage = performance.now() - from
		since = 0
		requestAnimationFrame(() => {
			const channel = new MessageChannel()
			channel.port1.onmessage = () => window.keys.push({inPage, painted: performance.now() - from})
			channel.port2.postMessage(0)
		})
	})
}`

// percentiles describes measurements in milliseconds.
func percentiles(list []float64) string {
	if len(list) == 0 {
		return "nothing measured"
	}
	slices.Sort(list)
	at := func(p float64) float64 { return list[min(int(p*float64(len(list))), len(list)-1)] }
	return fmt.Sprintf("least %.0f, median %.0f, 99%% %.0f ms", list[0], at(0.5), at(0.99))
}

// keyFigures presses keys and prints what each takes.
func (f flow) keyFigures(what string, keys []string) {
	f.Helper()
	f.settled()
	f.do(`window.keys = []; window.longtasks = []`)
	before := f.metrics()
	for _, k := range keys {
		f.key(k)
	}
	after := f.metrics()
	var inPage, painted []float64
	for _, k := range browsertest.Value[[]struct{ InPage, Painted float64 }](f.T, f.ctx, `window.keys`) {
		inPage, painted = append(inPage, k.InPage), append(painted, k.Painted)
	}
	each := func(name string) float64 { return 1000 * (after[name] - before[name]) / float64(len(keys)) }
	f.Logf("%s: answered: %s; painted: %s", what, percentiles(inPage), percentiles(painted))
	f.Logf("%s: main thread %.1f ms of processor a key: script %.1f, style %.1f, layout %.1f; long tasks %s", what,
		each("TaskDuration"), each("ScriptDuration"), each("RecalcStyleDuration"), each("LayoutDuration"), browsertest.Value[string](f.T, f.ctx, `window.longtasks.map(Math.round).join(" ")`))
}

// event is an event of a trace of the browser.
type event struct {
	Name          string
	Ph            string
	Ts, Dur, Tdur float64
	Pid, Tid      int
	Args          struct {
		Data struct{ Type, FunctionName, URL string }
	}
}

// trace does something and lists the events of the main thread by their own processor time.
func (f flow) trace(do func()) string {
	f.Helper()
	var all []event
	done := make(chan struct{})
	chromedp.ListenTarget(f.ctx, func(ev any) {
		switch e := ev.(type) {
		case *tracing.EventDataCollected:
			for _, v := range e.Value {
				var x event
				_ = json.Unmarshal(v, &x)
				all = append(all, x)
			}
		case *tracing.EventTracingComplete:
			close(done)
		}
	})
	browsertest.Run(f.T, f.ctx, tracing.Start().WithTransferMode("ReportEvents").WithTraceConfig(&tracing.TraceConfig{
		IncludedCategories: []string{"devtools.timeline", "blink", "cc", "toplevel", "v8", "disabled-by-default-devtools.timeline"},
	}))
	do()
	browsertest.Run(f.T, f.ctx, tracing.End())
	<-done
	type thread struct{ pid, tid int }
	inputs, main := map[thread]int{}, thread{}
	for _, e := range all {
		if at := (thread{e.Pid, e.Tid}); e.Name == "EventDispatch" {
			if inputs[at]++; inputs[at] > inputs[main] {
				main = at
			}
		}
	}
	all = slices.DeleteFunc(all, func(e event) bool { return e.Ph != "X" || e.Pid != main.pid || e.Tid != main.tid })
	slices.SortStableFunc(all, func(a, b event) int {
		if a.Ts != b.Ts {
			return int(1000 * (a.Ts - b.Ts))
		}
		return int(1000 * (b.Dur - a.Dur))
	})
	type own struct {
		name  string
		ms    float64
		count int
	}
	byName := map[string]*own{}
	of := func(e event) *own {
		name := strings.Join([]string{e.Name, e.Args.Data.Type, e.Args.Data.FunctionName}, " ")
		if byName[name] == nil {
			byName[name] = &own{name: name}
		}
		return byName[name]
	}
	var stack []event
	for _, e := range all {
		for len(stack) > 0 && stack[len(stack)-1].Ts+stack[len(stack)-1].Dur <= e.Ts {
			stack = stack[:len(stack)-1]
		}
		if len(stack) > 0 {
			of(stack[len(stack)-1]).ms -= e.Tdur / 1000
		}
		o := of(e)
		o.ms += e.Tdur / 1000
		o.count++
		stack = append(stack, e)
	}
	list := []*own{}
	for _, o := range byName {
		list = append(list, o)
	}
	slices.SortFunc(list, func(a, b *own) int { return int(1000 * (b.ms - a.ms)) })
	var b strings.Builder
	for _, o := range list[:min(25, len(list))] {
		fmt.Fprintf(&b, "\n\t%8.1f ms %6d  %s", o.ms, o.count, o.name)
	}
	return b.String()
}

// TestFlowFigures prints the figures of the page with a large library.
func TestFlowFigures(t *testing.T) {
	if !*figures {
		t.Skip("measures, with -figures")
	}
	srv := corpusLibrary(t)
	f := openLongest(t, srv)
	browsertest.Run(t, f.ctx, performance.Enable().WithTimeDomain("threadTicks"))
	f.do(timedKeys)
	t.Logf("%d elements", browsertest.Value[int](t, f.ctx, `document.querySelectorAll("*").length`))
	for _, part := range []string{"#rail-list", "#layout-diagram", "#layout-rows", "#tree-rows", ".hex-host", ".definition-editor", "#values-body", "#definition-head"} {
		t.Logf("\t%s %d", part, browsertest.Value[int](t, f.ctx, fmt.Sprintf(`document.querySelector(%q)?.querySelectorAll("*").length ?? -1`, part)))
	}
	f.caret(3)
	f.keyFigures("a name", strings.Split(strings.Repeat("abcdefghij", 10), ""))
	t.Log(f.trace(func() {
		for _, k := range strings.Split("klmnopqrstklmnopqrst", "") {
			f.key(k)
		}
	}))
	f.press("End")
	f.keyFigures("new lines", strings.Split("Enter|u|i|n|t|3|2| |n|e|w|Enter|i|n|t|1|6| |y", "|"))

	heap := func() float64 {
		browsertest.Run(t, f.ctx, heapprofiler.CollectGarbage())
		return f.metrics()["JSHeapUsedSize"] / 1e6
	}
	edits := func(n int) {
		for i := range n {
			f.key(string(rune('a' + i%26)))
			if i%10 == 9 {
				for range 10 {
					f.key("Backspace")
				}
			}
		}
	}
	edits(100)
	first := heap()
	edits(500) // 1,000 with their removal
	second := heap()
	edits(500)
	t.Logf("heap %.1f MB after 200 edits, %.1f MB after 1,200, %.1f MB after 2,200", first, second, heap())
}

// TestFlowFiguresOfMessages prints how long the page with a large library takes to open, to show a large message and to scroll it.
func TestFlowFiguresOfMessages(t *testing.T) {
	if !*figures {
		t.Skip("measures, with -figures")
	}
	srv := corpusLibrary(t)
	f := flow{t, browsertest.Open(t, srv.URL+"/p/one/definitions/C_BIG.1", openSelector)}
	var opened []float64
	for range 10 {
		f.visit(srv.URL+"/p/one/definitions/C_BIG.1", openSelector)
		f.is("the editor", `document.querySelector(".cm-content") !== null && performance.getEntriesByType("navigation")[0].loadEventEnd > 0`)
		opened = append(opened, browsertest.Value[float64](t, f.ctx, `performance.getEntriesByType("navigation")[0].loadEventEnd`))
	}
	t.Logf("loaded: %s", percentiles(opened))
	f.do(timedKeys)
	for _, c := range []struct{ what, name, hex string }{{"8,100 elements", "C_BIG.1", bigList()}, {"a run of bytes", "C_BLOB.1", bigBlob()}} {
		f.open(c.name)
		f.do(`window.keys = []; window.longtasks = []`)
		for i := range 10 {
			f.do(`document.dispatchEvent(new Event("measured"))`)
			f.paste(c.hex + strings.Repeat("00", i%2))
			f.is("it is painted", fmt.Sprintf(`window.keys.length >= %d`, i+1))
		}
		var painted []float64
		for _, k := range browsertest.Value[[]struct{ InPage, Painted float64 }](t, f.ctx, `window.keys`) {
			painted = append(painted, k.Painted)
		}
		t.Logf("64 KB, %s: painted: %s", c.what, percentiles(painted))
		f.do(`window.longtasks = []`)
		browsertest.Run(t, f.ctx, chromedp.Evaluate(`new Promise(done => {
			const box = document.querySelector(".hex-scroll")
			let n = 0
			const step = () => { box.scrollTop += 700; n++ < 120 ? requestAnimationFrame(step) : setTimeout(() => done(true), 100) }
			step()
		})`, nil, awaited))
		t.Logf("scrolling it: tasks over 50 ms: [%s]", browsertest.Value[string](t, f.ctx, `window.longtasks.map(Math.round).join(" ")`))
	}
}
