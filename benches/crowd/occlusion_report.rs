//! The tables, the gate and the plot of frames in which something is hidden.

use crate::Outcome;
use crate::occlusion::{Case, Figures, Hides, Levels};
use crate::places::{MILLION, SCENES};
use crate::report::Spread;
use std::fmt::Write as _;
use throng::ViewStats;

/// The figures of one case.
pub(crate) struct Row {
    pub(crate) case: Case,
    /// The camera's and the light's.
    views: [ViewStats; 2],
    /// The device's microseconds in the scopes with this name.
    scopes: Vec<(&'static str, Spread)>,
}

impl Row {
    /// `None` without figures.
    pub(crate) fn new(case: Case, figures: &[Figures]) -> Option<Self> {
        let last = figures.last()?;
        let mut views = [ViewStats::default(); 2];
        for (view, of) in views.iter_mut().zip(&last.views) {
            *view = *of;
        }
        let of = |name: &&'static str| {
            let time = |one: &Figures| {
                let same = one.scopes.iter().filter(|(other, _)| other == name);
                same.map(|(_, ms)| ms * 1e3).sum::<f64>()
            };
            (*name, Spread::of(figures.iter().map(time).collect()))
        };
        let mut names: Vec<&'static str> = Vec::new();
        for (name, _) in &last.scopes {
            if !names.contains(name) {
                names.push(*name);
            }
        }
        Some(Self {
            case,
            views,
            scopes: names.iter().map(of).collect(),
        })
    }

    /// Adds the people of another crowd, whose times are left out.
    pub(crate) fn add(&mut self, other: &Self) {
        for (view, more) in self.views.iter_mut().zip(&other.views) {
            view.shown += more.shown;
            view.triangles += more.triangles;
        }
    }

    fn triangles(&self) -> u64 {
        self.views.iter().map(|view| view.triangles).sum()
    }

    fn time(&self, name: &str) -> Option<f64> {
        let found = self.scopes.iter().find(|(other, _)| *other == name);
        found.map(|(_, time)| time.median)
    }

    /// The first cells of its lines in tables.
    fn head(&self) -> String {
        let Case {
            place,
            people,
            hides,
            levels,
        } = self.case;
        let (place, levels, hides) = (place.name(), levels.name(), hides.name());
        format!("| {place} | {people} | {levels} | {hides} |")
    }
}

/// The row of the same place and levels in which nothing is hidden.
fn open<'r>(rows: &'r [Row], row: &Row) -> Option<&'r Row> {
    let case = Case {
        hides: Hides::Nothing,
        ..row.case
    };
    rows.iter().find(|other| other.case == case)
}

/// Part of a whole in percent.
fn percent(part: u32, whole: u32) -> f64 {
    100.0 * f64::from(part) / f64::from(whole.max(1))
}

/// The levels of a character.
pub(crate) fn print_levels(levels: Levels) -> Outcome {
    let character = levels.character()?;
    let all = character.levels().map(|level| {
        let (triangles, error) = (level.triangles, level.error_m);
        format!("{triangles} ({error:.3} m, {:.2})", level.cover)
    });
    let all: Vec<_> = all.collect();
    println!(
        "\nLevels {}: {} triangles, then, with error and cover: {}",
        levels.name(),
        character.triangle_count(),
        all.join(", ")
    );
    Ok(())
}

/// People and triangles of all rows, then times.
pub(crate) fn print(rows: &[Row]) {
    println!(
        "\nPeople and millions of triangles in the camera's view and in the light's, and the most \
         that the bench allows:\n"
    );
    println!(
        "| place | people | levels | hidden by | camera | of those, late | % | light | % | camera, M \
         | light, M | both, M | at most, M |"
    );
    println!("|---|---:|---|---|{}", "---:|".repeat(9));
    for row in rows {
        let [camera, light] = &row.views;
        let all = open(rows, row).map_or([0; 2], |open| open.views.map(|view| view.shown));
        println!(
            "{} {} | {} | {:.1} | {} | {:.1} | {:.2} | {:.2} | {:.2} | {} |",
            row.head(),
            camera.shown,
            camera.late,
            percent(camera.shown, all[0]),
            light.shown,
            percent(light.shown, all[1]),
            millions(camera.triangles),
            millions(light.triangles),
            millions(row.triangles()),
            limit(row).map_or("–".into(), |most| most.to_string()),
        );
    }
}

/// Times of the stages, as far as they are not draws of walls.
pub(crate) fn print_stages(rows: &[Row]) {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in rows.iter().flat_map(|row| &row.scopes) {
        if !names.contains(name) {
            names.push(name);
        }
    }
    println!(
        "\nThe device's microseconds by stage, with their ratio to the stage cull where nothing is \
         hidden:\n"
    );
    println!(
        "| place | people | levels | hidden by | {} |",
        names.join(" | ")
    );
    println!("|---|---:|---|---|{}", "---:|".repeat(names.len()));
    for row in rows {
        let base = open(rows, row).and_then(|open| open.time("cull"));
        let cells = names.iter().map(|name| match (row.time(name), base) {
            (Some(time), Some(base)) if base > 0.0 => format!("{time:.1} ({:.2})", time / base),
            (Some(time), _) => format!("{time:.1}"),
            (None, _) => "–".into(),
        });
        let cells: Vec<_> = cells.collect();
        println!("{} {} |", row.head(), cells.join(" | "));
    }
}

/// The cost of a crowd of two sizes, on the CPU and in memory.
pub(crate) struct Cost {
    pub(crate) hides: Hides,
    pub(crate) people: [usize; 2],
    /// Microseconds of a frame's record.
    pub(crate) records: [Spread; 2],
    /// Bytes of the device's memory beyond palettes and pyramids.
    pub(crate) bytes: [u64; 2],
}

