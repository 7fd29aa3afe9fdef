//! Places with people and houses, as cameras and a sun see them.

use crate::culling::{self, PICTURE};
use throng::View;
use throng::glam::camera::rh;
use throng::glam::{Mat4, Vec2, Vec3, vec3};

/// People on a square metre.
const DENSITY: f32 = 0.5;
/// A city: edges of its blocks, with a house on each, and widths of its streets, in metres.
const BLOCK_M: f32 = 26.0;
const STREET_M: f32 = 14.0;
/// Edges of the houses of a plaza, and heights of all houses, in metres.
const EDGES_M: [f32; 2] = [8.0, 16.0];
const HEIGHTS_M: [f32; 2] = [7.0, 13.0];
/// Metres around the camera of a plaza without houses.
const FREE_M: f32 = 30.0;
/// Metres of the ground beyond a place.
const BEYOND_M: f32 = 300.0;
/// Metres that people keep from walls.
const APART_M: f32 = 0.4;
/// Height of eyes, of the camera of a plaza, and of one above the roofs, in metres.
const EYE_M: f32 = 1.7;
const PLAZA_EYE_M: f32 = 3.6;
const ROOFS_M: f32 = 60.0;
/// Distances of the camera of a plaza from the middle, relative to the edge. From the second, 73 %
/// of a plaza is in view.
const PLAZA_FROM: f32 = 0.8;
const OVERLOOK_FROM: f32 = 1.24;
/// The camera's walk in metres, and its turn in radians, from frame to frame.
const WALKS_M: f32 = 1.4 / 60.0;
const TURNS_RAD: f32 = 0.35 / 60.0;

/// The layout of a place, and where its camera is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// Rows of people in front of the camera: the load of culling.
    Rows,
    Street,
    AboveRoofs,
    /// With this many houses.
    Plaza(u32),
    /// A plaza without houses, from so far that most people on it are in view. Without a light.
    Overlook,
}

impl Place {
    pub(crate) fn name(self) -> String {
        match self {
            Self::Rows => "rows, eye level, no walls".into(),
            Self::Street => "city, eye level".into(),
            Self::AboveRoofs => "city, from 60 m above".into(),
            Self::Plaza(0) => "plaza without houses, from 3.6 m".into(),
            Self::Plaza(houses) => format!("plaza with {houses} houses, from 3.6 m"),
            Self::Overlook => "plaza as a whole, from 3.6 m".into(),
        }
    }
}

/// A number of people in a place.
pub(crate) struct Scene {
    pub(crate) people: usize,
    pub(crate) place: Place,
    /// The most triangles of the camera and the light in millions, by `Levels::ALL` and
    /// `Hides::ALL`: what was measured, and a fiftieth. They hardly depend on the driver. 0: any
    /// number.
    pub(crate) most_m: [[f64; 3]; 2],
}

pub(crate) const SCENES: [Scene; 8] = [
    Scene {
        people: 100_000,
        place: Place::Rows,
        // These were 33.7 before there were far levels.
        most_m: [[90.1, 90.1, 0.0], [6.35, 6.35, 3.47]],
    },
    Scene {
        people: 100_000,
        place: Place::Street,
        most_m: [[73.3, 5.07, 0.0], [5.57, 1.42, 0.85]],
    },
    Scene {
        people: 100_000,
        place: Place::AboveRoofs,
        most_m: [[72.2, 20.3, 0.0], [4.06, 1.22, 1.22]],
    },
    Scene {
        people: 100_000,
        place: Place::Plaza(200),
        most_m: [[69.5, 4.71, 0.0], [6.61, 2.60, 2.59]],
    },
    Scene {
        people: 100_000,
        place: Place::Plaza(0),
        most_m: [[69.0, 47.8, 0.0], [6.26, 5.17, 5.17]],
    },
    Scene {
        people: 10_000,
        place: Place::Street,
        most_m: [[8.09, 1.93, 0.0], [2.13, 1.09, 1.07]],
    },
    Scene {
        people: 10_000,
        place: Place::Plaza(20),
        most_m: [[8.16, 3.55, 0.0], [3.19, 2.24, 2.24]],
    },
    Scene {
        people: 10_000,
        place: Place::Rows,
        most_m: [[9.69, 9.69, 0.0], [2.40, 2.40, 1.98]],
    },
];

/// Most people of a million are in view, far away.
pub(crate) const MILLION: Scene = Scene {
    people: 1_000_000,
    place: Place::Overlook,
    // The camera's were 105 before there were far levels.
    most_m: [[323.7, 0.0, 0.0], [16.6, 0.0, 0.0]],
};

