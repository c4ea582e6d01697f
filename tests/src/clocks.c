/* Stands before the C library in one process: its clocks show what the file named by REDLATCH_CLOCKS says, three numbers in ns.
 * CLOCK_BOOTTIME stays as it is: so the others look as after a suspension, or as on a machine with another time of day. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000LL

struct shown {
    volatile int64_t lag;    /* how far the monotonic clock is behind */
    volatile int64_t frozen; /* not 0: it shows this, until it is 0 again */
    volatile int64_t ahead;  /* how far the time of day is ahead */
};

static struct shown *shown(void) {
    static struct shown *mapped;
    if (!mapped) {
        int file = open(getenv("REDLATCH_CLOCKS"), O_RDWR);
        void *memory = mmap(NULL, sizeof *mapped, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (memory == MAP_FAILED) abort();
        close(file);
        mapped = memory;
    }
    return mapped;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    int refused = syscall(SYS_clock_gettime, clock, time);
    if (refused) return refused;
    int64_t now = time->tv_sec * SECOND + time->tv_nsec;
    switch (clock) {
    case CLOCK_MONOTONIC: case CLOCK_MONOTONIC_COARSE: case CLOCK_MONOTONIC_RAW: {
        int64_t frozen = shown()->frozen;
        now = frozen ? frozen : now - shown()->lag;
        break;
    }
    case CLOCK_REALTIME: case CLOCK_REALTIME_COARSE:
        now += shown()->ahead;
    }
    time->tv_sec = now / SECOND;
    time->tv_nsec = now % SECOND;
    return 0;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    (void)zone;
    struct timespec now;
    int refused = clock_gettime(CLOCK_REALTIME, &now);
    time->tv_sec = now.tv_sec;
    time->tv_usec = now.tv_nsec / 1000;
    return refused;
}

time_t time(time_t *to) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (to) *to = now.tv_sec;
    return now.tv_sec;
}
