//! The table, the gate and the plot of frames in which something is hidden.

use crate::Outcome;
use crate::occlusion::{Case, Figures, Hides};
use crate::places::Place;
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
        let [camera, light] = *<&[ViewStats; 2]>::try_from(&last.views[..]).ok()?;
        let of = |name: &&'static str| {
            let time = |one: &Figures| {
                let same = one.scopes.iter().filter(|(other, _)| other == name);
                same.map(|(_, ms)| ms * 1e3).sum::<f64>()
            };
            (*name, Spread::of(figures.iter().map(time).collect()))
        };
        let names = last.scopes.iter().map(|(name, _)| name);
        Some(Self {
            case,
            views: [camera, light],
            scopes: names.map(of).collect(),
        })
    }

    fn triangles(&self) -> u64 {
        self.views.iter().map(|view| view.triangles).sum()
    }
}

/// The row of the same place in which nothing is hidden.
fn open<'r>(rows: &'r [Row], row: &Row) -> Option<&'r Row> {
    let case = Case {
        hides: Hides::Nothing,
        ..row.case
    };
    rows.iter().find(|other| other.case == case)
}

/// People, triangles and times of all rows.
pub(crate) fn print(rows: &[Row]) {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in rows.iter().flat_map(|row| &row.scopes) {
        if !names.contains(name) {
            names.push(name);
        }
    }
    println!("\nPeople and millions of triangles in the camera's view and in the light's:\n");
    println!(
        "| place | people | hidden by | camera | light | casters, % | camera, M | light, M \
         | both, M | {} |",
        names
            .iter()
            .map(|name| format!("{name}, µs"))
            .collect::<Vec<_>>()
            .join(" | ")
    );
    println!("|---|---:|---|{}", "---:|".repeat(6 + names.len()));
    for row in rows {
        let [camera, light] = &row.views;
        let casters = open(rows, row).map_or(0, |open| open.views[1].shown).max(1);
        let times = names.iter().map(|name| {
            let found = row.scopes.iter().find(|(other, _)| other == name);
            found.map_or("–".into(), |(_, time)| {
                format!("{:.1} ({:.1})", time.median, time.min)
            })
        });
        println!(
            "| {} | {} | {} | {} | {} | {:.1} | {:.2} | {:.2} | {:.2} | {} |",
            row.case.place.name(),
            row.case.people,
            row.case.hides.name(),
            camera.shown,
            light.shown,
            100.0 * f64::from(light.shown) / f64::from(casters),
            millions(camera.triangles),
            millions(light.triangles),
            millions(row.triangles()),
            times.collect::<Vec<_>>().join(" | "),
        );
    }
}

fn millions(triangles: u64) -> f64 {
    triangles as f64 / 1e6
}

/// The most triangles of a case, in millions: what was measured, and a fiftieth. They depend on no
/// driver.
const MOST_M: [(Place, usize, Hides, f64); 10] = [
    (Place::Rows, 100_000, Hides::Nothing, 34.4),
    (Place::Street, 100_000, Hides::Nothing, 28.1),
    (Place::Street, 100_000, Hides::Walls, 3.86),
    (Place::AboveRoofs, 100_000, Hides::Walls, 8.44),
    (Place::Plaza(200), 100_000, Hides::Walls, 6.07),
    (Place::Plaza(0), 100_000, Hides::Walls, 22.6),
    (Place::Street, 10_000, Hides::Nothing, 6.91),
    (Place::Street, 10_000, Hides::Walls, 2.33),
    (Place::Plaza(20), 10_000, Hides::Walls, 4.74),
    (Place::Rows, 10_000, Hides::Nothing, 8.65),
];

/// Fails if a case shows more triangles than before.
///
/// # Errors
/// The case, its triangles and the limit.
pub(crate) fn check(rows: &[Row]) -> Outcome {
    for row in rows {
        let Case {
            place,
            people,
            hides,
        } = row.case;
        let limit = MOST_M
            .iter()
            .find(|it| (it.0, it.1, it.2) == (place, people, hides));
        let (shown, most) = (millions(row.triangles()), limit.map_or(f64::MAX, |it| it.3));
        if shown > most {
            let (place, hides) = (place.name(), hides.name());
            return Err(format!(
                "{place}, {people} people, hidden by {hides}: {shown:.2} million triangles, \
                 and not at most {most:.2}"
            )
            .into());
        }
    }
    Ok(())
}

const LEFT: f64 = 430.0;
const WIDTH: f64 = 460.0;
const BAR: f64 = 14.0;
const TOP: f64 = 60.0;

/// Triangles by place: a bar for each case, of the camera and of the light.
pub(crate) fn plot(rows: &[Row]) -> Outcome<String> {
    let most = rows
        .iter()
        .map(|row| millions(row.triangles()))
        .fold(1e-6, f64::max);
    let groups = rows.len() as f64 / Hides::ALL.len() as f64;
    let (width, height) = (
        LEFT + WIDTH + 90.0,
        TOP + rows.len() as f64 * (BAR + 2.0) + groups * 8.0 + 20.0,
    );
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n\
         <text x=\"10\" y=\"20\" font-size=\"14\">Millions of triangles a frame, of the camera \
         (dark) and the shadow map (light)</text>\n"
    );
    let mut y = TOP - 20.0;
    let mut last = None;
    for row in rows {
        let at = (row.case.place, row.case.people);
        if last.replace(at) != Some(at) {
            y += 8.0;
        }
        let colors = match row.case.hides {
            Hides::Nothing => ["#4477aa", "#a6c1dc"],
            Hides::Walls => ["#228833", "#9ccf9f"],
        };
        let text = y + 0.8 * BAR;
        writeln!(
            svg,
            "<text x=\"{}\" y=\"{text:.1}\" text-anchor=\"end\">{} people, {}, hidden by {}</text>",
            LEFT - 6.0,
            row.case.people,
            row.case.place.name(),
            row.case.hides.name()
        )?;
        let mut x = LEFT;
        for (view, color) in row.views.iter().zip(colors) {
            let long = WIDTH * millions(view.triangles) / most;
            writeln!(
                svg,
                "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{long:.1}\" height=\"{BAR}\" \
                 fill=\"{color}\"/>"
            )?;
            x += long;
        }
        let all = millions(row.triangles());
        writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{text:.1}\">{all:.2}</text>",
            x + 4.0
        )?;
        y += BAR + 2.0;
    }
    Ok(svg + "</svg>\n")
}
