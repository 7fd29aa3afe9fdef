//! The tables and the plot of frames with culling.

use crate::Outcome;
use crate::culling::{Case, Detail, FRAMES_IN_FLIGHT, Figures, InView, OnGpu};
use crate::load::Kind;
use crate::report::Spread;
use std::fmt::Write as _;
use throng::Stats;

/// The figures of one case.
pub(crate) struct Row {
    pub(crate) case: Case,
    frames: usize,
    whole: Spread,
    update: Spread,
    animate: Spread,
    rest: Spread,
    draw: Spread,
    pub(crate) submission: Spread,
    /// The device's microseconds in the scopes with this name.
    scopes: Vec<(&'static str, Spread)>,
    /// The last frame's.
    stats: Stats,
}

impl Row {
    /// `None` without figures.
    pub(crate) fn new(case: Case, figures: &[Figures]) -> Option<Self> {
        let of = |value: fn(&Figures) -> f64| Spread::of(figures.iter().map(value).collect());
        Some(Self {
            case,
            frames: figures.len(),
            whole: of(Figures::whole_us),
            update: of(|one| one.stats.update_ms * 1e3),
            animate: of(|one| one.stats.animate_ms * 1e3),
            rest: of(|one| one.prepare_us - one.stats.animate_ms * 1e3),
            draw: of(|one| one.draw_us),
            submission: of(|one| one.submission_ms),
            scopes: scopes(figures),
            stats: figures.last()?.stats,
        })
    }

    fn is(&self, case: &Case) -> bool {
        self.case == *case
    }
}

/// The device's times by scope, in the order of the scopes. The first frames have those of frames
/// before them.
fn scopes(figures: &[Figures]) -> Vec<(&'static str, Spread)> {
    let figures = figures.get(FRAMES_IN_FLIGHT as usize..).unwrap_or_default();
    let mut names: Vec<&'static str> = Vec::new();
    for (name, _) in figures.iter().flat_map(|one| &one.scopes) {
        if !names.contains(name) {
            names.push(*name);
        }
    }
    let of = |one: &Figures, name| {
        let same = one.scopes.iter().filter(|scope| scope.0 == name);
        same.map(|(_, ms)| ms * 1e3).sum::<f64>()
    };
    let spread = |name| Spread::of(figures.iter().map(|one| of(one, name)).collect());
    names.into_iter().map(|name| (name, spread(name))).collect()
}

fn find<'r>(rows: &'r [Row], case: &Case) -> Option<&'r Row> {
    rows.iter().find(|row| row.is(case))
}

/// Median and minimum, in microseconds.
fn cell(spread: Spread) -> String {
    let number = |value: f64| match value {
        100.0.. => format!("{value:.0}"),
        _ => format!("{value:.1}"),
    };
    format!("{} ({})", number(spread.median), number(spread.min))
}

/// The columns of the first table, and the lines of the plot.
const COLUMNS: [(Detail, OnGpu); 6] = [
    (Detail::Levels, OnGpu::Nothing),
    (Detail::Full, OnGpu::Nothing),
    (Detail::Levels, OnGpu::Cull),
    (Detail::Full, OnGpu::Cull),
    (Detail::Levels, OnGpu::Both),
    (Detail::Full, OnGpu::Both),
];

