//! What a run says of itself.

use std::time::{Duration, Instant};
use std::{fs, io};

use serde_json::{Value, json};

/// Times one call: its answer, how long it took, and the peak memory of the process so far.
pub(crate) fn timed<A>(call: impl FnOnce() -> A) -> io::Result<(A, Cost)> {
    let started = Instant::now();
    let answer = call();
    let time = started.elapsed();
    Ok((answer, Cost { time, peak_mb: peak_mb()? }))
}

/// What a call cost.
pub(crate) struct Cost {
    time: Duration,
    peak_mb: f64,
}

impl Cost {
    /// The line for the harness.
    pub(crate) fn outcome(&self, quality: &Value, weights: &[f64]) -> Value {
        json!({
            "seconds": self.time.as_secs_f64(),
            "peak_mb": self.peak_mb,
            "version": concat!("Dolmen ", env!("CARGO_PKG_VERSION")),
            "quality": quality,
            "weights": weights,
        })
    }
}

/// The largest resident memory this process ever had (VmHWM), in 10^6 bytes.
fn peak_mb() -> io::Result<f64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let kibibytes = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .and_then(|rest| rest.trim().trim_end_matches(" kB").parse::<f64>().ok())
        .ok_or_else(|| io::Error::other("/proc/self/status does not tell VmHWM"))?;
    Ok(kibibytes * 1024.0 / 1e6)
}
