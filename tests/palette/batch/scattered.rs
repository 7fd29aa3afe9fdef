//! Outputs at arbitrary addresses, with guards around each.

use throng::animate::{BatchPoser, Product, Starts};
use throng::character::Character;
use throng::clip::Clip;
use throng::glam::Affine3A;
use throng::motion::{ClipSample, SampleList};
use throng::palette::PaletteFormat;
use throng::simd::SimdLevel;
use throng::{Id, Threads, builtin};

/// Sixteen bytes, the alignment of outputs.
#[repr(C, align(16))]
#[derive(Clone, Copy, PartialEq, Debug)]
struct Chunk([u8; 16]);

const GUARD: Chunk = Chunk([0xA5; 16]);

fn character() -> Character {
    builtin::mannequin().unwrap().character
}

/// The output of one instance, in chunks.
fn chunks_of(character: &Character, product: Product) -> usize {
    let bytes = match product {
        Product::Palette(format) => character.palette().len() * format.entry_bytes(),
        _ => character.skeleton().len() * size_of::<Affine3A>(),
    };
    bytes / size_of::<Chunk>()
}

fn crowd(clips: &[Clip], count: usize) -> SampleList {
    let mut list = SampleList::new();
    for instance in 0..count {
        let sample = |number: usize| {
            let clip = (instance + number) % clips.len();
            ClipSample::new(Id::new(clip as u16), 0.137 * instance as f64).weighted(0.3)
        };
        list.push((0..instance % 4).map(sample));
    }
    list
}

/// Addresses of instances in descending order, with one guard chunk between them, so that they are
/// aligned to 16 bytes but not more.
fn starts(memory: &mut [Chunk], count: usize, chunks: usize) -> Vec<*mut u8> {
    let start: *mut Chunk = memory.as_mut_ptr();
    let at = |index: usize| 1 + (count - 1 - index) * (chunks + 1);
    (0..count)
        .map(|index| start.wrapping_add(at(index)).cast())
        .collect()
}

/// Returns the outputs of the instances in order, and checks that the guards are intact.
fn parts(memory: &[Chunk], count: usize, chunks: usize) -> Vec<Chunk> {
    assert_eq!(memory[0], GUARD);
    let mut parts = Vec::new();
    for part in memory[1..].chunks_exact(chunks + 1).rev() {
        assert_eq!(part[chunks], GUARD);
        parts.extend(&part[..chunks]);
    }
    assert_eq!(parts.len(), count * chunks);
    parts
}

#[test]
fn scattered_outputs_equal_even_ones_and_nothing_else_is_written() {
    let character = character();
    let clips = &character.clips()[..3];
    let products = PaletteFormat::ALL.map(Product::Palette);
    let products = products.into_iter().chain([Product::Model]);
    for (product, code) in
        products.flat_map(|product| SimdLevel::available().map(move |c| (product, c)))
    {
        let poser = BatchPoser::new(&character).unwrap();
        let mut poser = poser.with_simd_level(code).unwrap();
        let chunks = chunks_of(&character, product);
        for count in [1, 2, 4, 5, 8, 9, 15, 16, 17, 35] {
            let list = crowd(clips, count);
            let mut even = vec![Chunk([0; 16]); count * chunks];
            let all = Starts::Even(even.as_mut_ptr().cast(), chunks * 16);
            poser.set_threads(Threads::One);
            // SAFETY: the memory is large enough for all instances.
            unsafe { poser.write_to(clips, &list, product, all).unwrap() };
            for threads in [Threads::One, Threads::Rayon] {
                let mut memory = vec![GUARD; 1 + count * (chunks + 1)];
                let starts = starts(&mut memory, count, chunks);
                poser.set_threads(threads);
                // SAFETY: as above.
                unsafe {
                    poser
                        .write_to(clips, &list, product, Starts::Each(&starts))
                        .unwrap()
                };
                let got = parts(&memory, count, chunks);
                assert!(got == even, "{product:?} {code} {count}");
            }
        }
    }
}

#[test]
fn scattered_palettes_of_model_poses_equal_even_ones() {
    let character = character();
    let clips = &character.clips()[..1];
    let count = 9;
    let list = crowd(clips, count);
    for code in SimdLevel::available() {
        let poser = BatchPoser::new(&character).unwrap();
        let poser = poser.with_simd_level(code).unwrap();
        let mut models = vec![Affine3A::IDENTITY; count * character.skeleton().len()];
        poser.model_poses(clips, &list, &mut models).unwrap();
        for format in PaletteFormat::ALL {
            let chunks = format.entry_bytes() * character.palette().len() / 16;
            let mut even = vec![GUARD; count * chunks];
            let all = Starts::Even(even.as_mut_ptr().cast(), chunks * 16);
            let mut memory = vec![GUARD; 1 + count * (chunks + 1)];
            let starts = starts(&mut memory, count, chunks);
            // SAFETY: the memory is large enough for all instances.
            unsafe {
                poser.finish_to(&models, format, all, &Threads::One);
                poser.finish_to(&models, format, Starts::Each(&starts), &Threads::Rayon);
            }
            assert!(parts(&memory, count, chunks) == even, "{format:?} {code}");
        }
    }
}

/// Matrices of joints that are no longer needed are reused, so that fewer stay in the cache.
#[test]
fn matrices_are_reused() {
    let character = character();
    let poser = BatchPoser::new(&character).unwrap();
    assert!(poser.matrices() < character.skeleton().len());
}
