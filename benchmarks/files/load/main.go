// Clients of the scenario "files" that wrk cannot be.
//
//	load stand <port> <connections> <plain | tls> <path>
//	load down <port> <bytes> <path>
//	load up <port> <bytes> <path>
//	load paced <port> <connections> <seconds> <requests per second and connection> <path>
//
// stand opens the connections and asks for <path> on each, which leaves them idle. Then it obeys the lines of its input, and answers
// each with a line of JSON, as it does when the connections are idle:
//
//	begin <path>     asks for <path> on each connection and reads the head and the first bytes of the body
//	read <n> <m>     reads <n> further bytes on <m> of the connections that had an answer; all of them must be 0
//
// down and up transfer one body over one connection and print the seconds from the request to the last byte or the answer.
//
// paced asks at fixed times, and prints a line of JSON: requests, p50, p99 and max in ms. A time counts from when the request was due: a
// server that stands still for a while delays all requests that were due then, not only the one of each connection that waits.
package main

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sort"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	// Connections that are busy at a time: within every listen backlog.
	busyMax = 100
	// How long one answer may take.
	patience = 60 * time.Second
	// Source addresses are 127.0.0.2 and the following ones, so that ports do not run out.
	sources = 8
	// The segments of a network and a small window. With those of the loopback interface the kernel would hold megabytes for each reader that stands
	// still, and 10,000 of them use up what it has for TCP.
	segment = 1460
	window  = 8 * 1024
	// The first bytes of a body that are read: a part of a window.
	firstBytes = 64
	headMax    = 16 * 1024
	pieceBytes = 256 * 1024
)

type reader struct {
	conn net.Conn
	// Whether the last request had the status 200 and a body.
	hasAnswer bool
	problem   string
}

type report struct {
	Connections int    `json:"connections"`
	Answers     int    `json:"answers"`
	Problem     string `json:"problem,omitempty"`
}

func smallWindow(_, _ string, raw syscall.RawConn) error {
	var failed error
	set := func(fd uintptr, level, option, value int) {
		if err := syscall.SetsockoptInt(int(fd), level, option, value); err != nil {
			failed = err
		}
	}
	err := raw.Control(func(fd uintptr) {
		set(fd, syscall.IPPROTO_TCP, syscall.TCP_MAXSEG, segment)
		set(fd, syscall.SOL_SOCKET, syscall.SO_RCVBUF, window)
	})
	if err != nil {
		return err
	}
	return failed
}

func connect(index int, port string, isSecure bool) (net.Conn, error) {
	dialer := net.Dialer{
		Timeout:   patience,
		LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(2+index%sources))},
		Control:   smallWindow,
	}
	raw, err := dialer.Dial("tcp", "127.0.0.1:"+port)
	if err != nil || !isSecure {
		return raw, err
	}
	// The certificate is made for the run: nobody vouches for it.
	conn := tls.Client(raw, &tls.Config{InsecureSkipVerify: true, ServerName: "localhost", NextProtos: []string{"http/1.1"}})
	return conn, conn.Handshake()
}

// Sends a request and reads the head, and what of the body has come with it.
func ask(conn net.Conn, path string) (head string, body []byte, err error) {
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return "", nil, err
	}
	if _, err := io.WriteString(conn, "GET "+path+" HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		return "", nil, err
	}
	have := make([]byte, 0, 1024)
	for len(have) < headMax {
		piece := make([]byte, 1024)
		got, err := conn.Read(piece)
		have = append(have, piece[:got]...)
		if end := bytes.Index(have, []byte("\r\n\r\n")); end >= 0 {
			return string(have[:end]), have[end+4:], nil
		}
		if err != nil {
			return "", nil, err
		}
	}
	return "", nil, errors.New("a long head")
}

func lengthOf(head string) (int, error) {
	if !strings.HasPrefix(head, "HTTP/1.1 200 ") {
		return 0, errors.New(strings.SplitN(head, "\r\n", 2)[0])
	}
	for _, line := range strings.Split(head, "\r\n") {
		if name, value, _ := strings.Cut(line, ":"); strings.EqualFold(name, "content-length") {
			return strconv.Atoi(strings.TrimSpace(value))
		}
	}
	return 0, errors.New("no Content-Length")
}

// Asks for a file and reads `most` bytes of its body, or all of it.
func (r *reader) get(path string, most int) error {
	head, body, err := ask(r.conn, path)
	if err != nil {
		return err
	}
	length, err := lengthOf(head)
	if err != nil {
		return err
	}
	if length > most {
		length = most
	}
	if missing := length - len(body); missing > 0 {
		_, err = io.CopyN(io.Discard, r.conn, int64(missing))
	}
	return err
}

// Reads bytes of a sparse file.
func (r *reader) read(count int64) error {
	if err := r.conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	piece := make([]byte, 16*1024)
	for count > 0 {
		if count < int64(len(piece)) {
			piece = piece[:count]
		}
		got, err := io.ReadFull(r.conn, piece)
		if err != nil {
			return err
		}
		if len(bytes.Trim(piece, "\x00")) > 0 {
			return errors.New("bytes that the file does not have")
		}
		count -= int64(got)
	}
	return nil
}

