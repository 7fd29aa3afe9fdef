//! Characters as assets of Bevy.

use async_channel::Receiver;
use bevy::asset::io::Reader;
use bevy::asset::{Asset, AssetLoader, LoadContext, ReadAssetBytesError};
use bevy::reflect::TypePath;
use bevy::tasks::AsyncComputeTaskPool;
use serde::{Deserialize, Serialize};
use std::io::ErrorKind;
use std::path::Path;
use std::sync::mpsc;
use thiserror::Error;
use throng::character::{AnimationDesc, Character};
use throng::import::{ImportOptions, Imported, Repair, ResourceReader};

/// A character: skeleton, meshes, materials, clips and state machine.
///
/// Its files are all that [`throng_import`] reads, and saved characters (`.throng`). If a file
/// changes and Bevy's file watcher is on, everybody who has the character gets the new one.
///
/// ```
/// use bevy_throng::CharacterAsset;
///
/// let asset = CharacterAsset::mannequin()?; // for Assets::add
/// assert!(asset.character().clip("Walk").is_ok());
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Asset, TypePath, Debug, Clone)]
pub struct CharacterAsset {
    character: Character,
    repairs: Vec<Repair>,
}

impl CharacterAsset {
    /// An asset of a character that the program made.
    #[must_use]
    pub fn new(character: Character) -> Self {
        Self {
            character,
            repairs: Vec::new(),
        }
    }

    /// The character that is built in, for first tries. Its clips are Walk, Idle, Run and Wave.
    ///
    /// # Errors
    /// None that you can cause: its file is part of throng.
    pub fn mannequin() -> throng::Result<Self> {
        Ok(Self::new(throng::builtin::mannequin()?.character))
    }

    /// The character: its skeleton, clips, parts and so on.
    #[must_use]
    pub fn character(&self) -> &Character {
        &self.character
    }

    /// The faults of its file that were repaired.
    #[must_use]
    pub fn repairs(&self) -> &[Repair] {
        &self.repairs
    }
}

/// Options for reading the file of a character, for `load_with_settings` and `.meta` files.
///
/// ```no_run
/// use bevy::prelude::*;
/// use bevy_throng::{Character3d, CharacterSettings};
///
/// fn spawn(mut commands: Commands, assets: Res<AssetServer>) {
///     let centimetres = |settings: &mut CharacterSettings| settings.scale = 0.01;
///     let robot = assets.load_builder().with_settings(centimetres).load("robot.ezm");
///     commands.spawn(Character3d(robot));
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CharacterSettings {
    /// The factor of all lengths: metres per unit, for files that do not state it.
    pub scale: f32,
    /// True if +Z points up in a file that does not state it.
    pub z_up: bool,
    /// The scene of a glTF file, or `None` for its default.
    pub scene: Option<usize>,
    /// True to compute normals where a file has none.
    pub smooth_normals: bool,
    /// Masks, events, sockets, blend spaces and a state machine, as an asset path of a TOML file.
    ///
    /// With `None`, that of the file with the same name (`knight.toml` beside `knight.glb`), if it
    /// exists.
    pub animation: Option<String>,
    /// True to make coarser levels of detail, which take seconds for a large mesh (feature `lod`).
    ///
    /// Better save the character with levels (`throng bake`), and load that.
    pub levels: bool,
}

impl Default for CharacterSettings {
    fn default() -> Self {
        Self {
            scale: 1.0,
            z_up: false,
            scene: None,
            smooth_normals: false,
            animation: None,
            levels: false,
        }
    }
}

