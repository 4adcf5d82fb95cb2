//! What a run reports.

use std::time::{Duration, Instant};
use std::{fs, io};

use serde_json::{Value, json};

/// Times one call: its answer, how long it took, and the peak memory of the process so far.
pub(crate) fn timed<A>(call: impl FnOnce() -> A) -> io::Result<(A, Cost)> {
    let (started, processor_started) = (Instant::now(), processor_time()?);
    let answer = call();
    let time = started.elapsed();
    let processor = processor_time()?.saturating_sub(processor_started);
    Ok((answer, Cost { time, processor, peak_mb: peak_mb()? }))
}

/// What a call cost.
pub(crate) struct Cost {
    time: Duration,
    processor: Duration,
    peak_mb: f64,
}

impl Cost {
    /// The seconds it took, and those of the processor.
    pub(crate) fn seconds(&self) -> (f64, f64) {
        (self.time.as_secs_f64(), self.processor.as_secs_f64())
    }

    /// The line for the harness.
    pub(crate) fn outcome(&self, quality: &Value, answer: &[f64]) -> Value {
        json!({
            "seconds": self.time.as_secs_f64(),
            "cpu_seconds": self.processor.as_secs_f64(),
            "peak_mb": self.peak_mb,
            "version": concat!("Dolmen ", env!("CARGO_PKG_VERSION")),
            "quality": quality,
            "answer": answer,
        })
    }
}

/// The time all threads of this process have run so far.
fn processor_time() -> io::Result<Duration> {
    let mut nanoseconds = 0;
    for task in fs::read_dir("/proc/self/task")? {
        let text = fs::read_to_string(task?.path().join("schedstat"))?;
        let first = text.split_whitespace().next().and_then(|word| word.parse::<u64>().ok());
        nanoseconds += first.ok_or_else(|| io::Error::other("schedstat tells no time"))?;
    }
    Ok(Duration::from_nanos(nanoseconds))
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
