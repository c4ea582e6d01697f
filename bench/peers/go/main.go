// The measuring program for Go: `program <library> <url>` carries out orders, one a line; see bench/README.md.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// lock belongs to one caller, which waits until it has it; try gives up at once.
type lock struct {
	lock   func()
	try    func() bool
	unlock func()
}

// library gives locks: a caller has one number for all its locks. hold takes one that the library renews by itself, and returns a function
// that tells whether it still has it; nil if the library renews none.
type library struct {
	lock func(name string, caller int) lock
	hold func(name string) func() bool
}

type order map[string]string

func (o order) number(name string) int64 {
	number, err := strconv.ParseInt(o[name], 10, 64)
	must(err)
	return number
}

type program struct {
	library
	holds   []func() bool
	waiting int
	done    chan int64
}

var errCannot = errors.New("the library has no such thing")

func main() {
	if len(os.Args) != 3 {
		fail(fmt.Errorf("usage: program <library> <url>"))
	}
	open, ok := libraries[os.Args[1]]
	if !ok {
		fail(fmt.Errorf("there is no library `%s`", os.Args[1]))
	}
	url, watchdog, found := strings.Cut(os.Args[2], "?watchdog=")
	lease := 30 * time.Second
	if found {
		seconds, err := strconv.Atoi(watchdog)
		must(err)
		lease = time.Duration(seconds) * time.Second
	}
	_, address, _ := strings.Cut(url, "://")
	p := program{library: open(address, lease)}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		words := strings.Fields(lines.Text())
		o := order{}
		for _, word := range words[1:] {
			name, value, _ := strings.Cut(word, "=")
			o[name] = value
		}
		answer, err := p.carryOut(words[0], o)
		if errors.Is(err, errCannot) {
			answer = "cannot=1"
		}
		fmt.Println(answer)
	}
}

func (p *program) carryOut(what string, o order) (string, error) {
	switch what {
	case "first":
		lock := p.lock(o["name"], 0)
		lock.lock()
		lock.unlock()
		return "pairs=1", nil
	case "solo":
		return paired([][]int64{pairs(p.lock(o["name"], 0), o)}), nil
	case "own":
		return p.own(o), nil
	case "crowd":
		return p.crowd(o), nil
	case "handover":
		return handover(p.lock(o["name"], 0), o), nil
	case "wait":
		return p.wait(o["name"], int(o.number("waiters"))), nil
	case "woken":
		return p.woken(), nil
	case "hold":
		if p.hold == nil {
			return "", errCannot
		}
		for i := int64(1); i <= o.number("locks"); i++ {
			p.holds = append(p.holds, p.hold(fmt.Sprintf("%s:%d", o["name"], i)))
		}
		return fmt.Sprintf("held=%d", len(p.holds)), nil
	case "held":
		return fmt.Sprintf("held=%d", p.held()), nil
	default: // none of them has locks for readers, nor permits
		return "", errCannot
	}
}

func (p *program) own(o order) string {
	took := make([][]int64, o.number("callers"))
	together(len(took), func(caller int) func() {
		lock := p.lock(fmt.Sprintf("%s:%d", o["name"], caller), caller)
		return func() { took[caller] = pairs(lock, o) }
	})
	return paired(took)
}

func (p *program) crowd(o order) string {
	taken, longest := make([]int64, o.number("workers")), make([]int64, o.number("workers"))
	together(len(taken), func(worker int) func() {
		lock := p.lock(o["name"], worker)
		return func() { taken[worker], longest[worker] = contend(lock, o) }
	})
	return crowded(taken, longest)
}

func (p *program) wait(name string, waiters int) string {
	var asked sync.WaitGroup
	asked.Add(waiters)
	p.waiting, p.done = waiters, make(chan int64, waiters)
	for i := range waiters {
		lock := p.lock(name, i)
		go func() {
			has := lock.try()
			asked.Done()
			if !has {
				lock.lock()
			}
			lock.unlock()
			p.done <- now()
		}()
	}
	asked.Wait()
	return fmt.Sprintf("waiting=%d", waiters)
}

func (p *program) woken() string {
	var last int64
	for range p.waiting {
		last = max(last, <-p.done)
	}
	return fmt.Sprintf("woken=%d last=%d", p.waiting, last)
}

func (p *program) held() (count int) {
	for _, has := range p.holds {
		if has() {
			count++
		}
	}
	return count
}

// together makes the work of each caller, then lets all do it, each in a goroutine of its own.
func together(count int, work func(int) func()) {
	works := make([]func(), count)
	for i := range works {
		works[i] = work(i)
	}
	var all sync.WaitGroup
	for _, work := range works {
		all.Go(work)
	}
	all.Wait()
}

func must(err error) {
	if err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
