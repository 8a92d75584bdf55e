package captures

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"wirebench/codec/capture"
	"wirebench/codec/transport"
	"wirebench/codec/transport/protocols"
	"wirebench/codec/transport/stream"
	"wirebench/defs/envelope"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/server/live"
	"wirebench/server/settings"
	"wirebench/server/store"
	"wirebench/server/workspace"
)

// Bounds of looking for proposals.
const (
	buildFrames  = 20_000          // searched for the build of the client
	sealedFrames = 200_000         // searched for frames that are encrypted
	groupBytes   = 2 << 20         // read for each group
	groupFrames  = 5_000           // of each group
	groupTime    = 1 * time.Second // for all groups
	maxTried     = 16              // groups
	fewest       = 3               // messages that are evidence for a group
)

// Proposal is a better way to read a capture, with its evidence.
type Proposal struct {
	ID       string            `json:"id" doc:"the same for the same proposal; to dismiss it"`
	Kind     string            `json:"kind" enum:"settings,keys,map,open,envelope,size" doc:"settings: apply them; envelope: store the one of the capture for the project; size: add it to the envelope of the project; keys: the capture needs keys; map: the library lacks a code map; open: open the capture in another project"`
	Text     string            `json:"text" doc:"what to do"`
	Evidence string            `json:"evidence" doc:"why"`
	Settings settings.Settings `json:"settings,omitzero" ts:"Record<string, unknown>" doc:"for settings: to be merged into those of the capture"`
	Project  string            `json:"project,omitempty" doc:"for open: name of the other project"`
	Size     *CodeSize         `json:"size,omitempty" doc:"for size"`
}

// CodeSize is the size of the messages of a code.
type CodeSize struct {
	Dir  string `json:"dir" enum:"c2s,s2c"`
	Code uint64 `json:"code"`
	Size int    `json:"size" minimum:"1" doc:"bytes"`
}

// AddTo returns the text of an envelope with the size. ok is false if it has no table of codes for it, or a size of the code.
func (s *CodeSize) AddTo(f *source.File) (text string, ok bool) {
	way := 0
	if s.Dir == schema.ToClient.String() {
		way = 1
	}
	return envelope.AddSize(f, way, s.Code, s.Size)
}

// Propose returns proposals for the settings of a capture, from the evidence in its frames. other are projects with the same protocol, which may
// have the code map that this one lacks.
func Propose(ctx context.Context, ws *workspace.Workspace, x store.Capture, o *Capture, other []*workspace.Workspace) []Proposal {
	snap := ws.For(x)
	protocol, ok := snap.Protocol()
	if !ok {
		return nil
	}
	var out []Proposal
	if p, ok := proposeMap(ws, snap, protocol, o.log, other); ok {
		out = append(out, p)
	}
	if p, ok := proposeGroups(ctx, ws, snap, protocol, x, o); ok {
		out = append(out, p)
	}
	out = append(out, proposeBetter(ctx, snap, o.log, out)...)
	if p, ok := proposeEnvelope(snap, x); ok {
		out = append(out, p)
	}
	out = append(out, proposeSizes(snap, o.log)...)
	if p, ok := proposeKeys(protocol, x, o.log); ok {
		out = append(out, p)
	}
	return out
}

