# R's ways to the weights on the simplex: Rscript peers/weights.R METHOD FILE ROWS MEMBERS, METHOD being mixsqp or loo.
# Reads the matrix of log densities (raw little-endian f64, column after column), times the call, prints a line of JSON.

arguments <- commandArgs(trailingOnly = TRUE)
method <- arguments[1]
rows <- as.integer(arguments[3])
members <- as.integer(arguments[4])

if (!requireNamespace(method, quietly = TRUE)) {
  cat(sprintf('{"missing": "R package %s"}\n', method))
  quit()
}

log_density <- matrix(readBin(arguments[2], "double", rows * members, endian = "little"), rows, members)
started <- proc.time()
if (method == "mixsqp") {
  found <- mixsqp::mixsqp(log_density, log = TRUE, control = list(verbose = FALSE))
  weights <- found$x
  iterations <- nrow(found$progress)
} else {
  # The method named in the help of loo_model_weights; as.numeric drops the class that prints them.
  weights <- as.numeric(loo::stacking_weights(log_density, optim_method = "BFGS"))
  iterations <- NA
}
spent <- proc.time() - started

status <- readLines("/proc/self/status")
peak <- as.numeric(gsub("[^0-9]", "", grep("^VmHWM", status, value = TRUE))) * 1024 / 1e6
version <- sprintf("%s %s on R %s.%s with %s", method, packageVersion(method), R.version$major, R.version$minor,
                   sub("[-.].*", "", basename(La_library())))
quality <- if (is.na(iterations)) "{}" else sprintf('{"iterations": %d}', iterations)
cat(sprintf('{"seconds": %.6f, "cpu_seconds": %.6f, "peak_mb": %.1f, "version": "%s", "quality": %s, "answer": [%s]}\n',
            spent[["elapsed"]], spent[["user.self"]] + spent[["sys.self"]], peak, version, quality, paste(sprintf("%.17g", weights), collapse = ", ")))
