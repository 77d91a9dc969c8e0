// Clients with TLS: one request after the other on kept connections, or a connection for each, with
// or without the session of the one before.
//
//	load <keep | full | resumed> <port> <connections> <seconds>
//
// Prints one line of JSON: requests, errors, resumed, seconds, p50, p95, p99 (µs per request,
// connection and handshake included).
//
// In Go, whose handshakes cost a client half of what they cost with OpenSSL 3.0: with that the load's
// CPU was full before the server's.
package main

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime/debug"
	"sort"
	"strconv"
	"time"
)

const body = "Hello, world!"

// How long an answer may take at the end.
const patience = 5 * time.Second

type client struct {
	address string
	config  *tls.Config
	buffer  []byte
	end     time.Time

	requests, errors, resumed int
	times                     []time.Duration
}

func (c *client) connect() (*tls.Conn, error) {
	raw, err := net.DialTimeout("tcp", c.address, patience)
	if err != nil {
		return nil, err
	}
	// Who is left without an answer counts as an error.
	if err := raw.SetDeadline(c.end.Add(patience)); err != nil {
		return nil, err
	}
	conn := tls.Client(raw, c.config)
	if err := conn.Handshake(); err != nil {
		raw.Close()
		return nil, err
	}
	return conn, nil
}

// Reads until `isWhole` or the end.
func (c *client) read(conn *tls.Conn, isWhole func(answer []byte) bool) error {
	have := 0
	for {
		got, err := conn.Read(c.buffer[have:])
		have += got
		answer := c.buffer[:have]
		if isWhole != nil && isWhole(answer) {
			return nil
		}
		// The end, said within TLS or not.
		if isWhole == nil && err != nil && bytes.HasSuffix(answer, []byte(body)) {
			return nil
		}
		if err != nil {
			return err
		}
		if have == len(c.buffer) {
			return errors.New("a long answer")
		}
	}
}

func (c *client) count(err error, began time.Time) {
	if err != nil {
		c.errors++
		return
	}
	c.requests++
	c.times = append(c.times, time.Since(began))
}

func (c *client) keep() {
	request := []byte("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
	isWhole := func(answer []byte) bool { return bytes.HasSuffix(answer, []byte(body)) }
	for time.Now().Before(c.end) {
		began := time.Now()
		conn, err := c.connect()
		for err == nil && began.Before(c.end) {
			if _, err = conn.Write(request); err == nil {
				err = c.read(conn, isWhole)
			}
			c.count(err, began)
			began = time.Now()
		}
		if conn != nil {
			conn.NetConn().Close()
		} else {
			c.count(err, began)
		}
	}
}

func (c *client) ask() error {
	conn, err := c.connect()
	if err != nil {
		return err
	}
	// Closed without a goodbye: the server has said its own.
	defer conn.NetConn().Close()
	if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"); err != nil {
		return err
	}
	if err := c.read(conn, nil); err != nil {
		return err
	}
	if conn.ConnectionState().DidResume {
		c.resumed++
	}
	return nil
}

func (c *client) once() {
	for time.Now().Before(c.end) {
		began := time.Now()
		c.count(c.ask(), began)
	}
}

func run(mode, port string, connections int, seconds float64) {
	// Young garbage of a few MiB costs less than its collection.
	debug.SetGCPercent(800)
	start := time.Now()
	end := start.Add(time.Duration(seconds * float64(time.Second)))
	clients := make([]*client, connections)
	done := make(chan *client)
	for i := range clients {
		// Only the server is measured: who it is, is nobody's question; its signature is checked.
		config := &tls.Config{InsecureSkipVerify: true, ServerName: "localhost", CurvePreferences: []tls.CurveID{tls.X25519}}
		if mode == "resumed" {
			config.ClientSessionCache = tls.NewLRUClientSessionCache(1)
		}
		c := &client{address: "127.0.0.1:" + port, config: config, buffer: make([]byte, 16*1024), end: end}
		clients[i] = c
		go func() {
			if mode == "keep" {
				c.keep()
			} else {
				c.once()
			}
			done <- c
		}()
	}
	requests, failed, resumed := 0, 0, 0
	var times []time.Duration
	for range clients {
		c := <-done
		requests += c.requests
		failed += c.errors
		resumed += c.resumed
		times = append(times, c.times...)
	}
	taken := time.Since(start).Seconds()
	sort.Slice(times, func(a, b int) bool { return times[a] < times[b] })
	percentile := func(share float64) int64 {
		if len(times) == 0 {
			return 0
		}
		return times[int(float64(len(times)-1)*share)].Microseconds()
	}
	fmt.Printf("{\"requests\":%d,\"errors\":%d,\"resumed\":%d,\"seconds\":%.3f,\"p50\":%d,\"p95\":%d,\"p99\":%d}\n",
		requests, failed, resumed, taken, percentile(0.5), percentile(0.95), percentile(0.99))
}

func main() {
	usage := "load <keep | full | resumed> <port> <connections> <seconds>"
	if len(os.Args) != 5 {
		fmt.Fprintln(os.Stderr, usage)
		os.Exit(2)
	}
	connections, err := strconv.Atoi(os.Args[3])
	seconds, err2 := strconv.ParseFloat(os.Args[4], 64)
	if err != nil || err2 != nil {
		fmt.Fprintln(os.Stderr, usage)
		os.Exit(2)
	}
	run(os.Args[1], os.Args[2], connections, seconds)
}
