import { parse, View } from 'vega'
import { compile, type TopLevelSpec } from 'vega-lite'

/** Draws a figure as an SVG. */
export async function draw(spec: TopLevelSpec): Promise<string> {
  const view = new View(parse(compile(spec).spec), { renderer: 'none' })
  const svg = await view.toSVG()
  view.finalize()
  return svg
}
