module peers
go 1.21
require github.com/hugelgupf/p9 v0.3.0
