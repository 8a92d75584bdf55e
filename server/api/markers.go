package api

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/codec"
	"wirebench/codec/transport"
	"wirebench/codec/view"
	"wirebench/defs/schema"
	"wirebench/server/frames"
	"wirebench/server/live"
	"wirebench/server/store"
	"wirebench/server/workspace"
)

// Limits of the search around a marker.
const (
	markerWindow   = 3 * time.Second // the marked frames come shortly before or after the marker
	maxMarkerLooks = 1 << 20         // frames compared
	maxRelated     = 50
)

type addMarkerInput struct {
	CapturePath
	Body struct {
		Text  string     `json:"text" maxLength:"300" doc:"what happens: \"open inventory\", \"max HP = 48211\""`
		Value *string    `json:"value,omitempty" maxLength:"100" doc:"value on screen; default: the part of text after its last ="`
		N     *uint64    `json:"n,omitempty" minimum:"1" doc:"number of the first frame after it; default without id: the next one to arrive"`
		ID    *frameName `json:"id,omitempty" doc:"the first frame after it, by identity"`
		At    *time.Time `json:"at,omitempty" doc:"time of a marker to restore; default: now"`
	}
}

type markerOutput struct {
	Status int
	Body   store.Marker
}

// addMarker adds a marker to a capture, in running traffic at this moment.
func (s *API) addMarker(ctx context.Context, in *addMarkerInput) (*markerOutput, error) {
	ws, err := s.withCaptures(in.Workspace)
	if err != nil {
		return nil, err
	}
	b := &in.Body
	m := store.Marker{At: time.Now().UTC(), Text: strings.TrimSpace(b.Text), Value: valueIn(b.Text)}
	if b.At != nil {
		m.At = b.At.UTC()
	}
	if b.Value != nil {
		m.Value = strings.TrimSpace(*b.Value)
	}
	x, err := ws.Captures.Get(in.ID)
	if err != nil {
		return nil, captureProblem(err)
	}
	first, named := markerFrame(b.N, b.ID)
	if !named {
		if !s.Captures.Runs(ws.Name, in.ID) && !s.Collects(ws.Name, in.ID) {
			return nil, huma.Error422UnprocessableEntity("the traffic of this capture has ended: name the frame after the marker")
		}
		open, err := s.Captures.Follow(ws.Workspace, ws.For(x), x)
		if err != nil {
			return nil, captureProblem(err)
		}
		first = store.FrameName{N: uint64(open.Log().Len() + 1), ByNumber: true}
	}
	s.Captures.Name(ctx, ws.Workspace, ws.For(x), x, []*store.FrameName{&first})
	m.N, m.ID = first.N, first.ID
	_, err = ws.Captures.Edit(in.ID, func(x *store.Capture) error {
		for markerAt(x.Notes.Markers, m.At) >= 0 {
			if b.At != nil {
				return huma.Error409Conflict("a marker with this time exists already")
			}
			m.At = m.At.Add(1) // the clock has not advanced since
		}
		x.Notes.Markers = append(x.Notes.Markers, m)
		return nil
	})
	if err != nil {
		return nil, markerProblem(err)
	}
	return &markerOutput{http.StatusCreated, m}, nil
}

// markerFrame returns the frame after a marker that a request names.
func markerFrame(n *uint64, id *frameName) (f store.FrameName, named bool) {
	switch {
	case id != nil:
		return id.FrameName, true
	case n != nil:
		return store.FrameName{N: *n, ByNumber: true}, true
	}
	return f, false
}

type relatedInput struct {
	CapturePath
	N     frameName `query:"n" required:"true" doc:"frame of the marker, by number or identity"`
	Value string    `query:"value" maxLength:"100" doc:"value to look for; default: the value of the marker"`
}

type relatedOutput struct {
	Body struct {
		Types  []RelatedType  `json:"types" doc:"messages more frequent near the marker than elsewhere, the most significant first"`
		Fields []RelatedField `json:"fields" doc:"fields that have the value near the marker and rarely elsewhere, the most significant first"`
		Value  string         `json:"value,omitempty"`
	}
}

// RelatedType is a message type that is frequent near a marker.
type RelatedType struct {
	Type   string  `json:"type" doc:"filter for this type"`
	Name   string  `json:"name"`
	Here   int     `json:"here" doc:"frames within seconds of the marker"`
	All    int     `json:"all"`
	Factor float64 `json:"factor" doc:"ratio to the frequency elsewhere; 0 if there is none elsewhere"`
}

