//! Parts of a real file on the same rig.

use super::palette;
use crate::reference::assets;
use std::path::PathBuf;
use throng::character::Character;
use throng::import::ImportOptions;
use throng::outfit::OutfitOptions;
use throng::skin::PosedVertices;

const WORN: [&str; 4] = ["Knight_Helmet", "Knight_Cape", "2H_Sword", "Knight_ArmLeft"];

fn knight(leave_out: &[&str]) -> Character {
    let named = |path: &PathBuf| path.ends_with("Knight.glb");
    let path = assets::files().into_iter().find(named).expect("Knight.glb");
    let options = ImportOptions {
        leave_out: leave_out.iter().map(|name| (*name).into()).collect(),
        ..ImportOptions::curves_only()
    };
    throng_import::file(path, &options).unwrap().character
}

/// The clothes alone, as another file has them: exported without clips, and imported.
fn clothes() -> Character {
    let whole = knight(&[]);
    let others = whole.parts().map(|(_, name)| name);
    let others: Vec<&str> = others.filter(|name| !WORN.contains(name)).collect();
    let file = throng_export::glb(&knight(&others), &Default::default()).unwrap();
    let options = ImportOptions {
        keep_order: true,
        ..ImportOptions::curves_only()
    };
    throng_import::bytes(&file.bytes, &options)
        .unwrap()
        .character
}

/// The posed vertices of a part.
fn posed(character: &Character, part: &str, moment: Option<(usize, f64)>) -> PosedVertices {
    let primitive = character.primitives().iter().find(|one| &*one.part == part);
    let palette = palette(character, moment);
    let mut out = PosedVertices::default();
    let done = character.skin_primitive(primitive.unwrap(), &palette, &[], &mut out);
    done.unwrap();
    out
}

#[test]
#[cfg_attr(
    not(models),
    ignore = "needs the models of tests/build.rs in THRONG_ASSETS"
)]
fn parts_of_the_knight_are_worn_as_his_own() {
    let (whole, bare) = (knight(&[]), knight(&WORN));
    let (worn, report) = bare
        .with_parts_of(&clothes(), &OutfitOptions::default())
        .unwrap();
    assert_eq!(report.left_out, []);
    let mut added: Vec<&str> = report.added.iter().map(|one| &*one.name).collect();
    added.sort_unstable();
    let mut wanted = WORN;
    wanted.sort_unstable();
    assert_eq!(added, wanted);
    // The cape, the helmet and the sword hang on nodes below joints.
    let held = report.held.iter();
    let held: Vec<(&str, &str)> = held.map(|(joint, by)| (&**joint, &**by)).collect();
    let wanted = [
        ("2H_Sword", "handslot.r"),
        ("Knight_Cape", "chest"),
        ("Knight_Helmet", "head"),
    ];
    assert_eq!(held, wanted);
    // One texture and one material serve both.
    assert_eq!((worn.materials().len(), worn.images().len()), (1, 1));
    assert_eq!(worn.skeleton(), bare.skeleton());
    assert_eq!(worn.triangle_count(), whole.triangle_count());
    // The skinned arm is the same bit for bit. The matrices of held parts are products in another
    // order, of numbers up to the size: some twenty roundings.
    let size = whole.rest_bounds().size().max_element();
    let bound_m = 20.0 * size * f32::EPSILON;
    let mut farthest_m = 0.0_f32;
    for clip in (0..whole.curves().len()).step_by(7) {
        let moments = [0.1, 0.6].map(|part| f64::from(whole.curves()[clip].duration_s()) * part);
        for moment in moments
            .map(|time_s| Some((clip, time_s)))
            .into_iter()
            .chain([None])
        {
            for part in WORN {
                let (own, worn) = (posed(&whole, part, moment), posed(&worn, part, moment));
                assert_eq!(own.positions.len(), worn.positions.len());
                if part == "Knight_ArmLeft" {
                    assert_eq!(own, worn, "{moment:?}");
                }
                for (a, b) in own.positions.iter().zip(&worn.positions) {
                    farthest_m = farthest_m.max(a.distance(*b));
                }
            }
        }
    }
    println!("farthest {farthest_m:e} m, bound {bound_m:e} m");
    assert!(farthest_m <= bound_m, "{farthest_m:e}");
}
