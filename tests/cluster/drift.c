/* SPDX-License-Identifier: BSD-3-Clause */
/* To be preloaded: makes CLOCK_MONOTONIC too fast by DRIFT_<host name> millionths. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

typedef int get_clock(clockid_t, struct timespec *);

static get_clock *real;
static double ppm;

__attribute__((constructor)) static void begin(void) {
    char host[65] = "", name[80];
    real = (get_clock *)dlsym(RTLD_NEXT, "clock_gettime");
    (void)gethostname(host, sizeof host - 1);
    (void)snprintf(name, sizeof name, "DRIFT_%s", host);
    const char *value = getenv(name);
    ppm = value != NULL ? atof(value) : 0;
}

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): the C library's names are reserved */
int clock_gettime(clockid_t clock, struct timespec *now) {
    if (real == NULL)
        begin();
    int failed = real(clock, now);
    if (failed == 0 && clock == CLOCK_MONOTONIC && ppm != 0) {
        long long ns = now->tv_sec * 1000000000LL + now->tv_nsec;
        ns += (long long)((double)ns * ppm * 1e-6);
        now->tv_sec = ns / 1000000000;
        now->tv_nsec = ns % 1000000000;
    }
    return failed;
}
