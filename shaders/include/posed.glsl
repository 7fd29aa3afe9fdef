// Which frame had the pose of an instance last, for motion vectors: two words for each instance
// behind the levels of the table. The first is the last prepared frame in which the stage animate
// posed it. The second is added to the stamp that the CPU gave it. It grows when an instance is
// posed that the prepared frame before did not pose, so no motion connects it with earlier frames.

const uint POSED_WORDS = 2u;
