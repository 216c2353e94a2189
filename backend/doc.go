// Package backend holds Chaperone's Go code; its test holds the floors that
// packages stand on.
package backend