/// The CPU's time by the number of people, and memory for each of them.
pub(crate) fn print_costs(costs: &[Cost]) {
    println!(
        "\nThe CPU's microseconds to record `record_prepare_behind` and `record_reveal` with cold \
         caches, median (minimum), and the device's memory for each instance beyond palettes:\n"
    );
    println!("| hidden by | people | CPU, µs | people | CPU, µs | ratio | bytes an instance |");
    println!("|---|{}", "---:|".repeat(6));
    for cost in costs {
        let [few, many] = cost.people;
        let [first, second] = cost.records;
        let more = many.saturating_sub(few).max(1) as f64;
        println!(
            "| {} | {few} | {:.1} ({:.1}) | {many} | {:.1} ({:.1}) | {} | {:.0} |",
            cost.hides.name(),
            first.median,
            first.min,
            second.median,
            second.min,
            second.over(first),
            cost.bytes[1].saturating_sub(cost.bytes[0]) as f64 / more,
        );
    }
}

fn millions(triangles: u64) -> f64 {
    triangles as f64 / 1e6
}

/// The most triangles of a row, in millions.
fn limit(row: &Row) -> Option<f64> {
    let Case {
        place,
        people,
        hides,
        levels,
    } = row.case;
    let mut scenes = SCENES.iter().chain([&MILLION]);
    let scene = scenes.find(|it| (it.people, it.place) == (people, place))?;
    let levels = Levels::ALL.iter().position(|it| *it == levels)?;
    let hides = Hides::ALL.iter().position(|it| *it == hides)?;
    let most = *scene.most_m.get(levels)?.get(hides)?;
    (most > 0.0).then_some(most)
}

/// Fails if a case shows more triangles than its limit.
///
/// # Errors
/// The cases, their triangles and limits.
pub(crate) fn check(rows: &[Row]) -> Outcome {
    let mut faults = String::new();
    for row in rows {
        let (shown, most) = (millions(row.triangles()), limit(row).unwrap_or(f64::MAX));
        if shown > most {
            let head = row.head();
            writeln!(
                faults,
                "{head} {shown:.2} million triangles, not at most {most}"
            )?;
        }
    }
    match faults.is_empty() {
        true => Ok(()),
        false => Err(format!("too many triangles:\n{faults}").into()),
    }
}

const LEFT: f64 = 100.0;
const WIDTH: f64 = 560.0;
const BAR: f64 = 14.0;
const STEP: f64 = 17.0;
const HEAD: f64 = 30.0;

/// The colours of the camera's triangles and of the light's.
fn colors(hides: Hides) -> [&'static str; 2] {
    match hides {
        Hides::Nothing => ["#4477aa", "#a6c1dc"],
        Hides::Walls => ["#228833", "#9ccf9f"],
        Hides::People => ["#aa3377", "#dfa9c8"],
    }
}

/// Triangles by place: a bar for each case, of the camera and of the light. Rows with far levels
/// come first. Their scale is another.
pub(crate) fn plot(rows: &[Row]) -> Outcome<String> {
    let with = |levels| rows.iter().filter(move |row| row.case.levels == levels);
    let most_of = |levels| {
        let sums = with(levels).map(|row| millions(row.triangles()));
        sums.fold(1e-6, f64::max)
    };
    let rows: Vec<&Row> = with(Levels::Far).chain(with(Levels::Near)).collect();
    let place = |row: &Row| (row.case.place, row.case.people, row.case.levels);
    let groups = rows.chunk_by(|a, b| place(a) == place(b));
    let width = LEFT + WIDTH + 70.0;
    let height = 80.0 + groups.count() as f64 * HEAD + rows.len() as f64 * STEP;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n\
         <text x=\"10\" y=\"24\" font-size=\"15\">Millions of triangles a frame, by what hides \
         people: camera (dark) and shadow map (light)</text>\n"
    );
    let mut x = 10.0;
    for hides in Hides::ALL {
        for color in colors(hides) {
            writeln!(
                svg,
                "<rect x=\"{x}\" y=\"38\" width=\"{BAR}\" height=\"{BAR}\" fill=\"{color}\"/>"
            )?;
            x += BAR;
        }
        let at = x + 6.0;
        writeln!(svg, "<text x=\"{at}\" y=\"50\">{}</text>", hides.name())?;
        x += 110.0;
    }
    let mut y = 60.0;
    let mut last = None;
    for row in rows {
        if last.replace(place(row)) != Some(place(row)) {
            y += HEAD;
            writeln!(
                svg,
                "<text x=\"10\" y=\"{:.1}\" font-weight=\"bold\">{} people, {} (levels: {})</text>",
                y - 8.0,
                row.case.people,
                row.case.place.name(),
                row.case.levels.name()
            )?;
        }
        let text = y + 0.8 * BAR;
        writeln!(
            svg,
            "<text x=\"{}\" y=\"{text:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 6.0,
            row.case.hides.name()
        )?;
        let mut x = LEFT;
        for (view, color) in row.views.iter().zip(colors(row.case.hides)) {
            let long = WIDTH * millions(view.triangles) / most_of(row.case.levels);
            writeln!(
                svg,
                "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{long:.1}\" height=\"{BAR}\" \
                 fill=\"{color}\"/>"
            )?;
            x += long;
        }
        let all = millions(row.triangles());
        let at = x + 5.0;
        writeln!(svg, "<text x=\"{at:.1}\" y=\"{text:.1}\">{all:.2}</text>")?;
        y += STEP;
    }
    Ok(svg + "</svg>\n")
}
