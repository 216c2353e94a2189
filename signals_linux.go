//go:build linux

package main

/*
#include <signal.h>

// onstack makes the handler of sig run on the alternate signal stack, which Go
// demands of every handler in its process.
static void onstack(int sig) {
	struct sigaction a;
	if (sigaction(sig, NULL, &a) == 0 && a.sa_handler != SIG_DFL && a.sa_handler != SIG_IGN && !(a.sa_flags & SA_ONSTACK)) {
		a.sa_flags |= SA_ONSTACK;
		sigaction(sig, &a, NULL);
	}
}

static void all_onstack(void) {
	onstack(SIGSEGV);
	onstack(SIGBUS);
	onstack(SIGFPE);
	onstack(SIGILL);
	onstack(SIGABRT);
	onstack(SIGUSR1);
}
*/
import "C"

// mendSignals repairs the signal handlers that WebKit has put in place of Go's.
// Without it a nil dereference in any goroutine ends the program instead of
// becoming a panic that its owner recovers from. It must run after WebKit has
// started.
func mendSignals() { C.all_onstack() }
