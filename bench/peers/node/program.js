// The measuring program for Node's redlock: `program.js <url>` carries out orders, one a line; see bench/README.md.

import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import Redlock from "redlock";

const LEASE = 30_000; // ms
const client = new Redis(process.argv[2].split("?")[0]);
const patient = new Redlock([client], { retryCount: -1 }); // it gives up after 10 tries unless told otherwise
const once = new Redlock([client], { retryCount: 0 });
let waiters = [];
let held;

const lock = (name) => patient.lock(name, LEASE);

const orders = {
  async first({ name }) {
    await (await lock(name)).unlock();
    return "pairs=1";
  },
  async solo(order) {
    return paired([await pairs(order.name, order)]);
  },
  async own(order) {
    return paired(await each(order.callers, (caller) => pairs(`${order.name}:${caller}`, order)));
  },
  async crowd(order) {
    const shares = await each(order.workers, () => contend(order));
    const longest = shares.map((share) => share.longest).reduce((one, other) => (one > other ? one : other));
    return `taken=${shares.map((share) => share.taken)} longest=${longest}`;
  },
  async handover({ name, times, hold, gap }) {
    const taken = [];
    const released = [];
    for (let i = 0; i < times; i++) {
      const held = await lock(name);
      taken.push(now());
      await sleep(Number(hold));
      released.push(now());
      await held.unlock();
      await sleep(Number(gap));
    }
    return `taken=${taken} released=${released}`;
  },
  async take({ name }) {
    held = await lock(name);
    return `taken=${now()}`;
  },
  async drop() {
    const released = now();
    await held.unlock();
    return `released=${released}`;
  },
  async wait(order) {
    const asked = [];
    waiters = Array.from({ length: order.waiters }, () => {
      const first = once.lock(order.name, LEASE).catch(() => null);
      asked.push(first);
      return wait(order.name, first);
    });
    await Promise.all(asked);
    return `waiting=${waiters.length}`;
  },
  async woken() {
    const times = await Promise.all(waiters);
    return `woken=${times.length} last=${times.reduce((one, other) => (one > other ? one : other))}`;
  },
};

const each = (count, work) => Promise.all(Array.from({ length: count }, (_, i) => work(i)));

/** The times of pairs, one after the other; of at least one pair, even if it begins too late. */
async function pairs(name, { from, until }) {
  await sleepUntil(from);
  const took = [];
  for (let last = now(); !took.length || last < until; ) {
    await (await lock(name)).unlock();
    const time = now();
    took.push(Number(time - last));
    last = time;
  }
  return took;
}

async function contend({ name, from, until }) {
  await sleepUntil(from);
  let [taken, longest] = [0, 0n];
  for (let asked = now(); asked < until; asked = now()) {
    const held = await lock(name);
    const waited = now() - asked;
    if (waited > longest) longest = waited;
    await held.unlock();
    taken++;
  }
  return { taken, longest };
}

async function wait(name, first) {
  const held = (await first) ?? (await lock(name));
  await held.unlock();
  return now();
}

function paired(times) {
  const took = Float64Array.from(times.flat()).sort();
  const at = (share) => took[Math.trunc((took.length - 1) * share)];
  return `pairs=${took.length} p50=${at(0.5)} p99=${at(0.99)}`;
}

const now = () => process.hrtime.bigint();
const sleepUntil = (time) => sleep(Math.max(0, Number(BigInt(time) - now()) / 1e6));

for await (const line of createInterface({ input: process.stdin })) {
  const [what, ...words] = line.split(" ");
  const order = Object.fromEntries(words.map((word) => word.split("=")));
  // It has no locks for readers and no permits, and renews nothing.
  console.log(orders[what] ? await orders[what](order) : "cannot=1");
}
process.exit(0); // even if callers still wait
