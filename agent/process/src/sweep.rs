//! Finds what left its group but carries a child's mark.

/// Kills every process whose environment carries the mark, until none is left or time is up.
#[cfg(target_os = "linux")]
pub fn sweep(mark: &str) {
    use std::time::{Duration, Instant};
    let until = Instant::now() + Duration::from_secs(2);
    // What is killed may have had time to start another one.
    while kill_marked(mark) && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Other systems do not show the environment of a process.
#[cfg(not(target_os = "linux"))]
pub fn sweep(_: &str) {}

/// Whether there was one.
#[cfg(target_os = "linux")]
fn kill_marked(mark: &str) -> bool {
    use rustix::process::{Pid, PidfdFlags, Signal, getpid, pidfd_open, pidfd_send_signal};
    let Ok(all) = std::fs::read_dir("/proc") else { return false };
    let us = getpid().as_raw_nonzero().get();
    let mut found = false;
    for entry in all.flatten() {
        let Some(number) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else {
            continue;
        };
        let Some(pid) = Pid::from_raw(number).filter(|_| number != us) else {
            continue;
        };
        // Held while the environment is read: the signal cannot meet another process that got the same number.
        let Ok(held) = pidfd_open(pid, PidfdFlags::empty()) else { continue };
        // That of a zombie is empty, that of another user cannot be read.
        let Ok(environment) = std::fs::read(entry.path().join("environ")) else {
            continue;
        };
        if is_marked(&environment, mark) {
            found |= pidfd_send_signal(&held, Signal::KILL).is_ok();
        }
    }
    found
}

#[cfg(any(target_os = "linux", test))]
fn is_marked(environment: &[u8], mark: &str) -> bool {
    let marks = environment.split(|&b| b == 0).find_map(|variable| {
        let (name, value) = variable.split_at_checked(super::FAMILY.len())?;
        (name == super::FAMILY.as_bytes()).then(|| value.strip_prefix(b"="))?
    });
    marks.is_some_and(|marks| marks.split(|&b| b == b':').any(|known| known == mark.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::is_marked;

    #[test]
    fn knows_the_whole_mark_only() {
        assert!(is_marked(b"A=1\0AGENTGLOT_FAMILY=a1:b2:c3\0Z=", "b2"));
        assert!(is_marked(b"AGENTGLOT_FAMILY=b2", "b2"));
        for other in ["b", "2:c", "a1:b2", ""] {
            assert!(!is_marked(b"A=1\0AGENTGLOT_FAMILY=a1:b2:c3\0", other), "{other}");
        }
        assert!(!is_marked(b"X=b2\0AGENTGLOT_FAMILY2=b2\0", "b2"));
        assert!(!is_marked(b"", "b2"));
    }
}