// proposeMap proposes the code map of the build that the client names, and the version of the game that goes with it.
func proposeMap(ws *workspace.Workspace, snap *workspace.Snapshot, protocol protocols.Protocol, log *live.Log, other []*workspace.Workspace) (p Proposal, ok bool) {
	codes := snap.Dialect.Codes
	if protocol.Build == nil || codes == nil {
		return p, false
	}
	build, n := "", 0
	var f transport.Frame
	log.Each(log.Base(), min(log.Len(), log.Base()+buildFrames), func(i int, e live.Entry, data []byte) bool {
		log.PlainFrame(i, e, data, &f)
		build, ok = protocol.Build(&f)
		n = i + 1
		return !ok
	})
	if !ok {
		return p, false
	}
	p.Evidence = fmt.Sprintf("the version check of the client, frame %d, names build %s", n, build)
	found := mapOf(snap, build)
	if found == nil {
		if used := codes.Build(snap.CodeMap); snap.CodeMap != "" && used == "" { // its name does not tell the build: it may be the right one
			return p, false
		}
		for _, w := range other {
			if at := mapOf(w.Now(), build); at != nil {
				p.Kind, p.Project, p.ID = "open", w.Name, "open:"+w.Name
				p.Text = fmt.Sprintf("open it in %s, which has %s", w.Title(), path.Base(at.Name))
				return p, true
			}
		}
		p.Kind, p.ID, p.Text = "map", "map:"+build, "add "+codes.NameOf(build)+" to the library"
		return p, true
	}
	var do []string
	if snap.CodeMap != found.Name {
		p.Settings.Map, do = found.Name, append(do, found.Name)
	}
	goes := ws.MapOptions(found)
	for _, name := range slices.Sorted(maps.Keys(goes)) {
		if snap.Options.Values[name] != goes[name] {
			p.Settings.Set(name, goes[name])
			do = append(do, name+" "+goes[name])
		}
	}
	if len(do) == 0 {
		return p, false
	}
	if len(goes) == 0 && codes.Versions != "" { // the map is right all the same
		p.Evidence += ", of a game version that neither the map nor " + codes.Versions + " tells"
	}
	p.Kind, p.Text = "settings", "use "+strings.Join(do, ", ")
	p.ID = "use:" + strings.Join(do, ",")
	return p, true
}

// proposeBetter proposes the values of options with which the definitions explain more, other than those of had.
func proposeBetter(ctx context.Context, snap *workspace.Snapshot, log *live.Log, had []Proposal) (out []Proposal) {
	trial, read := workspace.NewTrial(snap), workspace.NewReading(snap)
	var f transport.Frame
	log.Each(log.Base(), log.Len(), func(i int, e live.Entry, data []byte) bool {
		log.PlainFrame(i, e, data, &f)
		read.Take(&f)
		return trial.Take(read)
	})
	for _, b := range trial.Better(ctx) {
		if slices.ContainsFunc(had, func(p Proposal) bool { return p.Settings.Options[b.Option] != "" }) {
			continue // with better evidence
		}
		p := Proposal{ID: "use:" + b.Option + " " + b.Value, Kind: "settings", Text: "use " + b.Option + " " + b.Value, Evidence: b.Why}
		p.Settings.Set(b.Option, b.Value)
		out = append(out, p)
	}
	return out
}

// proposeEnvelope proposes the envelope of a capture for a project that has none.
func proposeEnvelope(snap *workspace.Snapshot, x store.Capture) (p Proposal, ok bool) {
	if x.Settings.Envelope == "" || !snap.HasEnvelopes() || len(snap.Library.Envelopes) > 0 {
		return p, false
	}
	p = Proposal{ID: "envelope", Kind: "envelope", Text: "use for the project", Evidence: "this capture has its own envelope"}
	if why := Evidence(x); why != "" {
		p.Evidence = "envelope found in this capture: " + why
	}
	return p, true
}

// maxSizes bounds the sizes that are proposed at a time.
const maxSizes = 3

