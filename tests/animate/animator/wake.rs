//! The order in which actors wake.

use throng::animator::WakeHeap;

/// Compares with a plain list: after random changes and removals, actors wake in order of time.
#[test]
fn actors_wake_in_order_of_time() {
    let mut random = 1_u64;
    let mut next = move || {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        random >> 33
    };
    let (mut heap, mut want) = (WakeHeap::default(), vec![f64::INFINITY; 50]);
    for _ in 0..20_000 {
        let actor = (next() % 50) as u32;
        let time_s = match next() % 8 {
            0 => f64::INFINITY,
            time => time as f64 + next() as f64 / 1e9,
        };
        heap.set(actor, time_s);
        want[actor as usize] = time_s;
        if next() % 4 == 0 {
            let earliest = want.iter().copied().fold(f64::INFINITY, f64::min);
            let now_s = 4.0;
            match heap.pop(now_s) {
                Some(actor) => {
                    assert_eq!(want[actor as usize], earliest);
                    want[actor as usize] = f64::INFINITY;
                }
                None => assert!(earliest > now_s),
            }
        }
        let waiting = want.iter().filter(|time_s| time_s.is_finite()).count();
        assert_eq!(heap.waiting(), waiting);
    }
}
