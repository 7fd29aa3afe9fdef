//! Temporary.
use throng::pose::*;
#[test]
fn go() {
    for f in std::env::var("F").unwrap().split(',') {
        let c = throng::import::gltf_file(std::path::Path::new(f), &Default::default())
            .unwrap()
            .character;
        let pick = std::env::var("C").ok();
        for clip in c.clips() {
            if let Some(p) = &pick {
                if clip.name() != p {
                    continue;
                }
            }
            let t = std::time::Instant::now();
            let k = Clip::new(&c, clip, &ClipOptions::default()).unwrap();
            println!(
                "{f} {} joints {} {:?} ratio {:.1} {:?}",
                clip.name(),
                c.skeleton().len(),
                k.report(),
                k.report().ratio(),
                t.elapsed()
            );
        }
    }
}
