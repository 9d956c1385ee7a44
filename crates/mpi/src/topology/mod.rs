//! Process topologies (MPI-5.0, chapter 8): who neighbours whom, as arithmetic and tables.

mod cartesian;
mod dims;
mod graph;

pub use cartesian::{Cartesian, Dimension, Shift};
pub use dims::create as dims_create;
pub use graph::{Distributed, Edge, Graph};

/// The topology of a communicator.
#[derive(Debug, Clone)]
pub enum Topology {
    /// A grid.
    Cartesian(Cartesian),
    /// A graph that every process knows.
    Graph(Graph),
    /// A graph of which every process knows its own edges.
    Distributed(Distributed),
}

impl Topology {
    /// Whom `rank` receives from and whom it sends to in neighbourhood collectives, in their order
    /// (section 8.6). `None` is `MPI_PROC_NULL`, behind the border of a grid.
    #[must_use]
    pub fn neighbors(&self, rank: u32) -> (Vec<Option<u32>>, Vec<Option<u32>>) {
        match self {
            Topology::Cartesian(grid) => (grid.neighbors(rank), grid.neighbors(rank)),
            Topology::Graph(graph) => {
                let list: Vec<Option<u32>> = graph.neighbors(rank).map(Some).collect();
                (list.clone(), list)
            }
            Topology::Distributed(graph) => {
                let ranks = |edges: &[Edge]| edges.iter().map(|edge| Some(edge.rank)).collect();
                (ranks(&graph.sources), ranks(&graph.destinations))
            }
        }
    }
}
