module httpsys/benchmarks/files/load

go 1.19