/// A place: everything but the crowd.
pub(crate) struct Site {
    pub(crate) people: Vec<Vec3>,
    /// Two corners of each house, and of the ground.
    pub(crate) houses: Vec<[Vec3; 2]>,
    eye: Vec3,
    /// Direction of the camera, about +Y from −Z, and below the horizon, in radians.
    yaw: f32,
    pitch: f32,
    far_m: f32,
    /// The light's view, if there is one.
    pub(crate) light: Option<View>,
}

/// Random numbers that are the same in every run: PCG.
struct Rng(u64);

impl Rng {
    fn range(&mut self, least: f32, most: f32) -> f32 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let word = ((self.0 >> 18 ^ self.0) >> 27) as u32;
        let part = word.rotate_right((self.0 >> 59) as u32) >> 8;
        least + (most - least) * (part as f32 / 16_777_216.0)
    }

    fn in_square(&mut self, half_m: f32) -> Vec3 {
        vec3(
            self.range(-half_m, half_m),
            0.0,
            self.range(-half_m, half_m),
        )
    }
}

impl Site {
    pub(crate) fn new(place: Place, people: usize) -> Self {
        let mut rng = Rng(people as u64);
        match place {
            Place::Rows => Self::rows(people),
            Place::Street | Place::AboveRoofs => Self::city(place, people, &mut rng),
            Place::Plaza(houses) => Self::plaza(houses, people, PLAZA_FROM, &mut rng),
            Place::Overlook => Self {
                light: None,
                ..Self::plaza(0, people, OVERLOOK_FROM, &mut rng)
            },
        }
    }

    fn rows(people: usize) -> Self {
        let people: Vec<_> = culling::places(people)
            .into_iter()
            .map(|at| at * vec3(1.0, 0.0, -1.0))
            .collect();
        let depth_m = people.last().map_or(0.0, |at| -at.z);
        Self {
            houses: vec![ground(depth_m)],
            eye: Vec3::Y * EYE_M,
            yaw: 0.0,
            pitch: 0.0,
            far_m: depth_m + 10.0,
            light: Some(culling::light(depth_m)),
            people,
        }
    }

    fn city(place: Place, people: usize, rng: &mut Rng) -> Self {
        let cell_m = BLOCK_M + STREET_M;
        let streets = 1.0 - (BLOCK_M / cell_m).powi(2);
        let area_m2 = people as f32 / DENSITY / streets;
        let blocks = (area_m2.sqrt() / cell_m).ceil().max(2.0);
        let half_m = 0.5 * blocks * cell_m;
        let mut houses = Vec::new();
        for x in 0..blocks as u32 {
            for z in 0..blocks as u32 {
                let least = vec3(x as f32, 0.0, z as f32) * cell_m
                    + vec3(1.0, 0.0, 1.0) * (0.5 * STREET_M - half_m);
                let height = rng.range(HEIGHTS_M[0], HEIGHTS_M[1]);
                houses.push([least, least + vec3(BLOCK_M, height, BLOCK_M)]);
            }
        }
        // In a street that is in the middle, or between the two that are.
        let middle_m = if (blocks as u32).is_multiple_of(2) {
            0.0
        } else {
            0.5 * cell_m
        };
        let (height, pitch) = match place {
            Place::AboveRoofs => (ROOFS_M, 0.35),
            _ => (EYE_M, 0.0),
        };
        Self::open(
            houses,
            (people, half_m),
            (vec3(middle_m, height, half_m), pitch),
            rng,
        )
    }

    /// The camera is `from` the middle, relative to the edge.
    fn plaza(houses: u32, people: usize, from: f32, rng: &mut Rng) -> Self {
        let half_m = 0.5 * (people as f32 / DENSITY).sqrt();
        let eye = vec3(0.0, PLAZA_EYE_M, from * half_m);
        let mut built: Vec<[Vec3; 2]> = Vec::new();
        let mut tries = 0;
        while built.len() < houses as usize && tries < 100 * houses {
            tries += 1;
            let edges = [(); 2].map(|()| rng.range(EDGES_M[0], EDGES_M[1]));
            let half = vec3(edges[0], 0.0, edges[1]) * 0.5;
            let (at, height) = (rng.in_square(half_m), rng.range(HEIGHTS_M[0], HEIGHTS_M[1]));
            let house = [at - half, at + half + Vec3::Y * height];
            let apart = |other: &[Vec3; 2], apart_m: f32| !overlap(&house, other, apart_m);
            if apart(&[eye, eye], FREE_M) && built.iter().all(|other| apart(other, 2.0)) {
                built.push(house);
            }
        }
        Self::open(built, (people, half_m), (eye, 0.1), rng)
    }

