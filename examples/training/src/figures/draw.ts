import { parse, resetSVGDefIds, View } from 'vega'
import { compile, type TopLevelSpec } from 'vega-lite'

/** Draws a figure as an SVG: the same bytes for the same figure, whatever was drawn before. */
export async function draw(spec: TopLevelSpec): Promise<string> {
  // The names of clipped areas are counted through a process.
  resetSVGDefIds()
  const view = new View(parse(compile(spec).spec), { renderer: 'none' })
  const svg = await view.toSVG()
  view.finalize()
  return svg
}
