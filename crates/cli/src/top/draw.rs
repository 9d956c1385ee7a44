//! How `muster top` looks: nodes in a grid, jobs in a table, slots in a matrix, in whatever room
//! there is.

use super::model::{Health, JobRow, Matrix, Model, NodeRow};
use crate::members::JobName;
use crate::table;
use muster_base::nodeset::fold;
use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Cell, Paragraph, Row, Table, TableState, Widget};
use std::collections::BTreeMap;

/// Columns of a bar.
const BAR: usize = 5;

/// Columns of a node's cell in the grid behind its name: two bars with their numbers, load, ranks.
const CELL: usize = 34;

/// Columns more where nodes are drained, for the word.
const DRAINED: usize = 8;

/// Columns of a job's name at most: one of another cluster has that in front.
const JOB_MAX: usize = 16;

/// The longest name of a node that is shown whole.
const NAME_MAX: usize = 12;

/// Draws all of it.
pub fn draw(model: &Model, area: Rect, buffer: &mut Buffer) {
    let (lines, mut matrix) = (node_lines(model, area.width), matrix(model, area.width));
    let mut room = area;
    header(model).render(above(&mut room, 1), buffer);
    footer(model).render(below(&mut room, 1), buffer);
    // Nodes and slots leave half of the room to jobs.
    let place = above(&mut room, lines.len().min(usize::from(area.height / 3)));
    let shown = usize::from(place.height.saturating_sub(1));
    let from = model.from_line % (lines.len().saturating_sub(shown).max(1));
    let seen = lines[..1].iter().chain(&lines[1 + from..]);
    Paragraph::new(seen.cloned().collect::<Vec<_>>()).render(place, buffer);
    let place = below(&mut room, matrix.len().min(usize::from(area.height / 4)));
    let left_out = matrix.len().saturating_sub(usize::from(place.height));
    if left_out > 0 && place.height > 0 {
        matrix.truncate(usize::from(place.height) - 1);
        matrix.push(Line::raw(format!("… {} lines more", left_out + 1)));
    }
    Paragraph::new(matrix).render(place, buffer);
    draw_jobs(model, room, buffer);
}

/// Takes so many lines from above, as far as they are there.
fn above(room: &mut Rect, lines: usize) -> Rect {
    let height = room.height.min(u16::try_from(lines).unwrap_or(u16::MAX));
    let taken = Rect { height, ..*room };
    *room = Rect { y: room.y + height, height: room.height - height, ..*room };
    taken
}

/// Takes them from below.
fn below(room: &mut Rect, lines: usize) -> Rect {
    let height = room.height.min(u16::try_from(lines).unwrap_or(u16::MAX));
    room.height -= height;
    Rect { y: room.y + room.height, height, ..*room }
}

/// All that there is to show, in lines of text.
pub fn text(model: &Model, width: u16) -> String {
    let (nodes, slots) = (node_lines(model, width).len(), matrix(model, width).len());
    // Nodes get a third of it, slots a fourth.
    let height = (nodes + model.jobs().len() + slots).max(nodes * 3).max(slots * 4) + 12;
    let height = u16::try_from(height).unwrap_or(u16::MAX);
    let area = Rect::new(0, 0, width, height);
    let mut buffer = Buffer::empty(area);
    draw(model, area, &mut buffer);
    let line = |y: u16| -> String {
        let cells = (0..width).map(|x| buffer[(x, y)].symbol());
        cells.collect::<String>().trim_end().to_owned()
    };
    // Without the keys, and without empty lines that follow others.
    let mut lines: Vec<String> = (0..height.saturating_sub(1)).map(line).collect();
    lines.dedup_by(|a, b| a.is_empty() && b.is_empty());
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines.join("\n") + "\n"
}