/// The sizes in `rows`, ascending.
fn sizes(rows: &[Row]) -> Vec<u32> {
    let mut sizes: Vec<u32> = rows.iter().map(|row| row.case.instances).collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

/// The CPU time of a frame as a whole, then by part.
pub(crate) fn print_cpu(rows: &[Row]) {
    println!("\nCPU microseconds a frame with two views, median (minimum):\n");
    let names =
        COLUMNS.map(|(detail, on_gpu)| format!("{}, on the GPU: {}", detail.name(), on_gpu.name()));
    println!(
        "| instances | each plays | in view | {} |",
        names.join(" | ")
    );
    println!("|---:|---|---|{}", "---:|".repeat(COLUMNS.len()));
    for instances in sizes(rows) {
        for kind in Kind::CULLED {
            for in_view in InView::ALL {
                let cells = COLUMNS.map(|(detail, on_gpu)| {
                    let case = Case {
                        instances,
                        in_view,
                        detail,
                        kind,
                        on_gpu,
                        views: 2,
                        cold: false,
                    };
                    find(rows, &case).map_or("–".into(), |row| cell(row.whole))
                });
                let (kind, in_view) = (kind.name(), in_view.name());
                println!(
                    "| {instances} | {kind} | {in_view} | {} |",
                    cells.join(" | ")
                );
            }
        }
    }
    println!("\nThe same by part, medians:\n");
    println!(
        "| instances | each plays | in view | detail | on the GPU | frames | update | animate | rest of prepare | record_draw | whole | bytes | animated | posed on the GPU | shared poses | draws | submission, ms |"
    );
    println!("|---:|---|---|---|---|{}", "---:|".repeat(12));
    for row in rows {
        let case = &row.case;
        let parts = [row.update, row.animate, row.rest, row.draw, row.whole];
        let parts = parts.map(|part| format!("{:.1}", part.median)).join(" | ");
        println!(
            "| {} | {} | {} | {} | {} | {} | {parts} | {} | {} | {} | {} | {} | {:.2} |",
            case.instances,
            case.kind.name(),
            case.in_view.name(),
            case.detail.name(),
            case.on_gpu.name(),
            row.frames,
            row.stats.upload_bytes,
            row.stats.animated,
            row.stats.posed_on_gpu,
            row.stats.shared_poses,
            row.stats.draws,
            row.submission.median,
        );
    }
}

/// The CPU time of crowds at rest, with caches as the frame before left them, and with cold ones.
pub(crate) fn print_cold(rows: &[Row], cold: &[Row]) {
    println!("\nCPU microseconds a frame at rest with cull on the GPU, median (minimum):\n");
    println!("| instances | in view | caches as they are | cold caches | bytes | draws |");
    println!("|---:|---|{}", "---:|".repeat(4));
    for row in cold {
        let case = Case {
            cold: false,
            ..row.case
        };
        let warm = find(rows, &case).map_or("–".into(), |row| cell(row.whole));
        println!(
            "| {} | {} | {warm} | {} | {} | {} |",
            case.instances,
            case.in_view.name(),
            cell(row.whole),
            row.stats.upload_bytes,
            row.stats.draws,
        );
    }
}

/// The columns that describe a case that is drawn.
fn case_cells(case: &Case) -> String {
    format!(
        "{} | {} | {} | {} | {} | {}",
        case.instances,
        case.views,
        case.kind.name(),
        case.in_view.name(),
        case.detail.name(),
        case.on_gpu.name(),
    )
}

/// The time of whole submissions, with draws.
pub(crate) fn print_device(rows: &[Row]) {
    println!("\nMilliseconds of a submission with its draws, median (minimum):\n");
    println!(
        "| instances | views | each plays | in view | detail | on the GPU | frames | submission | no culling / this | triangles | CPU, µs |"
    );
    println!("|---:|---:|---|---|---|---|{}", "---:|".repeat(5));
    for row in rows {
        let case = &row.case;
        let uncut = Case {
            detail: Detail::Uncut,
            on_gpu: OnGpu::Nothing,
            ..*case
        };
        let ratio =
            find(rows, &uncut).map_or("–".into(), |uncut| uncut.submission.over(row.submission));
        println!(
            "| {} | {} | {} | {ratio} | {} | {} |",
            case_cells(case),
            row.frames,
            row.submission.cell(),
            row.stats.triangles,
            cell(row.whole),
        );
    }
}

/// The device's times of frames with draws, by scope.
pub(crate) fn print_scopes(rows: &[Row]) {
    let rows: Vec<&Row> = rows.iter().filter(|row| !row.scopes.is_empty()).collect();
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in rows.iter().flat_map(|row| &row.scopes) {
        if !names.contains(name) {
            names.push(name);
        }
    }
    if names.is_empty() {
        return;
    }
    println!("\nMicroseconds of the device by scope, with all views, median (minimum):\n");
    println!(
        "| instances | views | each plays | in view | detail | on the GPU | {} |",
        names.join(" | ")
    );
    println!("|---:|---:|---|---|---|---|{}", "---:|".repeat(names.len()));
    for row in rows {
        let case = &row.case;
        let time = |name: &&str| {
            let found = row.scopes.iter().find(|(other, _)| other == name);
            found.map_or("–".into(), |(_, spread)| cell(*spread))
        };
        let cells: Vec<String> = names.iter().map(time).collect();
        println!("| {} | {} |", case_cells(case), cells.join(" | "),);
    }
}

/// The CPU time of a frame of a model, by what is in view and by the stages on the GPU.
pub(crate) fn print_model(rows: &[Row]) {
    println!("\nCPU microseconds a frame with one view, medians:\n");
    println!(
        "| instances | in view | on the GPU | update | animate | rest of prepare | record_draw | whole (minimum) | bytes |"
    );
    println!("|---:|---|---|{}", "---:|".repeat(6));
    for row in rows {
        let parts = [row.update, row.animate, row.rest, row.draw];
        let parts = parts.map(|part| format!("{:.1}", part.median)).join(" | ");
        println!(
            "| {} | {} | {} | {parts} | {} | {} |",
            row.case.instances,
            row.case.in_view.name(),
            row.case.on_gpu.name(),
            cell(row.whole),
            row.stats.upload_bytes,
        );
    }
}

/// The CPU time of frames that show nothing, by the number of views.
pub(crate) fn print_unseen(rows: &[Row]) {
    println!("\nCPU microseconds a frame with nothing in view, median (minimum):\n");
    let names = OnGpu::ALL.map(|on_gpu| format!("on the GPU: {}", on_gpu.name()));
    println!("| instances | views | each plays | {} |", names.join(" | "));
    println!("|---:|---:|---|---:|---:|---:|");
    let first = |row: &&Row| row.case.on_gpu == OnGpu::Nothing;
    for row in rows.iter().filter(first) {
        let cells = OnGpu::ALL.map(|on_gpu| {
            let case = Case { on_gpu, ..row.case };
            find(rows, &case).map_or("–".into(), |row| cell(row.whole))
        });
        let Case {
            instances,
            views,
            kind,
            ..
        } = row.case;
        let (name, cells) = (kind.name(), cells.join(" | "));
        println!("| {instances} | {views} | {name} | {cells} |");
    }
}

const PANEL: f64 = 300.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 60.0;
const TOP: f64 = 60.0;
const BASE: f64 = 320.0;
/// Colours by what runs on the GPU.
const COLORS: [(OnGpu, &str); 3] = [
    (OnGpu::Nothing, "#4477aa"),
    (OnGpu::Cull, "#cc6677"),
    (OnGpu::Both, "#228833"),
];
/// Dashes of what is in view.
const DASHES: [(InView, &str); 3] = [
    (InView::All, "none"),
    (InView::Tenth, "7 3"),
    (InView::None, "2 3"),
];

/// The decades of an axis, as powers of ten.
struct Axis {
    first: f64,
    last: f64,
}

impl Axis {
    fn of(values: impl Iterator<Item = f64>) -> Self {
        let (mut first, mut last) = (f64::MAX, f64::MIN);
        for value in values {
            first = first.min(value.log10().floor());
            last = last.max(value.log10().ceil());
        }
        let last = last.max(first + 1.0);
        Self { first, last }
    }

    /// The position of a value on the axis, from 0 to 1.
    fn at(&self, value: f64) -> f64 {
        (value.log10() - self.first) / (self.last - self.first)
    }

    fn decades(&self) -> impl Iterator<Item = f64> {
        (self.first as i32..=self.last as i32).map(|power| 10.0_f64.powi(power))
    }
}

/// CPU microseconds by the number of instances, with levels of detail: one panel for each activity.
pub(crate) fn plot(rows: &[Row]) -> Outcome<String> {
    let levels: Vec<&Row> = rows
        .iter()
        .filter(|row| row.case.detail == Detail::Levels)
        .collect();
    let across = Axis::of(levels.iter().map(|row| row.case.instances.into()));
    let up = Axis::of(levels.iter().map(|row| row.whole.median));
    let width = LEFT + PANEL * Kind::CULLED.len() as f64;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{HEIGHT}\" \
         viewBox=\"0 0 {width} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"{width}\" height=\"{HEIGHT}\" fill=\"white\"/>\n\
         <text x=\"{LEFT}\" y=\"20\" font-size=\"14\">CPU microseconds a frame with two views and \
         levels of detail, by the number of instances</text>\n"
    );
    let y = |value: f64| BASE - (BASE - TOP) * up.at(value);
    for (number, kind) in Kind::CULLED.into_iter().enumerate() {
        let start = LEFT + PANEL * number as f64;
        let x = |value: f64| start + (PANEL - 30.0) * across.at(value);
        frame(&mut svg, (&across, &up), (&x, &y))?;
        let name = kind.name();
        writeln!(
            svg,
            "<text x=\"{start}\" y=\"{}\">{name}</text>",
            TOP - 10.0
        )?;
        for (on_gpu, color) in COLORS {
            for (in_view, dash) in DASHES {
                let of = |row: &&&Row| {
                    let case = &row.case;
                    (case.kind, case.on_gpu, case.in_view) == (kind, on_gpu, in_view)
                };
                let points: Vec<String> = levels
                    .iter()
                    .filter(of)
                    .map(|row| {
                        let (x, y) = (x(row.case.instances.into()), y(row.whole.median));
                        format!("{x:.1},{y:.1}")
                    })
                    .collect();
                line(&mut svg, &points.join(" "), (color, dash))?;
            }
        }
    }
    legend(&mut svg)?;
    Ok(svg + "</svg>\n")
}

