package workspace

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"

	"wirebench/codec"
	"wirebench/server/store"
)

// samplesEnding is the ending of sample files. They are stored beside the definition, so that they are copied with it: the samples of
// C_CHAT.2.def are in C_CHAT.2.samples.jsonl, one JSON object per line.
const samplesEnding = store.SamplesEnding

// Bounds of samples.
const (
	maxSamples     = 200     // per definition
	maxSampleBytes = 1 << 20 // per message
	maxSampleAbout = 500
)

// Sample is a message stored beside its definition.
type Sample struct {
	Message string `json:"message" doc:"NAME.VERSION"`
	Hex     string `json:"hex"`
	About   string `json:"about,omitempty" doc:"description, one sentence"`
	Status  string `json:"status,omitempty" enum:"ok,incomplete,illegal" doc:"of its decoding; a sample that is not ok is broken on purpose, and no definition has to explain it"`
}

// onPurpose begins the description of a sample that is broken on purpose.
const onPurpose = "broken on purpose: "

// Broken reports whether the sample is broken on purpose.
func (s Sample) Broken() bool {
	return s.Status != "" && s.Status != codec.OK.String() || strings.HasPrefix(s.About, onPurpose)
}

// Text returns the description, without that it is broken.
func (s Sample) Text() string { return strings.TrimPrefix(s.About, onPurpose) }

// samplesFile returns the name of the sample file of a definition.
func samplesFile(definition string) string {
	return strings.TrimSuffix(definition, path.Ext(definition)) + samplesEnding
}

// Samples returns the samples of a definition. Invalid lines of the file are skipped.
func (s *Snapshot) Samples(definition string) []Sample {
	return parseSamples(s.Library.samples[samplesFile(definition)])
}

func parseSamples(text string) []Sample {
	var out []Sample
	for line := range strings.Lines(text) {
		var s Sample
		if json.Unmarshal([]byte(line), &s) == nil && s.Message != "" && len(out) < maxSamples {
			out = append(out, s)
		}
	}
	return out
}

// checkSamples logs an invalid line of a sample file.
func (w *Workspace) checkSamples(f store.File) {
	n := 0
	for line := range bytes.Lines(f.Text) {
		n++
		var s Sample
		err := json.Unmarshal(line, &s)
		if err == nil && s.Message == "" {
			err = errors.New("missing message name")
		}
		if err != nil && len(bytes.TrimSpace(line)) > 0 {
			w.Log.Error("invalid line in a sample file", "file", pathOf(w.Files, f.Name), "line", n, "error", err)
			return // one line per file is enough
		}
	}
}

// SampleError reports why a sample was not stored or not removed.
type SampleError struct {
	Reason string
	There  bool // the sample exists already
	Gone   bool // the sample does not exist
}

func (e *SampleError) Error() string { return e.Reason }

func badSample(format string, args ...any) error {
	return &SampleError{Reason: fmt.Sprintf(format, args...)}
}

// AddSample stores a message beside its definition.
func (w *Workspace) AddSample(definition string, s Sample) error {
	data, err := hex.DecodeString(s.Hex)
	switch {
	case err != nil || len(data) == 0 || len(data) > maxSampleBytes:
		return badSample("a sample is a message in hex of 1 to %d bytes", maxSampleBytes)
	case len(s.About) > maxSampleAbout:
		return badSample("the description of a sample has at most %d bytes", maxSampleAbout)
	case w.Now().File(definition) == nil:
		return badSample("%s is not stored yet: save it first", definition)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	list := w.Now().Samples(definition)
	for _, old := range list {
		if old.Message == s.Message && old.Hex == s.Hex {
			reason := "this message is already a sample"
			if old.About != "" {
				reason += ": " + old.About
			}
			return &SampleError{Reason: reason, There: true}
		}
	}
	if len(list) >= maxSamples {
		return badSample("a definition has at most %d samples", maxSamples)
	}
	line, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if err := w.Files.Append(samplesFile(definition), append(line, '\n')); err != nil {
		return err
	}
	return w.reload(false)
}

// DropSample removes the sample with the same message and bytes.
func (w *Workspace) DropSample(definition string, s Sample) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	name := samplesFile(definition)
	gone := &SampleError{Reason: "no such sample of " + definition, Gone: true}
	f, err := w.Files.Read(name)
	if notThere(err) {
		return gone
	}
	if err != nil {
		return err
	}
	var kept []byte
	found := false
	for line := range bytes.Lines(f.Text) {
		var old Sample
		if !found && json.Unmarshal(line, &old) == nil && old.Message == s.Message && old.Hex == s.Hex {
			found = true
			continue
		}
		kept = append(kept, line...) // keep lines that we cannot read
	}
	if !found {
		return gone
	}
	if len(bytes.TrimSpace(kept)) == 0 {
		err = w.Files.Remove(name, &f.Revision)
	} else {
		_, err = w.Files.Write(name, kept, &f.Revision)
	}
	if err != nil {
		return err
	}
	return w.reload(false)
}

// SampledFiles returns the definitions with samples, in the order of the library.
func (s *Snapshot) SampledFiles() []string {
	var out []string
	for _, f := range s.Library.Files {
		if _, ok := s.Library.samples[samplesFile(f.Name)]; ok {
			out = append(out, f.Name)
		}
	}
	return out
}

var _ Files = (*store.Dir)(nil)