fn header(model: &Model) -> Line<'static> {
    let nodes = model.nodes();
    let jobs = model.jobs().len();
    let ranks: usize = nodes.iter().map(|node| node.ranks).sum();
    // One says it for all of its cluster, but not for others.
    let load = nodes.iter().find_map(|node| node.load).filter(|_| !model.is_merged());
    let count = |health| nodes.iter().filter(|node| node.health == health).count();
    let mut said = format!("{} nodes up", count(Health::Up));
    for health in [Health::Drained, Health::Slow, Health::Down] {
        if count(health) > 0 {
            said += &format!(", {} {}", count(health), health.name());
        }
    }
    said += &format!(" · {jobs} jobs · {ranks} ranks run");
    if let Some(load) = load {
        said += &format!(" · load {load:.1}");
    }
    let title = model.title();
    Line::from(vec![
        Span::styled("muster top", Style::new().bold().fg(Color::Cyan)),
        Span::raw(format!(" · {title} · {said}")),
    ])
}

fn footer(model: &Model) -> Line<'static> {
    if let Some(job) = &model.asked {
        let question = format!(" kill job {}? y: yes, any other key: no ", job.label());
        return Line::styled(question, Style::new().fg(Color::Black).bg(Color::Yellow));
    }
    if let Some(note) = &model.note {
        return Line::styled(note.clone(), Style::new().fg(Color::Yellow));
    }
    let keys = [("q", "quit"), ("↑↓", "choose"), ("k", "kill"), ("s", "sort"), ("←→", "nodes")];
    let mut spans = Vec::new();
    for (key, what) in keys {
        spans.push(Span::styled(key, Style::new().bold().fg(Color::Cyan)));
        spans.push(Span::styled(format!(" {what}   "), Style::new().fg(Color::DarkGray)));
    }
    Line::from(spans)
}

/// Nodes, as many in a line as there is room for, below a head.
fn node_lines(model: &Model, width: u16) -> Vec<Line<'static>> {
    let nodes = model.nodes();
    let name = nodes.iter().map(|node| node.name.chars().count() + 1).max().unwrap_or(0);
    let name = name.clamp(5, NAME_MAX + 1);
    let is_drained = |node: &NodeRow| node.health == Health::Drained;
    let cell = CELL + if nodes.iter().any(is_drained) { DRAINED } else { 0 };
    let across = (usize::from(width) / (name + cell)).max(1);
    let mut head =
        format!("{:<name$}{:<11}{:<6}{:<11}{:<6}", "NODE", "CPU", "LOAD", "MEM", "RANKS");
    head.extend(std::iter::repeat_n(' ', cell - CELL));
    let style = Style::new().bold().fg(Color::DarkGray);
    let mut lines = vec![Line::styled(head.repeat(across.min(nodes.len().max(1))), style)];
    lines.extend(nodes.chunks(across).map(|some| {
        let spans: Vec<Span> = some.iter().flat_map(|node| node_cell(node, name, cell)).collect();
        Line::from(spans)
    }));
    lines
}

fn node_cell(node: &NodeRow, name: usize, cell: usize) -> Vec<Span<'static>> {
    let cut = if node.is_elsewhere { cut_front } else { table::cut };
    let named = format!("{:<name$}", cut(&node.name, name - 1));
    let named = Span::styled(named, Style::new().bold());
    let is_there = matches!(node.health, Health::Up | Health::Drained);
    if !is_there || node.why.is_some() {
        let color = if node.health == Health::Slow { Color::Yellow } else { Color::Red };
        let why = table::cut(node.why.as_deref().unwrap_or(node.health.name()), cell - 1);
        return vec![named, Span::styled(format!("{why:<cell$}"), Style::new().fg(color))];
    }
    let drained = if node.health == Health::Drained { node.health.name() } else { "" };
    let cpus = node.cpus.unwrap_or(1).max(1) as f64;
    let share = node.percent.map_or(0.0, |percent| (percent / 100.0 / cpus).min(1.0));
    let percent = node.percent.map_or("-".to_owned(), |_| format!("{:.0}%", share * 100.0));
    let load = node.load.map_or("-".to_owned(), |load| format!("{load:.1}"));
    let (used, all) = node.memory.unwrap_or_default();
    let memory = if all > 0 { used as f64 / all as f64 } else { 0.0 };
    vec![
        named,
        Span::styled(bar(share), Style::new().fg(heat(share))),
        Span::raw(format!(" {percent:<5}{load:<6}")),
        Span::styled(bar(memory), Style::new().fg(heat(memory))),
        Span::raw(format!(" {:<5}{:<6}", table::bytes(used), node.ranks)),
        Span::styled(format!("{drained:<0$}", cell - CELL), Style::new().fg(Color::Yellow)),
    ]
}

