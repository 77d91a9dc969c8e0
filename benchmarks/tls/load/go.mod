module httpsys/benchmarks/tls/load

go 1.19
