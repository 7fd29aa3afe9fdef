//! The file that is shown, imported on a thread of its own.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::thread;
use std::time::Instant;

use throng::Id;
use throng::character::Character;
use throng::clip::ClipOptions;
use throng::error::Escaped;
use throng::glam::Vec3;
use throng::import::{ImportOptions, Imported, RawCharacter, UpAxis};
use throng::mesh::Aabb;
use throng::skeleton::Joint;

use super::framing::Anchor;

/// The largest coordinate of a character that a camera can show.
const LARGEST_M: f32 = 1e9;
/// The name of the character that is made by code.
pub(crate) const BUILTIN: &str = "builtin";

/// A request for a file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Request {
    pub(crate) path: PathBuf,
    /// Files whose clips are added.
    pub(crate) clips: Vec<PathBuf>,
    pub(crate) packing: ClipOptions,
    /// The axis that points up in all files, and the factor for their lengths.
    pub(crate) space: (Option<UpAxis>, f32),
}

/// A character from a file.
#[derive(Debug)]
pub(crate) struct Subject {
    pub(crate) request: Request,
    pub(crate) character: Character,
    /// The files that were read for the model, and for each file of clips.
    pub(crate) files: Vec<(PathBuf, Vec<PathBuf>)>,
    /// Files of clips that could not be added, each with its fault.
    pub(crate) faults: Vec<String>,
    /// The repairs, one line for each kind.
    pub(crate) repairs: Vec<String>,
    /// Size of the file in bytes, 0 if it is made by code.
    pub(crate) file_bytes: u64,
    /// Time of the import in seconds.
    pub(crate) import_s: f64,
    /// The box around the rest pose, made larger if it is empty or flat.
    pub(crate) bounds: Aabb,
    /// The joints that the camera follows.
    pub(crate) anchor: Anchor,
}

impl Subject {
    /// Imports the files of a request. Files of clips that cannot be added are left out.
    ///
    /// # Errors
    /// The message of the import of the model, with the name of the file.
    pub(crate) fn load(request: Request) -> Result<Self, String> {
        let started = Instant::now();
        let options = ImportOptions {
            packing: Some(request.packing),
            up: request.space.0,
            scale: request.space.1,
            curves: true,
            ..ImportOptions::default()
        };
        let mut imported = import(&request.path, &options).map_err(|error| error.to_string())?;
        let mut files = vec![(request.path.clone(), std::mem::take(&mut imported.files))];
        let faults = add_clips(&mut imported, &request.clips, &options, &mut files);
        let repairs = imported.repair_summary();
        let character = imported.character;
        let bounds = visible_bounds(&character);
        let largest_m = bounds.min.abs().max(bounds.max.abs()).max_element();
        if largest_m.is_nan() || largest_m > LARGEST_M {
            let name = file_name(&request.path);
            return Err(format!(
                "{name}: larger than {LARGEST_M:.0e} m, which cannot be shown"
            ));
        }
        Ok(Self {
            anchor: Anchor::new(&character, bounds),
            bounds,
            file_bytes: std::fs::metadata(&request.path).map_or(0, |file| file.len()),
            import_s: started.elapsed().as_secs_f64(),
            request,
            character,
            files,
            faults,
            repairs,
        })
    }

    /// The reason why the clips cannot be packed with other options, if there is one.
    pub(crate) fn unpackable(&self) -> Option<&'static str> {
        let extension = self.request.path.extension();
        if extension.is_some_and(|extension| extension.eq_ignore_ascii_case("throng")) {
            Some("A saved character (.throng) keeps its packing.")
        } else if self.character.curves().is_empty() {
            Some("There are no curves to pack.")
        } else {
            None
        }
    }

    /// The name of a joint, or its number if it has none.
    pub(crate) fn joint_name(&self, joint: Id<Joint>) -> String {
        joint_name(&self.character, joint)
    }

    /// The name of the file.
    pub(crate) fn name(&self) -> String {
        file_name(&self.request.path)
    }
}

/// The name of a joint, or its number if it has none.
pub(crate) fn joint_name(character: &Character, joint: Id<Joint>) -> String {
    let name = character.skeleton().joints().get(joint.index());
    match name.map_or("", |joint| &*joint.name) {
        "" => format!("joint {}", joint.index()),
        name => shown(name),
    }
}

