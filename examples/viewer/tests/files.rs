//! Files that are opened, and packed again.

use super::{args, file, with};
use crate::app::Action;
use crate::headless::{Studio, with_studio};
use throng::Id;
use throng::import::{ImportOptions, RawCharacter, RawPrimitive};
use throng::palette::SkinningMethod;

#[test]
fn faults_are_messages_and_the_old_file_stays() {
    with(&[], |studio| {
        let broken = file("broken.glb");
        std::fs::write(&broken, b"glTF and nothing else").expect("a file");
        for (path, said) in [
            (broken, "broken.glb"),
            (file("missing.glb"), "missing.glb"),
            (std::env::temp_dir(), "directory"),
        ] {
            studio.app.open(&path);
            let error = studio.load().unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
            assert!(studio.app.subject.is_some());
            studio.shoot().expect("a picture");
        }
    });
}

/// A file that the device refuses leaves everything as it was.
#[test]
fn a_refused_file_changes_nothing() {
    with(&["--clip", "Run", "--time", "0.2"], |studio| {
        studio.app.settings.method = SkinningMethod::DualQuat;
        studio.app.settings.instances = 3;
        studio.act(Action::Rebuild).expect("instances");
        let before = studio.shoot().expect("a picture");
        // Dual quaternions cannot represent it.
        let flipped = file("flipped.throng");
        std::fs::write(&flipped, flipped_character().to_bytes()).expect("a file");
        studio.app.open(&flipped);
        let error = studio.load().unwrap_err().to_string();
        assert!(error.contains("flipped.throng"), "{error}");
        assert_eq!(studio.shoot().expect("a picture"), before);
    });
}

/// A block whose transform is flipped.
fn flipped_character() -> throng::character::Character {
    let scaled = RawPrimitive::cuboid(throng::glam::Vec3::ONE);
    let mut raw = RawCharacter::rigid("flipped", vec![scaled], Vec::new());
    for node in &mut raw.nodes {
        let flip = throng::glam::Mat4::from_scale(throng::glam::Vec3::new(1.0, -2.0, 1.0));
        node.matrix = Some(flip);
    }
    let built = raw.build(&ImportOptions::default());
    built.expect("a character").character
}

/// A file that was exported again with less in it.
#[test]
fn a_changed_file_keeps_what_it_still_has() {
    let path = file("changed.throng");
    let full = RawCharacter::mannequin().build(&with_curves());
    let full = full.expect("a character").character;
    std::fs::write(&path, full.to_bytes()).expect("a file");
    let text = path.to_string_lossy().into_owned();
    let ran = with_studio(&args(&[&text, "--clip", "Wave"]), |studio| {
        studio.act(Action::AddLayer(Id::new(3)))?;
        let mut raw = RawCharacter::mannequin();
        raw.animations.truncate(1);
        raw.animation = None;
        let fewer = raw.build(&with_curves())?;
        std::fs::write(&path, fewer.character.to_bytes())?;
        studio.app.open(&path);
        studio.load()?;
        let playback = studio.app.playback.as_ref().expect("a clip");
        assert_eq!(playback.clip(), Some(Id::new(0)));
        assert!(playback.layers.is_empty());
        Ok(())
    });
    ran.expect("a viewer");
}

#[test]
fn packs_again_with_another_bound() {
    let ran = with_studio(&args(&["builtin", "--clip", "Run"]), |studio| {
        let bytes = |studio: &Studio<'_>| -> usize {
            let clips = studio
                .app
                .subject
                .as_ref()
                .expect("a file")
                .character
                .clips();
            clips.iter().map(|clip| clip.report().bytes).sum()
        };
        let before = bytes(studio);
        studio.act(Action::Repack(throng::clip::ClipOptions {
            error_m: Some(0.005),
            ..Default::default()
        }))?;
        studio.load()?;
        assert!(bytes(studio) < before);
        let playback = studio.app.playback.as_ref().expect("a clip");
        assert_eq!(playback.clip(), Some(Id::new(2)), "it goes on");
        Ok(())
    });
    ran.expect("a viewer");
}

fn with_curves() -> ImportOptions {
    ImportOptions {
        curves: true,
        ..ImportOptions::default()
    }
}
