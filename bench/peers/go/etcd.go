//go:build etcd

package main

import (
	"time"

	"go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

func init() { libraries["etcd"] = openEtcd }

// Two callers of one session do not exclude each other: each has a session.
func openEtcd(address string, lease time.Duration) library {
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{address}})
	must(err)
	var sessions []*concurrency.Session
	session := func(caller int) *concurrency.Session {
		for len(sessions) <= caller {
			session, err := concurrency.NewSession(client, concurrency.WithTTL(int(lease.Seconds())))
			must(err)
			sessions = append(sessions, session)
		}
		return sessions[caller]
	}
	return library{
		lock: func(name string, caller int) lock {
			mutex := concurrency.NewMutex(session(caller), name)
			return lock{
				lock:   func() { must(mutex.Lock(ctx)) },
				try:    func() bool { return mutex.TryLock(ctx) == nil },
				unlock: func() { must(mutex.Unlock(ctx)) },
			}
		},
		hold: func(name string) func() bool {
			mutex := concurrency.NewMutex(session(0), name)
			must(mutex.Lock(ctx))
			return func() bool {
				answer, err := client.Txn(ctx).If(mutex.IsOwner()).Commit()
				return err == nil && answer.Succeeded
			}
		},
	}
}
