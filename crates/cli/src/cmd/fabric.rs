//! `muster fabric`: what this machine's communication costs.

use super::{SCHEMA, print_json};
use anyhow::{Context as _, Result};
use muster_fabric::Address;
use muster_fabric::pipeline::choice::Searched;
use muster_fabric::pipeline::costs::{Copy, Costs};
use muster_fabric::pipeline::figure::{self, Mark, Panel, Series};
use muster_fabric::pipeline::plan::Plan;
use muster_fabric::pipeline::probe::{self, Point, Report};
use muster_fabric::pipeline::stage::Stage;
use serde_json::{Value, json};
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::{Command, ExitCode};

/// Look at how programs communicate on this machine.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    Probe(Probe),
}

/// Measure the stages of the communication pipeline, and compare what the model predicts with
/// what messages take. It needs two idle cores for a few seconds.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  muster fabric probe
  muster fabric probe --svg probe.svg
  muster fabric probe --over tcp
  muster fabric probe --json | jq .stages")]
struct Probe {
    /// Print for programs
    #[arg(long)]
    json: bool,
    /// Draw latency and bandwidth over message size
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// What to measure
    #[arg(long, value_enum, default_value_t = Over::Shm)]
    over: Over,
    /// Also try all packet lengths and slot counts of shared memory, which takes longer
    #[arg(long)]
    search: bool,
    /// Be the other end of such a probe
    #[arg(long, value_name = "ADDRESS", hide = true)]
    receiver: Option<Address>,
}

/// A medium.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Over {
    /// Shared memory
    Shm,
    /// TCP on loopback
    Tcp,
}

