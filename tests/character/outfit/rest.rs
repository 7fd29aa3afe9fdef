//! Names, materials and images, saving, and levels of detail.

use super::{apart, body, built, check_palette, cloak, dressed, named, together};
use throng::character::Character;
use throng::mesh::{Image, Material, TextureRef};
use throng::outfit::OutfitOptions;

#[test]
fn names_that_exist_get_a_number_and_a_prefix_keeps_them_apart() {
    let mut other = cloak();
    // Two primitives of a node that is called as a part of the body.
    let mut lining = other.primitives[0].clone();
    (lining.name, lining.part) = ("front".into(), "back".into());
    other.primitives.push(lining.clone());
    (lining.name, lining.part) = ("seam".into(), "back".into());
    other.primitives.push(lining);
    let names = |character: &Character| -> Vec<String> {
        character.parts().map(|(_, name)| name.to_owned()).collect()
    };
    let (worn, report) = dressed(&other, &OutfitOptions::default());
    assert_eq!(
        names(&worn),
        ["front", "back", "cloak", "back (2)", "front (2)", "seam"]
    );
    let added: Vec<(&str, &str)> = report
        .added
        .iter()
        .map(|one| (&*one.original, &*one.name))
        .collect();
    assert_eq!(added, [("cloak", "cloak"), ("back", "back (2)")]);
    for added in &report.added {
        assert_eq!(worn.part(&added.name).unwrap(), added.part);
    }
    let (twice, _) = worn
        .with_parts_of(&built(&other), &OutfitOptions::default())
        .unwrap();
    assert_eq!(
        names(&twice),
        [
            "front",
            "back",
            "cloak",
            "back (2)",
            "cloak (2)",
            "back (3)",
            "front (2)",
            "seam",
            "front (3)",
            "seam (2)"
        ]
    );
    let prefix = OutfitOptions {
        prefix: "b/".into(),
        ..OutfitOptions::default()
    };
    let (worn, _) = dressed(&other, &prefix);
    assert_eq!(
        names(&worn),
        ["front", "back", "b/cloak", "b/back", "b/front", "b/seam"]
    );
    // Primitives of a node are parts, too.
    let seam = OutfitOptions {
        parts: vec!["seam".into()],
        ..OutfitOptions::default()
    };
    let (worn, report) = dressed(&other, &seam);
    assert_eq!(names(&worn), ["front", "back", "back (2)"]);
    assert_eq!(report.added.len(), 1);
    assert_eq!(&*named(&worn, "back (2)")[0].name, "seam");
}

#[test]
fn equal_materials_and_images_are_shared() {
    let own = built(&body());
    let [materials, images] = [own.materials().len(), own.images().len()];
    assert_eq!([materials, images], [2, 1]);
    let counts = |worn: &Character| [worn.materials().len(), worn.images().len()];
    let material = |worn: &Character| named(worn, "cloak")[0].material;
    // The material of the body, in a file that has other materials before it.
    let mut other = cloak();
    let same = body().materials[1].clone();
    other
        .images
        .insert(0, Image::new("unused", 1, 1, vec![1; 4]));
    other.images[1].name = "renamed".into();
    other.materials[1] = Material {
        base_color_texture: Some(TextureRef::new(1)),
        ..same.clone()
    };
    other.materials.rotate_left(1);
    other.primitives[0].material = Some(0);
    let (worn, _) = dressed(&other, &OutfitOptions::default());
    assert_eq!((counts(&worn), material(&worn)), ([2, 1], 1));
    // Another colour with the same image, and another image.
    other.materials[0].roughness = 0.3;
    let (worn, _) = dressed(&other, &OutfitOptions::default());
    assert_eq!((counts(&worn), material(&worn)), ([3, 1], 2));
    assert_eq!(
        worn.materials()[2].base_color_texture,
        Some(TextureRef::new(0))
    );
    let texels = [9_u8; 16].to_vec();
    other.images[1] = Image::new("checks", 2, 2, texels.clone());
    let (worn, _) = dressed(&other, &OutfitOptions::default());
    assert_eq!((counts(&worn), material(&worn)), ([3, 2], 2));
    assert_eq!(
        worn.materials()[2].base_color_texture,
        Some(TextureRef::new(1))
    );
    assert_eq!(&*worn.images()[1].rgba().unwrap(), &texels);
    // Images of saved characters are encoded.
    let saved = Character::from_bytes(&own.to_bytes(), &Default::default()).unwrap();
    let (again, _) = saved
        .with_parts_of(&saved, &OutfitOptions::default())
        .unwrap();
    assert_eq!(counts(&again), [2, 1]);
    check_palette(&again);
}

