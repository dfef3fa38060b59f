// Adapters of net/http and of hashicorp/go-retryablehttp, by the protocol in docs/add-a-subject.md.
//
// Arguments: CLIENT BASE_URL CA_FILE OPTIONS, with CLIENT one of net/http and retryablehttp, and OPTIONS as JSON.
package main

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

type operation struct {
	ID      int               `json:"id"`
	Path    string            `json:"path"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
}

type outcome struct {
	ID      int               `json:"id"`
	Status  int               `json:"status,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Body    string            `json:"body_base64,omitempty"`
	Error   string            `json:"error,omitempty"`
	Message string            `json:"message,omitempty"`
}

type options struct {
	ConnectMS int  `json:"connect_ms"`
	TotalMS   int  `json:"total_ms"`
	RetryMax  *int `json:"retry_max"`
	WaitMinMS *int `json:"wait_min_ms"`
	WaitMaxMS *int `json:"wait_max_ms"`
}

type send func(operation) (*http.Response, error)

func main() {
	if len(os.Args) == 3 && os.Args[1] == "--version" {
		fmt.Println(version(os.Args[2]))
		return
	}
	var chosen options
	if err := json.Unmarshal([]byte(os.Args[4]), &chosen); err != nil {
		log.Fatal(err)
	}
	base := plain(chosen, os.Args[3])
	call := standard(base, os.Args[2])
	if os.Args[1] == "retryablehttp" {
		call = retryable(base, os.Args[2], chosen)
	}
	fmt.Println(`{"ready": true}`)
	var turn sync.Mutex
	lines := bufio.NewReader(os.Stdin)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var asked operation
		if err := json.Unmarshal(line, &asked); err != nil {
			log.Fatal(err)
		}
		go func() {
			said, _ := json.Marshal(came(asked, call))
			turn.Lock()
			defer turn.Unlock()
			os.Stdout.Write(append(said, '\n'))
		}()
	}
}

// version is that of Go for its own client, else that of the module that this was built with.
func version(client string) string {
	if info, ok := debug.ReadBuildInfo(); ok && client == "retryablehttp" {
		for _, module := range info.Deps {
			if module.Path == "github.com/hashicorp/go-retryablehttp" {
				return "go-retryablehttp " + module.Version + ", " + runtime.Version()
			}
		}
	}
	return "net/http of " + runtime.Version()
}

// plain is the client that people make: a transport like the default one, and a Timeout.
func plain(chosen options, ca string) *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy = nil
	transport.MaxIdleConnsPerHost = 100 // of its own accord it keeps two, too few for operations that reuse theirs together
	transport.DialContext = (&net.Dialer{Timeout: time.Duration(chosen.ConnectMS) * time.Millisecond}).DialContext
	if pem, err := os.ReadFile(ca); err == nil {
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(pem)
		transport.TLSClientConfig = &tls.Config{RootCAs: roots}
	}
	return &http.Client{Transport: transport, Timeout: time.Duration(chosen.TotalMS) * time.Millisecond}
}

func standard(client *http.Client, base string) send {
	return func(asked operation) (*http.Response, error) {
		request, err := http.NewRequest("POST", base+asked.Path, bytes.NewReader([]byte(asked.Body)))
		if err != nil {
			return nil, err
		}
		for name, value := range asked.Headers {
			request.Header.Set(name, value)
		}
		return client.Do(request)
	}
}

func retryable(base *http.Client, url string, chosen options) send {
	client := retryablehttp.NewClient()
	client.HTTPClient = base
	if chosen.RetryMax != nil {
		client.RetryMax = *chosen.RetryMax
	}
	if chosen.WaitMinMS != nil {
		client.RetryWaitMin = time.Duration(*chosen.WaitMinMS) * time.Millisecond
	}
	if chosen.WaitMaxMS != nil {
		client.RetryWaitMax = time.Duration(*chosen.WaitMaxMS) * time.Millisecond
	}
	return func(asked operation) (*http.Response, error) {
		request, err := retryablehttp.NewRequest("POST", url+asked.Path, []byte(asked.Body))
		if err != nil {
			return nil, err
		}
		for name, value := range asked.Headers {
			request.Header.Set(name, value)
		}
		return client.Do(request)
	}
}

// came is what the caller has in its hand when the body was read.
func came(asked operation, call send) outcome {
	answer, err := call(asked)
	if err != nil {
		return outcome{ID: asked.ID, Error: fmt.Sprintf("%T", err), Message: err.Error()}
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	said := outcome{ID: asked.ID, Status: answer.StatusCode, Body: base64.StdEncoding.EncodeToString(body)}
	said.Headers = map[string]string{}
	for _, name := range []string{"Content-Type", "Content-Encoding"} {
		if value := answer.Header.Get(name); value != "" {
			said.Headers[name] = value
		}
	}
	if err != nil {
		said.Error, said.Message = fmt.Sprintf("%T", err), err.Error()
	}
	return said
}