/// At most so many letters of what begins with a cluster's name: the last, which tell what it is
/// there.
fn cut_front(text: &str, most: usize) -> String {
    let letters = text.chars().count();
    if letters <= most {
        return text.to_owned();
    }
    let left_out = letters - most.saturating_sub(1);
    std::iter::once('…').chain(text.chars().skip(left_out)).collect()
}

fn heat(share: f64) -> Color {
    match share {
        ..0.6 => Color::Green,
        ..0.9 => Color::Yellow,
        _ => Color::Red,
    }
}

/// A bar of which a share is filled, in eighths of a column.
fn bar(share: f64) -> String {
    const PARTS: [char; 8] = ['·', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
    let eighths = (share.clamp(0.0, 1.0) * 8.0 * BAR as f64).round() as usize;
    let column = |at: usize| match eighths.saturating_sub(at * 8) {
        part @ 0..8 => PARTS[part],
        _ => '█',
    };
    (0..BAR).map(column).collect()
}

fn draw_jobs(model: &Model, area: Rect, buffer: &mut Buffer) {
    let rows = model.jobs();
    let heads = ["JOB", "STATE", "NAME", "USER", "NODES", "RANKS", "CPU%", "CPU", "MEM", "TIME"];
    let mut widths = [5, 9, 16, 8, 12, 6, 7, 9, 6, 8].map(Constraint::Length);
    let names = rows.iter().map(|row| row.id.label().chars().count());
    widths[0] = Constraint::Length(names.max().unwrap_or(0).clamp(5, JOB_MAX) as u16);
    // What does not fit is left out, the least first.
    let order = [0, 2, 1, 6, 9, 8, 5, 4, 7, 3];
    let mut kept: Vec<usize> = Vec::new();
    let mut room = area.width;
    for column in order {
        let Constraint::Length(width) = widths[column] else { continue };
        if room < width {
            break;
        }
        room = room.saturating_sub(width + 1);
        kept.push(column);
    }
    kept.sort_unstable();
    let head = |column: &usize| {
        let is_sorted = heads[*column] == model.order.name();
        let style = if is_sorted { Style::new().underlined() } else { Style::new() };
        Cell::from(heads[*column]).style(style)
    };
    let head = Row::new(kept.iter().map(head)).style(Style::new().bold().fg(Color::DarkGray));
    let body = rows.iter().map(|row| {
        let cells = cells(row);
        Row::new(kept.iter().map(|column| Cell::from(cells[*column].clone()))).style(state(row))
    });
    let widths: Vec<Constraint> = kept.iter().map(|column| widths[*column]).collect();
    let table = Table::new(body, widths)
        .header(head)
        .row_highlight_style(Style::new().add_modifier(Modifier::REVERSED));
    let chosen = rows.iter().position(|row| Some(&row.id) == model.chosen.as_ref());
    let mut state = TableState::new().with_selected(chosen);
    // An empty line apart from the nodes.
    let mut area = area;
    above(&mut area, 1);
    ratatui::widgets::StatefulWidget::render(table, area, buffer, &mut state);
}

fn cells(row: &JobRow) -> [String; 10] {
    [
        cut_front(&row.id.label(), JOB_MAX),
        row.state.to_owned(),
        row.name.clone(),
        row.user.clone(),
        fold(&row.nodes),
        row.ranks.to_string(),
        row.percent.map_or("-".to_owned(), |percent| format!("{percent:.1}")),
        table::span(row.cpu),
        table::bytes(row.memory_kib * 1024),
        table::span(row.time),
    ]
}

fn state(row: &JobRow) -> Style {
    match row.state {
        "running" => Style::new(),
        "ending" => Style::new().fg(Color::Yellow),
        _ => Style::new().fg(Color::DarkGray),
    }
}

/// The matrices, each below a head.
fn matrix(model: &Model, width: u16) -> Vec<Line<'static>> {
    let lines = |matrix: Matrix<'_>| rows(&matrix, model.chosen.as_ref(), usize::from(width));
    model.matrices().flat_map(lines).collect()
}

