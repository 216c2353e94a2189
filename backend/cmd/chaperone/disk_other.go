//go:build !unix

package main

import "errors"

const hasBus = false

func freeBytes(string) (uint64, error) { return 0, errors.ErrUnsupported }

func canWrite(string) bool { return true }
