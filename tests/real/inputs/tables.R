# Operations of data.table that have several threads.
library(data.table)
setDTthreads(as.integer(Sys.getenv("OMP_NUM_THREADS")), throttle = 1L)
cat("threads", getDTthreads(), "\n")
set.seed(7)
n <- 300000L
t <- data.table(id = sample(n), group = sample(1000L, n, TRUE), name = sprintf("k%04d", sample(5000L, n, TRUE)),
                value = rnorm(n), count = sample(50L, n, TRUE))
t[sample(n, 1000L), value := NA]
show <- function(title, x) { cat("\n", title, "\n", sep = ""); print(x, digits = 15, topn = 10) }
show("sums of groups", t[, .(sum = sum(value, na.rm = TRUE), mean = mean(value, na.rm = TRUE), n = .N, largest = max(count)), keyby = group])
show("two keys", t[, .(total = sum(count), first = id[1L]), by = .(name, group %% 7L)][order(name, group)])
setorder(t, -count, name, value)
show("sorted", t)
show("subset", t[value > 0.5 & count %between% c(10L, 20L)])
other <- data.table(name = sprintf("k%04d", 1:6000), weight = seq_len(6000) / 7)
show("joined", other[t, on = "name"][, .(w = sum(weight * count)), keyby = group])
setkey(t, group, id)
show("rolling", t[, mean5 := frollmean(value, 5), by = group][])
show("unique", unique(t, by = c("group", "count")))
show("filled", nafill(t$value, "locf")[1:20])
show("wide", dcast(t, group ~ count %% 5L, value.var = "value", fun.aggregate = sum, na.rm = TRUE))
fwrite(t, "tables.csv")
back <- fread("tables.csv")
cat("read back", all.equal(t, back, check.attributes = FALSE), "\n")
