//go:build tools

// Names what `go build` is to find in go.mod and go.sum.
package tools

import _ "github.com/rhysd/actionlint/cmd/actionlint"
