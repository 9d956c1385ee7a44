//! A stage of the pipeline and how its costs are found.

/// What a stage costs: `beta` nanoseconds for a packet and `tau` nanoseconds for a byte of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[allow(missing_docs, reason = "the type's own line says what they are")]
pub struct Stage {
    pub beta: f64,
    pub tau: f64,
}

impl Stage {
    /// Nanoseconds for a packet.
    pub fn time(&self, bytes: usize) -> f64 {
        self.beta + self.tau * bytes as f64
    }

    /// The line that fits samples of (bytes, nanoseconds) best, by least squares.
    ///
    /// A sample weighs by the inverse square of its time, so it is relative errors that are
    /// squared: else the longest sample alone would decide beta. Costs are never negative.
    pub fn fit(samples: &[(usize, f64)]) -> Stage {
        let (mut weights, mut x, mut y, mut xx, mut xy) = (0.0, 0.0, 0.0, 0.0, 0.0);
        for &(bytes, time) in samples {
            let (bytes, weight) = (bytes as f64, 1.0 / (time * time).max(1e-6));
            weights += weight;
            x += weight * bytes;
            y += weight * time;
            xx += weight * bytes * bytes;
            xy += weight * bytes * time;
        }
        let spread = weights * xx - x * x;
        if weights == 0.0 {
            return Stage::default();
        }
        let tau = if spread > 1e-9 * weights * xx { (weights * xy - x * y) / spread } else { 0.0 };
        let beta = (y - tau * x) / weights;
        if tau < 0.0 {
            Stage { beta: y / weights, tau: 0.0 }
        } else if beta < 0.0 {
            Stage { beta: 0.0, tau: xy / xx }
        } else {
            Stage { beta, tau }
        }
    }
}

/// EPOS's optimal packet length for a message (equation 8): the root of
/// `bytes * beta / sum(tau)`, where `stages` are all stages of the pipeline.
///
/// The stage that takes longest paces the pipeline. Its beta is paid for every packet, so it is in
/// favour of long packets; the taus of all others are paid while the pipeline fills and drains, so
/// they are in favour of short ones. Its own tau is paid for every byte whatever the length.
pub fn optimum(stages: &[Stage], bytes: usize) -> f64 {
    let paced = |a: &&Stage, b: &&Stage| (a.tau, a.beta).partial_cmp(&(b.tau, b.beta));
    let Some(slowest) =
        stages.iter().max_by(|a, b| paced(a, b).unwrap_or(std::cmp::Ordering::Equal))
    else {
        return bytes as f64;
    };
    let others = stages.iter().map(|stage| stage.tau).sum::<f64>() - slowest.tau;
    if others <= 0.0 {
        return bytes as f64;
    }
    (bytes as f64 * slowest.beta / others).sqrt().min(bytes as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Table 1 of the paper has microseconds and microseconds per KB. Its third stage is bounded
    /// by what packets meet on the way there (inequality 3): the betas of the first three, and
    /// the largest tau.
    #[test]
    fn the_papers_example_is_3490_bytes() {
        let stage = |beta: f64, tau: f64| Stage { beta: beta * 1e3, tau: tau * 1e3 / 1024.0 };
        let (copy, dma) = (stage(3.0, 5.9), stage(0.6, 7.6));
        let network = stage(3.0 + 0.6 + 1.3, 7.6);
        let found = optimum(&[copy, dma, network, dma, copy], 64 * 1024);
        assert_eq!(found.round(), 3490.0);
    }

    #[test]
    fn a_single_stage_takes_whole_messages() {
        assert_eq!(optimum(&[Stage { beta: 1.0, tau: 1.0 }], 4096), 4096.0);
        assert_eq!(optimum(&[], 4096), 4096.0);
    }

    #[test]
    fn samples_without_a_slope_still_fit() {
        assert_eq!(Stage::fit(&[]), Stage::default());
        assert_eq!(Stage::fit(&[(64, 10.0)]), Stage { beta: 10.0, tau: 0.0 });
        assert_eq!(Stage::fit(&[(64, 20.0), (128, 10.0)]).tau, 0.0);
    }

    proptest! {
        #[test]
        fn a_line_is_found_again(beta in 1.0..1e4f64, tau in 1e-3..10.0f64) {
            let true_costs = Stage { beta, tau };
            let samples = [512, 8192, 65536].map(|bytes| (bytes, true_costs.time(bytes)));
            let found = Stage::fit(&samples);
            prop_assert!((found.beta - beta).abs() < 1e-3 * beta.max(1.0) + 1e-3);
            prop_assert!((found.tau - tau).abs() < 1e-3 * tau);
        }

        #[test]
        fn costs_are_never_negative(times in prop::array::uniform3(1.0..1e6f64)) {
            let found = Stage::fit(&[(512, times[0]), (8192, times[1]), (65536, times[2])]);
            prop_assert!(found.beta >= 0.0 && found.tau >= 0.0, "{found:?}");
        }

        #[test]
        fn longer_messages_have_longer_packets(
            stages in prop::collection::vec((1.0..1e4f64, 0.001..10.0f64), 2..6),
            bytes in 1usize..1 << 24,
        ) {
            let stages: Vec<Stage> =
                stages.into_iter().map(|(beta, tau)| Stage { beta, tau }).collect();
            prop_assert!(optimum(&stages, bytes) <= optimum(&stages, 2 * bytes));
        }
    }
}
