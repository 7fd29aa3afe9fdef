//! Tables as text, JSON and Markdown, and a plot.

use crate::{FAMILIES, Figures, Outcome, Row, Table};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Rows of the comparison: title, pass, variant, stage, and the name of the reference.
const COMPARED: [(&str, &str, &str, &str, &str); 5] = [
    (
        "vertex, normal map",
        "colour",
        "normal map",
        "vertex",
        "all read",
    ),
    (
        "vertex, texture",
        "colour",
        "textured",
        "vertex",
        "normal and coordinates read",
    ),
    ("depth", "depth", "textured", "vertex", "depth"),
    ("motion", "motion", "textured", "vertex", "motion"),
    ("skin", "skin", "deformed, normal map", "compute", "skin"),
];

pub(crate) fn json(table: &Table) -> Outcome<String> {
    let mut text = format!("{{\"driver\": {}, \"rows\": [\n", json!(table.driver));
    for (number, row) in table.rows.iter().enumerate() {
        let comma = if number + 1 < table.rows.len() {
            ","
        } else {
            ""
        };
        writeln!(text, "{}{comma}", value(row))?;
    }
    text.push_str("]}\n");
    Ok(text)
}

fn value(row: &Row) -> Value {
    let Figures {
        instructions,
        valu,
        vmem,
        smem,
        vgprs,
        spills,
        waves,
        latency,
        inverse_throughput,
        code_bytes,
    } = row.figures;
    json!({
        "family": row.family, "pass": row.pass, "variant": row.variant, "stage": row.stage,
        "instructions": instructions, "valu": valu, "vmem": vmem, "smem": smem, "vgprs": vgprs,
        "spills": spills, "waves": waves, "latency": latency,
        "inverse_throughput": inverse_throughput, "code_bytes": code_bytes,
    })
}

/// Reads what [`json`] wrote.
pub(crate) fn read(text: &str) -> Outcome<Table> {
    let all: Value = serde_json::from_str(text)?;
    let word = |value: &Value, key: &str| -> Outcome<String> {
        let text = value[key].as_str().ok_or_else(|| format!("no {key}"))?;
        Ok(text.to_owned())
    };
    let mut rows = Vec::new();
    for row in all["rows"].as_array().ok_or("no rows")? {
        let number = |key: &str| -> Outcome<u64> {
            Ok(row[key].as_u64().ok_or_else(|| format!("no {key}"))?)
        };
        rows.push(Row {
            family: word(row, "family")?,
            pass: word(row, "pass")?,
            variant: word(row, "variant")?,
            stage: word(row, "stage")?,
            figures: Figures {
                instructions: number("instructions")?,
                valu: number("valu")?,
                vmem: number("vmem")?,
                smem: number("smem")?,
                vgprs: number("vgprs")?,
                spills: number("spills")?,
                waves: number("waves")?,
                latency: number("latency")?,
                inverse_throughput: number("inverse_throughput")?,
                code_bytes: number("code_bytes")?,
            },
        });
    }
    Ok(Table {
        driver: word(&all, "driver")?,
        rows,
    })
}

pub(crate) fn text(table: &Table) -> String {
    let mut text = format!("{}\n", table.driver);
    text.push_str(
        "family   pass                 variant                       stage     instr  valu  vmem  \
         smem vgprs spill waves latency inverse  bytes\n",
    );
    for row in &table.rows {
        let it = &row.figures;
        text += &format!(
            "{:8} {:20} {:29} {:8} {:6} {:5} {:5} {:5} {:5} {:5} {:5} {:7} {:7} {:6}\n",
            row.family,
            row.pass,
            row.variant,
            row.stage,
            it.instructions,
            it.valu,
            it.vmem,
            it.smem,
            it.vgprs,
            it.spills,
            it.waves,
            it.latency,
            it.inverse_throughput,
            it.code_bytes
        );
    }
    text + "\n" + &markdown_of_plain(table)
}

fn find<'t>(
    table: &'t Table,
    family: &str,
    pass: &str,
    variant: &str,
    stage: &str,
) -> Option<&'t Figures> {
    let mut rows = table.rows.iter();
    let row = rows.find(|row| {
        (row.family.as_str(), row.pass.as_str()) == (family, pass)
            && row.variant == variant
            && row.stage == stage
    })?;
    Some(&row.figures)
}

/// Pairs of figures: throng's and the reference's, for a line of [`COMPARED`] and a family.
fn pair<'t>(
    table: &'t Table,
    family: &str,
    (_, pass, variant, stage, plain): (&str, &str, &str, &str, &str),
) -> Option<(&'t Figures, &'t Figures)> {
    let ours = find(table, family, pass, variant, stage)?;
    Some((ours, find(table, family, "plain", plain, stage)?))
}

