//! Wrong calls return typed errors, and neither record nor change anything.

use crate::reference::handles::Handles;
use crate::reference::refused;
use crate::reference::ribbon::{built, rest_model, ribbon};
use crate::reference::words::{Fails, Says};
use crate::support::frames::{EXTENT, FramesInFlight, NORMAL_Z, pass, target};
use crate::support::{SMALL, Setup, described, each, reversed, view};
use throng::ash::vk;
use throng::error::ArgumentFault;
use throng::glam::{Affine3A, Mat4, Vec3, Vec4};
use throng::gpu::{PaletteRing, PaletteRingDesc};
use throng::palette::{Mat3x4, SkinningMethod};
use throng::skeleton::Joint;
use throng::{
    Attachment, CharacterDesc, Crowd, CrowdDesc, Error, Eye, Frame, Id, InstanceId, PassDesc,
    PassKind, Play, Result, Spawn, Stages, View,
};
use throng::{Pose, ShowPose};

fn camera() -> View {
    view(Vec3::new(0.0, 2.0, 7.0), Vec3::ZERO, EXTENT)
}

/// The outcome that a call must have.
#[derive(Debug, Clone, Copy)]
enum Wanted {
    Fine,
    /// [`Error::Argument`] about this.
    Argument(&'static str),
    /// The same, of an instance that is named by its index.
    OfInstance(&'static str),
    /// [`Error::NotFound`] about this.
    Missing(&'static str),
    /// [`Error::Capacity`] about this.
    Full(&'static str),
    /// [`Error::Capacity`] about anything.
    TooMuch,
}
use Wanted::{Argument, Fine, Full, Missing, OfInstance, TooMuch};

fn check<T: std::fmt::Debug>(row: &str, result: &Result<T>, wanted: Wanted) {
    let fits = match (result, wanted) {
        (Ok(_), Fine) | (Err(Error::Capacity { .. }), TooMuch) => true,
        (Err(Error::Argument { what, .. }), Argument(name))
        | (Err(Error::NotFound { what, .. }), Missing(name)) => *what == name,
        (Err(Error::Capacity { what, asked, cap }), Full(name)) => {
            let named = what.split(" (").next() == Some(name);
            named && asked > cap
        }
        (Err(Error::At { what, why, .. }), OfInstance(name)) => {
            let argument = matches!(&**why, Error::Argument { what, .. } if *what == name);
            argument && *what == "instance"
        }
        _ => false,
    };
    assert!(fits, "{row}: {result:?} is not {wanted:?}");
}

pub(crate) fn is_argument<T: std::fmt::Debug>(result: Result<T>, what: &'static str) {
    check(what, &result, Argument(what));
}

fn is_missing<T: std::fmt::Debug>(result: Result<T>, what: &'static str) {
    check(what, &result, Missing(what));
}

fn is_full<T: std::fmt::Debug>(result: Result<T>, what: &'static str) {
    check(what, &result, Full(what));
}

/// The text of a row, a change to a valid description, and the outcome.
type Row<T> = (&'static str, fn(&mut T), Wanted);

/// Rows of fields with a value, and the outcome: `field = value => wanted;`.
macro_rules! rows {
    ($($($($field:ident).+ = $value:expr),+ => $wanted:expr;)*) => {
        &[$((
            stringify!($($($field).+ = $value),+),
            |desc| { $(desc.$($field).+ = $value;)+ },
            $wanted,
        )),*]
    };
}

/// Rows of calls on an instance, and the outcome: `method(argument) => wanted;`.
macro_rules! calls {
    ($($method:ident($argument:expr) => $wanted:expr;)*) => {
        &[$((
            stringify!($method($argument)),
            |crowd, id| crowd.instance_mut(id)?.$method($argument),
            $wanted,
        )),*]
    };
}

/// The error of the view with this index.
fn of_view<T: std::fmt::Debug>(result: Result<T>, wanted: u64) -> Result<()> {
    match result {
        Err(Error::At {
            what, index, why, ..
        }) => {
            assert_eq!((what, index), ("view", wanted));
            Err(*why)
        }
        other => panic!("{other:?} is not about view {wanted}"),
    }
}

/// The types that an application shares between threads can be shared.
const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<Crowd>();
    shared::<Frame<'_>>();
    shared::<PaletteRing>();
};

#[test]
fn descriptions_that_make_no_sense_are_refused() {
    use vk::BufferUsageFlags as Usage;
    const ALIGNMENT: Wanted = Argument("CrowdDesc::min_offset_alignment");
    const USAGE: Wanted = Argument("CrowdDesc::skinned_usage");
    let rows: &[Row<CrowdDesc>] = rows! {
        frames_in_flight = 2 => Fine;
        frames_in_flight = 0 => Argument("CrowdDesc::frames_in_flight");
        frames_in_flight = Crowd::MAX_FRAMES_IN_FLIGHT => Fine;
        frames_in_flight = Crowd::MAX_FRAMES_IN_FLIGHT + 1 => Full("CrowdDesc::frames_in_flight");
        frames_in_flight = u32::MAX => Full("CrowdDesc::frames_in_flight");
        capacity.instances = 0 => Fine;
        capacity.instances = u32::MAX => Full("Capacity::instances");
        capacity.views = 0 => Argument("Capacity::views");
        capacity.views = Crowd::MAX_VIEWS + 1 => Full("Capacity::views");
        capacity.palette_entries = 0 => Fine;
        capacity.palette_entries = u32::MAX => TooMuch;
        min_offset_alignment = 3 => ALIGNMENT;
        min_offset_alignment = 48 => ALIGNMENT;
        min_offset_alignment = 1 << 16 => Fine;
        min_offset_alignment = 1 << 17 => ALIGNMENT;
        min_offset_alignment = 1 << 63 => ALIGNMENT;
        min_offset_alignment = u64::MAX => ALIGNMENT;
        skinned_usage = Usage::VERTEX_BUFFER | Usage::SHADER_DEVICE_ADDRESS => Fine;
        skinned_usage = Usage::CONDITIONAL_RENDERING_EXT => USAGE;
        skinned_usage = Usage::from_raw(!0) => USAGE;
    };
    each(|setup| {
        let fine = setup.crowd_desc(2, SMALL);
        let device = setup.device();
        let allocator = &mut setup.context.allocator();
        for &(row, change, wanted) in rows {
            let mut desc = fine.clone();
            change(&mut desc);
            let made = Crowd::new(&device, allocator, &desc);
            let made = made.map(|crowd| unsafe { crowd.destroy(allocator) });
            check(row, &made, wanted);
        }
        let report = setup.context.allocator().generate_report();
        assert!(report.allocations.is_empty());
    });
}

#[test]
fn a_ring_keeps_its_bounds() {
    let rows: &[Row<PaletteRingDesc>] = rows! {
        frames_in_flight = 0 => Argument("frames in flight");
        frames_in_flight = u32::MAX => TooMuch;
        entries = u32::MAX => TooMuch;
        min_offset_alignment = 24 => Argument("min_offset_alignment");
        min_offset_alignment = 1 << 63 => TooMuch;
        min_offset_alignment = u64::MAX => Argument("min_offset_alignment");
    };
    each(|setup| {
        let config = setup.config;
        let device = setup.device();
        let allocator = &mut setup.context.allocator();
        let fine = PaletteRingDesc {
            frames_in_flight: 2,
            entries: 10,
            staged: config.staged,
            min_offset_alignment: config.min_offset_alignment,
        };
        let mut make = |desc| PaletteRing::new(&device, allocator, &desc);
        for &(row, change, wanted) in rows {
            let mut desc = fine;
            change(&mut desc);
            check(row, &make(desc).map(drop), wanted);
        }
        let mut ring = make(fine).unwrap();
        let step = ring.address(1) - ring.address(0);
        assert!(step >= 480 && step.is_multiple_of(config.min_offset_alignment.max(16)));
        let entry = [Mat3x4::IDENTITY];
        unsafe {
            ring.writer::<Mat3x4>(2, 0, 1)
                .map(drop)
                .fails("…2 does not exist: there are 0..=1, see PaletteRingDesc::frames_in_flight");
            is_full(ring.writer::<Mat3x4>(1, 10, 1).map(drop), "palette entries");
            is_full(
                ring.writer::<Mat3x4>(0, u32::MAX, u32::MAX),
                "palette entries",
            );
            ring.writer(1, 9, 1).unwrap().copy_from(&entry).unwrap();
            ring.writer::<Mat3x4>(1, 10, 0).unwrap();
            ring.destroy(&device, allocator);
        }
    });
}

#[test]
fn passes_that_make_no_sense_are_refused() {
    let rows: &[Row<PassDesc<'_>>] = rows! {
        color_formats = Vec::new() => Argument("PassDesc::color_formats");
        kind = PassKind::Depth, depth_format = vk::Format::UNDEFINED
            => Argument("PassDesc::depth_format");
        depth_format = vk::Format::R8G8B8A8_UNORM => Argument("PassDesc::depth_format");
        depth_format = vk::Format::S8_UINT => Argument("PassDesc::depth_format");
        stencil_format = vk::Format::D32_SFLOAT => Argument("PassDesc::stencil_format");
        stencil_format = vk::Format::S8_UINT => Argument("PassDesc::stencil_format");
        color_formats = vec![vk::Format::UNDEFINED] => Argument("PassDesc::color_formats");
        color_formats = vec![vk::Format::D16_UNORM] => Argument("PassDesc::color_formats");
        kind = PassKind::Shadow => Argument("PassDesc::color_formats");
        samples = vk::SampleCountFlags::from_raw(0) => Argument("PassDesc::samples");
        samples = vk::SampleCountFlags::from_raw(3) => Argument("PassDesc::samples");
        motion_scale = [f32::NAN, 1.0] => Argument("PassDesc::motion_scale");
        motion_scale = [1.0, f32::INFINITY] => Argument("PassDesc::motion_scale");
    };
    each(|setup| {
        let mut crowd = setup.crowd(1, SMALL);
        let fine = PassDesc {
            color_formats: vec![vk::Format::R8G8B8A8_SRGB],
            depth_format: vk::Format::D32_SFLOAT,
            ..PassDesc::default()
        };
        for &(row, change, wanted) in rows {
            let mut desc = fine.clone();
            change(&mut desc);
            check(row, &unsafe { crowd.create_pass(&desc) }, wanted);
        }
        let pass = unsafe { crowd.create_pass(&fine) }.unwrap();
        crowd.remove_pass(pass).unwrap();
        is_missing(crowd.remove_pass(pass), "pass");
        setup.destroy(crowd);
    });
}

fn play() -> Play<'static> {
    Play::new(Id::new(0))
}

fn nan() -> Affine3A {
    Affine3A::from_translation(Vec3::new(0.0, f32::NAN, 0.0))
}

/// Its axes lie in a plane, although none of them is 0.
fn flat() -> Affine3A {
    let mut flat = Affine3A::IDENTITY;
    flat.matrix3.z_axis = flat.matrix3.x_axis + flat.matrix3.y_axis;
    flat
}

#[test]
fn instances_take_only_what_makes_sense() {
    type Call = fn(&mut Crowd, InstanceId) -> Result<()>;
    let spawns: &[Row<Spawn<'_>>] = rows! {
        world_from_model = nan() => Argument("world_from_model");
        world_from_model = Affine3A::ZERO => Argument("world_from_model");
        world_from_model = flat() => Argument("world_from_model");
        tint = [1.0, f32::INFINITY, 1.0, 1.0] => Argument("tint");
        tint = [1.0, 1.0, -0.1, 1.0] => Argument("tint");
        tint = [1.0, 65504.1, 1.0, 1.0] => Argument("tint");
        second_tint = [1.0, f32::NAN, 1.0] => Argument("second_tint");
        second_tint = [1.0, 1.0, -0.1] => Argument("second_tint");
        second_tint = [65504.1, 1.0, 1.0] => Argument("second_tint");
        play = play().weight(-1.0) => Argument("Play::weight");
        play = Id::new(2).into() => Missing("clip");
        play = play().start_s(f64::NAN) => Argument("Play::start_s");
        play = play().offset_s(f64::INFINITY) => Argument("Play::offset_s");
        play = play().speed(f64::NEG_INFINITY) => Argument("Play::speed");
        play = play().weight(f32::NAN) => Argument("Play::weight");
    };
    let calls: &[(&str, Call, Wanted)] = calls! {
        set_transform(&nan()) => OfInstance("world_from_model");
        teleport(&nan()) => OfInstance("world_from_model");
        set_transform(&flat()) => OfInstance("world_from_model");
        teleport(&Affine3A::ZERO) => OfInstance("world_from_model");
        set_tint([0.0, -1.0, 0.0, 1.0]) => Argument("tint");
        set_tint([f32::NAN; 4]) => Argument("tint");
        set_second_tint([0.0, -1.0, 0.0]) => Argument("second_tint");
        set_second_tint([f32::INFINITY; 3]) => Argument("second_tint");
        play(Id::new(7)) => Missing("clip");
        play(play().fade_s(-0.1)) => Argument("Play::fade_s");
        play(play().fade_s(3601.0)) => Argument("Play::fade_s");
        play(play().fade_s(f32::NAN)) => Argument("Play::fade_s");
    };
    each(|setup| {
        let mut crowd = setup.crowd(1, SMALL);
        let character = built(ribbon(3)).character;
        let allocator = &mut setup.context.allocator();
        let kind = crowd
            .add_character(allocator, &character, &CharacterDesc::default())
            .unwrap();
        let gone = crowd
            .add_character(allocator, &character, &CharacterDesc::default())
            .unwrap();
        crowd.remove_character(gone).unwrap();
        is_missing(crowd.remove_character(gone), "character");
        is_missing(crowd.spawn(gone, &Spawn::default()), "character");
        is_missing(crowd.character(gone).map(drop), "character");
        is_missing(crowd.mesh(gone).map(drop), "character");

        let fine = Spawn::default();
        for &(row, change, wanted) in spawns {
            let mut spawn = fine;
            change(&mut spawn);
            check(row, &crowd.spawn(kind, &spawn), wanted);
        }
        let unnamed = Spawn {
            play: "Sway".into(),
            ..fine
        };
        crowd
            .spawn(kind, &unnamed)
            .fails("clip \"Sway\" does not exist: there are sway, turn");
        assert!(crowd.instances().len() == 0);

        let id = crowd.spawn(kind, &fine).unwrap();
        let before = crowd.live(id).record();
        for &(row, call, wanted) in calls {
            check(row, &call(&mut crowd, id), wanted);
        }
        let joints = character.skeleton().len();
        let still = vec![Affine3A::IDENTITY; joints];
        refused! {
            crowd.on(id, |mut it| it.set_pose(Pose::Model(&still[1..]), &ShowPose::default()))
                => "model pose: …";
        }
        let mut broken = still.clone();
        broken[1] = nan();
        refused! {
            crowd.on(id, |mut it| it.set_pose(Pose::Model(&broken), &ShowPose::default()))
                => "…joint 1…";
        }
        assert_eq!(crowd.live(id).record(), before);
        assert_eq!(crowd.live(id).playing().count(), 0);
        let refused = crowd.remove_character(kind);
        let name = crowd.character(kind).unwrap().name();
        refused.fails(format!(
            "character …\"{name}\": instances: 1 still alive: despawn them first"
        ));
        crowd.despawn(id).unwrap();
        crowd.remove_character(kind).unwrap();
        setup.destroy(crowd);
    });
}

#[test]
fn a_pose_that_the_method_cannot_hold_is_refused() {
    each(|setup| {
        let mut crowd = setup.crowd(1, SMALL);
        let character = built(ribbon(3)).character;
        let desc = described(SkinningMethod::QuatOffset, false);
        let kind = setup.add_with(&mut crowd, &character, &desc);
        let id = crowd.spawn(kind, &Spawn::default()).unwrap();
        let mut model = rest_model(&character);
        let show = ShowPose::default();
        crowd
            .live_mut(id)
            .set_pose(Pose::Model(&model), &show)
            .unwrap();
        let before = crowd.live(id).record();
        model[1] *= Affine3A::from_scale(Vec3::new(1.0, 3.0, 1.0));
        let refused = crowd.on(id, |mut it| it.set_pose(Pose::Model(&model), &show));
        assert!(
            matches!(refused, Err(Error::Unrepresentable { joint: 1, .. })),
            "{refused:?}"
        );
        assert_eq!(crowd.live(id).record(), before);
        setup.destroy(crowd);
    });
}

#[test]
fn frames_are_used_in_their_order() {
    each(|setup| {
        let mut crowd = setup.crowd_with(Stages::Cpu, 2, SMALL);
        let character = built(ribbon(3)).character;
        let kind = setup.add(&mut crowd, &character);
        crowd.spawn(kind, &Spawn::default()).unwrap();
        let target = target(&mut setup.context);
        let pass_id = pass(&mut crowd, &target, false);
        let removed = pass(&mut crowd, &target, false);
        crowd.remove_pass(removed).unwrap();
        let mut frames_in_flight = FramesInFlight::new(&setup.context, 2);
        let context = &mut setup.context;
        unsafe {
            let allocator = &mut context.allocator();
            is_argument(
                crowd.begin_frame(allocator, 2, 0.0).map(drop),
                "frame_index",
            );
            is_argument(
                crowd.begin_frame(allocator, u32::MAX, 0.0).map(drop),
                "frame_index",
            );
            for time_s in [f64::NAN, f64::INFINITY] {
                is_argument(crowd.begin_frame(allocator, 0, time_s).map(drop), "time_s");
            }
        }
        let mut old = None;
        for number in 0..3 {
            let frame_index = number % 2;
            let cmd = frames_in_flight.begin(context, frame_index);
            unsafe {
                let mut frame = crowd
                    .begin_frame(&mut context.allocator(), frame_index, 0.0)
                    .unwrap();
                if let Some(view) = old {
                    is_argument(frame.record_draw(cmd, view, pass_id), "view");
                    is_argument(frame.draw_bindings(view, kind, 0), "view");
                }
                is_full(frame.record_prepare(cmd, &[camera(); 5]), "views");
                let views = frame.record_prepare(cmd, &[camera(); 2]).unwrap();
                assert_eq!(views.len(), 2);
                is_argument(frame.record_prepare(cmd, &[camera()]), "frame");
                is_missing(frame.draw_bindings(views[0], kind, 2), "material");
                target.begin(&context.device, cmd, &NORMAL_Z);
                is_missing(frame.record_draw(cmd, views[0], removed), "pass");
                assert_eq!(frame.stats().draws, 0);
                frame.record_draw(cmd, views[1], pass_id).unwrap();
                assert_eq!(frame.stats().draws, 2);
                target.end(&context.device, cmd);
                old = Some(views[0]);
            }
            frames_in_flight.submit(context, frame_index);
        }
        frames_in_flight.destroy(context);
        setup.destroy(crowd);
    });
}

/// Views that are wrong in one way each, with the argument that the error names.
fn wrong_views(setup: &Setup) -> Vec<(&'static str, View)> {
    let fine = camera();
    let with = |change: fn(&mut View)| {
        let mut view = fine;
        change(&mut view);
        view
    };
    let limits = &setup.context.properties.limits;
    let mut wide = fine;
    wide.viewport.extent.width = limits.max_viewport_dimensions[0] + 1;
    let mut far = fine;
    far.viewport.offset.x = limits.viewport_bounds_range[1] as i32;
    vec![
        (
            "View::eye",
            with(|view| view.eye.clip_from_world = Mat4::NAN),
        ),
        (
            "View::eye",
            with(|view| view.eye.position.x = f32::INFINITY),
        ),
        (
            "Eye::clip_from_world",
            with(|view| view.eye.clip_from_world = Mat4::ZERO),
        ),
        (
            "Eye::clip_from_world",
            with(|view| view.eye.clip_from_world.x_axis = Vec4::ZERO),
        ),
        // The picture's right is its down.
        (
            "Eye::clip_from_world",
            with(|view| {
                let mut rows = view.eye.clip_from_world.transpose();
                rows.x_axis = rows.y_axis * 0.3;
                view.eye.clip_from_world = rows.transpose();
            }),
        ),
        (
            "View::more_eyes",
            with(|view| view.more_eyes[0] = Some(Eye::new(Mat4::ZERO, Vec3::ZERO))),
        ),
        ("View::viewport", with(|v| v.viewport.extent.width = 0)),
        ("View::viewport", with(|v| v.viewport.extent.height = 0)),
        (
            "View::viewport",
            with(|v| v.viewport.extent.height = u32::MAX),
        ),
        ("View::viewport", with(|v| v.viewport.offset.x = i32::MIN)),
        ("View::viewport", with(|v| v.viewport.offset.y = i32::MAX)),
        ("View::viewport", wide),
        ("View::viewport", far),
        (
            "View::lighting",
            with(|view| view.lighting.sun_direction = Vec3::ZERO),
        ),
        (
            "View::lighting",
            with(|view| view.lighting.sky_color = Vec3::NAN),
        ),
    ]
}

#[test]
fn views_that_make_no_sense_are_refused_and_leave_the_frame_usable() {
    each(|setup| {
        let mut crowd = setup.crowd(1, SMALL);
        let mut frames_in_flight = FramesInFlight::new(&setup.context, 1);
        let wrong = wrong_views(setup);
        let cmd = frames_in_flight.begin(&setup.context, 0);
        let allocator = &mut setup.context.allocator();
        unsafe {
            let mut frame = crowd.begin_frame(allocator, 0, 0.0).unwrap();
            for (what, view) in wrong {
                let refused = frame.record_prepare(cmd, &[camera(), view]);
                is_argument(of_view(refused, 1), what);
            }
            assert_eq!(frame.record_prepare(cmd, &[camera()]).unwrap().len(), 1);
        }
        frames_in_flight.submit(&setup.context, 0);
        frames_in_flight.destroy(&setup.context);
        setup.destroy(crowd);
    });
}

/// Depth that runs the other way would show what is farthest.
#[test]
fn depth_of_a_view_runs_as_that_of_the_pass() {
    each(|setup| {
        let mut crowd = setup.crowd(1, SMALL);
        let mut frames_in_flight = FramesInFlight::new(&setup.context, 1);
        let target = target(&mut setup.context);
        let passes = [false, true].map(|reversed_z| pass(&mut crowd, &target, reversed_z));
        // From afar, the numbers of the matrix hardly tell.
        let far = Vec3::splat(3e4);
        let views = [
            camera(),
            reversed(&camera()),
            view(far, far - Vec3::ONE, EXTENT),
        ];
        let cmd = frames_in_flight.begin(&setup.context, 0);
        let allocator = &mut setup.context.allocator();
        unsafe {
            let mut frame = crowd.begin_frame(allocator, 0, 0.0).unwrap();
            let views = frame.record_prepare(cmd, &views).unwrap();
            target.begin(&setup.context.device, cmd, &NORMAL_Z);
            for (number, pass) in passes.into_iter().enumerate() {
                frame.record_draw(cmd, views[number], pass).unwrap();
                frame.record_draw(cmd, views[2], pass).unwrap();
            }
            refused! {
                frame.record_draw(cmd, views[0], passes[1]) => "view: has depth that grows with \
                    distance, but the pass has reversed_z";
                frame.record_draw(cmd, views[1], passes[0]) => "view: has depth that shrinks with \
                    distance, but the pass lacks reversed_z";
            }
            target.end(&setup.context.device, cmd);
        }
        frames_in_flight.submit(&setup.context, 0);
        frames_in_flight.destroy(&setup.context);
        setup.destroy(crowd);
    });
}

/// The messages name the mistake.
#[test]
fn flat_transforms_are_refused_by_name() {
    const FLAT: &str = "is flat: a scale is 0, or its axes lie in a plane (set_visible hides an \
                        instance)";
    each(|setup| {
        let mut crowd = setup.crowd(1, SMALL);
        let kind = setup.add(&mut crowd, &built(ribbon(3)).character);
        let [parent, child] = [(); 2].map(|()| crowd.spawn(kind, &Spawn::default()).unwrap());
        let all = [(parent, Affine3A::IDENTITY), (child, flat())];
        crowd
            .set_transforms(&all)
            .fails(format!("instance 1: world_from_model: {FLAT}"));
        let joint = Id::<Joint>::new(1);
        let to = Attachment::new(parent, joint);
        let mut attach = |offset| crowd.on(child, |mut it| it.attach_to(to.at(offset)));
        attach(Affine3A::ZERO).fails(format!("socket_from_child: {FLAT}"));
        attach(Affine3A::IDENTITY).unwrap();
        attach(flat()).fails(format!("socket_from_child: {FLAT}"));
        let allocator = &mut setup.context.allocator();
        let mut frame = unsafe { crowd.begin_frame(allocator, 0, 0.0) }.unwrap();
        let moved = frame.set_transform(parent, &flat());
        moved.fails(format!("instance 0: world_from_model: {FLAT}"));
        setup.destroy(crowd);
    });
}

/// The texts of errors contain the numbers.
#[test]
fn errors_say_the_numbers() {
    let full = Error::Capacity {
        what: "instances",
        asked: 9,
        cap: 8,
    };
    full.says("instances: 9 requested, at most 8 allowed");
    let argument = Error::Argument {
        what: "time_s",
        why: ArgumentFault::NotFinite(f64::INFINITY),
    };
    argument.says("time_s: inf is not finite");
}