/// The grid of a panel, with the numbers of its decades.
fn frame(
    svg: &mut String,
    (across, up): (&Axis, &Axis),
    (x, y): (&dyn Fn(f64) -> f64, &dyn Fn(f64) -> f64),
) -> Outcome {
    let ends = |axis: &Axis| [axis.first, axis.last].map(|power| 10.0_f64.powf(power));
    let [left, right] = ends(across).map(x);
    let [bottom, top] = ends(up).map(y);
    for value in across.decades() {
        let (at, below) = (x(value), BASE + 16.0);
        writeln!(
            svg,
            "<line x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{bottom:.1}\" y2=\"{top:.1}\" stroke=\"#dddddd\"/>\n\
             <text x=\"{at:.1}\" y=\"{below}\" text-anchor=\"middle\">{value}</text>"
        )?;
    }
    for value in up.decades() {
        let (at, before) = (y(value), left - 4.0);
        writeln!(
            svg,
            "<line x1=\"{left:.1}\" x2=\"{right:.1}\" y1=\"{at:.1}\" y2=\"{at:.1}\" stroke=\"#dddddd\"/>\n\
             <text x=\"{before:.1}\" y=\"{:.1}\" text-anchor=\"end\">{value}</text>",
            at + 4.0
        )?;
    }
    Ok(())
}

fn line(svg: &mut String, points: &str, (color, dash): (&str, &str)) -> Outcome {
    writeln!(
        svg,
        "<polyline points=\"{points}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"1.8\" \
         stroke-dasharray=\"{dash}\"/>"
    )?;
    Ok(())
}

fn legend(svg: &mut String) -> Outcome {
    for (row, (on_gpu, color)) in COLORS.into_iter().enumerate() {
        let y = BASE + 46.0 + 18.0 * row as f64;
        for (column, (in_view, dash)) in DASHES.into_iter().enumerate() {
            let x = LEFT + 280.0 * column as f64;
            line(svg, &format!("{x},{y} {},{y}", x + 30.0), (color, dash))?;
            let (on_gpu, in_view) = (on_gpu.name(), in_view.name());
            writeln!(
                svg,
                "<text x=\"{}\" y=\"{}\">on the GPU: {on_gpu}; in view: {in_view}</text>",
                x + 36.0,
                y + 4.0
            )?;
        }
    }
    Ok(())
}
