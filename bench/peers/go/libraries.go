package main

import (
	"context"
	"math"
	"time"

	"github.com/bsm/redislock"
	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"
)

// Everything is the library's default unless a comment tells why not.
var libraries = map[string]func(address string, lease time.Duration) library{
	"redsync":     openRedsync,
	"redislock":   openRedislock,
	"rueidislock": openRueidislock,
}

// A context that ends in a day: redislock waits no longer than the lease if there is no end.
var ctx, _ = context.WithTimeout(context.Background(), 24*time.Hour)

func openRedsync(address string, lease time.Duration) library {
	sync := redsync.New(goredis.NewPool(redis.NewClient(&redis.Options{Addr: address})))
	return library{lock: func(name string, _ int) lock {
		// It gives up after 32 tries unless told otherwise.
		mutex := sync.NewMutex(name, redsync.WithExpiry(lease), redsync.WithTries(math.MaxInt))
		return lock{
			lock:   func() { must(mutex.Lock()) },
			try:    func() bool { return mutex.TryLock() == nil },
			unlock: func() { _, err := mutex.Unlock(); must(err) },
		}
	}}
}

func openRedislock(address string, lease time.Duration) library {
	client := redislock.New(redis.NewClient(&redis.Options{Addr: address}))
	return library{lock: func(name string, _ int) lock {
		var held *redislock.Lock
		// It tries once unless told otherwise; its README tries every 100 ms.
		patient := &redislock.Options{RetryStrategy: redislock.LinearBackoff(100 * time.Millisecond)}
		obtain := func(options *redislock.Options) (err error) {
			held, err = client.Obtain(ctx, name, lease, options)
			return err
		}
		return lock{
			lock:   func() { must(obtain(patient)) },
			try:    func() bool { return obtain(nil) == nil },
			unlock: func() { must(held.Release(ctx)) },
		}
	}}
}

func openRueidislock(address string, lease time.Duration) library {
	locker, err := rueidislock.NewLocker(rueidislock.LockerOption{
		ClientOption: rueidis.ClientOption{InitAddress: []string{address}},
		KeyMajority:  1, // of one key, not of three: there is one server
		KeyValidity:  lease,
	})
	must(err)
	return library{
		lock: func(name string, _ int) lock {
			var release context.CancelFunc
			return lock{
				lock: func() {
					_, cancel, err := locker.WithContext(ctx, name)
					must(err)
					release = cancel
				},
				try: func() bool {
					_, cancel, err := locker.TryWithContext(ctx, name)
					release = cancel
					return err == nil
				},
				unlock: func() { release() },
			}
		},
		hold: func(name string) func() bool {
			held, _, err := locker.WithContext(ctx, name)
			must(err)
			return func() bool { return held.Err() == nil }
		},
	}
}
