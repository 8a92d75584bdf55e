package bus

import (
	"bytes"
	"context"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

const publishTime = 5 * time.Second

// Sink returns a function that publishes lines under a subject, without their line ends, to the JetStream stream that has it: a line for which no stream
// answers is an error. The connection is closed by the second function.
func Sink(o Options, subject string, log *slog.Logger) (put func(line []byte) error, end func(), err error) {
	conn, err := Connect(o, "wirebench "+subject, log)
	if err != nil {
		return nil, nil, err
	}
	js, err := jetstream.New(conn)
	if err != nil {
		conn.Close()
		return nil, nil, err
	}
	return func(line []byte) error {
		ctx, cancel := context.WithTimeout(context.Background(), publishTime)
		defer cancel()
		_, err := js.Publish(ctx, subject, bytes.TrimRight(line, "\n"))
		return err
	}, conn.Close, nil
}
