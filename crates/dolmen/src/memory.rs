//! How much memory there is, asked before a piece of work starts: a refusal with both figures is better than an abort half
//! way through.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// Pieces below this are granted without asking the system, which takes some ten microseconds.
const SMALL: u64 = 16 << 20;

/// `Err` with both figures if `what` needs more bytes than can be had now. It reserves nothing: a piece of work that
/// allocates in several places adds them up and asks once, before the first.
pub(crate) fn claim(bytes: u64, what: &str) -> Result<()> {
    if bytes < SMALL {
        return Ok(());
    }
    // Without a figure from the system, what no address space can hold is still refused.
    let available = available().unwrap_or(1 << 47);
    if bytes <= available {
        return Ok(());
    }
    Err(refusal(what, bytes, available))
}

/// The error of a piece of work that needs more bytes than it may take.
pub(crate) fn refusal(what: impl Into<String>, needed: u64, available: u64) -> Error {
    Error::Memory { what: what.into(), needed, available, hint: None }
}

/// A size of at least so many bytes, as [`parse`] reads it: one digit behind the point, in the unit that suits.
pub(crate) fn written(bytes: u64) -> String {
    let units = [("K", 1_000), ("M", 1_000_000), ("G", 1_000_000_000_u64)];
    let suits = |(_, unit): &&(&str, u64)| bytes >= *unit;
    let (name, unit) = units.iter().rev().find(suits).unwrap_or(&units[0]);
    let tenths = bytes.div_ceil(unit / 10);
    match tenths % 10 {
        0 => format!("{}{name}", tenths / 10),
        tenth => format!("{}.{tenth}{name}", tenths / 10),
    }
}

/// The bytes that a text such as `2G`, `1.5 GB`, `800M`, `2GiB` or `65536` names; units are powers of 1000, those with an `i` of 1024.
pub(crate) fn parse(text: &str) -> Result<u64> {
    let wrong = || Error::param("memory", "a size such as 2G or 800M", format!("'{text}'"));
    let lower = text.trim().to_ascii_lowercase();
    let number = lower.trim_end_matches('b');
    let (number, step) = match number.strip_suffix('i') {
        Some(number) => (number, 1024.0_f64),
        None => (number, 1000.0),
    };
    let power = number.chars().last().and_then(|unit| "kmgt".find(unit));
    let (number, unit) = match power {
        Some(power) => (&number[..number.len() - 1], step.powi(power as i32 + 1)),
        None if step == 1024.0 => return Err(wrong()),
        None => (number, 1.0),
    };
    let value: f64 = number.trim().parse().map_err(|_| wrong())?;
    let bytes = value * unit;
    if bytes >= 1.0 && bytes < u64::MAX as f64 { Ok(bytes as u64) } else { Err(wrong()) }
}

/// The product of some sizes in bytes; `u64::MAX` where it is larger than that.
pub(crate) fn size(factors: &[usize]) -> u64 {
    factors.iter().fold(1, |product: u64, &factor| product.saturating_mul(factor as u64))
}

/// Bytes that can still be had: the least of what the machine has free, what the limits of the process leave and
/// what its control groups leave. `None` where the system does not tell.
pub(crate) fn available() -> Option<u64> {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let machine = kibibytes(&read("/proc/meminfo"), "MemAvailable:");
    let (limits, status) = (read("/proc/self/limits"), read("/proc/self/status"));
    let within = |limit: &str, used: &str| {
        Some(soft_limit(&limits, limit)?.saturating_sub(kibibytes(&status, used)?))
    };
    let of_process = [within("Max address space", "VmSize:"), within("Max data size", "VmData:")];
    let groups = group_folders(&read("/proc/self/cgroup"));
    let of_groups = groups.iter().map(|folder| left_in_group(folder));
    [machine].into_iter().chain(of_process).chain(of_groups).flatten().min()
}

/// Bytes of address space that a limit of the process leaves; `None` without a limit.
pub(crate) fn address_space() -> Option<u64> {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let limit = soft_limit(&read("/proc/self/limits"), "Max address space")?;
    Some(limit.saturating_sub(kibibytes(&read("/proc/self/status"), "VmSize:")?))
}

/// A line `name   1234 kB` of a file of the system.
fn kibibytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

