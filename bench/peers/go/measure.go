package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// pairs gives how long each lock and unlock took, one after the other, from one time until another; of one at least.
func pairs(lock lock, o order) []int64 {
	until := o.number("until")
	took := make([]int64, 0, 1<<12)
	sleepUntil(o.number("from"))
	for last := now(); len(took) == 0 || last < until; {
		lock.lock()
		lock.unlock()
		now := now()
		took = append(took, now-last)
		last = now
	}
	return took
}

// contend gives how often it had the lock, and the longest wait.
func contend(lock lock, o order) (taken, longest int64) {
	until := o.number("until")
	sleepUntil(o.number("from"))
	for asked := now(); asked < until; asked = now() {
		lock.lock()
		longest = max(longest, now()-asked)
		lock.unlock()
		taken++
	}
	return taken, longest
}

func handover(lock lock, o order) string {
	var taken, released []int64
	for range o.number("times") {
		lock.lock()
		taken = append(taken, now())
		time.Sleep(time.Duration(o.number("hold")) * time.Millisecond)
		released = append(released, now())
		lock.unlock()
		time.Sleep(time.Duration(o.number("gap")) * time.Millisecond)
	}
	return fmt.Sprintf("taken=%s released=%s", list(taken), list(released))
}

func paired(times [][]int64) string {
	took := slices.Concat(times...)
	slices.Sort(took)
	at := func(share float64) int64 { return took[int(float64(len(took)-1)*share)] }
	return fmt.Sprintf("pairs=%d p50=%d p99=%d", len(took), at(0.5), at(0.99))
}

func crowded(taken, longest []int64) string {
	return fmt.Sprintf("taken=%s longest=%d", list(taken), slices.Max(longest))
}

func list(numbers []int64) string {
	return strings.Trim(strings.Join(strings.Fields(fmt.Sprint(numbers)), ","), "[]")
}

// now is in nanoseconds of the clock that all processes share.
func now() int64 {
	var time unix.Timespec
	must(unix.ClockGettime(unix.CLOCK_MONOTONIC, &time))
	return time.Nano()
}

func sleepUntil(at int64) {
	time.Sleep(time.Duration(at - now()))
}
