//! Graph topologies (MPI-5.0, sections 8.5.3 and 8.5.5).

use crate::error::{Class, Error, Result};

/// A graph that every process knows whole (`MPI_Graph_create`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Graph {
    index: Box<[i32]>,
    edges: Box<[i32]>,
}

fn bad(argument: &'static str, what: String) -> Error {
    Error::new(Class::Arg, what).of(argument)
}

impl Graph {
    /// `index` has for each rank how many neighbours it and all before it have, `edges` all
    /// neighbours rank by rank.
    ///
    /// # Errors
    /// `MPI_ERR_ARG`: there are more ranks than `most`, the index decreases or does not end with
    /// the edges, or an edge leads to no rank.
    pub fn new(index: &[i32], edges: &[i32], most: u32) -> Result<Graph> {
        let count = index.len();
        if count > most as usize {
            return Err(bad("nnodes", format!("a graph of {count} ranks does not go into {most}")));
        }
        let mut before = 0;
        for (rank, &end) in index.iter().enumerate() {
            if end < before {
                return Err(bad(
                    "indx",
                    format!("index {end} of rank {rank} is less than that before it"),
                ));
            }
            before = end;
        }
        if before as usize != edges.len() {
            let edges = edges.len();
            return Err(bad(
                "indx",
                format!("the index ends at {before} and not with the {edges} edges"),
            ));
        }
        if let Some(edge) = edges.iter().find(|&&edge| edge < 0 || edge as usize >= count) {
            return Err(bad(
                "edges",
                format!("an edge leads to rank {edge} in a graph of {count}"),
            ));
        }
        Ok(Graph { index: index.into(), edges: edges.into() })
    }

    /// The index that it was made of.
    #[must_use]
    pub fn index(&self) -> &[i32] {
        &self.index
    }

    /// The edges that it was made of.
    #[must_use]
    pub fn edges(&self) -> &[i32] {
        &self.edges
    }

    /// Ranks.
    #[must_use]
    pub fn size(&self) -> u32 {
        self.index.len() as u32
    }

    /// The neighbours of a rank of the graph.
    pub fn neighbors(&self, rank: u32) -> impl Iterator<Item = u32> {
        let start = rank.checked_sub(1).map_or(0, |before| self.index[before as usize]);
        let end = self.index[rank as usize];
        self.edges[start as usize..end as usize].iter().map(|&edge| edge as u32)
    }
}

/// An edge, as one of its ends has it: the other end, and what the program says of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    /// The rank at the other end.
    pub rank: u32,
    /// Its weight; 1 in graphs without weights.
    pub weight: i32,
}

/// A process's edges in a graph of which each process knows its own (`MPI_Dist_graph_create`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Distributed {
    /// Who sends to it.
    pub sources: Box<[Edge]>,
    /// Whom it sends to.
    pub destinations: Box<[Edge]>,
    /// Whether weights were given.
    pub weighted: bool,
}

/// An edge to a rank, checked against the size of the communicator.
fn edge(rank: i32, weight: i32, size: u32) -> Result<Edge> {
    let valid = u32::try_from(rank).ok().filter(|&rank| rank < size);
    let rank = valid.ok_or_else(|| {
        let what = format!("an edge leads to rank {rank} of {size} processes");
        Error::new(Class::Rank, what)
    })?;
    if weight < 0 {
        return Err(Error::new(Class::Arg, format!("the edge to rank {rank} weighs {weight}")));
    }
    Ok(Edge { rank, weight })
}

/// Edges to ranks.
fn edges(ranks: &[i32], weights: Option<&[i32]>, size: u32) -> Result<Box<[Edge]>> {
    let edge = |(at, &rank): (usize, &i32)| {
        edge(rank, weights.map_or(1, |weights| weights[at]), size).map_err(|error| {
            let of = if error.class == Class::Rank { Some(ranks) } else { weights };
            error.within(of.map_or(0, |of| of.as_ptr().addr()), at)
        })
    };
    ranks.iter().enumerate().map(edge).collect()
}

impl Distributed {
    /// `MPI_Dist_graph_create_adjacent`: sources and destinations with their weights, which both
    /// have or neither. Weights are as many as ranks.
    ///
    /// # Errors
    /// `MPI_ERR_RANK`: an edge leads to no rank; `MPI_ERR_ARG`: a weight is negative.
    pub fn adjacent(
        sources: (&[i32], Option<&[i32]>),
        destinations: (&[i32], Option<&[i32]>),
        size: u32,
    ) -> Result<Distributed> {
        Ok(Distributed {
            sources: edges(sources.0, sources.1, size)?,
            destinations: edges(destinations.0, destinations.1, size)?,
            weighted: sources.1.is_some(),
        })
    }