/// The soft limit in a line of `/proc/self/limits`, if there is one.
fn soft_limit(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

/// The folders of the control groups that a process is in, with all groups around them.
fn group_folders(of_process: &str) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    for line in of_process.lines() {
        let mut parts = line.splitn(3, ':');
        let (_, Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next()) else {
            continue;
        };
        let root = match controllers {
            "" => Path::new("/sys/fs/cgroup"),
            list if list.split(',').any(|name| name == "memory") => {
                Path::new("/sys/fs/cgroup/memory")
            }
            _ => continue,
        };
        let own = root.join(path.trim_start_matches('/'));
        folders.extend(own.ancestors().take_while(|f| f.starts_with(root)).map(Path::to_path_buf));
    }
    folders
}

/// What a control group leaves: its limit minus what it holds, files that can be dropped not counted.
fn left_in_group(folder: &Path) -> Option<u64> {
    let read = |name: &str| fs::read_to_string(folder.join(name)).ok();
    let number = |name: &str| read(name)?.trim().parse::<u64>().ok();
    let limit = number("memory.max").or_else(|| number("memory.limit_in_bytes"))?;
    let held = number("memory.current").or_else(|| number("memory.usage_in_bytes"))?;
    let statistics = read("memory.stat").unwrap_or_default();
    let files = ["total_inactive_file ", "inactive_file "].into_iter().find_map(|name| {
        statistics.lines().find_map(|line| line.strip_prefix(name))?.trim().parse::<u64>().ok()
    });
    Some(limit.saturating_sub(held.saturating_sub(files.unwrap_or(0))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_the_system_are_read() {
        let text = "MemTotal:       24682416 kB\nMemAvailable:   22783952 kB\n";
        assert_eq!(kibibytes(text, "MemAvailable:"), Some(22_783_952 * 1024));
        let text = "Max data size             unlimited            unlimited            bytes\n\
                    Max address space         4294967296           unlimited            bytes\n";
        assert_eq!(soft_limit(text, "Max data size"), None);
        assert_eq!(soft_limit(text, "Max address space"), Some(1 << 32));
    }

    #[test]
    fn sizes_are_read_with_their_units() {
        assert_eq!(parse("1.5G").unwrap(), 1_500_000_000);
        assert_eq!(parse(" 800 MB ").unwrap(), 800_000_000);
        assert_eq!(parse("65536").unwrap(), 65_536);
        assert_eq!(parse("2GiB").unwrap(), 2 << 30);
        assert_eq!(parse("1.5 Mi").unwrap(), 3 << 19);
        for wrong in ["much", "", "-1G", "0", "G", "1e30T", "5i", "2iB", "GiB"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    /// What a hint tells the user to write is enough, however it is rounded.
    #[test]
    fn sizes_are_written_so_that_they_suffice() {
        for bytes in [1, 99, 999, 1000, 1001, 6_291_456, 6_300_000, 999_999_999, 123_456_789_012] {
            let text = written(bytes);
            let read = parse(&text).unwrap();
            assert!(read >= bytes, "{bytes}: {text}");
            assert!(read - bytes <= (bytes / 10).max(100), "{bytes}: {text}");
        }
        assert_eq!(written(6_291_456), "6.3M");
        assert_eq!(written(16_000_000), "16M");
    }

    #[test]
    fn groups_are_found_with_those_around_them() {
        let folders = group_folders("4:cpu,memory:/a/b\n3:cpuset:/\n0::/c\n");
        let names: Vec<&str> = folders.iter().filter_map(|folder| folder.to_str()).collect();
        let memory = "/sys/fs/cgroup/memory";
        let expected = [&format!("{memory}/a/b"), &format!("{memory}/a"), memory];
        assert_eq!(names[..3], expected);
        assert_eq!(names[3..], ["/sys/fs/cgroup/c", "/sys/fs/cgroup"]);
    }

    #[test]
    fn what_is_too_large_is_refused_with_both_figures() {
        let refusal = claim(size(&[1 << 40, 1 << 20, 8]), "the rows").unwrap_err().to_string();
        assert!(refusal.starts_with("the rows: about 9223.4 PB of memory are needed"), "{refusal}");
        assert!(claim(1 << 20, "the rows").is_ok());
        assert_eq!(crate::error::in_words(999_960_000), "1.0 GB");
        assert_eq!(crate::error::in_words(10), "10 bytes");
    }
}