/// Nodes that have the same jobs in all slots.
struct Alike<'a> {
    nodes: Vec<&'a str>,
    /// By slot.
    jobs: Vec<&'a Vec<u32>>,
}

fn alike<'a>(matrix: &'a Matrix<'_>) -> Vec<Alike<'a>> {
    let (mut all, mut known) = (Vec::<Alike<'_>>::new(), BTreeMap::new());
    for (at, node) in matrix.nodes.iter().enumerate() {
        let jobs: Vec<&Vec<u32>> = matrix.cells.iter().map(|row| &row[at]).collect();
        let place = *known.entry(jobs.clone()).or_insert(all.len());
        if place == all.len() {
            all.push(Alike { nodes: Vec::new(), jobs });
        }
        all[place].nodes.push(node);
    }
    all
}

/// A column for nodes that are alike, and as many blocks of lines as these take.
fn rows(matrix: &Matrix<'_>, chosen: Option<&JobName>, width: usize) -> Vec<Line<'static>> {
    let Matrix { cluster, slots, .. } = matrix;
    let word = |jobs: &Vec<u32>| match &jobs[..] {
        [] => "·".to_owned(),
        [one] => one.to_string(),
        [first, rest @ ..] => format!("{first}+{}", rest.len()),
    };
    let slice = slots.slice;
    let title = cluster.map_or_else(|| "SLOT".to_owned(), |cluster| format!("{cluster} SLOT"));
    let title = format!("{title} {slice:?} ");
    let first = title.chars().count().max(12);
    let room = width.saturating_sub(first).max(2);
    let columns = alike(matrix);
    let head = |of: &Alike<'_>| table::cut(&fold(&of.nodes), room - 1);
    let words = columns.iter().flat_map(|of| &of.jobs).map(|jobs| word(jobs));
    let all = words.chain(columns.iter().map(head));
    let wide = all.map(|word| word.chars().count()).max().unwrap_or(1) + 1;
    let is_chosen = |job: u32| chosen == Some(&JobName::of(*cluster, job));
    let cell = |jobs: &Vec<u32>| {
        let style = jobs.first().map_or(Style::new().fg(Color::DarkGray), |job| {
            let style = Style::new().fg(colour(*job));
            if is_chosen(*job) { style.reversed() } else { style }
        });
        Span::styled(format!("{:>wide$}", word(jobs)), style)
    };
    let mut lines = Vec::new();
    for block in columns.chunks((room / wide).max(1)) {
        let heads = block.iter().map(|of| format!("{:>wide$}", head(of))).collect::<String>();
        let style = Style::new().bold().fg(Color::DarkGray);
        lines.extend([Line::default(), Line::styled(format!("{title:<first$}{heads}"), style)]);
        lines.extend((0..slots.slots.len()).map(|slot| {
            let cells = block.iter().map(|of| cell(of.jobs[slot]));
            let number = Span::raw(format!("{slot:<first$}"));
            Line::from(std::iter::once(number).chain(cells).collect::<Vec<Span>>())
        }));
    }
    lines
}

/// A job's colour, so that it is found in all slots at a glance.
fn colour(job: u32) -> Color {
    const COLOURS: [Color; 6] = [
        Color::LightGreen,
        Color::LightCyan,
        Color::LightMagenta,
        Color::LightYellow,
        Color::LightBlue,
        Color::LightRed,
    ];
    COLOURS[job as usize % COLOURS.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::top::model::{Action, Key, Part, Sight};
    use muster_machine::manager::overview::Overview;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use serde_json::json;

    fn model(nodes: usize, jobs: u32) -> Model {
        let mut model = Model::new("default");
        model.sample(overview(nodes, jobs));
        model
    }

    fn overview(nodes: usize, jobs: u32) -> Overview {
        let node = |number: usize| {
            json!({"name": format!("n{number}"), "state": "up", "cpus": 2, "load": 0.5,
                "mem_total": 1000, "mem_available": 250, "ranks": 3, "cpu_us": 0})
        };
        let job = |id: u32| {
            json!({"id": id, "state": "running", "name": format!("job{id}"), "size": 4,
                "nodes": ["n0", "n1"], "submitted": 90.0, "started": 90.0,
                "usage": {"user_us": 1_500_000 * u64::from(id), "rss_kib": 2048}})
        };
        let slots = json!({"slice": {"secs": 0, "nanos": 2_000_000}, "slots": [[1], [2]]});
        let overview = json!({"at": 100.0, "slots": slots,
            "nodes": (0..nodes).map(node).collect::<Vec<_>>(),
            "jobs": (1..=jobs).map(job).collect::<Vec<_>>()});
        serde_json::from_value(overview).expect("an overview")
    }

    fn press(model: &mut Model, keys: &[Key]) {
        for key in keys {
            assert_eq!(model.key(*key), Action::Nothing);
        }
    }

    fn screen(model: &Model, width: u16, height: u16) -> Vec<String> {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal.draw(|frame| draw(model, frame.area(), frame.buffer_mut())).unwrap();
        let buffer = terminal.backend().buffer();
        let line = |y| (0..width).map(|x| buffer[(x, y)].symbol()).collect::<String>();
        (0..height).map(|y| line(y).trim_end().to_owned()).collect()
    }

    #[test]
    fn nodes_jobs_and_slots_are_on_the_screen() {
        let screen = screen(&model(4, 2), 100, 24);
        assert!(screen[0].starts_with("muster top · cluster default · 4 nodes up · 2 jobs"));
        assert_eq!(screen[1].matches("NODE").count(), 2);
        assert!(screen[2].starts_with("n0   ····· -    0.5   ███▊· 750B 3"), "{screen:#?}");
        assert_eq!(screen[5].split_whitespace().next(), Some("JOB"));
        let job: Vec<&str> = screen[7].split_whitespace().collect();
        assert_eq!(job[..3], ["2", "running", "job2"]);
        assert_eq!(job[4..], ["n[0-1]", "4", "-", "3.0s", "2.0M", "10.0s"]);
        let slots = screen.iter().position(|line| line.starts_with("SLOT 2ms")).expect("slots");
        assert!(screen[slots].ends_with(" n[0-1] n[2-3]"), "{screen:#?}");
        assert!(screen[slots + 2].ends_with("      2      ·"), "{screen:#?}");
        assert!(screen[23].contains("q quit"));
    }

    #[test]
    fn each_node_is_counted_as_what_it_is_and_a_drained_one_shows_what_still_runs() {
        let mut overview = overview(5, 0);
        for (at, state) in [(2, "slow"), (3, "slow"), (4, "down")] {
            let node = &mut overview.nodes[at];
            (node.state, node.why) = (state.to_owned(), Some(format!("{state} since then")));
        }
        overview.nodes[1].drained = Some("new memory".to_owned());
        let left_out = vec!["big".to_owned(), "lab".to_owned()];
        let mut model = Model::new("default");
        model.sample(Sight { left_out, ..overview.into() });
        let screen = screen(&model, 110, 24);
        let said = "cluster default without big, lab · 1 nodes up, 1 drained, 2 slow, 1 down · 0";
        assert!(screen[0].contains(said), "{screen:#?}");
        assert!(screen[2].starts_with("n0   ·····"), "{screen:#?}");
        assert!(
            screen[2].ends_with("n1   ····· -    0.5   ███▊· 750B 3     drained"),
            "{screen:#?}"
        );
        assert!(screen[3].starts_with("n2   slow since then") && screen[4].contains("down since"));
    }

    #[test]
    fn each_cluster_whose_jobs_take_turns_has_a_matrix_in_which_its_own_job_is_chosen() {
        let mut model = Model::new("default");
        let mut sight = Sight::from(overview(2, 2));
        sight.parts.push(Part { name: Some("big".into()), overview: overview(3, 2) });
        model.sample(sight);
        press(&mut model, &[Key::Up, Key::Kill]);
        let screen = screen(&model, 100, 40);
        let matrices: Vec<&String> = screen.iter().filter(|line| line.contains("SLOT")).collect();
        assert!(matrices[0].starts_with("SLOT 2ms") && matrices[0].ends_with(" n[0-1]"));
        assert!(matrices[1].starts_with("big SLOT 2ms") && matrices[1].ends_with(" n[0-1]     n2"));
        assert!(screen[0].contains("clusters default, big · 5 nodes up · 4 jobs"), "{screen:#?}");
        assert!(screen.iter().any(|line| line.starts_with("big.2")), "{screen:#?}");
        assert!(screen[39].contains("kill job big.2?"), "{screen:#?}");
    }

    #[test]
    fn of_clusters_with_long_names_each_node_and_job_is_told_apart() {
        let mut model = Model::new("default");
        let mut sight = Sight::from(overview(1, 1));
        for name in ["production-east", "production-west"] {
            sight.parts.push(Part { name: Some(name.into()), overview: overview(2, 12) });
        }
        model.sample(sight);
        let screen = screen(&model, 100, 60);
        let shown = screen.join("\n");
        // 12 letters of a node, 16 of a job.
        for label in ["…ion-east.n0 ", "…ion-west.n1 ", "…oduction-east.7 ", "…duction-west.12 "]
        {
            assert!(shown.contains(label), "{label}: {shown}");
        }
        assert!(!screen[0].contains("load"), "{screen:#?}");
    }

    #[test]
    fn any_size_of_a_terminal_will_do() {
        let mut model = model(64, 30);
        press(&mut model, &[Key::Down, Key::Kill]);
        for (width, height) in [(80, 24), (40, 10), (20, 5), (10, 3), (3, 1), (1, 1), (300, 80)] {
            let screen = screen(&model, width, height);
            assert_eq!(screen.len(), usize::from(height));
        }
        let narrow = screen(&model, 50, 24).join("\n");
        assert!(narrow.contains("CPU%") && !narrow.contains("USER"), "{narrow}");
        assert!(narrow.contains("kill job 1? y: yes"), "{narrow}");
    }

    #[test]
    fn the_chosen_job_and_nodes_further_down_are_brought_into_view() {
        let mut model = model(64, 40);
        assert!(!screen(&model, 80, 24).join("\n").contains("n63"));
        press(&mut model, &[Key::Right; 25]);
        press(&mut model, &[Key::Down; 40]);
        let shown = screen(&model, 80, 24).join("\n");
        assert!(shown.contains("n63") && shown.contains("job40"), "{shown}");
    }

    #[test]
    fn as_text_nothing_is_left_out() {
        // Once a large queue ended in the middle.
        for (nodes, jobs, width) in [(64, 40, 100), (3, 1500, 250), (1500, 3, 100)] {
            let text = text(&model(nodes, jobs), width);
            let words: Vec<&str> = text.split_whitespace().collect();
            let all = (0..nodes).map(|node| format!("n{node}"));
            for word in all.chain((1..=jobs).map(|job| format!("job{job}"))) {
                assert!(words.contains(&&*word), "{word}: {text}");
            }
            assert!(text.contains("SLOT") && !text.contains("quit"), "{text}");
            assert!(text.lines().all(|line| !line.ends_with(' ')));
        }
    }

    /// Behind the last column and below the last line were slots that nobody knew of.
    #[test]
    fn each_job_that_takes_turns_is_in_the_matrix_or_it_is_said_that_there_are_more() {
        let mut overview = overview(64, 256);
        for (at, job) in overview.jobs.iter_mut().enumerate() {
            job.nodes = vec![format!("n{}", at % 64)];
        }
        let slots = (0..4).map(|slot| (slot * 64 + 1..=slot * 64 + 64).collect());
        overview.slots.as_mut().unwrap().slots = slots.collect();
        let mut model = Model::new("default");
        model.sample(overview);
        let text = text(&model, 100);
        let matrix: Vec<&str> = text.lines().skip_while(|line| !line.starts_with("SLOT")).collect();
        let words: Vec<&str> = matrix.iter().flat_map(|line| line.split_whitespace()).collect();
        let all = (0..64).map(|node| format!("n{node}")).chain((5..=256).map(|id| id.to_string()));
        all.for_each(|word| assert!(words.contains(&&*word), "{word}: {text}"));
        let screen = screen(&model, 80, 24).join("\n");
        assert!(screen.contains(" lines more"), "{screen}");
    }

    #[test]
    fn bars_fill_in_eighths() {
        assert_eq!(bar(0.0), "·····");
        assert_eq!(bar(0.6), "███··");
        assert_eq!(bar(0.1), "▌····");
        assert_eq!(bar(7.0), "█████");
    }
}