// proposeSizes proposes sizes that were learnt of codes without one in the envelope of the project, those with most evidence first.
func proposeSizes(snap *workspace.Snapshot, log *live.Log) (out []Proposal) {
	file := snap.EnvelopeFile
	if snap.Envelope == nil || snap.EnvelopeNamed(file.Name) == nil {
		return nil
	}
	type key struct {
		dir  schema.Dir
		code uint64
	}
	best := map[key]stream.Learnt{}
	log.Each(log.Base(), log.Len(), func(_ int, e live.Entry, _ []byte) bool {
		if e.Flags&live.Noted == 0 {
			return true
		}
		if l, ok := stream.LearntFrom(log.Extra(e).Note); ok {
			if k := (key{e.Dir, l.Code}); l.Agreed >= best[k].Agreed {
				best[k] = l
			}
		}
		return true
	})
	keys := slices.SortedFunc(maps.Keys(best), func(a, b key) int {
		return cmp.Or(cmp.Compare(best[b].Agreed, best[a].Agreed), cmp.Compare(a.code, b.code), cmp.Compare(a.dir, b.dir))
	})
	for _, k := range keys {
		l := best[k]
		size := CodeSize{Dir: k.dir.String(), Code: l.Code, Size: l.Size}
		if _, ok := size.AddTo(file); !ok || len(out) == maxSizes {
			continue
		}
		line := fmt.Sprintf("%d = %d", l.Code, l.Size)
		out = append(out, Proposal{
			ID: "size:" + size.Dir + " " + line, Kind: "size", Text: "write " + line + " into " + file.Name, Size: &size,
			Evidence: l.Evidence + ", and the envelope has no size of it",
		})
	}
	return out
}

// mapOf returns the code map of a build, nil if the library has none.
func mapOf(snap *workspace.Snapshot, build string) *source.File {
	if snap.Dialect.Codes == nil {
		return nil
	}
	for _, f := range snap.Library.Maps {
		if snap.Dialect.Codes.Build(f.Name) == build {
			return f
		}
	}
	return nil
}

// proposeKeys proposes to give keys for connections whose handshake is not in the capture.
func proposeKeys(protocol protocols.Protocol, x store.Capture, log *live.Log) (p Proposal, ok bool) {
	if protocol.Key == nil && !protocol.Streams { // TLS may encrypt any stream
		return p, false
	}
	conns, sealed, all, ofTLS := map[uint32]bool{}, 0, 0, 0
	log.Each(log.Base(), min(log.Len(), log.Base()+sealedFrames), func(_ int, e live.Entry, _ []byte) bool {
		if all++; e.Kind == transport.Opaque {
			sealed++
			conns[e.Conn] = true
			if log.Via(e, "tls") {
				ofTLS++
			}
		}
		return true
	})
	if sealed == 0 {
		return p, false
	}
	p = Proposal{ID: "keys", Kind: "keys", Text: "give the keys"}
	p.Evidence = fmt.Sprintf("no handshake seen: %s of %s are encrypted, in %s", numbered(sealed, "frame"), numbered(all, "frame"), numbered(len(conns), "connection"))
	if ofTLS == sealed {
		p.Text = "give the TLS key log"
		p.Evidence = fmt.Sprintf("no keys for TLS: %s of %s are encrypted, in %s", numbered(sealed, "frame"), numbered(all, "frame"), numbered(len(conns), "connection"))
	}
	if x.Keys != "" {
		p.ID, p.Text = "other-keys", "give other keys"
		p.Evidence = fmt.Sprintf("the keys given do not fit %s of %s", numbered(sealed, "frame"), numbered(all, "frame"))
	}
	return p, true
}

