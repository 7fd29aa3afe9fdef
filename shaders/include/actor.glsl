// Instances and their actors in the instance table: GpuInstance and GpuActor.

// Rows of 16 bytes.
const uint INSTANCE_ROWS = 8u;
const uint ACTOR_ROWS = 3u;
// Flags of an actor.
const uint ACTOR_FLIPPED = 1u, ACTOR_VARIES = 2u, ACTOR_NEW = 4u, ACTOR_POSED = 8u;
const uint ACTOR_SKINS = 16u;
// Above those, as the upper half of a float: see GpuActor::pose_error.
const uint ACTOR_POSE_ERROR = 0xFFFF0000u;
// The number of its plays, below the first one.
const uint PLAY_COUNT_BITS = 4u;
