package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf16"

	"wirebench/codec"
	"wirebench/codec/value"
	"wirebench/defs/benchtest"
	"wirebench/server/workspace"
)

// The types of a hand-written program for the messages of BenchmarkMustDecode.
type (
	handResult struct {
		Message  string `json:"message"`
		Version  int    `json:"version"`
		Code     uint16 `json:"code"`
		Status   string `json:"status"`
		Used     int    `json:"used"`
		Value    any    `json:"value"`
		Problems []int  `json:"problems"`
	}
	handMove struct {
		GameID uint64    `json:"gameId,string"`
		Loc    handPoint `json:"loc"`
		HP     int32     `json:"hp"`
		Speed  uint32    `json:"speed"`
	}
	handPoint struct {
		X float32 `json:"x"`
		Y float32 `json:"y"`
		Z float32 `json:"z"`
	}
	handMany struct {
		Members []handMember `json:"members"`
		Name    string       `json:"name"`
	}
	handMember struct {
		ID    uint64  `json:"id,string"`
		HP    float32 `json:"hp"`
		Level int32   `json:"level"`
		Class uint32  `json:"cls"`
		Alive bool    `json:"alive"`
	}
)

func (m *handMove) read(b []byte) {
	m.GameID, m.Loc = binary.LittleEndian.Uint64(b[4:]), handPoint{floatOf(b[12:]), floatOf(b[16:]), floatOf(b[20:])}
	m.HP, m.Speed = int32(binary.LittleEndian.Uint32(b[24:])), binary.LittleEndian.Uint32(b[28:])
}

func (m *handMany) read(b []byte) {
	m.Members = m.Members[:0]
	at := binary.LittleEndian.Uint16(b[6:])
	for range binary.LittleEndian.Uint16(b[4:]) {
		e := b[at:][:25]
		m.Members = append(m.Members, handMember{
			binary.LittleEndian.Uint64(e[4:]), floatOf(e[12:]), int32(binary.LittleEndian.Uint32(e[16:])), binary.LittleEndian.Uint32(e[20:]), e[24] != 0,
		})
		at = binary.LittleEndian.Uint16(e[2:])
	}
	var units []uint16
	for s := b[binary.LittleEndian.Uint16(b[8:]):]; s[0]|s[1] != 0; s = s[2:] {
		units = append(units, binary.LittleEndian.Uint16(s))
	}
	m.Name = string(utf16.Decode(units))
}

// BenchmarkMustDecode decodes a file of hex lines with the decode command, a message of 32 bytes and one of 420 bytes with 16 structs, and compares
// it with a hand-written program that uses encoding/json. The limits correspond to 1 µs and 4 µs per message.
func BenchmarkMustDecode(b *testing.B) {
	library, _ := smallMessages(b, 1)
	if err := os.WriteFile(filepath.Join(library, "S_MANY.1.def"), []byte("array members\n- uint64 id\n- float hp\n- int32 level\n- uint32 cls\n- bool alive\nstring name\n"), 0o644); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(library, "protocol.1.map"), []byte("S_MOVE 20001\nS_MANY 20002\n"), 0o644); err != nil {
		b.Fatal(err)
	}
	lib, err := workspace.ReadFS(os.DirFS(library))
	if err != nil {
		b.Fatal(err)
	}
	snap, err := workspace.Build(lib, workspace.Settings{})
	if err != nil {
		b.Fatal(err)
	}
	members := []any{}
	for i := range 16 {
		members = append(members, map[string]any{"id": "9000000000001", "hp": 0.5 + float64(i), "level": 60 + i, "cls": i, "alive": i%2 == 0})
	}
	for _, c := range []struct {
		name, message string
		value         any
		hand          interface{ read([]byte) }
		most          float64
	}{
		{"small", "S_MOVE", map[string]any{"gameId": "77", "hp": 100}, &handMove{}, 2},
		{"large", "S_MANY", map[string]any{"members": members, "name": "Lann"}, &handMany{}, 1.35},
	} {
		m, err := snap.Find(c.message)
		if err != nil {
			b.Fatal(err)
		}
		p, err := snap.Program(m)
		if err != nil {
			b.Fatal(err)
		}
		text, _ := json.Marshal(c.value)
		var in, out codec.Record
		if err := value.ParseJSON(&in, p, text); err != nil {
			b.Fatal(err)
		}
		in.Code = m.Key.Code
		if err := p.Encode(&out, &in); err != nil {
			b.Fatal(err)
		}
		data := bytes.Clone(out.Data)
		line := append(hex.AppendEncode(nil, data), '\n')
		const n = 20_000
		lines := bytes.Repeat(line, n)
		command := func() {
			var errs bytes.Buffer
			if status := run(context.Background(), []string{"decode", "--json", "--library", library}, bytes.NewReader(lines), io.Discard, &errs); status != exitOK {
				b.Fatal(errs.String())
			}
		}
		var written bytes.Buffer
		byHand := func() {
			out := json.NewEncoder(&written)
			msg := make([]byte, len(data))
			for rest := lines; len(rest) > 0; rest = rest[len(line):] {
				if _, err := hex.Decode(msg, rest[:2*len(msg)]); err != nil {
					b.Fatal(err)
				}
				c.hand.read(msg)
				written.Reset()
				if err := out.Encode(handResult{c.message, 1, binary.LittleEndian.Uint16(msg[2:]), "ok", len(msg), c.hand, []int{}}); err != nil {
					b.Fatal(err)
				}
			}
		}
		b.Run(c.name, func(b *testing.B) {
			var one, errs bytes.Buffer
			if status := run(context.Background(), []string{"decode", "--json", "--library", library}, bytes.NewReader(line), &one, &errs); status != exitOK {
				b.Fatal(errs.String())
			}
			took := benchtest.Least(max(b.N, 7), benchtest.Job{Name: "command", Run: command}, benchtest.Job{Name: "by hand", Run: byHand})
			if one.String() != written.String() {
				b.Fatalf("the command writes\n%snot\n%s", one.String(), written.String())
			}
			benchtest.Must(b, n, took[0], took[1], c.most)
		})
	}
}