func numbered(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// way is the direction of the messages to or from the port of a server.
type way struct {
	port uint16
	dir  schema.Dir
}

// tally counts the messages that a group decodes in the bytes of one way.
type tally struct {
	messages, frames int
	explained, bytes int64
}

// fits reports whether a group explains a way of some bytes. The last message may be cut off, and some may be damaged.
func (t tally) fits(bytes int64) bool {
	return t.messages >= fewest && t.frames-t.messages <= 1+t.frames/50 && t.explained*10 >= bytes*9
}

// proposeGroups proposes the groups of messages that decode each direction, where frame boundaries depend on them.
func proposeGroups(ctx context.Context, ws *workspace.Workspace, snap *workspace.Snapshot, protocol protocols.Protocol, x store.Capture, o *Capture) (p Proposal, ok bool) {
	groups := slices.DeleteFunc(snap.Groups(), func(g string) bool { return g == "" })
	if len(snap.Dialect.Frames) > 0 || len(groups) < 2 || len(groups) > maxTried || o.running {
		return p, false
	}
	ctx, stop := context.WithTimeout(ctx, groupTime)
	defer stop()
	now, err := tryRules(ctx, ws, snap, protocol, x, snap.Traffic.Rules)
	if err != nil || len(now) == 0 {
		return p, false
	}
	wrong := false
	for _, t := range now {
		wrong = wrong || !t.fits(t.bytes)
	}
	if !wrong {
		return p, false
	}
	tried, bytes := map[string]map[way]tally{}, map[way]int64{}
	for _, g := range groups {
		if tried[g], err = tryRules(ctx, ws, snap, protocol, x, []protocols.Rule{{Group: g}}); err != nil {
			return p, false // out of time
		}
		for w, t := range tried[g] {
			bytes[w] = max(bytes[w], t.bytes)
		}
	}
	best, name := map[way]tally{}, map[way]string{}
	for _, g := range groups {
		for w, t := range tried[g] {
			if t.fits(bytes[w]) && t.explained > best[w].explained {
				best[w], name[w] = t, g
			}
		}
	}
	if len(best) == 0 {
		return p, false
	}
	var messages, before, of int
	same := map[schema.Dir]string{} // the group of a direction, if it is the same at all ports
	for w, t := range now {
		g := name[w]
		if g == "" {
			if !t.fits(t.bytes) && t.frames >= fewest {
				return p, false // no group explains this direction
			}
			if g = snap.Env().Group(w.port, w.dir); g == "" {
				continue
			}
		} else {
			messages, before, of = messages+best[w].messages, before+t.messages, of+t.frames
		}
		name[w] = g
		if had, ok := same[w.dir]; ok && had != g {
			same[w.dir] = "" // depends on the port
		} else if !ok {
			same[w.dir] = g
		}
	}
	var rules []string
	for w, g := range name {
		rule := w.dir.String() + "=" + g
		if same[w.dir] == "" {
			rule = fmt.Sprintf("%d/%s", w.port, rule)
		}
		if !slices.Contains(rules, rule) {
			rules = append(rules, rule)
		}
	}
	slices.Sort(rules)
	if slices.Equal(rules, written(snap.Traffic.Rules)) {
		return p, false
	}
	p = Proposal{ID: "groups:" + strings.Join(rules, ","), Kind: "settings", Text: "use the groups " + strings.Join(rules, ", ")}
	p.Settings.Groups = rules
	p.Evidence = fmt.Sprintf("they decode %d of %d frames; the present ones %d of %d", messages, messages, before, of)
	return p, true
}

// written returns rules as text, sorted.
func written(rules []protocols.Rule) (out []string) {
	for _, r := range rules {
		text := r.Group
		if r.Dir != schema.Both {
			text = r.Dir.String() + "=" + text
		}
		if r.Port > 0 {
			text = fmt.Sprintf("%d/%s", r.Port, text)
		}
		out = append(out, text)
	}
	slices.Sort(out)
	return out
}

// tryRules reads the first part of a capture by rules.
func tryRules(ctx context.Context, ws *workspace.Workspace, snap *workspace.Snapshot, protocol protocols.Protocol, x store.Capture, rules []protocols.Rule) (map[way]tally, error) {
	file, err := ws.Captures.Open(x.ID)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	env := EnvOf(snap, x)
	env.Rules = rules
	how := readingWith(env, snap, protocol, x, nil)
	how.Recorded, how.Limit = nil, groupFrames
	out := map[way]tally{}
	_, _, _ = capture.ReadAny(io.LimitReader(Until(ctx, file), groupBytes), how, func(f *transport.Frame) {
		if f.Dir == schema.Both || f.Kind != transport.Message && f.Kind != transport.Problem {
			return
		}
		w := way{f.Conn.Server.Port(), f.Dir}
		t := out[w]
		t.frames++
		t.bytes += int64(len(f.Bytes))
		if f.Kind == transport.Message {
			t.messages++
			t.explained += int64(len(f.Bytes))
		}
		out[w] = t
	})
	return out, ctx.Err() // any other error is about the place where reading stopped
}
