package pcap

import (
	"encoding/hex"
	"testing"
)

// The last fragment of an IP packet has its bytes only in PDML's list of fragments, and reserved bytes of a header have no field.
func TestPDMLOfAFragment(t *testing.T) {
	var to exported
	readPDML([]byte(`<packet><proto name="geninfo" pos="0"><field name="num" pos="0" show="6" value="6"/><field name="len" show="26"/><field name="caplen" show="26"/></proto>
<proto name="ip" size="20" pos="2"><field name="ip.all" size="20" pos="2" value="4500001800010001400600000a0000010a000002"/>
<field name="ip.fragments" size="12" pos="2" value="ffffffffffffffffffffffff"><field name="ip.fragment" size="8" pos="0" show="5" value="0000000000000000"/>
<field name="ip.fragment" size="4" pos="8" show="6" value="01020304"/></field></proto>
<proto name="tcp" pos="0" size="20"><field name="tcp.payload" size="4" pos="22" value="eeeeeeee"/></proto></packet>`), &to)
	if got := hex.EncodeToString(to.data); got != "00004500001800010001400600000a0000010a00000201020304" {
		t.Error(got)
	}
}