/// The last part of a path.
pub(crate) fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    shown(&name.to_string_lossy())
}

/// A name from a file, as text that is safe to show.
pub(crate) fn shown(name: &str) -> String {
    Escaped(name).to_string()
}

/// The names of files in a list: with their folders if there are several of one name.
pub(crate) fn list_names(files: &[PathBuf]) -> Vec<String> {
    let names: Vec<String> = files.iter().map(|file| file_name(file)).collect();
    let named = files.iter().zip(&names).map(|(file, name)| {
        let same = names.iter().filter(|other| *other == name).count();
        let folder = file.parent().unwrap_or(Path::new(""));
        match folder.as_os_str().is_empty() {
            _ if same < 2 => name.clone(),
            true => format!("{name} (.)"),
            false => format!("{name} ({})", Escaped(folder.display())),
        }
    });
    named.collect()
}

fn import(path: &Path, options: &ImportOptions) -> throng::Result<Imported> {
    if path.as_os_str() == BUILTIN {
        RawCharacter::mannequin().build(options)
    } else {
        throng_import::file(path, options)
    }
}

/// Adds the clips of these files. Returns the faults, with the names of the files.
fn add_clips(
    imported: &mut Imported,
    files: &[PathBuf],
    options: &ImportOptions,
    read: &mut Vec<(PathBuf, Vec<PathBuf>)>,
) -> Vec<String> {
    let mut faults = Vec::new();
    for file in files {
        match throng_import::add_clips(&imported.character, file, options) {
            Ok(added) => {
                imported.character = added.character;
                imported.repairs.extend(added.repairs);
                read.push((file.clone(), added.files));
            }
            Err(error) => {
                let (name, text) = (file_name(file), error.to_string());
                faults.push(if text.contains(&name) {
                    text
                } else {
                    format!("{name}: {text}")
                });
            }
        }
    }
    faults
}

/// The box that the camera shows.
fn visible_bounds(character: &Character) -> Aabb {
    let mut bounds = character.rest_bounds();
    if bounds.is_empty() {
        // A skeleton without a mesh: its joints.
        let rest = character.skeleton().rest_pose();
        let mut model = vec![throng::glam::Affine3A::IDENTITY; rest.len()];
        if character.skeleton().model_pose(&rest, &mut model).is_ok() {
            for joint in &model {
                bounds = bounds.with_point(joint.translation.into());
            }
        }
    }
    if bounds.is_empty() {
        bounds = Aabb {
            min: Vec3::splat(-0.5),
            max: Vec3::splat(0.5),
        };
    }
    widened(bounds)
}

/// A slightly larger box, because the camera cannot show an empty or flat one.
pub(crate) fn widened(bounds: Aabb) -> Aabb {
    let least = Vec3::splat((bounds.size().max_element() * 0.01).max(1e-3));
    Aabb {
        min: bounds.min - least,
        max: bounds.max + least,
    }
}

/// Imports files without stopping the window.
#[derive(Debug, Default)]
pub(crate) struct Loader {
    pending: Option<Receiver<Result<Subject, String>>>,
    /// The file that is being imported.
    pub(crate) file: Option<String>,
    /// The path of the last import that was started.
    pub(crate) path: PathBuf,
}

impl Loader {
    /// Starts an import. The result of an earlier one that still runs is dropped.
    pub(crate) fn start(&mut self, request: Request) {
        let (send, receive) = channel();
        self.file = Some(file_name(&request.path));
        self.path.clone_from(&request.path);
        self.pending = Some(receive);
        thread::spawn(move || {
            // Nobody receives it if another import was started.
            let _ = send.send(Subject::load(request));
        });
    }

    /// The result of the import, once.
    pub(crate) fn poll(&mut self) -> Option<Result<Subject, String>> {
        let result = match self.pending.as_ref()?.try_recv() {
            Ok(result) => result,
            Err(TryRecvError::Empty) => return None,
            Err(TryRecvError::Disconnected) => Err("the import ended without a result".into()),
        };
        self.pending = None;
        self.file = None;
        Some(result)
    }
}
