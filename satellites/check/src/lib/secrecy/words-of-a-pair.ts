import type { EnvironmentDefinition, Tool } from '@episodic/mcp-server'
import type { Action, JsonObject, Rng, ToolInfo } from '@episodic/protocol'
import { hiddenFrom } from '../deal.ts'
import { leafDifferences } from '../leaf-differences.ts'
import { randomAction } from '../noisy-policy.ts'
import { WRITTEN } from '../rules-place.ts'
import { eachLeaf } from '../walk-json.ts'
import type { PlannedPair } from './dealt-pairs.ts'

/** Most words of each kind, and the share of the arguments that are replaced by one. */
const KEPT = 400
const REPLACED = 0.75

type Word = string | number

/**
 * Draws calls whose arguments are about what a pair of deals differs in: the hidden values of both, parts of them, what
 * is public, what answers have said, and the constants in the rules.
 */
export class WordsOfAPair {
  readonly #tools: EnvironmentDefinition['tools']
  readonly #rng: Rng
  readonly #known = new Set<Word>()
  readonly #kinds: readonly (readonly Word[])[]
  readonly #answered: Word[] = []

  constructor(environment: EnvironmentDefinition, { first, second, seat }: PlannedPair, rng: Rng) {
    this.#tools = environment.tools
    this.#rng = rng
    const [one, other] = [first, second].map(({ state }) => hiddenFrom(environment, state, seat))
    const hidden = [...leafDifferences(one, other, KEPT).values()].flatMap(({ from, to }) => [from, to].filter(isWord))
    const open = [first.state.public, first.state.own?.[seat] ?? {}].flatMap((part) => [
      ...eachLeaf(part).filter(isWord).take(KEPT),
    ])
    this.#kinds = [hidden, open, writtenIn(environment), this.#answered]
  }

  hear(text: string): void {
    for (const [word] of text.matchAll(/[\p{L}\p{N}][\p{L}\p{N}_.:@/-]*/gu)) {
      if (this.#answered.length >= KEPT || this.#known.has(word)) continue
      this.#known.add(word)
      this.#answered.push(/^\d{1,9}$/.test(word) ? Number(word) : word)
    }
  }

  draw(tools: readonly ToolInfo[]): Action {
    const tool = this.#rng.pick(tools)
    const { input } = this.#tools[tool.name] as Tool
    const replaced = (_: string, value: unknown) =>
      isWord(value) && this.#rng.chance(REPLACED) ? this.#wordLike(value) : value
    for (let i = 0; i < 4; i++) {
      const { arguments: drawn } = randomAction([tool], this.#rng)
      const args: JsonObject = JSON.parse(JSON.stringify(drawn), replaced)
      if (input.safeParse(args).success) return { tool: tool.name, arguments: args }
    }
    return randomAction([tool], this.#rng)
  }

  #wordLike(value: Word): Word {
    const rng = this.#rng
    const word = rng.pick(rng.pick(this.#kinds.filter(({ length }) => length > 0)))
    if (typeof value === 'number') return Number(word) + (rng.chance(0.2) ? rng.pick([-1, 1]) : 0)
    const text = String(word)
    if (rng.chance() || text.length < 2) return text
    // A word of it, or a few letters.
    const part = rng.pick(text.split(/\s+/))
    const at = rng.int(0, Math.max(0, part.length - 2))
    return rng.chance(0.3) ? part : part.slice(at, at + rng.int(1, 4))
  }
}

function isWord(value: unknown): value is Word {
  return typeof value === 'number' || (typeof value === 'string' && value !== '')
}

/** The constants in the source of the tools and in their schemas: a rare answer is often bound to one. */
function writtenIn({ tools, toolInfos }: EnvironmentDefinition): readonly Word[] {
  const sources = Object.values(tools).map((tool) => String((tool as { readonly [WRITTEN]?: unknown })[WRITTEN]))
  const found = [...sources, JSON.stringify(toolInfos.map(({ inputSchema }) => inputSchema))].flatMap((source) =>
    [...source.matchAll(/(['"`])([^'"`\n$]{1,60})\1|(?<![\w.])(\d{1,9})(?![\w.])/g)].map(
      ([, , text, number]): Word => text ?? Number(number),
    ),
  )
  return [...new Set(found)].slice(0, KEPT)
}