pub fn run(args: &Args) -> Result<ExitCode> {
    let Action::Probe(probe) = &args.action;
    if let Some(address) = &probe.receiver {
        probe::receiver(address)?;
        return Ok(ExitCode::SUCCESS);
    }
    if probe.search && matches!(probe.over, Over::Tcp) {
        let text = "--search is for shared memory: over TCP the kernel cuts messages, and there \
                    are no packet lengths to try; leave out --search or --over tcp";
        return Err(super::Usage(text.into()).into());
    }
    let report = measure(probe.over, probe.search)?;
    if let Some(path) = &probe.svg {
        let svg = draw(&report);
        std::fs::write(path, svg).with_context(|| format!("cannot write {}", path.display()))?;
    }
    if probe.json {
        print_json(&value(&report))?;
    } else {
        io::stdout().lock().write_all(text(&report).as_bytes())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Probes a medium between this process and another one.
fn measure(over: Over, searches: bool) -> Result<Report> {
    let mut receiver = None;
    let start = |at: Address| {
        let mut command = Command::new(std::env::current_exe().map_err(not_started)?);
        command.args(["fabric", "probe", "--receiver", &at.to_string()]);
        receiver = Some(command.spawn().map_err(not_started)?);
        Ok(())
    };
    let report = match over {
        Over::Shm => {
            let name = format!("muster-probe-{}", std::process::id());
            probe::shared_memory(&std::env::temp_dir().join(name), start, searches)
        }
        Over::Tcp => probe::tcp(start),
    };
    if let Some(mut receiver) = receiver {
        // Its work is done.
        receiver.kill().context("the probe's receiver cannot be ended")?;
        receiver.wait().context("the probe's receiver")?;
    }
    Ok(report?)
}

fn not_started(error: io::Error) -> muster_fabric::Error {
    muster_fabric::Error::io("the probe's receiver cannot be started", error)
}

/// The plan in a few words.
fn plan(plan: Plan) -> String {
    match plan {
        Plan::Short => "short".to_owned(),
        Plan::SingleCopy => "single copy".to_owned(),
        Plan::Pipelined { packet, slots } => {
            format!("{slots} x {}", figure::bytes(packet as f64))
        }
    }
}

fn stages(report: &Report) -> impl Iterator<Item = &Copy> {
    report.costs.copies.iter().chain(&report.costs.single)
}

fn about(report: &Report) -> String {
    let machine = &report.machine;
    let cache = figure::bytes(machine.cache as f64);
    format!("{}, {} cores, L2 {cache}, {}", machine.processor, machine.cores, machine.kernel)
}

fn text(report: &Report) -> String {
    let mut lines = vec![format!("{} on {}", report.medium, about(report)), String::new()];
    lines.push(
        "               RING IN L2                RING NOT IN L2            + LONG MESSAGE".into(),
    );
    lines.push("STAGE          ns/packet  ns/byte  GB/s  ns/packet  ns/byte  GB/s  ns/byte".into());
    lines.push(format!("{:<14} {:>9.0}", "hop", report.costs.hop));
    lines.extend(stages(report).map(|copy| {
        let costs = |stage: Stage| {
            // A stage that only passes a flag has no bandwidth.
            let rate = match stage.tau {
                0.0 => "-".to_owned(),
                tau => format!("{:.1}", 1.0 / tau),
            };
            format!("{:>9.0} {:>8.4} {rate:>5}", stage.beta, stage.tau)
        };
        let (near, far, more) = (costs(copy.stage), costs(copy.spilled), copy.message_spills);
        format!("{:<14} {near}  {far}  {more:>7.4}", copy.name)
    }));
    let contact = report.contact.as_secs_f64() * 1e3;
    lines.push(format!("first contact took {contact:.2} ms"));
    lines.extend([String::new(), "UP TO      PLAN (slots x packet)".into()]);
    let step = |&(bytes, chosen): &(usize, Plan)| format!("{bytes:<10} {}", plan(chosen));
    lines.extend(report.steps.iter().map(step));
    lines.extend([
        String::new(),
        "                   EPOS'S       ONE WAY, us                 STREAM, GB/s".into(),
    ]);
    lines.push(
        "SIZE  PLAN         PACKET  predicted  measured     limit  predicted  measured   limit  \
         hop/ns"
            .into(),
    );
    lines.extend(report.points.iter().map(|measured| point(measured, &report.costs)));
    if !report.searched.is_empty() {
        lines.extend([
            String::new(),
            "SIZE      CHOSEN         BEST OF ALL    TIMES THE BEST".into(),
        ]);
        lines.extend(report.searched.iter().map(|found| {
            let Searched { bytes, chosen, best, .. } = *found;
            format!("{bytes:<9} {:<14} {:<14} {:.3}", plan(chosen), plan(best), found.ratio())
        }));
    }
    if let Some(noise) = report.noise() {
        lines.extend([String::new(), format!("noisy: {noise}; these figures are not typical")]);
    }
    lines.push(String::new());
    lines.join("\n")
}

/// A line, with the packet length of the paper's formula beside that which was chosen.
fn point(point: &Point, costs: &Costs) -> String {
    let rate = |time: f64| point.bytes as f64 / time;
    let epos = match point.plan {
        Plan::Pipelined { .. } => figure::about(costs.optimum(point.bytes)),
        Plan::Short | Plan::SingleCopy => "-".to_owned(),
    };
    format!(
        "{:<5} {:<12} {epos:>6} {:>10.3} {:>9.3} {:>9.3} {:>10.2} {:>9.2} {:>7.2} {:>7.0}",
        figure::bytes(point.bytes as f64),
        plan(point.plan),
        point.predicted / 1e3,
        point.measured / 1e3,
        point.limit / 1e3,
        rate(point.predicted_stream),
        rate(point.measured_stream),
        rate(point.limit),
        point.sentinel,
    )
}

fn value(report: &Report) -> Value {
    let stage = |copy: &Copy| {
        json!({
            "name": copy.name, "beta_ns": copy.stage.beta, "tau_ns_per_byte": copy.stage.tau,
            "spilled_beta_ns": copy.spilled.beta, "spilled_tau_ns_per_byte": copy.spilled.tau,
            "message_spills_ns_per_byte": copy.message_spills,
        })
    };
    let point = |point: &Point| {
        json!({
            "bytes": point.bytes, "plan": plan(point.plan),
            "epos_packet_bytes": report.costs.optimum(point.bytes),
            "predicted_ns": point.predicted, "measured_ns": point.measured,
            "limit_ns": point.limit, "predicted_stream_ns": point.predicted_stream,
            "measured_stream_ns": point.measured_stream, "hop_ns": point.sentinel,
        })
    };
    let searched = |found: &Searched| {
        json!({
            "bytes": found.bytes, "chosen": plan(found.chosen), "chosen_ns": found.chosen_time,
            "best": plan(found.best), "best_ns": found.best_time,
        })
    };
    let steps: Vec<Value> = report
        .steps
        .iter()
        .map(|&(bytes, chosen)| json!({ "upto": bytes, "plan": plan(chosen) }))
        .collect();
    json!({
        "schema": SCHEMA, "medium": report.medium,
        "processor": report.machine.processor, "cores": report.machine.cores,
        "cache": report.machine.cache, "kernel": report.machine.kernel,
        "contact_ns": report.contact.as_nanos() as u64, "hop_ns": report.costs.hop,
        "stages": stages(report).map(stage).collect::<Vec<_>>(), "plans": steps,
        "points": report.points.iter().map(point).collect::<Vec<_>>(),
        "searched": report.searched.iter().map(searched).collect::<Vec<_>>(),
        "noise": report.noise(),
    })
}

/// The paper's figure 3: latency left, bandwidth right, over message size.
fn draw(report: &Report) -> String {
    let series = |name: &str, color, mark, of: &dyn Fn(&Point) -> f64| Series {
        name: name.to_owned(),
        color,
        mark,
        points: report.points.iter().map(|point| (point.bytes as f64, of(point))).collect(),
    };
    let panel = |title: &str, y: &str, series| Panel {
        title: title.to_owned(),
        x: "message size, bytes".to_owned(),
        y: y.to_owned(),
        x_label: figure::bytes,
        series,
    };
    let rate = |point: &Point, time: f64| point.bytes as f64 / time;
    let latency = vec![
        series("one copy (limit)", "#999", Mark::Dashes, &|point| point.limit / 1e3),
        series("predicted", "#1f6fb4", Mark::Line, &|point| point.predicted / 1e3),
        series("measured", "#d1541e", Mark::Dots, &|point| point.measured / 1e3),
    ];
    let bandwidth = vec![
        series("one copy (limit)", "#999", Mark::Dashes, &|point| rate(point, point.limit)),
        series("predicted", "#1f6fb4", Mark::Line, &|p| rate(p, p.predicted_stream)),
        series("measured", "#d1541e", Mark::Dots, &|p| rate(p, p.measured_stream)),
    ];
    let panels = [
        panel("latency, one way", "microseconds", latency),
        panel("bandwidth of a stream", "GB/s", bandwidth),
    ];
    let below = match report.noise() {
        None => about(report),
        Some(noise) => format!("{}; noisy: {noise}", about(report)),
    };
    figure::svg(&format!("muster fabric probe: {}", report.medium), &below, &panels)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn a_report_is_told_as_text_as_json_and_as_a_figure() {
        let path = std::env::temp_dir().join(format!("muster-probe-cli-{}", std::process::id()));
        let start = |at| {
            std::thread::spawn(move || probe::receiver(&at).expect("a receiver"));
            Ok(())
        };
        // Where others have the cores, the receiver's part in trials may not come in time.
        let end = Instant::now() + Duration::from_secs(120);
        let report = loop {
            match probe::shared_memory(&path, start, false) {
                Err(muster_fabric::Error::Deadline { .. }) if Instant::now() < end => {}
                report => break report.expect("a probe"),
            }
        };
        let said = text(&report);
        for part in ["copy in", "copy out", "SIZE", "64 ", "16M", "L2"] {
            assert!(said.contains(part), "{part}: {said}");
        }
        let value = value(&report);
        assert_eq!(value["points"].as_array().map(Vec::len), Some(report.points.len()));
        assert_eq!(value["plans"][0]["plan"], "short");
        let svg = draw(&report);
        assert!(svg.contains("latency") && svg.contains("bandwidth"), "{svg}");
        assert!(!svg.contains("NaN"), "{svg}");
    }
}
