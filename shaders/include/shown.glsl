// Who was shown last, for motion vectors: two words for each instance, behind the levels of the
// table. The first is the last prepared frame in which a view showed it. The second is added to the
// stamp that the CPU gave it. It grows when an instance is shown that the prepared frame before did
// not show, so no motion connects it with earlier frames.

const uint SHOWN_WORDS = 2u;
