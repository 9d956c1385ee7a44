//! Lengths of time as users of batch systems write them.

use std::time::Duration;

/// Longest: a year. What is longer is a typing mistake.
const LONGEST: f64 = 366.0 * 86_400.0;

/// Reads `90`, `1.5` (seconds), `MM:SS`, `HH:MM:SS`, `D-HH`, `D-HH:MM`, `D-HH:MM:SS`, `90s`,
/// `5m`, `1h`, `2d`, `250ms`, `300us`.
///
/// # Errors
/// One sentence.
pub fn parse(text: &str) -> Result<Duration, String> {
    let bad = || {
        format!("'{text}' is no time: write seconds, MM:SS, HH:MM:SS, D-HH:MM:SS, 90s, 5m or 1h")
    };
    let seconds = seconds(text).ok_or_else(bad)?;
    if seconds <= 0.0 {
        return Err("a time is longer than nothing, such as 1s".into());
    }
    if seconds > LONGEST {
        return Err(format!("'{text}' is longer than a year"));
    }
    Ok(Duration::from_secs_f64(seconds))
}

fn seconds(text: &str) -> Option<f64> {
    if let Some((days, rest)) = text.split_once('-') {
        let parts = rest.split(':').map(whole).collect::<Option<Vec<f64>>>()?;
        let days = whole(days)? * 86_400.0;
        return match parts[..] {
            [h] => Some(days + h * 3600.0),
            [h, m] if m < 60.0 => Some(days + h * 3600.0 + m * 60.0),
            [h, m, s] if m < 60.0 && s < 60.0 => Some(days + h * 3600.0 + m * 60.0 + s),
            _ => None,
        };
    }
    if text.contains(':') {
        let parts = text.split(':').map(whole).collect::<Option<Vec<f64>>>()?;
        return match parts[..] {
            [m, s] if s < 60.0 => Some(m * 60.0 + s),
            [h, m, s] if m < 60.0 && s < 60.0 => Some(h * 3600.0 + m * 60.0 + s),
            _ => None,
        };
    }
    for (suffix, factor) in UNITS {
        if let Some(number) = text.strip_suffix(suffix) {
            return Some(decimal(number)? * factor);
        }
    }
    decimal(text)
}

/// The units, those first of which another's name is the end.
const UNITS: [(&str, f64); 6] =
    [("us", 1e-6), ("ms", 0.001), ("s", 1.0), ("m", 60.0), ("h", 3600.0), ("d", 86_400.0)];

/// As [`parse`] reads it, in the largest unit of which it is a whole number.
#[must_use]
pub fn write(time: Duration) -> String {
    let micros = time.as_micros();
    if micros == 0 && !time.is_zero() {
        return format!("{}ns", time.as_nanos());
    }
    let units = [("d", 86_400_000_000), ("h", 3_600_000_000), ("m", 60_000_000), ("s", 1_000_000)];
    let mut units = units.into_iter().chain([("ms", 1000)]);
    let (unit, length) =
        units.find(|(_, length)| micros.is_multiple_of(*length)).unwrap_or(("us", 1));
    format!("{}{unit}", micros / length)
}

fn whole(text: &str) -> Option<f64> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if digits { text.parse().ok() } else { None }
}

fn decimal(text: &str) -> Option<f64> {
    match text.split_once('.') {
        None => whole(text),
        Some((before, after)) if whole(before).is_some() && whole(after).is_some() => {
            text.parse().ok()
        }
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_read() {
        for (text, seconds) in [
            ("90", 90.0),
            ("0.5", 0.5),
            ("02:03", 123.0),
            ("100:00", 6000.0),
            ("1:02:03", 3723.0),
            ("1-2", 93_600.0),
            ("1-02:03", 93_780.0),
            ("1-02:03:04", 93_784.0),
            ("90s", 90.0),
            ("5m", 300.0),
            ("1h", 3600.0),
            ("1.5h", 5400.0),
            ("2d", 172_800.0),
            ("250ms", 0.25),
            ("300us", 0.0003),
        ] {
            assert_eq!(parse(text), Ok(Duration::from_secs_f64(seconds)), "{text}");
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        for (text, seconds) in
            [("300us", 0.0003), ("2ms", 0.002), ("8s", 8.0), ("90m", 5400.0), ("2d", 172_800.0)]
        {
            assert_eq!(write(Duration::from_secs_f64(seconds)), text);
            assert_eq!(parse(text), Ok(Duration::from_secs_f64(seconds)));
        }
        assert_eq!(write(Duration::from_nanos(1)), "1ns", "it is not nothing");
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in ["", "x", "-1", "1:2:3:4", "1:60", "1:60:00", "1m30", "1-", "1.", "+5", "1e9"] {
            assert!(parse(text).unwrap_err().contains("is no time"), "{text}");
        }
        assert!(parse("0").unwrap_err().contains("longer than nothing"));
        assert!(parse("400d").unwrap_err().contains("longer than a year"));
    }
}
