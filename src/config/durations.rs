//! How long something may take, in words.

use std::time::Duration;

/// As long as any program lives.
pub const FOR_EVER: Duration = Duration::from_secs(u32::MAX as u64);

/// The waits of a session, from seconds; 0 is for ever.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "a number of seconds is wanted".to_owned())?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(Duration::ZERO) => Ok(FOR_EVER),
        Ok(wait) => Ok(wait.min(FOR_EVER)),
        Err(_) => Err("a number of seconds is wanted that is not below 0".to_owned()),
    }
}