// RelatedField is a field, or bytes of a message without a definition, with the value of a marker.
type RelatedField struct {
	Type  string `json:"type"`
	Name  string `json:"name"`
	Path  string `json:"path" doc:"of the field, or the offset and interpretation of the bytes"`
	Here  int    `json:"here" doc:"frames near the marker with the value"`
	Else  int    `json:"else" doc:"frames elsewhere with the value"`
	First int    `json:"first" doc:"number of the first frame near the marker"`

	Filter string `json:"filter" doc:"for the frames with the value"`
}

// related ranks the messages and fields related to a marker.
func (s *API) related(ctx context.Context, in *relatedInput) (*relatedOutput, error) {
	ws, x, err := s.captureAt(in.CapturePath)
	if err != nil {
		return nil, err
	}
	o, err := s.Captures.Use(ws.Workspace, ws.Snapshot, x)
	if err != nil {
		return nil, captureProblem(err)
	}
	defer s.Captures.LetGo(o)
	if _, err := o.Wait(ctx); err != nil {
		return nil, err
	}
	value := in.Value
	notes, n := o.Numbered(x.Notes), in.N.N
	if !in.N.ByNumber {
		n = o.Number(in.N.ID)
	}
	for _, m := range notes.Markers {
		if (m.N == n && n > 0 || in.N.ID == m.ID && !in.N.ByNumber) && value == "" {
			value, n = m.Value, m.N
		}
	}
	out := &relatedOutput{}
	out.Body.Value = value
	v := frames.NewView(o.Log(), ws.Snapshot, frames.ViewSpec{}, notes)
	v.Advance(ctx, time.Second)
	r := relation{v: v, at: markerTime(o.Log(), n), value: value, m: frames.RowMaker{Snap: ws.Snapshot}}
	if err := r.count(ctx); err != nil {
		return nil, err
	}
	out.Body.Types, out.Body.Fields = r.rankTypes(), r.rankFields()
	return out, nil
}

// markerTime returns the time of the frame after a marker, or of the last one before it.
func markerTime(log *live.Log, n uint64) int64 {
	i := min(int(min(n, math.MaxInt32))-1, log.Len()-1)
	e, _, ok := log.Get(max(i, log.Base()))
	if !ok {
		return 0
	}
	return e.At
}

// relation collects the messages and fields related to a moment.
type relation struct {
	v     *frames.View
	at    int64
	value string
	m     frames.RowMaker

	types  map[string]*RelatedType
	span   int64 // of all frames, in nanoseconds
	fields map[[2]string]*RelatedField
}

// count counts types near the moment and elsewhere, and the places of the value near it, then the same places elsewhere.
func (r *relation) count(ctx context.Context) error {
	r.types, r.fields = map[string]*RelatedType{}, map[[2]string]*RelatedField{}
	log := r.v.Log
	var f transport.Frame
	first, last, looked := int64(0), int64(0), 0
	each := func(do func(i int, e live.Entry, near bool)) error {
		looked = 0
		return r.v.Each(ctx, log.Base(), false, func(_, i int, e live.Entry, data []byte) bool {
			if looked++; e.Kind != transport.Message {
				return looked < maxMarkerLooks
			}
			log.Frame(i, e, data, &f)
			do(i, e, e.At >= r.at-int64(markerWindow) && e.At <= r.at+int64(markerWindow))
			return looked < maxMarkerLooks
		})
	}
	err := each(func(i int, e live.Entry, near bool) {
		if first == 0 {
			first = e.At
		}
		last = e.At
		msg := r.v.Snapshot.FrameMessage(&f)
		kind := r.m.TypeOf(msg, &f)
		t := r.types[kind]
		if t == nil {
			if len(r.types) >= frames.MaxTypes {
				return
			}
			t = &RelatedType{Type: kind, Name: nameOfType(msg, &f)}
			r.types[kind] = t
		}
		if t.All++; near {
			t.Here++
			r.places(i, &f, msg, t, true)
		}
	})
	if err != nil || r.value == "" || len(r.fields) == 0 {
		r.span = last - first
		return err
	}
	r.span = last - first
	return each(func(i int, _ live.Entry, near bool) {
		if near {
			return
		}
		msg := r.v.Snapshot.FrameMessage(&f)
		if t := r.types[r.m.TypeOf(msg, &f)]; t != nil && t.Here > 0 {
			r.places(i, &f, msg, t, false)
		}
	})
}

func nameOfType(msg *schema.Message, f *transport.Frame) string {
	switch {
	case msg != nil:
		return msg.Name
	case f.HasKey:
		return fmt.Sprintf("0x%04X", f.Key.Code)
	}
	return ""
}

