//! Topologies of communicators (MPI-5.0, chapter 8). Ranks keep their order: whom the network has
//! near each other the launch decides.

use std::ffi::c_int;

use muster_mpi::error::{About, Class, Error, Result};
use muster_mpi::group::Group;
use muster_mpi::topology::{Cartesian, Dimension, Distributed, Edge, Graph, Topology, dims_create};

use crate::abi::constants::*;
use crate::abi::types::*;
use crate::array::{Array, OutArray};
use crate::buffer::count;
use crate::communicator::{Comm, all_say, all_say_each, communicator, with_topology};
use crate::export::export;
use crate::info;
use crate::pointer::Out;

/// A rank, as calls have it; `None` is nobody.
fn rank_or_none(rank: Option<u32>) -> c_int {
    rank.map_or(MPI_PROC_NULL, u32::cast_signed)
}

/// A communicator without topologies and other groups, of which one with a topology can be made.
fn plain(comm: &Comm) -> Result<u32> {
    if comm.inner.remote().is_some() {
        let what = "an intercommunicator cannot have a topology";
        return Err(Error::new(Class::Comm, what));
    }
    Ok(comm.inner.size())
}

/// A communicator of the first ranks of another, as many as its topology has.
fn made(comm: &Comm, size: u32, topology: Topology) -> Result<MPI_Comm> {
    let first: Vec<u32> = comm.inner.group().members().take(size as usize).collect();
    let group = Group::of(first).expect("members of a group are different");
    let group = group.of_session(comm.inner.group().session());
    let context = comm.inner.next_context(0);
    with_topology(comm, comm.inner.with(context, group, None), Some(topology))
}

/// What a communicator does not have.
fn lacking(what: &str) -> Error {
    Error::new(Class::Topology, format!("the communicator has no {what}"))
}

fn grid(comm: &Comm) -> Result<&Cartesian> {
    match &comm.topology {
        Some(Topology::Cartesian(grid)) => Ok(grid),
        _ => Err(lacking("Cartesian topology")),
    }
}

fn graph(comm: &Comm) -> Result<&Graph> {
    match &comm.topology {
        Some(Topology::Graph(graph)) => Ok(graph),
        _ => Err(lacking("graph topology")),
    }
}

fn distributed(comm: &Comm) -> Result<&Distributed> {
    match &comm.topology {
        Some(Topology::Distributed(graph)) => Ok(graph),
        _ => Err(lacking("distributed graph topology")),
    }
}

/// A number of dimensions.
fn dimensions(number: c_int) -> Result<usize> {
    usize::try_from(number).map_err(|_| {
        Error::new(Class::Dims, format!("a grid of {number} dimensions")).value(number)
    })
}

/// A grid that fits into a communicator.
fn grid_of(
    number: c_int,
    sizes: Array<'_, c_int>,
    periods: Array<'_, c_int>,
    most: u32,
) -> Result<Cartesian> {
    let number = dimensions(number)?;
    let periods = periods.slice(number)?.iter();
    let both = sizes.slice(number)?.iter().zip(periods);
    let list: Vec<Dimension> =
        both.map(|(size, period)| Dimension { size: *size, periodic: *period != 0 }).collect();
    Cartesian::new(&list, most)
}

/// A graph that fits into a communicator: as many edges as the index says.
fn graph_of(
    number: c_int,
    index: Array<'_, c_int>,
    edges: Array<'_, c_int>,
    most: u32,
) -> Result<Graph> {
    let index = index.slice(count(number)?)?;
    let number = index.last().map_or(Ok(0), |last| count(*last))?;
    Graph::new(index, edges.slice(number)?, most)
}

/// Weights of edges, if there are any.
fn weights(list: Array<'_, c_int>, number: usize) -> Result<Option<&[c_int]>> {
    match list.address() {
        MPI_UNWEIGHTED => Ok(None),
        // Each edge has a weight, so there are no edges.
        MPI_WEIGHTS_EMPTY if number > 0 => {
            let what = format!("{number} edges have the weights MPI_WEIGHTS_EMPTY");
            Err(Error::new(Class::Arg, what).about(About::Address(MPI_WEIGHTS_EMPTY)))
        }
        MPI_WEIGHTS_EMPTY => Ok(Some(&[])),
        _ => list.slice(number).map(Some),
    }
}

