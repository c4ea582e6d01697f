/* The clock of a server that is set by the test: what the time of day is, plus the microseconds in the file that REDLATCH_CLOCK names. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>

static volatile int64_t *ahead;

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("REDLATCH_CLOCK");
  int file = path ? open(path, O_RDONLY) : -1;
  void *page = file < 0 ? MAP_FAILED : mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);
  if (page != MAP_FAILED) ahead = page;
}

static int64_t shift(void) { return ahead ? *ahead : 0; }

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  static int (*real)(struct timeval *, void *);
  if (!real) real = (int (*)(struct timeval *, void *))dlsym(RTLD_NEXT, "gettimeofday");
  int said = real(now, zone);
  if (!now) return said;
  int64_t us = (int64_t)now->tv_sec * 1000000 + now->tv_usec + shift();
  now->tv_sec = us / 1000000;
  now->tv_usec = us % 1000000;
  return said;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  static int (*real)(clockid_t, struct timespec *);
  if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
  int said = real(clock, now);
  if (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE) return said;
  int64_t ns = (int64_t)now->tv_sec * 1000000000 + now->tv_nsec + shift() * 1000;
  now->tv_sec = ns / 1000000000;
  now->tv_nsec = ns % 1000000000;
  return said;
}

time_t time(time_t *into) {
  struct timeval now;
  gettimeofday(&now, NULL);
  if (into) *into = now.tv_sec;
  return now.tv_sec;
}
