package protocols

// overMAVLink is the transport of MAVLink messages: an envelope has the forms of their frames, as vehicles use UDP, TCP and serial lines.
var overMAVLink = func() Protocol {
	p := inEnvelope(false)
	p.Dialect, p.Streams, p.Ports = "mavlink", false, []string{"the ground station"}
	return p
}()