    /// `MPI_Dist_graph_create`: what `rank` has of edges that processes brought together, each of
    /// which is source, destination and weight.
    ///
    /// # Errors
    /// `MPI_ERR_RANK`: an edge leads to no rank; `MPI_ERR_ARG`: a weight is negative.
    pub fn of_edges(all: &[[i32; 3]], rank: u32, size: u32, weighted: bool) -> Result<Distributed> {
        let (mut sources, mut destinations) = (Vec::new(), Vec::new());
        for &[source, destination, weight] in all {
            let weight = if weighted { weight } else { 1 };
            let of = |argument: &'static str| {
                move |error: Error| match error.class {
                    Class::Rank => error.of(argument),
                    _ => error.of("weights"),
                }
            };
            let from = edge(source, weight, size).map_err(of("sources"))?;
            let to = edge(destination, weight, size).map_err(of("destinations"))?;
            if to.rank == rank {
                sources.push(from);
            }
            if from.rank == rank {
                destinations.push(to);
            }
        }
        let (sources, destinations) = (sources.into(), destinations.into());
        Ok(Distributed { sources, destinations, weighted })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::Topology;

    #[test]
    fn the_standards_example_of_a_graph() {
        // Section 8.5.3: 0 with 1 and 3, 1 with 0, 2 with 3, 3 with 0 and 2.
        let graph = Graph::new(&[2, 3, 4, 6], &[1, 3, 0, 3, 0, 2], 8).unwrap();
        let neighbors = |rank| graph.neighbors(rank).collect::<Vec<u32>>();
        assert_eq!(neighbors(0), [1, 3]);
        assert_eq!(neighbors(1), [0]);
        assert_eq!(neighbors(3), [0, 2]);
        let both = Topology::Graph(graph.clone()).neighbors(2);
        assert_eq!(both, (vec![Some(3)], vec![Some(3)]));
    }

    #[test]
    fn bad_graphs_are_refused() {
        let refused = |index: &[i32], edges: &[i32], most| {
            Graph::new(index, edges, most).unwrap_err().to_string()
        };
        assert_eq!(
            refused(&[1, 1, 1], &[0], 2),
            "MPI_ERR_ARG: a graph of 3 ranks does not go into 2"
        );
        assert_eq!(
            refused(&[2, 1], &[0, 1], 2),
            "MPI_ERR_ARG: index 1 of rank 1 is less than that before it"
        );
        assert_eq!(
            refused(&[1, 2], &[0], 2),
            "MPI_ERR_ARG: the index ends at 2 and not with the 1 edges"
        );
        assert_eq!(refused(&[1], &[1], 2), "MPI_ERR_ARG: an edge leads to rank 1 in a graph of 1");
    }

    #[test]
    fn each_process_knows_its_edges() {
        let all = [[0, 1, 5], [1, 0, 6], [2, 1, 7], [1, 1, 8]];
        let one = Distributed::of_edges(&all, 1, 3, true).unwrap();
        let list = |edges: &[Edge]| edges.iter().map(|one| (one.rank, one.weight)).collect();
        let (sources, destinations): (Vec<_>, Vec<_>) =
            (list(&one.sources), list(&one.destinations));
        assert_eq!(sources, [(0, 5), (2, 7), (1, 8)]);
        assert_eq!(destinations, [(0, 6), (1, 8)]);
        let same =
            Distributed::adjacent((&[0, 2, 1], Some(&[5, 7, 8])), (&[0, 1], Some(&[6, 8])), 3);
        assert_eq!(same.unwrap(), one);
        let (from, to) = Topology::Distributed(one).neighbors(1);
        assert_eq!((from, to), (vec![Some(0), Some(2), Some(1)], vec![Some(0), Some(1)]));
        assert_eq!(Distributed::of_edges(&all, 1, 2, false).unwrap_err().class, Class::Rank);
        let negative = Distributed::adjacent((&[0], Some(&[-1])), (&[], Some(&[])), 3);
        assert_eq!(negative.unwrap_err().class, Class::Arg);
    }
}
