package flows

import (
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"

	"wirebench/server/relay"
	"wirebench/server/servertest"
	"wirebench/web/browsertest"
)

var liveFor = flag.Duration("livefor", 10*time.Second, "how long TestFlowLiveSpeed watches")

// floodGame is a game whose client sends messages at a fixed rate, and whose server does not answer.
type floodGame struct {
	rate  int
	sent  atomic.Int64
	got   atomic.Int64 // bytes
	bytes atomic.Int64
	over  chan struct{} // closed when the client is to send no more
	quiet chan struct{} // closed when it has sent the last one, and stays connected
	ended chan struct{} // closed when it does not
}

func (g *floodGame) start(context.Context, string) (*relay.Game, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = io.Copy(io.Discard, &gotBytes{c, &g.got})
			c.Close()
		}
	}()
	return &relay.Game{Server: l.Addr().String(), Play: g.play, Close: func() { l.Close(); <-done }}, nil
}

// gotBytes counts received bytes.
type gotBytes struct {
	io.Reader
	n *atomic.Int64
}

func (c *gotBytes) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n.Add(int64(n))
	return n, err
}

func (g *floodGame) play(ctx context.Context, addr string) {
	defer close(g.ended)
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return
	}
	defer c.Close()
	const beat = 10 * time.Millisecond
	tick := time.NewTicker(beat)
	defer tick.Stop()
	var out []byte
	for begun := time.Now(); ; {
		select {
		case <-ctx.Done():
			return
		case <-g.over:
			close(g.quiet)
			<-ctx.Done() // the connection stays open
			return
		case <-tick.C:
		}
		due := int64(time.Since(begun).Seconds() * float64(g.rate)) // catches up after a pause
		out = out[:0]
		n := g.sent.Load()
		for ; n < due && len(out) < 1<<20; n++ {
			word := fmt.Sprintf("word %d of many", n)
			out = append(binary.LittleEndian.AppendUint16(append(out, 1), uint16(len(word))), word...)
		}
		if _, err := c.Write(out); err != nil {
			return
		}
		g.sent.Store(n)
		g.bytes.Add(int64(len(out)))
	}
}

// busy returns the seconds for which the thread of the page has been busy.
func (f flow) busy() float64 {
	f.Helper()
	var seconds float64
	browsertest.Run(f.T, f.ctx, chromedp.ActionFunc(func(ctx context.Context) error {
		all, err := performance.GetMetrics().Do(ctx)
		for _, m := range all {
			if m.Name == "TaskDuration" {
				seconds = m.Value
			}
		}
		return err
	}))
	return seconds
}

