package codec_test

import (
	"bytes"
	"reflect"
	"testing"

	"wirebench/codec"
	"wirebench/codec/value"
)

// Every example matches its decoding, the values of the valid ones encode to the same bytes, and equal seeds give equal examples.
func TestExamplesAreWhatTheySay(t *testing.T) {
	illegal := 0
	for _, p := range fuzzPrograms() {
		list := value.Examples(p, 8, 1, 7)
		if !reflect.DeepEqual(list, value.Examples(p, 8, 1, 7)) {
			t.Errorf("%s: equal seeds give other examples", p.Message.Name)
		}
		count := map[codec.Status]int{}
		var rec, in, out codec.Record
		for _, e := range list {
			count[e.Status]++
			if p.Decode(&rec, e.Data); rec.Status() != e.Status {
				t.Errorf("%s %x: it is %v, not %v", p.Message.Name, e.Data, rec.Status(), e.Status)
			}
			if e.Status != codec.OK {
				continue
			}
			if err := value.ParseJSON(&in, p, e.Value); err != nil {
				t.Errorf("%s: %v", p.Message.Name, err)
				continue
			}
			in.Code = 7
			if p.Message.HasKey {
				in.Code = p.Message.Key.Code
			}
			if err := p.Encode(&out, &in); err != nil || !bytes.Equal(out.Data, e.Data[:e.Used]) {
				t.Errorf("%s %x: written as %x, %v", p.Message.Name, e.Data, out.Data, err)
			}
		}
		if count[codec.OK] < 2 {
			t.Errorf("%s: %v", p.Message, count)
		}
		illegal += count[codec.Illegal]
	}
	if illegal < 10 {
		t.Errorf("%d examples are illegal", illegal)
	}
}
