// Draws a context's machine: states in rows by their distance from the first, and the transitions between them.

const SVG = 'http://www.w3.org/2000/svg'
const HEIGHT = 30
const GAP = { row: 34, column: 22 }
/** Approximate pixels of one letter, and the padding of a name. */
const LETTER = 7.6
const PADDING = 24
/** How far an edge swings out that goes back or stays in its row. */
const SWING = 26

/** Returns an SVG of `context`, with the state `lit` highlighted if there is one. */
export function drawMachine(context, lit) {
  const rows = rowsOf(context)
  const widths = rows.map((row) => row.reduce((sum, state) => sum + widthOf(state) + GAP.column, -GAP.column))
  const width = Math.max(...widths) + 2 * (SWING + 10)
  const height = rows.length * (HEIGHT + GAP.row) - GAP.row + 8
  const places = placesOf(rows, widths, width)
  const svg = element('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img' })
  // A small machine is not blown up.
  svg.style.setProperty('max-width', `${width}px`)
  const states = `It has the states ${context.states.join(', ')}.`
  svg.setAttribute(
    'aria-label',
    lit ? `${context.name} is in ${lit}. ${states}` : `${context.name} is not open. ${states}`,
  )
  const marker = element('marker', {
    id: 'tip',
    viewBox: '0 0 8 8',
    refX: 7,
    refY: 4,
    markerWidth: 7,
    markerHeight: 7,
    orient: 'auto',
  })
  marker.append(element('path', { d: 'M0 0 L8 4 L0 8 z' }))
  const definitions = element('defs')
  definitions.append(marker)
  svg.append(definitions)
  for (const { from, to, on, kinds } of joinEdges(context.edges)) {
    const path = element('path', { d: curve(places.get(from), places.get(to), width), 'marker-end': 'url(#tip)' })
    if (from === lit) path.classList.add('leaves')
    if (kinds.every((kind) => kind === 'event')) path.classList.add('by-event')
    path.append(titled(`${from} to ${to}: ${on.join(', ') || 'by itself'}`))
    svg.append(path)
  }
  for (const [state, { x, y, width }] of places) {
    const node = element('g', { 'data-state': state })
    if (state === lit) node.classList.add('lit')
    if (context.final.includes(state)) node.classList.add('final')
    const name = element('text', { x: x + width / 2, y: y + HEIGHT / 2 })
    name.textContent = state
    node.append(element('rect', { x, y, width, height: HEIGHT, rx: 8 }), name)
    svg.append(node)
  }
  return svg
}

/** Returns what a state accepts, each once. */
export function acceptedIn(context, state) {
  const names = context.edges.filter(({ from, on }) => from === state && on !== null).map(({ on }) => on)
  return [...new Set(names)]
}

function rowsOf({ states, initial, edges }) {
  const depth = new Map([[initial, 0]])
  const waiting = [initial, ...edges.filter(({ from }) => from === null).map(({ to }) => to)]
  for (const state of waiting) {
    if (!depth.has(state)) depth.set(state, 0)
    for (const { from, to } of edges)
      if (from === state && !depth.has(to)) {
        depth.set(to, depth.get(state) + 1)
        waiting.push(to)
      }
  }
  const last = Math.max(...depth.values())
  const rows = Array.from({ length: last + 1 }, (_, at) => states.filter((state) => depth.get(state) === at))
  const apart = states.filter((state) => !depth.has(state))
  return splitRows(apart.length > 0 ? [...rows, apart] : rows)
}

/** No more than three in a row, or names are too small to read. */
function splitRows(rows) {
  return rows.flatMap((row) =>
    Array.from({ length: Math.ceil(row.length / 3) }, (_, at) => row.slice(at * 3, at * 3 + 3)),
  )
}

function placesOf(rows, widths, width) {
  const places = new Map()
  for (const [at, row] of rows.entries()) {
    let x = (width - widths[at]) / 2
    for (const state of row) {
      places.set(state, { x, y: 4 + at * (HEIGHT + GAP.row), width: widthOf(state), row: at })
      x += widthOf(state) + GAP.column
    }
  }
  return places
}

function widthOf(state) {
  return state.length * LETTER + PADDING
}

/** Merges the transitions from one state to another into one edge. */
function joinEdges(edges) {
  const joined = new Map()
  for (const { from, to, on, kind } of edges) {
    if (from === null || from === to) continue
    const edge = joined.get(`${from} ${to}`) ?? { from, to, on: [], kinds: [] }
    if (on !== null && !edge.on.includes(on)) edge.on.push(on)
    edge.kinds.push(kind)
    joined.set(`${from} ${to}`, edge)
  }
  return [...joined.values()]
}

function curve(from, to, width) {
  const middle = (place) => place.x + place.width / 2
  if (to.row === from.row + 1) {
    const [y1, y2] = [from.y + HEIGHT, to.y - 1]
    return `M${middle(from)} ${y1} C${middle(from)} ${y1 + 16} ${middle(to)} ${y2 - 16} ${middle(to)} ${y2}`
  }
  // Edges that pass a row go down on the right and up on the left.
  const down = to.row > from.row || (to.row === from.row && to.x > from.x)
  const side = (place) => (down ? place.x + place.width : place.x)
  const edge = down ? width - 4 : 4
  const [y1, y2] = [from.y + HEIGHT / 2 + (down ? 4 : -4), to.y + HEIGHT / 2 + (down ? -4 : 4)]
  return `M${side(from)} ${y1} C${edge} ${y1} ${edge} ${y2} ${side(to) + (down ? 1 : -1)} ${y2}`
}

function element(name, attributes = {}) {
  const made = document.createElementNS(SVG, name)
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value)
  return made
}

function titled(text) {
  const title = element('title')
  title.textContent = text
  return title
}
