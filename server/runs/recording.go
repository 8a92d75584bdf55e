package runs

import (
	"net"
	"net/netip"
	"sync"
	"time"

	"wirebench/codec/packet"
	"wirebench/codec/pcap"
	"wirebench/codec/transport"
	"wirebench/defs/schema"
	"wirebench/server/replay"
	"wirebench/server/store"
)

// maxRecordedBytes bounds the recording of a run, in bytes sent and received.
const maxRecordedBytes = 256 << 20

// recorded is a link whose traffic is stored as a capture. An error of the recording ends it, and not the run.
type recorded struct {
	replay.Link
	own schema.Dir // of what this side sends

	mu   sync.Mutex
	to   *pcap.Synthetic // nil: it has ended
	file *store.Recording
	left int // bytes
}

// recordingOf returns the link with its recording in a new capture, and the id of that.
func recordingOf(link replay.Link, own schema.Dir, streams bool, like store.Capture, port uint16, into *store.Captures) (replay.Link, string, error) {
	x, file, err := into.Record(like, time.Now())
	if err != nil {
		return link, "", err
	}
	r := &recorded{Link: link, own: own, file: file, left: maxRecordedBytes}
	about := transport.Conn{Proto: transport.UDP, Server: netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), port)}
	if streams {
		about.Proto = transport.TCP
	}
	if c, ok := link.(net.Conn); ok {
		local, remote := addressOf(c.LocalAddr()), addressOf(c.RemoteAddr())
		if about.Client, about.Server = local, remote; own == schema.ToClient {
			about.Client, about.Server = remote, local
		}
	}
	w, err := pcap.NewWriter(file, "Wirebench")
	if err == nil {
		var iface int
		if iface, err = w.Interface(pcap.Interface{Link: packet.LinkEthernet}); err == nil {
			r.to = pcap.NewSynthetic(w, iface, about)
			if streams {
				err = r.to.Open(time.Now())
			}
		}
	}
	if err != nil {
		file.Close()
		_ = into.Remove(x.ID)
		return link, "", err
	}
	return r, x.ID, nil
}

func addressOf(a net.Addr) netip.AddrPort {
	at, _ := netip.ParseAddrPort(a.String())
	return netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
}

func (r *recorded) Read(p []byte) (int, error) {
	n, err := r.Link.Read(p)
	r.record(schema.ToServer+schema.ToClient-r.own, p[:n])
	return n, err
}

func (r *recorded) Write(p []byte) (int, error) {
	r.record(r.own, p) // first: the answer may be read before Write returns
	return r.Link.Write(p)
}

func (r *recorded) record(dir schema.Dir, data []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.to == nil || len(data) == 0 {
		return
	}
	if r.left -= len(data); r.left < 0 || r.to.Data(dir, time.Now(), data, "") != nil {
		r.to = nil
	}
}

// Close closes the link, and then the recording.
func (r *recorded) Close() error {
	err := r.Link.Close()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file != nil {
		r.to = nil
		_ = r.file.Close()
		r.file = nil
	}
	return err
}
