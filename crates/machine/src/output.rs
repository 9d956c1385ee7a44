//! What all ranks of a job write, as one row of records: so it is kept, and so it is read from
//! `jobs/J/output`.
//!
//! A record is `rank[4] stream[1] length[4] bytes[length]`, little-endian; stream 0 is stdout and
//! 1 is stderr. One of length 0 says that this stream has ended. One of rank 2^32 - 1 says that the
//! job begins again, and why: what follows is of its next attempt.

/// Bytes before those of a rank.
pub const HEADER: usize = 9;

/// The rank of a record that says that the job begins again.
pub const AGAIN: usize = u32::MAX as usize;

/// The longest piece of output in one record.
pub const PIECE_MAX: usize = 64 * 1024;

/// A stream of a rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

impl Output {
    /// Both.
    pub const BOTH: [Output; 2] = [Output::Stdout, Output::Stderr];

    /// Its name, which is that of its file.
    pub fn name(self) -> &'static str {
        match self {
            Output::Stdout => "stdout",
            Output::Stderr => "stderr",
        }
    }
}

/// What stands before a rank's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// Who wrote them.
    pub rank: usize,
    /// Where.
    pub output: Output,
    /// How many there are; none at the end.
    pub length: usize,
}

/// These bytes are no record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("output of a job that is no row of records")]
pub struct NoRecord;

impl Head {
    /// As it is written.
    pub fn bytes(self) -> [u8; HEADER] {
        let number = |number: usize| u32::try_from(number).expect("it is small").to_le_bytes();
        let mut bytes = [0; HEADER];
        bytes[..4].copy_from_slice(&number(self.rank));
        bytes[4] = self.output as u8;
        bytes[5..].copy_from_slice(&number(self.length));
        bytes
    }

    /// Reads one.
    ///
    /// # Errors
    /// When it is none.
    pub fn read(bytes: &[u8; HEADER]) -> Result<Head, NoRecord> {
        let number = |from: usize| {
            let four = bytes[from..from + 4].try_into().expect("four bytes");
            u32::from_le_bytes(four) as usize
        };
        let output = *Output::BOTH.get(usize::from(bytes[4])).ok_or(NoRecord)?;
        let length = Some(number(5)).filter(|length| *length <= PIECE_MAX).ok_or(NoRecord)?;
        Ok(Head { rank: number(0), output, length })
    }
}

/// Cuts a row of records, which arrives in pieces, into its records.
#[derive(Debug, Default)]
pub struct Records {
    held: Vec<u8>,
}

impl Records {
    /// Takes the next piece, and gives all records that are whole.
    ///
    /// # Errors
    /// When something in it is no record.
    pub fn push(
        &mut self,
        piece: &[u8],
        each: &mut dyn FnMut(Head, &[u8]),
    ) -> Result<(), NoRecord> {
        self.held.extend_from_slice(piece);
        let mut rest = &self.held[..];
        while let Some((head, behind)) = rest.split_first_chunk() {
            let head = Head::read(head)?;
            let Some((bytes, next)) = behind.split_at_checked(head.length) else { break };
            each(head, bytes);
            rest = next;
        }
        let done = self.held.len() - rest.len();
        self.held.drain(..done);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_cut_into_its_records_wherever_its_pieces_end() {
        let all = [(0, Output::Stdout, "a\n"), (300, Output::Stderr, "b"), (0, Output::Stdout, "")];
        let record = |(rank, output, text): &(usize, Output, &str)| {
            let head = Head { rank: *rank, output: *output, length: text.len() };
            [&head.bytes(), text.as_bytes()].concat()
        };
        let row = all.iter().flat_map(record).collect::<Vec<u8>>();
        for first in 0..=row.len() {
            for second in first..=row.len() {
                let (mut records, mut got) = (Records::default(), Vec::new());
                for piece in [&row[..first], &row[first..second], &row[second..]] {
                    let each = &mut |head: Head, bytes: &[u8]| {
                        let text = String::from_utf8(bytes.to_vec()).unwrap();
                        got.push((head.rank, head.output, text));
                    };
                    records.push(piece, each).unwrap();
                }
                let wanted = all.map(|(rank, output, text)| (rank, output, text.to_owned()));
                assert_eq!(got, wanted);
            }
        }
    }

    #[test]
    fn what_is_no_record_is_refused() {
        let good = Head { rank: 1, output: Output::Stderr, length: PIECE_MAX };
        assert_eq!(Head::read(&good.bytes()), Ok(good));
        let long = Head { length: PIECE_MAX + 1, ..good };
        assert_eq!(Head::read(&long.bytes()), Err(NoRecord));
        let mut stream = good.bytes();
        stream[4] = 2;
        assert_eq!(Records::default().push(&stream, &mut |_, _| ()), Err(NoRecord));
    }
}
