package demo

import (
	"context"
	"errors"
	"net"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"wirebench/defs/schema"
)

// diary records the messages that both ends report.
type diary struct {
	mu   sync.Mutex
	sent [2][]string
	got  [2][]string
	seen map[string]int
}

func (d *diary) note(e Event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if e.Got {
		d.got[index(e.Dir)] = append(d.got[index(e.Dir)], string(e.Message))
		return
	}
	d.sent[index(e.Dir)] = append(d.sent[index(e.Dir)], string(e.Message))
	if d.seen == nil {
		d.seen = map[string]int{}
	}
	d.seen[e.Name]++
}

func (d *diary) count(name string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.seen[name]
}

// distinct returns how many different messages were sent.
func (d *diary) distinct() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := map[string]bool{}
	for _, m := range slices.Concat(d.sent[0], d.sent[1]) {
		all[m] = true
	}
	return len(all)
}

// wants are messages that every game eventually sends.
var wants = map[string][]string{
	"tera":     {"C_CHECK_VERSION", "S_LOGIN", "C_PLAYER_LOCATION", "S_CHAT", "S_SPAWN_NPC", "S_DESPAWN_NPC", "S_EXPERIENCE", "S_INVENTORY", "C_PONG", "S_WEATHER", "C_MOVE_ITEM"},
	"muta":     {"login", "login_result", "heroes", "create_hero", "say", "ping", "pong"},
	"c":        {"enter", "water", "pick", "talk", "welcome", "garden", "weather", "chatter"},
	"protodef": {"hello", "trade", "steer", "say", "ping", "pong", "ship", "harbor"},
	"kaitai":   {"logbook", "place"},
	"protobuf": {"Ship", "Day", "Crate"},
	"mavlink":  {"BEAT", "PLACE", "SONAR", "SAY", "TASK_LONG", "TASK_DONE"},
	"subspace": {"c2s_login", "c2s_position", "s2c_weapon", "s2c_settings", "s2c_file", "c2s_die", "s2c_kill", "s2c_chat", "s2c_score_update", "s2c_ship_change", "c2s_green"},
}

func await(t *testing.T, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !f(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("timeout: %s", what)
		}
	}
}

// Both ends get what the other one has sent, and what they say is not always the same.
func TestGames(t *testing.T) {
	for _, protocol := range Protocols() {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			var d diary
			g, err := Start(t.Context(), Options{Protocol: protocol, Rate: 500, Seed: 1, Seen: d.note})
			if err != nil {
				t.Fatal(err)
			}
			defer g.Close()
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- g.Client(ctx, g.Addr) }()
			await(t, strings.Join(wants[protocol], " "), func() bool {
				return len(ended) > 0 || d.distinct() > 30 && !slices.ContainsFunc(wants[protocol], func(name string) bool { return d.count(name) == 0 })
			})
			stop()
			if err := <-ended; err != nil {
				t.Fatal(err)
			}
			g.Close() // no more events
			for i := range 2 {
				if g.Network == "udp" { // unreliable datagrams may overtake reliable ones
					slices.Sort(d.sent[i])
					slices.Sort(d.got[i])
				}
				if lost := len(d.sent[i]) - len(d.got[i]); protocol == "mavlink" && lost < 100 { // datagrams on their way when an end closes are lost: nothing acknowledges them
					came := map[string]int{}
					for _, m := range d.got[i] {
						came[m]++
					}
					d.sent[i] = slices.DeleteFunc(d.sent[i], func(m string) bool { came[m]--; return came[m] < 0 })
				}
				if len(d.sent[i]) == 0 || !slices.Equal(d.sent[i], d.got[i]) {
					t.Errorf("direction %d: %d messages were sent, %d came, or others", i, len(d.sent[i]), len(d.got[i]))
				}
			}
			t.Log(d.seen)
		})
	}
}

// The end of a server is ErrEnded, a missing server an error, and no goroutine is left.
func TestEnds(t *testing.T) {
	before := runtime.NumGoroutine()
	for _, protocol := range Protocols() {
		var d diary
		g, err := Start(t.Context(), Options{Protocol: protocol, Rate: 100, Seen: d.note})
		if err != nil {
			t.Fatal(err)
		}
		other, err := Start(t.Context(), Options{Protocol: protocol, Rate: 100})
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- other.Client(t.Context(), g.Addr) }() // a client of one game at the server of another
		await(t, "a message", func() bool {
			d.mu.Lock()
			defer d.mu.Unlock()
			return len(d.got[index(schema.ToServer)]) > 0
		})
		g.Close()
		if err := <-ended; !errors.Is(err, ErrEnded) {
			t.Errorf("%s: %v, want ErrEnded", protocol, err)
		}
		if err := other.Client(t.Context(), g.Addr); err == nil {
			t.Errorf("%s: no error without a server", protocol)
		}
		other.Close()
		if err := other.Client(t.Context(), g.Addr); err != nil {
			t.Errorf("%s: after Close: %v", protocol, err)
		}
	}
	await(t, "goroutines end", func() bool { return runtime.NumGoroutine() <= before })
}

// Both ends play MUTA's group with its own port.
func TestWorld(t *testing.T) {
	var d diary
	g, err := Start(t.Context(), Options{Protocol: "muta", Group: "world", Rate: 500, Seen: d.note})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- g.Client(ctx, g.Addr) }()
	await(t, "moves in both directions, and weather", func() bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		return len(ended) > 0 || len(d.got[0]) > 20 && len(d.got[1]) > 20 && d.seen["weather"] > 2 && d.seen["moved"] > 40
	})
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	g.Close()
	for i := range 2 {
		if !slices.Equal(d.sent[i], d.got[i]) {
			t.Errorf("direction %d: %d messages were sent, %d came, or others", i, len(d.sent[i]), len(d.got[i]))
		}
	}
}

func TestRefused(t *testing.T) {
	for _, o := range []Options{
		{Protocol: "chess"},
		{Protocol: "muta", Group: "clmsg"},
		{Protocol: "tera", Group: "world"},
		{Protocol: "tera", Rate: 0.01},
		{Protocol: "tera", Rate: 1e9},
		{Protocol: "tera", Listen: "0.0.0.0:0"},
		{Protocol: "tera", Listen: "192.0.2.1:0"},
		{Protocol: "tera", Listen: "localhost:0"},
	} {
		if g, err := Start(t.Context(), o); err == nil {
			g.Close()
			t.Errorf("%+v is accepted", o)
		}
	}
}

// Invalid data ends only its own connection.
func TestNonsense(t *testing.T) {
	for _, protocol := range Protocols() {
		g, err := Start(t.Context(), Options{Protocol: protocol, Rate: 100})
		if err != nil {
			t.Fatal(err)
		}
		for _, nonsense := range []string{"\x00", "\x00\x01", "\x00\x01\x00\x00\x00\x80\x01\x00", "\x00\x03", "\x00\x0e\xff\x01", strings.Repeat("\xff\x00", 700), strings.Repeat("\x00\x0e\x02", 100)} {
			conn, err := net.Dial(g.Network, g.Addr)
			if err != nil {
				t.Fatal(err)
			}
			for range 3 {
				_, _ = conn.Write([]byte(nonsense))
			}
			if g.Network == "udp" {
				defer conn.Close() // a client that got its port would continue its session
			} else {
				conn.Close()
			}
		}
		ctx, stop := context.WithTimeout(t.Context(), 200*time.Millisecond)
		if err := g.Client(ctx, g.Addr); err != nil {
			t.Errorf("%s: %v", protocol, err)
		}
		stop()
		g.Close()
	}
}