// Does something on each connection, some at a time, and tells how many have succeeded.
func each(readers []*reader, do func(index int, r *reader) error) report {
	var group sync.WaitGroup
	turns := make(chan int)
	for i := 0; i < busyMax; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for index := range turns {
				r := readers[index]
				err := do(index, r)
				r.hasAnswer = err == nil
				if err != nil {
					r.problem = err.Error()
				}
			}
		}()
	}
	for index := range readers {
		turns <- index
	}
	close(turns)
	group.Wait()
	result := report{Connections: len(readers)}
	for _, r := range readers {
		if r.hasAnswer {
			result.Answers++
		} else {
			result.Problem = r.problem
		}
	}
	return result
}

func tell(result report) {
	text, err := json.Marshal(result)
	must(err)
	fmt.Println(string(text))
}

func stand(port string, connections int, isSecure bool, path string) {
	readers := make([]*reader, connections)
	for i := range readers {
		readers[i] = &reader{}
	}
	tell(each(readers, func(index int, r *reader) (err error) {
		if r.conn, err = connect(index, port, isSecure); err != nil {
			return err
		}
		return r.get(path, headMax)
	}))
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		switch words[0] {
		case "begin":
			tell(each(readers, func(_ int, r *reader) error { return r.get(words[1], firstBytes) }))
		case "read":
			some := make([]*reader, 0, connections)
			for _, r := range readers {
				if r.hasAnswer && len(some) < number(words[2]) {
					some = append(some, r)
				}
			}
			tell(each(some, func(_ int, r *reader) error { return r.read(int64(number(words[1]))) }))
		}
	}
}

func down(conn net.Conn, bytes int, path string) {
	_, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", path)
	must(err)
	// The head and the sizes of chunks are among what is read.
	piece := make([]byte, pieceBytes)
	read := 0
	for {
		got, err := conn.Read(piece)
		read += got
		if err == io.EOF {
			break
		}
		must(err)
	}
	if read < bytes {
		must(fmt.Errorf("only %d bytes have come", read))
	}
}

func up(conn net.Conn, bytes int, path string) {
	_, err := fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: %d\r\n\r\n", path, bytes)
	must(err)
	piece := make([]byte, pieceBytes)
	for left := bytes; left > 0; {
		if left < len(piece) {
			piece = piece[:left]
		}
		sent, err := conn.Write(piece)
		must(err)
		left -= sent
	}
	answer, err := io.ReadAll(conn)
	must(err)
	if !strings.Contains(string(answer), strconv.Itoa(bytes)) {
		must(fmt.Errorf("the answer is %q", answer))
	}
}

// Asks until the last request that is due is answered, and returns how late each answer was.
func (r *reader) keepPace(path string, requests int, every time.Duration) ([]time.Duration, error) {
	delays := make([]time.Duration, 0, requests)
	due := time.Now()
	for i := 0; i < requests; i++ {
		time.Sleep(time.Until(due))
		if err := r.get(path, headMax); err != nil {
			return nil, err
		}
		delays = append(delays, time.Since(due))
		due = due.Add(every)
	}
	return delays, nil
}

func paced(port string, connections, seconds, perSecond int, path string) {
	var group sync.WaitGroup
	delays := make([][]time.Duration, connections)
	every := time.Second / time.Duration(perSecond)
	for i := range delays {
		conn, err := net.Dial("tcp", "127.0.0.1:"+port)
		must(err)
		group.Add(1)
		go func(index int) {
			defer group.Done()
			// Connections take turns.
			time.Sleep(every * time.Duration(index) / time.Duration(connections))
			r := reader{conn: conn}
			var err error
			delays[index], err = r.keepPace(path, seconds*perSecond, every)
			must(err)
		}(i)
	}
	group.Wait()
	var all []time.Duration
	for _, some := range delays {
		all = append(all, some...)
	}
	sort.Slice(all, func(a, b int) bool { return all[a] < all[b] })
	at := func(share float64) float64 { return all[int(float64(len(all)-1)*share)].Seconds() * 1000 }
	fmt.Printf("{\"requests\":%d,\"p50\":%.3f,\"p99\":%.3f,\"max\":%.3f}\n", len(all), at(0.5), at(0.99), at(1))
}

func transfer(run func(conn net.Conn, bytes int, path string), port string, bytes int, path string) {
	conn, err := net.Dial("tcp", "127.0.0.1:"+port)
	must(err)
	began := time.Now()
	run(conn, bytes, path)
	fmt.Println(time.Since(began).Seconds())
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

func number(text string) int {
	value, err := strconv.Atoi(text)
	must(err)
	return value
}

func main() {
	args := os.Args[1:]
	switch {
	case len(args) == 5 && args[0] == "stand":
		stand(args[1], number(args[2]), args[3] == "tls", args[4])
	case len(args) == 4 && args[0] == "down":
		transfer(down, args[1], number(args[2]), args[3])
	case len(args) == 4 && args[0] == "up":
		transfer(up, args[1], number(args[2]), args[3])
	case len(args) == 6 && args[0] == "paced":
		paced(args[1], number(args[2]), number(args[3]), number(args[4]), args[5])
	default:
		fmt.Fprintln(os.Stderr, "load stand | down | up | paced: see the head of main.go")
		os.Exit(2)
	}
}
