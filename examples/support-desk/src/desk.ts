import { type ShopRows as Rows, rowOf, type Shop, shopRowsSchema, shopSchema } from '@episodic/benchmarks/tau2/shop'
import type { PlayContext, Tool } from '@episodic/mcp-server'
import type { Action } from '@episodic/protocol'
import { z } from 'zod'
import { Refusal, SHOP_TOOL_NAMES, type ShopToolName, shopToolNamed } from './shop-tools.ts'

const TABLES = ['orders', 'users'] as const
type Table = (typeof TABLES)[number]

/** The fields of a private state that make it a desk: spread them into its schema. */
export const deskState = {
  shop: shopSchema,
  /** The rows that the solution changes, as they are to be at the end. All others are to be as at the start. */
  wanted: shopRowsSchema,
  /** The rows that were changed, each once, and how often any was. */
  changed: z.object({ orders: z.array(z.string()), users: z.array(z.string()), count: z.int().min(0) }),
  /** What the customer is to be informed of, and whether it was said. */
  facts: z.array(z.object({ text: z.string(), said: z.boolean() })),
  transferred: z.boolean(),
}

const deskSchema = z.object(deskState)
export type Desk = z.output<typeof deskSchema>

/** Returns a desk whose customer needs what these actions change, and is to be informed of these facts. */
export function startDesk(shop: Shop, solution: readonly Action[], facts: readonly string[]): Desk {
  const wanted: Rows = { users: {}, orders: {} }
  for (const action of solution) changeRows(shop, wanted, action)
  return {
    shop,
    wanted,
    changed: { orders: [], users: [], count: 0 },
    facts: facts.map((text) => ({ text, said: false })),
    transferred: false,
  }
}

/**
 * Plays an action over copies of the rows of a shop, which are kept in `rows`, and returns whether it was accepted. An
 * action that only reads is not played.
 */
export function changeRows(shop: Shop, rows: Rows, { tool, arguments: args }: Action): boolean {
  const shopTool = shopToolNamed(tool)
  if (!shopTool?.changes) return true
  const input = shopTool.input.safeParse(args)
  if (!input.success) return false
  for (const [table, id] of rowsOf(shop, args)) copyRow(shop, rows, table, id)
  try {
    shopTool.run({ ...shop, ...rows }, input.data)
    return true
  } catch (error) {
    if (error instanceof Refusal) return false
    throw error
  }
}

function copyRow<Name extends Table>(shop: Shop, rows: Rows, table: Name, id: string): void {
  rows[table][id] ??= structuredClone(shop[table][id]) as Rows[Name][string]
}

/** Finds the rows that an action with these arguments can change: an order, and the user whose it is. */
function rowsOf(shop: Shop, args: Action['arguments']): (readonly [Table, string])[] {
  const { order_id, user_id } = args
  const order = typeof order_id === 'string' ? rowOf(shop.orders, order_id) : undefined
  const user = order?.user_id ?? user_id
  return [
    ...(order ? [['orders', order.order_id] as const] : []),
    ...(typeof user === 'string' && rowOf(shop.users, user) ? [['users', user] as const] : []),
  ]
}

interface State {
  private: Desk
}

/** What the rules of a tool get, in an environment of one seat and in a game. */
type Play = Omit<PlayContext<State, unknown, Action['arguments'], undefined>, 'reveal'> & {
  readonly seat: string
  reveal<T>(value: T, to?: string): T
}

/**
 * Returns the tools of the shop, for a definition whose private state has {@link deskState}.
 *
 * - `tool`: the maker of tools of the definition.
 * - `seats`: the seats of a game that have them. Default: all.
 */
export function shopTools(tool: unknown, seats?: readonly string[]): { readonly [Name in ShopToolName]: Tool } {
  const make = tool as (definition: object) => Tool
  const made = SHOP_TOOL_NAMES.map((name) => {
    const { description, input, changes, run } = shopToolNamed(name) as NonNullable<ReturnType<typeof shopToolNamed>>
    const play = ({ state: { private: desk }, input, seat, reveal, refuse, say }: Play) => {
      const shown = (value: string) => (seats ? reveal(value, seat) : reveal(value))
      try {
        const found = run(desk.shop, input)
        if (changes) noteChange(desk, input)
        if (name === 'transfer_to_human_agents') desk.transferred = true
        return say(shown(typeof found === 'string' ? found : JSON.stringify(found)))
      } catch (error) {
        if (error instanceof Refusal) return refuse(shown(error.message))
        throw error
      }
    }
    const annotations = { readOnlyHint: !changes, openWorldHint: false }
    return [name, make({ description, input, annotations, play, ...(seats && { seats }) })] as const
  })
  return Object.fromEntries(made) as { readonly [Name in ShopToolName]: Tool }
}

function noteChange({ shop, changed }: Desk, args: Action['arguments']): void {
  changed.count += 1
  for (const [table, id] of rowsOf(shop, args)) if (!changed[table].includes(id)) changed[table].push(id)
}

/** Notes what the customer is informed of by a text. Commas, and upper and lower case, make no difference. */
export function noteSaid({ facts }: Desk, text: string): void {
  const plain = text.toLowerCase().replaceAll(',', '')
  for (const fact of facts) if (contains(plain, fact.text.toLowerCase())) fact.said = true
}

/** Whether a text contains another, and not as the end of a longer number. */
function contains(text: string, part: string): boolean {
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1))
    if (!/[\d.]/.test(text[at - 1] ?? '')) return true
  return false
}

/** How far a desk is from the database and the facts that its customer needs. */
export interface Progress {
  /** Rows that are to change, and how many of them are as they are to be. */
  readonly rows: number
  readonly right: number
  /** Rows that were changed and are not to be. */
  readonly wrong: number
  readonly facts: number
  readonly said: number
}

/** Compares the rows that were changed, and those that are to change, with what they are to be. */
export function progressOf({ shop, wanted, changed, facts }: Desk, start: Shop): Progress {
  const counts = { rows: 0, right: 0, wrong: 0 }
  for (const table of TABLES) {
    for (const [id, row] of Object.entries(wanted[table])) {
      // A solution copies the row of a user also where it does not change it.
      if (isEqual(row, start[table][id])) continue
      counts.rows += 1
      if (isEqual(row, shop[table][id])) counts.right += 1
    }
    for (const id of changed[table]) {
      const row = wanted[table][id] ?? start[table][id]
      if (isEqual(row, start[table][id]) && !isEqual(row, shop[table][id])) counts.wrong += 1
    }
  }
  return { ...counts, facts: facts.length, said: facts.filter(({ said }) => said).length }
}

/** Whether the database is the one that the solution leaves, whatever led to it. */
export function isAsWanted({ rows, right, wrong }: Progress): boolean {
  return right === rows && wrong === 0
}

/** Rows have their fields in the order of the schema. */
function isEqual(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
