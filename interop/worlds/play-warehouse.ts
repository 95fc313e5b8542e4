import { type Action, findIn, type Player } from './player.ts'

interface Bin {
  readonly article: string
  readonly row: number
  readonly column: number
  /** Units in it; `null` if nobody has counted them. */
  readonly left: number | null
}

interface Floor {
  readonly row: number
  readonly column: number
  readonly battery: number
  readonly room: number
  /** Units in the cart, by article. */
  readonly cart: ReadonlyMap<string, number>
  /** Units that open orders want, by article. */
  readonly wanted: ReadonlyMap<string, number>
  readonly bins: readonly Bin[]
}

/** Fetches what is wanted from the nearest bin that may have it, delivers, and turns back while the battery lasts. */
export function playWarehouse(): Player {
  return (shown) => chooseAction(readFloor(shown))
}

function chooseAction(floor: Floor): Action {
  const atDock = floor.row + floor.column === 0
  if (atDock && floor.cart.size > 0) return { tool: 'deliver', arguments: {} }
  const missing = (article: string) => (floor.wanted.get(article) ?? 0) - (floor.cart.get(article) ?? 0)
  const away = ({ row, column }: Bin) => Math.abs(row - floor.row) + Math.abs(column - floor.column)
  const [bin] =
    floor.room === 0
      ? []
      : floor.bins.filter((it) => it.left !== 0 && missing(it.article) > 0).sort((a, b) => away(a) - away(b))
  if (!bin) return moveTo(floor, { row: 0, column: 0 })
  // To the bin, one pick, and home.
  if (floor.battery < away(bin) + 1 + bin.row + bin.column)
    return atDock ? { tool: 'recharge', arguments: {} } : moveTo(floor, { row: 0, column: 0 })
  if (away(bin) > 0) return moveTo(floor, bin)
  return { tool: 'pick', arguments: { quantity: Math.min(missing(bin.article), floor.room) } }
}

function moveTo(from: Floor, to: { readonly row: number; readonly column: number }): Action {
  const vertical = to.row < from.row ? 'up' : 'down'
  const horizontal = to.column < from.column ? 'left' : 'right'
  return { tool: 'move', arguments: { direction: to.row === from.row ? horizontal : vertical } }
}

/** Reads the last observation of those that are shown. */
function readFloor(shown: string): Floor {
  const [row, column] = findIn(shown, /You are at row (\d+), column (\d+)/g, 'The place of the cart')
  const [battery] = findIn(shown, /Battery (\d+) of \d+/g, 'The battery')
  const [capacity, carried] = findIn(shown, /Cart \(at most (\d+)\): ([^.\n]*)\./g, 'The cart')
  const [orders] = findIn(shown, /Open orders: ([^\n]*)\./g, 'The list of orders')
  const [bins] = findIn(shown, /Bins: ([^\n]*)\./g, 'The list of bins')
  const cart = count(carried as string, /(\d+) (\w+)/g)
  return {
    row: Number(row),
    column: Number(column),
    battery: Number(battery),
    room: Number(capacity) - [...cart.values()].reduce((sum, units) => sum + units, 0),
    cart,
    wanted: count(orders as string, /wants (\d+) (\w+)/g),
    bins: [...(bins as string).matchAll(/with (\w+) at row (\d+), column (\d+) \((?:(\d+) left|not counted)\)/g)].map(
      ([, article, binRow, binColumn, left]) => ({
        article: article as string,
        row: Number(binRow),
        column: Number(binColumn),
        left: left === undefined ? null : Number(left),
      }),
    ),
  }
}

/** Units by article, if each match is a number and an article. */
function count(text: string, pattern: RegExp): ReadonlyMap<string, number> {
  const units = new Map<string, number>()
  for (const [, number, article = ''] of text.matchAll(pattern))
    units.set(article, (units.get(article) ?? 0) + Number(number))
  return units
}