// places finds the value in a frame. near adds new places; otherwise only known ones are counted.
func (r *relation) places(i int, f *transport.Frame, msg *schema.Message, t *RelatedType, near bool) {
	if r.value == "" {
		return
	}
	seen := map[string]bool{}
	add := func(path, place, value string) {
		if seen[path] {
			return
		}
		seen[path] = true
		key := [2]string{t.Type, path}
		p := r.fields[key]
		switch {
		case p == nil && near && len(r.fields) < 10_000:
			r.fields[key] = &RelatedField{Type: t.Type, Name: t.Name, Path: path, Here: 1, First: i + 1, Filter: r.filter(t.Type, place, value)}
		case p == nil:
		case near:
			p.Here++
		default:
			p.Else++
		}
	}
	decoded := r.m.Decode(f) != nil
	if rec := r.m.Shown(); rec != nil && len(f.Bytes) <= workspace.MaxDescribe {
		for _, v := range view.Fields(rec) {
			if v.Role == codec.RoleValue.String() && sameValue(string(v.Value), r.value) {
				path := view.Indexless(v.Path)
				add(path, "*."+strings.ReplaceAll(path, "[]", ""), string(v.Value))
			}
		}
	}
	if decoded {
		return
	}
	number, err := strconv.ParseUint(r.value, 0, 64)
	if err != nil {
		return
	}
	for off := 0; off+2 <= min(len(f.Bytes), 512); off++ {
		v := uint64(f.Bytes[off]) | uint64(f.Bytes[off+1])<<8
		if v == number && number > 0xff {
			add(fmt.Sprintf("bytes[%d:2] as u16", off), fmt.Sprintf("u16le(bytes[%d:2])", off), strconv.FormatUint(number, 10))
		}
		if off+4 <= len(f.Bytes) && number > 0xffff {
			if v |= uint64(f.Bytes[off+2])<<16 | uint64(f.Bytes[off+3])<<24; v == number {
				add(fmt.Sprintf("bytes[%d:4] as u32", off), fmt.Sprintf("u32le(bytes[%d:4])", off), strconv.FormatUint(number, 10))
			}
		}
	}
}

// filter returns a filter for the frames of a type with a value at a place, or for the type alone if no filter can express that.
func (r *relation) filter(kind, place, value string) string {
	literals := []string{value, strconv.Quote(value)}
	if text := ""; json.Unmarshal([]byte(value), &text) == nil { // a text, or a number that JSON cannot represent
		literals = []string{strconv.Quote(text), text}
	}
	for _, literal := range literals {
		text := fmt.Sprintf("%s && %s == %s", kind, place, literal)
		if _, mistakes := r.v.Snapshot.Filter(text); len(mistakes) == 0 {
			return text
		}
	}
	return kind
}

// sameValue reports whether a JSON value equals the text that a user entered.
func sameValue(value, typed string) bool {
	value = strings.Trim(value, `"`)
	if value == typed {
		return true
	}
	a, e1 := strconv.ParseFloat(value, 64)
	b, e2 := strconv.ParseFloat(typed, 64)
	return e1 == nil && e2 == nil && (a == b || math.Abs(a-b) < 0.005*math.Abs(b) && a != math.Trunc(a))
}

// rankTypes returns the types that are more frequent near the moment than elsewhere.
func (r *relation) rankTypes() []RelatedType {
	out := []RelatedType{}
	near := min(2*float64(markerWindow), float64(max(r.span, 1)))
	elsewhere := max(float64(r.span)-near, 1)
	for _, t := range r.types {
		if t.Here == 0 {
			continue
		}
		if rest := t.All - t.Here; rest > 0 {
			t.Factor = math.Round(10*float64(t.Here)/near*elsewhere/float64(rest)) / 10
			if t.Factor <= 1 {
				continue
			}
		}
		out = append(out, *t)
	}
	slices.SortFunc(out, func(a, b RelatedType) int {
		x, y := a.Factor, b.Factor
		if x == 0 {
			x = math.MaxFloat64
		}
		if y == 0 {
			y = math.MaxFloat64
		}
		return cmp.Or(cmp.Compare(y, x), cmp.Compare(b.Here, a.Here), cmp.Compare(a.Type, b.Type))
	})
	return out[:min(len(out), maxRelated)]
}

func (r *relation) rankFields() []RelatedField {
	out := []RelatedField{}
	for _, p := range r.fields {
		out = append(out, *p)
	}
	slices.SortFunc(out, func(a, b RelatedField) int {
		x, y := float64(a.Here)/float64(1+a.Else), float64(b.Here)/float64(1+b.Else)
		return cmp.Or(cmp.Compare(y, x), cmp.Compare(a.First, b.First), cmp.Compare(a.Path, b.Path))
	})
	return out[:min(len(out), maxRelated)]
}