/// The reason why the file of a character was not loaded.
#[derive(Debug, Error)]
pub enum CharacterLoadError {
    /// The file itself cannot be read.
    #[error("the file cannot be read: {0}")]
    Read(#[from] std::io::Error),
    /// The file of [`CharacterSettings::animation`] cannot be read.
    #[error("the animation data cannot be read: {0}")]
    Animation(#[from] ReadAssetBytesError),
    /// The file is not a character, or a broken one.
    #[error(transparent)]
    Throng(#[from] throng::Error),
}

/// Loads [`CharacterAsset`]s.
#[derive(Debug, Default, TypePath)]
pub(crate) struct CharacterLoader;

/// A file that an import asks for, and where its bytes go.
type Request = (String, mpsc::Sender<Result<Vec<u8>, ReadAssetBytesError>>);

impl AssetLoader for CharacterLoader {
    type Asset = CharacterAsset;
    type Settings = CharacterSettings;
    type Error = CharacterLoadError;

    async fn load(
        &self,
        reader: &mut dyn Reader,
        settings: &CharacterSettings,
        context: &mut LoadContext<'_>,
    ) -> Result<CharacterAsset, CharacterLoadError> {
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).await?;
        let path = context.path().path().to_owned();
        let animation = animation(settings, &path, context).await?;
        let (ask, asked) = async_channel::unbounded();
        let options = options(settings, &path, animation, ask);
        let levels = settings.levels;
        // An import computes, and waits for the other files, which are read here.
        let imported = AsyncComputeTaskPool::get().spawn(async move {
            let imported = throng_import::bytes(&bytes, &options)?;
            with_levels(imported, levels)
        });
        answer(&asked, &path, context).await;
        let Imported {
            character, repairs, ..
        } = imported.await?;
        if !repairs.is_empty() {
            let count = repairs.len();
            let path = path.display();
            log::info!("{path}: repairs made while it was read: {count} (level debug lists them)");
        }
        for repair in &repairs {
            log::debug!("{repair}");
        }
        Ok(CharacterAsset { character, repairs })
    }

    fn extensions(&self) -> &[&str] {
        &EXTENSIONS
    }
}

/// Extensions of files that Bevy itself does not read. glTF files are loaded by the type of the
/// handle, so that scenes and other parts of them stay Bevy's.
const EXTENSIONS: [&str; 5] = ["throng", "vrm", "fbx", "ezm", "wglmodel"];

/// Makes levels of detail where the file has none.
#[cfg(feature = "lod")]
fn with_levels(mut imported: Imported, levels: bool) -> throng::Result<Imported> {
    if levels && imported.character.levels().len() <= 1 {
        imported.character = imported.character.with_levels(&Default::default())?.0;
    }
    Ok(imported)
}

#[cfg(not(feature = "lod"))]
fn with_levels(imported: Imported, _: bool) -> throng::Result<Imported> {
    Ok(imported)
}

/// The animation data of the settings, or of the file with the same name.
async fn animation(
    settings: &CharacterSettings,
    path: &Path,
    context: &mut LoadContext<'_>,
) -> Result<Option<AnimationDesc>, CharacterLoadError> {
    let beside = path.with_extension("toml");
    let found = match &settings.animation {
        Some(named) => Some((
            named.clone(),
            context.read_asset_bytes(named.clone()).await?,
        )),
        None => {
            let source = context.path().source().clone_owned();
            let file = bevy::asset::AssetPath::from(beside.clone()).with_source(source);
            let bytes = context.read_asset_bytes(file).await;
            bytes
                .ok()
                .map(|bytes| (beside.display().to_string(), bytes))
        }
    };
    let Some((name, bytes)) = found else {
        return Ok(None);
    };
    let text = String::from_utf8_lossy(&bytes);
    Ok(Some(AnimationDesc::from_toml(&name, &text)?))
}

fn options(
    settings: &CharacterSettings,
    path: &Path,
    animation: Option<AnimationDesc>,
    ask: async_channel::Sender<Request>,
) -> ImportOptions {
    let read = move |file: &str| {
        let (to, from) = mpsc::channel();
        let failed = |kind| throng::Error::Io {
            path: file.into(),
            kind,
        };
        let sent = ask.send_blocking((file.to_owned(), to));
        sent.map_err(|_| failed(ErrorKind::Interrupted))?;
        let bytes = from.recv().map_err(|_| failed(ErrorKind::Interrupted))?;
        bytes.map_err(|why| failed(kind(&why)))
    };
    ImportOptions {
        name: path.to_string_lossy().into(),
        resources: Some(ResourceReader::new(read)),
        scale: settings.scale,
        up: settings.z_up.then_some(throng::import::UpAxis::Z),
        scene: settings.scene,
        smooth_normals: settings.smooth_normals,
        animation,
        ..ImportOptions::default()
    }
}

fn kind(why: &ReadAssetBytesError) -> ErrorKind {
    use bevy::asset::io::AssetReaderError;
    match why {
        ReadAssetBytesError::AssetReaderError(AssetReaderError::NotFound(_)) => ErrorKind::NotFound,
        ReadAssetBytesError::Io { source, .. } => source.kind(),
        _ => ErrorKind::Other,
    }
}

/// Reads the files that an import asks for, until it ends. They count as dependencies.
async fn answer(asked: &Receiver<Request>, path: &Path, context: &mut LoadContext<'_>) {
    let source = context.path().source().clone_owned();
    while let Ok((file, to)) = asked.recv().await {
        let file = path.parent().unwrap_or(path).join(file);
        let file = bevy::asset::AssetPath::from(file).with_source(source.clone());
        // The import may have ended with an error.
        let _ = to.send(context.read_asset_bytes(file).await);
    }
}