pub(crate) fn markdown(table: &Table) -> String {
    let mut text = markdown_of_plain(table);
    text += "\n## All variants\n\nInstructions / inverse throughput / vector registers.\n\n";
    text += &format!("| pass | variant | stage | {} |\n", FAMILIES.join(" | "));
    text += &format!("|---|---|---|{}\n", "---|".repeat(FAMILIES.len()));
    for row in table.rows.iter().filter(|row| row.family == FAMILIES[0]) {
        text += &format!("| {} | {} | {} |", row.pass, row.variant, row.stage);
        for family in FAMILIES {
            let found = find(table, family, &row.pass, &row.variant, &row.stage);
            text += &found.map_or(" – |".to_owned(), |it| {
                let (instructions, inverse) = (it.instructions, it.inverse_throughput);
                format!(" {instructions} / {inverse} / {} |", it.vgprs)
            });
        }
        text.push('\n');
    }
    text
}

fn markdown_of_plain(table: &Table) -> String {
    let mut text = format!(
        "Instructions / inverse throughput, and how many times those of the plain shader.\n\n\
         | | {} |\n|---|{}\n",
        FAMILIES.join(" | "),
        "---|".repeat(FAMILIES.len())
    );
    for compared in COMPARED {
        text += &format!("| {} |", compared.0);
        for family in FAMILIES {
            text += &pair(table, family, compared).map_or(" – |".to_owned(), |(ours, plain)| {
                let ratio = |ours: u64, plain: u64| ours as f64 / plain as f64;
                format!(
                    " {} / {} ({:.2}, {:.2}) |",
                    ours.instructions,
                    ours.inverse_throughput,
                    ratio(ours.instructions, plain.instructions),
                    ratio(ours.inverse_throughput, plain.inverse_throughput)
                )
            });
        }
        text.push('\n');
    }
    text
}

/// Bars of inverse throughput, as multiples of the plain shader's, as an SVG.
pub(crate) fn plot(table: &Table) -> String {
    const WIDTH: f64 = 760.0;
    const HEIGHT: f64 = 340.0;
    const LEFT: f64 = 50.0;
    const TOP: f64 = 40.0;
    const BASE: f64 = 280.0;
    const MOST: f64 = 2.0;
    const COLORS: [&str; 4] = ["#4477aa", "#66ccee", "#228833", "#ccbb44"];
    let y = |times: f64| BASE - (BASE - TOP) * times.min(MOST) / MOST;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{HEIGHT}\" \
         viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n\
         <text x=\"{LEFT}\" y=\"20\" font-size=\"14\">Estimated cycles a vertex, times those of a \
         plain skinning shader ({})</text>\n",
        table.driver
    );
    for times in [0.0, 0.5, 1.0, 1.5, 2.0] {
        let color = if times == 1.0 { "#000000" } else { "#cccccc" };
        svg += &format!(
            "<line x1=\"{LEFT}\" x2=\"{}\" y1=\"{:.1}\" y2=\"{:.1}\" stroke=\"{color}\"/>\n\
             <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{times}</text>\n",
            WIDTH - 10.0,
            y(times),
            y(times),
            LEFT - 6.0,
            y(times) + 4.0
        );
    }
    let group = (WIDTH - LEFT - 20.0) / COMPARED.len() as f64;
    let bar = group / (FAMILIES.len() as f64 + 1.5);
    for (number, compared) in COMPARED.into_iter().enumerate() {
        let start = LEFT + 10.0 + group * number as f64;
        for (at, (family, color)) in FAMILIES.into_iter().zip(COLORS).enumerate() {
            let Some((ours, plain)) = pair(table, family, compared) else {
                continue;
            };
            let times = ours.inverse_throughput as f64 / plain.inverse_throughput as f64;
            svg += &format!(
                "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" \
                 fill=\"{color}\"><title>{family}: {times:.2}</title></rect>\n",
                start + bar * at as f64,
                y(times),
                bar * 0.9,
                BASE - y(times)
            );
        }
        let middle = start + bar * FAMILIES.len() as f64 / 2.0;
        svg += &format!(
            "<text x=\"{middle:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
            BASE + 18.0,
            compared.0
        );
    }
    for (at, (family, color)) in FAMILIES.into_iter().zip(COLORS).enumerate() {
        let x = LEFT + 10.0 + 110.0 * at as f64;
        svg += &format!(
            "<rect x=\"{x}\" y=\"{}\" width=\"12\" height=\"12\" fill=\"{color}\"/>\n\
             <text x=\"{}\" y=\"{}\">{family}</text>\n",
            BASE + 34.0,
            x + 18.0,
            BASE + 45.0
        );
    }
    svg + "</svg>\n"
}