/// The edges that all ranks name, each three numbers, and whether they have weights.
fn all_edges(comm: &Comm, own: &[c_int], is_weighted: bool) -> Result<(Vec<c_int>, bool)> {
    let lengths = all_say(comm, &[own.len() as c_int, is_weighted.into()])?;
    let is_weighted = lengths.iter().any(|said| said[1] != 0);
    let lengths: Vec<usize> = lengths.iter().map(|said| said[0] as usize).collect();
    Ok((all_say_each(comm, own, &lengths)?, is_weighted))
}

/// Fills the beginning of an array that has room for so many.
fn fill(array: OutArray<'_, c_int>, room: c_int, list: impl Iterator<Item = c_int>) -> Result<()> {
    let list: Vec<c_int> = list.take(count(room)?).collect();
    array.slice(list.len())?.copy_from_slice(&list);
    Ok(())
}

/// Fills the neighbours of a rank, and their weights where they have some and they are wanted.
fn fill_edges(
    graph: &Distributed,
    edges: &[Edge],
    room: c_int,
    ranks: OutArray<'_, c_int>,
    weights: OutArray<'_, c_int>,
) -> Result<()> {
    fill(ranks, room, edges.iter().map(|edge| edge.rank.cast_signed()))?;
    if !graph.weighted || weights.address() == MPI_UNWEIGHTED {
        return Ok(());
    }
    fill(weights, room, edges.iter().map(|edge| edge.weight))
}