// TestFlowLiveSpeed watches 5,000 frames a second: the list follows, is filtered and paused meanwhile, and no frame is lost. It logs how
// busy the thread of the page is, and fails only if it is always busy, as the machine may have other load.
func TestFlowLiveSpeed(t *testing.T) {
	browsertest.Require(t)
	if testing.Short() {
		t.Skip("thousands of frames a second, with -short")
	}
	g := &floodGame{rate: 5000, over: make(chan struct{}), quiet: make(chan struct{}), ended: make(chan struct{})}
	s := demoServer(t, g.start)
	srv := serve(t, s)
	f := captureFlow{flow{t, browsertest.Open(t, srv.URL+"/p/one/live", ".card")}, s}
	f.page().Click("button", "Watch the demo game…")
	browsertest.Arrive(t, f.ctx, "html.live #live-bar")
	browsertest.Arrive(t, f.ctx, ".frame .fc-name")
	browsertest.Run(t, f.ctx, performance.Enable())
	f.do(`{
		window.tasks = []
		new PerformanceObserver(list => { for (const e of list.getEntries()) window.tasks.push(e.duration) }).observe({type: "longtask"})
		window.behind = []
		setInterval(() => {
			const number = text => Number(text?.replaceAll(/[^0-9]/g, "") ?? 0)
			const rows = [...document.querySelectorAll(".frame:not(.coming) .fc-n")].map(e => number(e.textContent))
			window.behind.push(number(document.querySelector(".frames-line .counts").textContent.split("·")[0]) - Math.max(0, ...rows))
		}, 100)
	}`)
	from, begun, begunAt := f.busy(), g.sent.Load(), time.Now()
	part := func(what string, do func(), lasts time.Duration) {
		t.Helper()
		f.do(`window.tasks = []; window.behind = []`)
		busy, at, sent := f.busy(), time.Now(), g.sent.Load()
		do()
		if rest := lasts - time.Since(at); rest > 0 {
			browsertest.Run(t, f.ctx, chromedp.Sleep(rest))
		}
		took := time.Since(at).Seconds()
		longest := browsertest.Value[float64](t, f.ctx, `Math.max(0, ...window.tasks)`)
		behind := browsertest.Value[float64](t, f.ctx, `[...window.behind].sort((a, b) => a - b)[Math.floor(window.behind.length / 2)] ?? 0`)
		t.Logf("%-20s %5.1f s, %5.0f frames/s: thread busy %4.1f %%, longest task %3.0f ms; the last row is %4.0f frames behind (median)", what, took, float64(g.sent.Load()-sent)/took, 100*(f.busy()-busy)/took, longest, behind)
		if what == "following" && behind > 5000 {
			t.Errorf("the list does not follow: %.0f frames behind", behind)
		}
	}
	share := *liveFor / 10
	part("following", func() {}, 4*share)
	follows := func() {
		t.Helper()
		at := time.Now()
		f.is("it follows", `window.behind.at(-1) < 5000`)
		t.Logf("it follows after %v", time.Since(at).Round(time.Millisecond))
	}
	part("a filter by a field", func() {
		f.filter(`.text contains "7"`)
		f.shows(".frames-line .counts", "shown")
		follows()
	}, 2*share)
	part("no filter", func() {
		f.filter("")
		f.is("all", `!document.querySelector(".frames-line .counts").textContent.includes("shown")`)
		follows()
	}, share)
	part("types beside it", func() { f.tool("Types"); f.shows(".frames-types", "say") }, share)
	f.tool("Types")
	part("paused", func() {
		f.focus(".frames-scroll")
		f.press("p")
		f.shows("#live-pause", "Resume")
		f.is("the rows up to then are there", `document.querySelector(".frame.coming") === null`)
		browsertest.Run(t, f.ctx, chromedp.Sleep(500*time.Millisecond)) // frames on their way when it was paused have been drawn by then
		at := browsertest.Value[string](t, f.ctx, `document.querySelector(".frame:last-child .fc-n").textContent`)
		browsertest.Run(t, f.ctx, chromedp.Sleep(share))
		f.is("it stands still", `document.querySelector(".frame:last-child .fc-n").textContent === `+jsText(at))
	}, share)
	part("going on", func() { f.press("p"); f.shows("#live-pause", "Pause view") }, 2*share)
	took := time.Since(begunAt).Seconds()
	busy := (f.busy() - from) / took
	t.Logf("all: %.0f frames/s for %.0f s, thread busy %.1f %%", float64(g.sent.Load()-begun)/took, took, 100*busy)
	if busy > 0.9 {
		t.Errorf("the page's thread is busy for %.0f %% of the time", 100*busy)
	}

	// All sent frames are there.
	close(g.over)
	select { // it may have been sending
	case <-g.quiet:
	case <-g.ended:
	}
	for end := time.Now().Add(30 * time.Second); g.got.Load() != g.bytes.Load(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d bytes of %d arrived", g.got.Load(), g.bytes.Load())
		}
	}
	var all struct{ Proxies []relay.Info }
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) { // until all have been observed
		if code := servertest.Request(t, s, "GET", "/api/one/proxies", nil, &all); code != 200 || len(all.Proxies) != 1 {
			t.Fatalf("%d %+v", code, all)
		}
		if int64(all.Proxies[0].Frames) == g.sent.Load() || time.Now().After(end) {
			break
		}
	}
	if p := all.Proxies[0]; int64(p.Frames) != g.sent.Load() || p.Lost != 0 || p.Unseen != 0 || p.Unlogged != 0 || p.Base != 0 {
		t.Fatalf("%d frames of %d; lost %d bytes, %d connections, %d frames, base %d", p.Frames, g.sent.Load(), p.Lost, p.Unseen, p.Unlogged, p.Base)
	}
	number := browsertest.Value[string](t, f.ctx, fmt.Sprintf(`new Intl.NumberFormat("en").format(%d)`, g.sent.Load()))
	f.counts(number + " frames")
}
