// Package desktop keeps the windows of agents' Chromiums from taking the focus,
// on an X display, while the person works elsewhere.
//
// Chromium asks for the focus whenever a page of it is pressed, a tab is
// selected or a window opens, also when it is an agent who does that; a person's
// next keystrokes would then go to a page. So each Chromium gets a display of
// its own, a Door, which passes everything on to the real one in both
// directions, but for the requests that take the focus, raise a window or grab
// the pointer. Those pass while the person is in that Chromium: while a window
// of it has the focus, or just after they have pressed on one.
//
// It promises that the person's clicks and keys reach Chromium as ever, that a
// page's content is neither kept nor looked at, and that a door which cannot be
// made leaves Chromium at the real display. It must not know what an agent does,
// and it sends nothing of its own to any window.
package desktop