    /// A square with people everywhere but in houses, seen towards −Z.
    fn open(
        mut houses: Vec<[Vec3; 2]>,
        (people, half_m): (usize, f32),
        (eye, pitch): (Vec3, f32),
        rng: &mut Rng,
    ) -> Self {
        let mut free = Vec::with_capacity(people);
        let near = Grid::new(&houses, half_m);
        while free.len() < people {
            let at = rng.in_square(half_m);
            if !near
                .around(at)
                .iter()
                .any(|house| overlap(&[at, at], &houses[*house], APART_M))
            {
                free.push(at);
            }
        }
        houses.push(ground(half_m));
        Self {
            people: free,
            houses,
            eye,
            yaw: 0.0,
            pitch,
            far_m: 3.0 * half_m + 100.0,
            light: Some(square_light(half_m)),
        }
    }

    /// The camera in a frame: it walks and turns.
    pub(crate) fn camera(&self, frame: u32) -> View {
        let yaw = self.yaw + TURNS_RAD * frame as f32;
        let ahead = vec3(-yaw.sin(), 0.0, -yaw.cos());
        let eye = self.eye + ahead * (WALKS_M * frame as f32);
        let along = ahead * self.pitch.cos() - Vec3::Y * self.pitch.sin();
        let aspect = PICTURE.width as f32 / PICTURE.height as f32;
        let clip_from_view = rh::proj::vulkan::perspective(0.7, aspect, 0.1, self.far_m);
        let view_from_world = rh::view::look_at_mat4(eye, eye + along, Vec3::Y);
        View::new(clip_from_view * view_from_world, eye, PICTURE)
    }
}

/// The corners of the ground under everything up to this distance from the middle.
fn ground(half_m: f32) -> [Vec3; 2] {
    let side = vec3(1.0, 0.0, 1.0) * (half_m + BEYOND_M);
    [-side - Vec3::Y, side]
}

/// True if two boxes are less than a distance apart on the ground.
fn overlap(a: &[Vec3; 2], b: &[Vec3; 2], apart_m: f32) -> bool {
    let axis = |at: fn(Vec3) -> f32| at(a[0]) < at(b[1]) + apart_m && at(b[0]) < at(a[1]) + apart_m;
    axis(|at| at.x) && axis(|at| at.z)
}

/// The view of a sun that covers everybody on a square, as closely as it can.
fn square_light(half_m: f32) -> View {
    let sun = vec3(0.5, 1.0, 0.3).normalize();
    let light_from_world = rh::view::look_to_mat4(Vec3::ZERO, -sun, Vec3::Y);
    let corners = (0..8).map(|corner| {
        let side = |bit: u32| {
            if corner >> bit & 1 == 1 {
                half_m
            } else {
                -half_m
            }
        };
        let height = if corner >> 2 == 1 { 2.0 } else { 0.0 };
        light_from_world.transform_point3(vec3(side(0), height, side(1)))
    });
    let most = corners.fold(Vec3::ZERO, |most, corner| most.max(corner.abs())) + 1.0;
    let clip_from_view: Mat4 =
        rh::proj::vulkan::orthographic(-most.x, most.x, -most.y, most.y, -most.z, most.z);
    let clip_from_world = clip_from_view * light_from_world;
    View::shadow_of(clip_from_world, sun * most.z, culling::SHADOW_MAP)
}

/// The houses near each part of a square.
struct Grid {
    half_m: f32,
    cells: Vec<Vec<usize>>,
}

impl Grid {
    const EDGE_M: f32 = 20.0;

    fn new(houses: &[[Vec3; 2]], half_m: f32) -> Self {
        let side = (2.0 * half_m / Self::EDGE_M).ceil().max(1.0) as usize;
        let mut grid = Self {
            half_m,
            cells: vec![Vec::new(); side * side],
        };
        for (number, house) in houses.iter().enumerate() {
            let [least, greatest] = house.map(|at| grid.cell(at));
            for z in least[1].saturating_sub(1)..=(greatest[1] + 1).min(side - 1) {
                for x in least[0].saturating_sub(1)..=(greatest[0] + 1).min(side - 1) {
                    grid.cells[z * side + x].push(number);
                }
            }
        }
        grid
    }

    fn cell(&self, at: Vec3) -> [usize; 2] {
        let side = self.cells.len().isqrt();
        let place = (Vec2::new(at.x, at.z) + self.half_m) / Self::EDGE_M;
        place
            .to_array()
            .map(|axis| (axis.max(0.0) as usize).min(side - 1))
    }

    fn around(&self, at: Vec3) -> &[usize] {
        let [x, z] = self.cell(at);
        &self.cells[z * self.cells.len().isqrt() + x]
    }
}
