//! `muster fabric probe` as a program reads it: stages, thresholds and the curve, predicted and
//! measured, of both media; the figure; and what is no probe at all.

mod cluster;

use cluster::{Cluster, until};
use serde_json::Value;
use std::fs;

/// What is probed, in bytes: from 64 to 16 MB, each twice as long as the one before.
const LENGTHS: usize = 19;

/// Probes, and reads what is printed. Where others have the processors the other end may not come
/// in time for a trial, which is told; then there is another try.
fn probe(cluster: &Cluster, args: &[&str]) -> Value {
    let args = [&["fabric", "probe", "--json"], args].concat();
    let mut found = Value::Null;
    until("a probe is not kept from its processors", || {
        let said = cluster.muster(&args).run();
        if said.code == 1 && said.err.contains("has waited") {
            return false;
        }
        let said = said.ok();
        assert_eq!(said.err, "");
        found = said.json();
        true
    });
    found
}

/// A figure, which JSON has only where it is finite.
#[track_caller]
fn figure(of: &Value, name: &str) -> f64 {
    of[name].as_f64().unwrap_or_else(|| panic!("{name} of {of} is no number"))
}

#[track_caller]
fn rows<'a>(report: &'a Value, name: &str) -> &'a Vec<Value> {
    report[name].as_array().unwrap_or_else(|| panic!("no {name} in {report}"))
}

fn stages(report: &Value, names: &[&str]) {
    let stages = rows(report, "stages");
    let found: Vec<_> = stages.iter().map(|stage| stage["name"].as_str().unwrap()).collect();
    assert_eq!(found, names);
    for stage in stages {
        for name in ["beta_ns", "tau_ns_per_byte", "spilled_beta_ns", "spilled_tau_ns_per_byte"] {
            assert!(figure(stage, name) >= 0.0, "{name}: {stage}");
        }
        let cost = figure(stage, "beta_ns") + figure(stage, "tau_ns_per_byte");
        assert!(cost > 0.0, "it costs nothing: {stage}");
        assert!(figure(stage, "message_spills_ns_per_byte") >= 0.0, "{stage}");
    }
}

/// Thresholds grow and cover all lengths, and each length goes by the plan of its threshold.
fn plans(report: &Value) {
    let plans = rows(report, "plans");
    assert_eq!(plans[0]["plan"], "short");
    let upto: Vec<u64> = plans.iter().map(|plan| plan["upto"].as_u64().unwrap()).collect();
    assert!(upto.is_sorted_by(|a, b| a < b), "{upto:?}");
    for point in rows(report, "points") {
        let bytes = point["bytes"].as_u64().unwrap();
        let at = upto.iter().position(|upto| bytes <= *upto).expect("a threshold for each length");
        assert_eq!(point["plan"], plans[at]["plan"], "{bytes} bytes");
    }
}

fn points(report: &Value) {
    let points = rows(report, "points");
    let bytes: Vec<u64> = points.iter().map(|point| point["bytes"].as_u64().unwrap()).collect();
    let all: Vec<u64> = (0..LENGTHS).map(|step| 64 << step).collect();
    assert_eq!(bytes, all);
    let first = &points[0];
    let last = &points[LENGTHS - 1];
    for name in [
        "predicted_ns",
        "measured_ns",
        "limit_ns",
        "predicted_stream_ns",
        "measured_stream_ns",
        "hop_ns",
        "epos_packet_bytes",
    ] {
        for point in points {
            assert!(figure(point, name) > 0.0, "{name}: {point}");
        }
        // 16 MB are 262144 times as much as 64 bytes: no machine is so busy that they take less.
        let more = figure(last, name) > figure(first, name);
        assert!(more || name == "hop_ns", "{name}: {first}, {last}");
    }
    // An EPOS packet is a part of the message.
    for point in points {
        assert!(figure(point, "epos_packet_bytes") <= figure(point, "bytes"), "{point}");
    }
}

#[test]
fn a_probe_tells_programs_stages_thresholds_and_curves_of_both_media() {
    let cluster = Cluster::none("probe");
    let svg = cluster.work().join("probe.svg");
    for (medium, over, names) in [
        ("shared memory", "shm", &["copy in", "copy out", "single copy"][..]),
        ("TCP on loopback", "tcp", &["copy in", "copy out"]),
    ] {
        let report = probe(&cluster, &["--over", over, "--svg", svg.to_str().unwrap()]);
        assert_eq!((&report["schema"], &report["medium"]), (&1.into(), &medium.into()));
        assert!(report["cores"].as_u64().unwrap() > 0 && report["cache"].as_u64().unwrap() > 0);
        assert!(figure(&report, "contact_ns") > 0.0 && figure(&report, "hop_ns") >= 0.0);
        assert_eq!(rows(&report, "searched").len(), 0);
        assert!(report["noise"].is_null() || report["noise"].is_string());
        stages(&report, names);
        points(&report);
        plans(&report);
        let drawn = fs::read_to_string(&svg).unwrap();
        assert!(drawn.starts_with("<svg ") && drawn.trim_end().ends_with("</svg>"), "{drawn}");
        for part in [medium, "latency, one way", "bandwidth of a stream", "predicted", "measured"] {
            assert!(drawn.contains(part), "{part}: {drawn}");
        }
        assert!(!drawn.contains("NaN") && !drawn.contains("inf"), "{drawn}");
        fs::remove_file(&svg).unwrap();
    }
    cluster.leftovers();
}

#[test]
fn what_is_no_probe_is_told_in_a_sentence_and_nothing_is_measured() {
    let cluster = Cluster::none("probe-bad");
    for (args, says) in [
        (&["--over", "ib"][..], "shm, tcp"),
        (&["--over"], "--over"),
        (&["--search", "--over", "tcp"], "leave out --search"),
        (&["--receiver", "nonsense"], "it has no scheme"),
        (&["--svg"], "--svg <FILE>"),
        (&["--nonsense"], "--nonsense"),
        (&["extra"], "extra"),
    ] {
        let said = cluster.muster(&[&["fabric", "probe", "--json"], args].concat()).run().code(2);
        let lines: Vec<&str> = said.err.lines().collect();
        assert!(lines.len() == 1 && lines[0].contains(says), "{said:?}");
        let told: Value = serde_json::from_str(&said.out).expect("an object");
        let names: Vec<&String> = told.as_object().expect("an object").keys().collect();
        assert_eq!(names, ["error", "schema"], "{said:?}");
        assert!(lines[0].starts_with("muster: "), "{said:?}");
    }
    let said = cluster.muster(&["fabric", "prob"]).run().code(2);
    assert!(said.err.lines().count() == 1 && said.err.contains("exists: 'probe'"), "{said:?}");
    cluster.leftovers();
}
