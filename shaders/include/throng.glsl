// throng: the data and functions that all shaders of the crowd share.
//
// Public: include it in a vertex or compute shader of your own and call throng_deform().
//
// Set 0 is throng's. A shader may define these before it includes the file:
//   THRONG_SET             number of the set (default 0)
//   THRONG_NO_VIEW         leaves out the view block and the last frame (compute shaders)
//   THRONG_NO_INSTANCES    leaves out instances, palettes and deformed vertices, which fragment
//                          shaders cannot read
//   THRONG_RING_PALETTES   a uvec2: the device address of this frame's palettes in the ring. By
//                          default it comes from the view.
//   THRONG_NO_RING         no instance has its palette in the ring. Without a view, this or
//                          THRONG_RING_PALETTES has to be defined.
//   THRONG_MESH_ADDRESS, THRONG_VIEW_ADDRESS
//                          a uvec2 each: the device addresses of the mesh buffer and of the view, in
//                          place of their bindings (throng_hit.glsl)
//   THRONG_WRITES_SKINNED  makes the deformed vertices writable (the skin stage)
//   THRONG_MULTIVIEW       the pipeline's rendering has a view mask: THRONG_EYE is the eye of
//                          gl_ViewIndex. Without it, THRONG_EYE is the view.
//   THRONG_VARIANT         the variant of all primitives that are drawn with the pipeline, best a
//                          specialization constant. Its value is PrimitiveDraw::variant, or
//                          THRONG_NONE to read it from each primitive, as by default. See
//                          "Variants" in the documentation of throng::gpu.
//
// Spaces: mesh space (as modelled, at bind time) -> character space (the scene of the asset) ->
// world space. A matrix is three rows of a 3x4 row-major matrix: out[r] = dot(row[r], vec4(in, 1)).

#ifndef THRONG_GLSL
#define THRONG_GLSL
#include "throng_data.glsl"
#include "throng_material.glsl"
#include "throng_streams.glsl"
#include "throng_palette.glsl"
#include "throng_scale.glsl"
#include "throng_transform.glsl"
#include "throng_deform.glsl"
#include "throng_history.glsl"
#endif
