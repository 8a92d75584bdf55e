package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"wirebench/defs/benchtest"
	"wirebench/defs/tooltest"
)

// listed is a job that lists the frames of a capture with the frames command.
func listed(b *testing.B, library, file string, args ...string) func() {
	return func() {
		var errs bytes.Buffer
		if status := run(context.Background(), append([]string{"frames", "--library", library, file}, args...), nil, io.Discard, &errs); status != exitOK {
			b.Fatal(errs.String())
		}
	}
}

// moves calls f for the messages in a capture of smallMessages, like a program written for this file alone: it reads nothing but their
// positions.
func moves(file []byte, f func(micros uint64, packet int, msg []byte)) {
	const headers = 14 + 20 + 20 // Ethernet, IPv4, TCP
	for packet := 0; len(file) >= 12; {
		size := binary.LittleEndian.Uint32(file[4:])
		if binary.LittleEndian.Uint32(file) == 6 { // an enhanced packet block
			packet++
			n := binary.LittleEndian.Uint32(file[20:])
			data := file[28:][:n]
			at := uint64(binary.LittleEndian.Uint32(file[12:]))<<32 | uint64(binary.LittleEndian.Uint32(file[16:]))
			for rest := data[min(headers, len(data)):]; len(rest) >= 4; {
				k := binary.LittleEndian.Uint16(rest)
				if k != 32 || int(k) > len(rest) {
					break
				}
				f(at, packet, rest[:k])
				rest = rest[k:]
			}
		}
		file = file[size:]
	}
}

// floatOf returns the float in the first four bytes.
func floatOf(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) }

// BenchmarkMustList compares lists of frames with hand-written programs for this one message: with encoding/json, which takes 1.0 µs per frame,
// and with strconv, 0.07 µs. The limits correspond to 1.5 µs with values and 0.38 µs per line of text:
// 0.3 is the aim, which the place of each frame among those of other connections, and looking for better settings, have exceeded by a tenth.
func BenchmarkMustList(b *testing.B) {
	const n = 200_000
	library, name := smallMessages(b, n)
	file, err := os.ReadFile(name)
	if err != nil {
		b.Fatal(err)
	}
	type frame struct {
		N       int      `json:"n"`
		Time    string   `json:"time"`
		Conn    string   `json:"conn"`
		Dir     string   `json:"dir"`
		Kind    string   `json:"kind"`
		From    []int    `json:"from"`
		Code    uint16   `json:"code"`
		Message string   `json:"message"`
		Version int      `json:"version"`
		Status  string   `json:"status"`
		Hex     string   `json:"hex"`
		Value   handMove `json:"value"`
	}
	structs := func() {
		enc := json.NewEncoder(io.Discard)
		x := frame{Conn: "10.0.0.2:4000-10.0.0.1:7801", Dir: "s2c", Kind: "message", Message: "S_MOVE", Version: 1, Status: "ok", From: []int{0}}
		count := 0
		moves(file, func(micros uint64, packet int, msg []byte) {
			count++
			x.N, x.From[0], x.Code = count, packet, binary.LittleEndian.Uint16(msg[2:])
			x.Time = time.UnixMicro(int64(micros)).UTC().Format("2006-01-02T15:04:05.000000Z")
			x.Hex = hex.EncodeToString(msg)
			x.Value.read(msg)
			if err := enc.Encode(&x); err != nil {
				b.Fatal(err)
			}
		})
		if count != n {
			b.Fatalf("%d of %d messages", count, n)
		}
	}
	lines := func() {
		var line []byte
		count := 0
		moves(file, func(micros uint64, packet int, msg []byte) {
			count++
			line = strconv.AppendInt(line[:0], int64(count), 10)
			line = append(line, ' ')
			line = time.UnixMicro(int64(micros)).UTC().AppendFormat(line, "15:04:05.000000")
			line = append(line, " <- s2c S_MOVE "...)
			line = strconv.AppendInt(line, int64(len(msg)), 10)
			line = append(line, '\n')
			_, _ = io.Discard.Write(line)
		})
		if count != n {
			b.Fatalf("%d of %d messages", count, n)
		}
	}
	for _, c := range []struct {
		name string
		args []string
		base func()
		most float64
	}{
		{"json with values", []string{"--json", "--value"}, structs, 1.5},
		{"text", nil, lines, 5.5},
		{"json", []string{"--json"}, lines, 5.5},
	} {
		b.Run(c.name, func(b *testing.B) {
			took := benchtest.Least(max(b.N, 7), benchtest.Job{Name: "command", Run: listed(b, library, name, c.args...)}, benchtest.Job{Name: "by hand", Run: c.base})
			benchtest.Must(b, n, took[0], took[1], c.most)
		})
	}
}

// BenchmarkMustCheckAgainst compares judging all messages of a capture with decoding them for a filter that none passes. Judging may take twice as
// long. (Without reading the capture, judging a message takes up to five times as long as decoding it: see BenchmarkJudge of codec/corpus.)
func BenchmarkMustCheckAgainst(b *testing.B) {
	const n = 200_000
	library, name := smallMessages(b, n)
	check := func() {
		var errs bytes.Buffer
		if status := run(context.Background(), []string{"check", "--against", name, library}, nil, io.Discard, &errs); status != exitOK {
			b.Fatal(status, errs.String())
		}
	}
	took := benchtest.Least(max(b.N, 7), benchtest.Job{Name: "check", Run: check}, benchtest.Job{Name: "decode", Run: listed(b, library, name, "--filter", "S_MOVE.hp == -77")})
	benchtest.Must(b, n, took[0], took[1], 2)
}

// BenchmarkMustTshark lists messages with all values. tshark, with the emitted dissector of the same definitions, must take at least forty times
// as long.
func BenchmarkMustTshark(b *testing.B) {
	tshark := tooltest.Path(b, "tshark")
	const n = 20_000
	library, name := smallMessages(b, n)
	var script, errs bytes.Buffer
	if status := run(context.Background(), []string{"emit", "--library", library, "--target", "lua", "--name", "tera"}, nil, &script, &errs); status != exitOK {
		b.Fatal(errs.String())
	}
	home := b.TempDir()
	lua := filepath.Join(home, "tera.lua")
	if err := os.WriteFile(lua, script.Bytes(), 0o600); err != nil {
		b.Fatal(err)
	}
	var other time.Duration
	for range 2 {
		cmd := exec.Command(tshark, "-r", name, "-X", "lua_script:"+lua, "-o", "tera.tcp_ports:7801", "-T", "ek")
		cmd.Env = append(os.Environ(), "HOME="+home, "WIRESHARK_CONFIG_DIR="+home)
		if out, err := cmd.Output(); err != nil || bytes.Count(out, []byte("S_MOVE")) < n/4 {
			b.Fatalf("tshark: %v, %d bytes: %.2000s", err, len(out), out)
		}
		if took := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(); other == 0 || took < other {
			other = took
		}
	}
	took := benchtest.Least(max(b.N, 5), benchtest.Job{Name: "command", Run: listed(b, library, name, "--json", "--value")})
	benchtest.Must(b, n, took[0], other, 1.0/40)
}