export! {
    /// Dimensions of a grid.
    fn MPI_Dims_create(nodes: c_int, number: c_int, sizes: OutArray<c_int>) {
        dims_create(nodes, sizes.slice(dimensions(number)?)?)
    }

    /// Which topology there is.
    fn MPI_Topo_test(comm: MPI_Comm, kind: Out<c_int>) on comm {
        kind.set(match &communicator(comm)?.topology {
            None => MPI_UNDEFINED,
            Some(Topology::Cartesian(_)) => MPI_CART,
            Some(Topology::Graph(_)) => MPI_GRAPH,
            Some(Topology::Distributed(_)) => MPI_DIST_GRAPH,
        })
    }

    /// A grid of the first ranks.
    fn MPI_Cart_create(
        comm: MPI_Comm, number: c_int, sizes: Array<c_int>, periods: Array<c_int>,
        reorder: c_int, new: Out<MPI_Comm>,
    ) on comm {
        let _ = reorder;
        let comm = communicator(comm)?;
        let grid = grid_of(number, sizes, periods, plain(&comm)?)?;
        new.set(made(&comm, grid.size(), Topology::Cartesian(grid))?)
    }

    /// The grids of some of its dimensions.
    fn MPI_Cart_sub(comm: MPI_Comm, remain: Array<c_int>, new: Out<MPI_Comm>) on comm {
        let comm = communicator(comm)?;
        let grid = grid(&comm)?;
        let remain = remain.slice(grid.dimensions().len())?;
        let remain: Vec<bool> = remain.iter().map(|remains| *remains != 0).collect();
        let (own, _, part) = grid.part(comm.inner.rank().cast_signed(), &remain)?;
        // Ranks of one part are in its order: both orders are by rows.
        let parts = (0..grid.size().cast_signed()).map(|rank| grid.part(rank, &remain));
        let parts = parts.collect::<Result<Vec<_>>>()?;
        let members = (0..).zip(&parts).filter(|(_, (part, ..))| *part == own);
        let members: Vec<c_int> = members.map(|(rank, _)| rank).collect();
        let group = comm.inner.group().include(&members)?;
        let context = comm.inner.next_context(own.into());
        let inner = comm.inner.with(context, group, None);
        new.set(with_topology(&comm, inner, Some(Topology::Cartesian(part)))?)
    }

    /// How many dimensions it has.
    fn MPI_Cartdim_get(comm: MPI_Comm, number: Out<c_int>) on comm {
        number.set(grid(&*communicator(comm)?)?.dimensions().len() as c_int)
    }

    /// Its dimensions, and this process's place.
    fn MPI_Cart_get(
        comm: MPI_Comm, room: c_int, sizes: OutArray<c_int>, periods: OutArray<c_int>,
        place: OutArray<c_int>,
    ) on comm {
        let comm = communicator(comm)?;
        let grid = grid(&comm)?;
        let own = grid.coordinates(comm.inner.rank().cast_signed())?;
        fill(sizes, room, grid.dimensions().iter().map(|one| one.size))?;
        fill(periods, room, grid.dimensions().iter().map(|one| one.periodic.into()))?;
        fill(place, room, own.into_iter())
    }

    /// The rank at a place.
    fn MPI_Cart_rank(comm: MPI_Comm, place: Array<c_int>, rank: Out<c_int>) on comm {
        let comm = communicator(comm)?;
        let grid = grid(&comm)?;
        rank.set(grid.rank(place.slice(grid.dimensions().len())?)?.cast_signed())
    }

    /// The place of a rank.
    fn MPI_Cart_coords(
        comm: MPI_Comm, rank: c_int, room: c_int, place: OutArray<c_int>,
    ) on comm {
        let found = grid(&*communicator(comm)?)?.coordinates(rank)?;
        fill(place, room, found.into_iter())
    }

    /// The ranks on both sides.
    fn MPI_Cart_shift(
        comm: MPI_Comm, direction: c_int, by: c_int, source: Out<c_int>, dest: Out<c_int>,
    ) on comm {
        let comm = communicator(comm)?;
        let shift = grid(&comm)?.shift(comm.inner.rank().cast_signed(), direction, by)?;
        source.set(rank_or_none(shift.source))?;
        dest.set(rank_or_none(shift.destination))
    }

    /// The rank that this process would have in a grid.
    fn MPI_Cart_map(
        comm: MPI_Comm, number: c_int, sizes: Array<c_int>, periods: Array<c_int>,
        rank: Out<c_int>,
    ) on comm {
        let comm = communicator(comm)?;
        let grid = grid_of(number, sizes, periods, plain(&comm)?)?;
        let own = comm.inner.rank();
        rank.set(if own < grid.size() { own.cast_signed() } else { MPI_UNDEFINED })
    }

    /// A graph of the first ranks.
    fn MPI_Graph_create(
        comm: MPI_Comm, number: c_int, index: Array<c_int>, edges: Array<c_int>, reorder: c_int,
        new: Out<MPI_Comm>,
    ) on comm {
        let _ = reorder;
        let comm = communicator(comm)?;
        let graph = graph_of(number, index, edges, plain(&comm)?)?;
        new.set(made(&comm, graph.size(), Topology::Graph(graph))?)
    }

    /// How large it is.
    fn MPI_Graphdims_get(comm: MPI_Comm, nodes: Out<c_int>, edges: Out<c_int>) on comm {
        let comm = communicator(comm)?;
        let graph = graph(&comm)?;
        nodes.set(graph.index().len() as c_int)?;
        edges.set(graph.edges().len() as c_int)
    }

    /// What it was made of.
    fn MPI_Graph_get(
        comm: MPI_Comm, index_room: c_int, edges_room: c_int, index: OutArray<c_int>,
        edges: OutArray<c_int>,
    ) on comm {
        let comm = communicator(comm)?;
        let graph = graph(&comm)?;
        fill(index, index_room, graph.index().iter().copied())?;
        fill(edges, edges_room, graph.edges().iter().copied())
    }

    /// How many neighbours a rank has.
    fn MPI_Graph_neighbors_count(comm: MPI_Comm, rank: c_int, number: Out<c_int>) on comm {
        let comm = communicator(comm)?;
        let graph = graph(&comm)?;
        number.set(graph.neighbors(comm.inner.group().checked(rank)?).count() as c_int)
    }

    /// Who they are.
    fn MPI_Graph_neighbors(
        comm: MPI_Comm, rank: c_int, room: c_int, neighbors: OutArray<c_int>,
    ) on comm {
        let comm = communicator(comm)?;
        let found = graph(&comm)?.neighbors(comm.inner.group().checked(rank)?);
        fill(neighbors, room, found.map(u32::cast_signed))
    }

    /// The rank that this process would have in a graph.
    fn MPI_Graph_map(
        comm: MPI_Comm, number: c_int, index: Array<c_int>, edges: Array<c_int>, rank: Out<c_int>,
    ) on comm {
        let comm = communicator(comm)?;
        let graph = graph_of(number, index, edges, plain(&comm)?)?;
        let own = comm.inner.rank();
        rank.set(if own < graph.size() { own.cast_signed() } else { MPI_UNDEFINED })
    }

    /// A graph of which each process names the edges that it likes.
    fn MPI_Dist_graph_create(
        comm: MPI_Comm, number: c_int, sources: Array<c_int>, degrees: Array<c_int>,
        destinations: Array<c_int>, edge_weights: Array<c_int>, info: MPI_Info, reorder: c_int,
        new: Out<MPI_Comm>,
    ) on comm {
        info::infos(info)?;
        let _ = reorder;
        let (comm, number) = (communicator(comm)?, count(number)?);
        let size = plain(&comm)?;
        let degree = |(at, degree): (usize, &c_int)| {
            count(*degree).map_err(|error| error.within(degrees.address(), at))
        };
        let degrees = degrees.slice(number)?.iter().enumerate().map(degree);
        let degrees = degrees.collect::<Result<Vec<usize>>>()?;
        let all = degrees.iter().sum();
        let (ends, weights) = (destinations.slice(all)?, weights(edge_weights, all)?);
        let starts = sources.slice(number)?.iter().zip(&degrees);
        let starts = starts.flat_map(|(source, degree)| std::iter::repeat_n(*source, *degree));
        let weight = |at: usize| weights.map_or(1, |weights| weights[at]);
        let own = starts.zip(ends).enumerate().flat_map(|(at, (source, end))| {
            [source, *end, weight(at)]
        });
        let own: Vec<c_int> = own.collect();
        let (edges, is_weighted) = all_edges(&comm, &own, weights.is_some())?;
        let (edges, _) = edges.as_chunks::<3>();
        let graph = Distributed::of_edges(edges, comm.inner.rank(), size, is_weighted)?;
        new.set(made(&comm, size, Topology::Distributed(graph))?)
    }

    /// A graph of which each process names its own edges.
    fn MPI_Dist_graph_create_adjacent(
        comm: MPI_Comm, from_number: c_int, sources: Array<c_int>, from_weights: Array<c_int>,
        to_number: c_int, destinations: Array<c_int>, to_weights: Array<c_int>, info: MPI_Info,
        reorder: c_int, new: Out<MPI_Comm>,
    ) on comm {
        info::infos(info)?;
        let _ = reorder;
        let comm = communicator(comm)?;
        let (from, to) = (count(from_number)?, count(to_number)?);
        let size = plain(&comm)?;
        let graph = Distributed::adjacent(
            (sources.slice(from)?, weights(from_weights, from)?),
            (destinations.slice(to)?, weights(to_weights, to)?),
            size,
        )?;
        new.set(made(&comm, size, Topology::Distributed(graph))?)
    }

    /// How many edges this process has.
    fn MPI_Dist_graph_neighbors_count(
        comm: MPI_Comm, from: Out<c_int>, to: Out<c_int>, is_weighted: Out<c_int>,
    ) on comm {
        let comm = communicator(comm)?;
        let graph = distributed(&comm)?;
        from.set(graph.sources.len() as c_int)?;
        to.set(graph.destinations.len() as c_int)?;
        is_weighted.set(graph.weighted.into())
    }

    /// Where they come from and lead to.
    fn MPI_Dist_graph_neighbors(
        comm: MPI_Comm, from_room: c_int, sources: OutArray<c_int>, from_weights: OutArray<c_int>,
        to_room: c_int, destinations: OutArray<c_int>, to_weights: OutArray<c_int>,
    ) on comm {
        let comm = communicator(comm)?;
        let graph = distributed(&comm)?;
        fill_edges(graph, &graph.sources, from_room, sources, from_weights)?;
        fill_edges(graph, &graph.destinations, to_room, destinations, to_weights)
    }
}
