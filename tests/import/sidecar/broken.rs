//! Errors of invalid descriptions name the file, the line, the part and its field.

use super::folder::Folder;
use crate::reference::cases;
use crate::reference::words::Fails;
use throng::import::ImportOptions;

/// The file beside the model, and the error.
const BROKEN: &[(&str, &str, &str)] = &cases![
    // Form.
    "x" => "doll.toml:1: animation: …";
    "\nmaks = []" => "doll.toml:2: animation, maks: unknown field…mask…";
    "\n\n[[mask]]\nbranches = []" => "doll.toml:3: mask 0 \"\": missing field \"name\"…";
    "[[clip]]\nname = 'Walk'\nevent = []"
        => "doll.toml:3: clip 0 \"Walk\", event: unknown field…events…";
    "[[clip]]\nname = 'Walk'\nevents = [{ name = 'a', time_s = 'b' }]"
        => "doll.toml:3: clip 0 \"Walk\", events[0].time_s: must be a number…";
    // Motions that name a blend space.
    "[[blend_space]]\nname = 'go'\n\
     points = [{ at = 0, clip = 'Idle' }, { at = 1, clip = 'Walk' }]\n\
     [[state_machine.parameter]]\nname = 'speed'\nkind = 'float'\n[[state_machine.layer]]\n\
     name = 'body'\nentry = 'a'\n[[state_machine.layer.state]]\nname = 'a'\n\
     [state_machine.layer.state.motion.blend_space]\nname = 'og'\nparameters = ['speed']"
        => "doll.toml:13: layer \"body\", state 0 \"a\", motion.blend_space.name: blend space \
            \"og\" does not exist: there are go…";
    "[[blend_space]]\nname = 'go'\n\
     points = [{ at = 0, clip = 'Idle' }, { at = 1, clip = 'Walk' }]\n\
     [[state_machine.parameter]]\nname = 'speed'\nkind = 'float'\n[[state_machine.layer]]\n\
     name = 'body'\nentry = 'a'\n[[state_machine.layer.state]]\nname = 'a'\n\
     [state_machine.layer.state.motion.blend_space]\nname = 'go'\n\
     parameters = ['speed', 'speed']"
        => "doll.toml:14: layer \"body\", state 0 \"a\", motion.blend_space.parameters: is 2, \
            must be 1 parameter…";
    "[[blend_space]]\nname = 'go'\n\
     points = [{ at = 0, clip = 'Idle' }, { at = 1, clip = 'Walk' }]\n\
     [[state_machine.parameter]]\nname = 'speed'\nkind = 'float'\n[[state_machine.layer]]\n\
     name = 'body'\nentry = 'a'\n[[state_machine.layer.state]]\nname = 'a'\n\
     [state_machine.layer.state.motion.blend_space]\nname = 'go'\nparameters = ['sped']"
        => "doll.toml:14: layer \"body\", state 0 \"a\", motion.blend_space.parameters[0]: \
            parameter \"sped\" does not exist…";
    // Masks.
    "[[mask]]\nname = 'm'\nbranches = [\n  { joint = 'Hips' },\n  { joint = 'Hnad' },\n]"
        => "doll.toml:5: mask 0 \"m\", branches[1].joint: joint \"Hnad\" does not exist: there \
            are Hand, Root, Hips…";
    "[[mask]]\nname = 'm'\nbranches = [{ joint = 'Hips', weight = 2 }]"
        => "doll.toml:3: mask 0 \"m\", branches[0].weight: is 2, must be 0..=1…";
    "[[mask]]\nname = 'm'\nbranches = []\n[[mask]]\nname = 'm'\nbranches = []"
        => "doll.toml:5: mask 1 \"m\", name: has the same name as element 0 of its list…";
    "[[mask]]\nname = ''\nbranches = []" => "doll.toml:2: mask 0 \"\", name: …it is empty…";
    // Clips.
    "\n[[clip]]\nname = 'Wlak'"
        => "doll.toml:3: clip 0 \"Wlak\", name: does not exist: there are Walk, Idle, Run…";
    "[[clip]]\nname = 'Walk'\n[[clip]]\nname = 'Walk'"
        => "doll.toml:4: clip 1 \"Walk\", name: has the same name as element 0…";
    "[[clip]]\nname = 'Walk'\nevents = [\n{ name = 'a', time_s = 0 },\n\
     { name = 'b', time_s = 1.1 }]"
        => "doll.toml:5: clip 0 \"Walk\", events[1].time_s: is 1.1, must be in 0..=1, the \
            duration of the clip…";
    "[[clip]]\nname = 'Walk'\nevents = [{ name = 'a', time_s = nan }]"
        => "doll.toml:3: clip 0 \"Walk\", events[0].time_s: is NaN…";
    "[[clip]]\nname = 'Walk'\nevents = [{ name = '', time_s = 0 }]"
        => "doll.toml:3: clip 0 \"Walk\", events[0].name: …empty…";
    "[[clip]]\nname = 'Walk'\ngait = { speed_m_s = -1 }"
        => "doll.toml:3: clip 0 \"Walk\", gait.speed_m_s: is -1, must be…";
    "[[clip]]\nname = 'Walk'\ngait = { speed_m_s = 1, heading_rad = inf }"
        => "doll.toml:3: clip 0 \"Walk\", gait.heading_rad: is inf…";
    "[[clip]]\nname = 'Walk'\n[clip.root_motion]\njoint = 'Pelvis'"
        => "doll.toml:4: clip 0 \"Walk\", root_motion.joint: joint \"Pelvis\" does not exist…Hips…";
    "[[clip]]\nname = 'Walk'\nroot_motion = { axes = 'xw' }"
        => "doll.toml:3: clip 0 \"Walk\", root_motion.axes: …letters x, y and z…";
    "[[clip]]\nname = 'Walk'\nroot_motion = { axes = 'xx' }"
        => "doll.toml:3: clip 0 \"Walk\", root_motion.axes: …each at most once…";
    "[[clip]]\nname = 'Walk'\nroot_motion = { error_m = 0 }"
        => "doll.toml:3: clip 0 \"Walk\", root_motion.error_m: is 0, must be a positive number…";
    "[[clip]]\nname = 'Walk'\n[clip.root_motion]\n\
     reference = { frame = { clip = 'Wave', time_s = 0 } }"
        => "doll.toml:4: clip 0 \"Walk\", root_motion.reference.frame.clip: clip \"Wave\" does \
            not exist…";
    "[[clip]]\nname = 'Walk'\n[clip.root_motion]\n\
     reference = { frame = { clip = 'Run', time_s = inf } }"
        => "doll.toml:4: clip 0 \"Walk\", root_motion.reference.frame.time_s: is inf…";
    "[[clip]]\nname = 'Walk'\n[clip.root_motion]\nreference = 'first'"
        => "doll.toml:4: clip 0 \"Walk\", root_motion.reference: must be one of \"rest\", \
            \"start\", \"frame\"…";
    "[[clip]]\nname = 'A'\nroot_motion = {}\n[[additive]]\nname = 'A'\nclip = 'Run'"
        => "doll.toml:3: clip 0 \"A\", root_motion: additive clips cannot have root motion…";
    "[[clip]]\nname = 'Run'\ngait = { speed_m_s = 1 }\n[[additive]]\nclip = 'Run'"
        => "doll.toml:3: clip 0 \"Run\", gait: additive clips cannot have a gait…";
    // Additive clips.
    "[[additive]]\nclip = 'Rnu'"
        => "doll.toml:2: additive clip 0 \"Rnu\", clip: does not exist: there are Run, Idle…Walk…";
    "[[additive]]\nname = 'Idle'\nclip = 'Run'"
        => "doll.toml:2: additive clip 0 \"Idle\", name: has the same name as element 0…";
    "[[additive]]\nclip = 'Run'\n[[additive]]\nclip = 'Run'"
        => "doll.toml:4: additive clip 1 \"Run\", clip: becomes additive twice…";
    "[[additive]]\nclip = 'Run'\nreference = { frame = { clip = 'Wave', time_s = 0 } }"
        => "doll.toml:3: additive clip 0 \"Run\", reference.frame.clip: clip \"Wave\" does not \
            exist…";
    "[[additive]]\nclip = 'Run'\nreference = { frame = { clip = 'Idle', time_s = nan } }"
        => "doll.toml:3: additive clip 0 \"Run\", reference.frame.time_s: is NaN…";
    "[[additive]]\nclip = 'Run'\nreference = 'first'"
        => "doll.toml:3: additive clip 0 \"Run\", reference: must be one of \"rest\", \"start\", \
            \"frame\"…";
    // Blend spaces.
    "[[blend_space]]\nname = 's'\npoints = []"
        => "doll.toml:3: blend space 0 \"s\", points: has no points…";
    "[[blend_space]]\nname = 's'\npoints = [\n{ at = 0, clip = 'Run' },\n\
     { at = 0, clip = 'Walk' }]"
        => "doll.toml:3: blend space 0 \"s\", points: …point 1…";
    "[[blend_space]]\nname = 's'\npoints = [\n{ at = 0, clip = 'Run' },\n\
     { at = [1, 0], clip = 'Walk' }]"
        => "doll.toml:5: blend space 0 \"s\", points[1].at: has a different number of coordinates…";
    "[[blend_space]]\nname = 's'\npoints = [{ at = inf, clip = 'Run' }]"
        => "doll.toml:3: blend space 0 \"s\", points[0].at: is inf…";
    "[[blend_space]]\nname = 's'\npoints = [{ at = 0, clip = 'Fly' }]"
        => "doll.toml:3: blend space 0 \"s\", points[0].clip: clip \"Fly\" does not exist…";
    "[[additive]]\nclip = 'Run'\n[[blend_space]]\nname = 's'\n\
     points = [{ at = 0, clip = 'Walk' }, { at = 1, clip = 'Run' }]"
        => "doll.toml:5: blend space 0 \"s\", points[1].clip: additive and other clips cannot be \
            blended together…";
    // Sockets.
    "[[socket]]\nname = 'a'\njoint = 'Hand'\n[[socket]]\nname = 'b'\njoint = 'Foot'"
        => "doll.toml:6: socket 1 \"b\", joint: joint \"Foot\" does not exist…";
    "[[socket]]\nname = 'a'\njoint = 'Hand'\nrotation = [0, 0, 0, 0]"
        => "doll.toml:4: socket 0 \"a\", rotation: is a quaternion of length 0…";
    "[[socket]]\nname = 'a'\njoint = 'Hand'\nscale = 0"
        => "doll.toml:4: socket 0 \"a\", scale: is 0, must be a positive number…";
    "[[socket]]\nname = 'a'\njoint = 'Hand'\ntranslation = [0, nan, 0]"
        => "doll.toml:4: socket 0 \"a\", translation[1]: is NaN…";
    // State machines.
    "[state_machine]\n[[state_machine.layer]]\nname = 'body'\nentry = 'go'\n\
     state = [{ name = 'go', motion = { clip = 'Wlak' } }]"
        => "doll.toml:5: layer \"body\", state 0 \"go\", motion.clip: clip \"Wlak\" does not \
            exist…Walk…";
    "[state_machine]\n[[state_machine.layer]]\nname = 'body'\nentrance = 'go'"
        => "doll.toml:4: layer 0 \"body\", entrance: unknown field…";
    "[state_machine]\n[[state_machine.layer]]\nname = 'body'\nentry = 'go'\nmask = 'legs'\n\
     state = [{ name = 'go' }]"
        => "doll.toml:5: layer 0 \"body\", mask: mask \"legs\" does not exist…";
    "state_machine_file = 'a.toml'\n[state_machine]\nlayer = []"
        => "doll.toml:1: animation, state_machine_file: names a file, but the description also…";
    "[[mask]]\nname = 'm'\nbranches = []\n[state_machine]\n\
     mask = [{ name = 'm', branches = [{ joint = 'Hips' }] }]\n\
     layer = [{ name = 'l', entry = 'a', state = [{ name = 'a' }] }]"
        => "doll.toml:2: mask 0 \"m\", name: the state machine has a different mask with this \
            name…";
];

#[test]
fn errors_name_the_line_and_the_part() {
    assert!(BROKEN.len() >= 25);
    for (case, text, words) in BROKEN {
        Folder::with(text)
            .import(&ImportOptions::curves_only())
            .fails_in(case, words);
    }
}