#[test]
fn a_dressed_character_is_saved_and_always_the_same() {
    let (worn, report) = dressed(&cloak(), &OutfitOptions::default());
    assert_eq!(
        dressed(&cloak(), &OutfitOptions::default()),
        (worn.clone(), report.clone())
    );
    let bytes = worn.to_bytes();
    let loaded = Character::from_bytes(&bytes, &Default::default()).unwrap();
    assert_eq!(loaded, worn);
    assert_eq!(loaded.to_bytes(), bytes);
    // From saved files, and from exported ones, it is the same.
    let saved = [body(), cloak()].map(|raw| {
        let bytes = built(&raw).to_bytes();
        Character::from_bytes(&bytes, &Default::default()).unwrap()
    });
    let of_saved = saved[0].with_parts_of(&saved[1], &OutfitOptions::default());
    assert_eq!(of_saved.unwrap(), (worn.clone(), report));
    let exported = throng_export::glb(&built(&cloak()), &Default::default()).unwrap();
    let options = throng::import::ImportOptions {
        keep_order: true,
        ..throng::import::ImportOptions::curves_only()
    };
    let imported = throng_import::bytes(&exported.bytes, &options).unwrap();
    let (again, report) = built(&body())
        .with_parts_of(&imported, &OutfitOptions::default())
        .unwrap();
    assert_eq!(report.left_out, []);
    assert_eq!(apart(&again, &together(), "cloak"), 0.0);
    // Its palette can be split, and a split one can be dressed.
    let (split, _) = worn.split(3).unwrap();
    assert_eq!(split.parts().count(), 3);
    let (own, _) = built(&body()).split(3).unwrap();
    let (again, report) = own
        .with_parts_of(&built(&cloak()), &OutfitOptions::default())
        .unwrap();
    assert_eq!(report.left_out, []);
    assert_eq!(
        again.primitives()[..own.primitives().len()],
        *own.primitives()
    );
    assert_eq!(apart(&again, &together(), "cloak"), 0.0);
}

/// The variants of the other file keep their materials, and are joined by name.
#[test]
fn material_variants_come_along() {
    let (mut own, mut other) = (body(), cloak());
    own.variants = vec!["red".into(), "blue".into()];
    own.primitives[0].variants = vec![(0, 1)];
    other.variants = vec!["gold".into(), "red".into()];
    other.materials.push(Material::flat([0.8, 0.6, 0.1, 1.0]));
    let (gold, red) = (other.materials.len() - 1, 0);
    other.primitives[0].variants = vec![(0, gold), (1, red)];
    let (worn, report) = built(&own)
        .with_parts_of(&built(&other), &OutfitOptions::default())
        .unwrap();
    assert_eq!(report.left_out, []);
    let names: Vec<&str> = worn.variants().iter().map(|one| &*one.name).collect();
    assert_eq!(names, ["red", "blue", "gold"]);
    let color = |part: &str, variant: Option<&str>| {
        let variant = variant.map(|name| worn.variant(name).unwrap());
        let material = named(&worn, part)[0].material_in(variant);
        worn.materials()[material as usize].base_color
    };
    assert_eq!(color("cloak", None), [0.2, 0.7, 0.1, 1.0]);
    assert_eq!(color("cloak", Some("gold")), [0.8, 0.6, 0.1, 1.0]);
    assert_eq!(color("cloak", Some("red")), own.materials[0].base_color);
    assert_eq!(color("cloak", Some("blue")), color("cloak", None));
    assert_eq!(color("front", Some("red")), own.materials[1].base_color);
    assert_eq!(color("front", Some("gold")), color("front", None));
    let saved = Character::from_bytes(&worn.to_bytes(), &Default::default());
    assert_eq!(saved.unwrap(), worn);
}
