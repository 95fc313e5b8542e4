import type { Completion } from '@episodic/protocol'

export interface TokenCall
  extends Pick<Completion, 'promptTokenIds' | 'tokenIds' | 'logProbabilities' | 'finish'>,
    Partial<Pick<Completion, 'prompt'>> {}

export interface LinkedCall {
  /** The index of the answer whose prompt and tokens are the longest beginning of this prompt; `null` for none. */
  readonly parent: number | null
  /** The answer from whose prompt this goes on with other tokens than were sampled; `null` if there is none. */
  readonly driftsFrom: number | null
}

/** Tokens of answers that follow each other, as a learner takes them. All lists have one length. */
export interface TokenSequence {
  readonly calls: readonly number[]
  /** `auxiliary`: none of its answers was given tools, and others were: a title or a summary. */
  readonly role: 'agent' | 'auxiliary'
  readonly inputIds: readonly number[]
  /** 1 for a sampled token, 0 for what was given. A token that several sequences share is 1 in one of them. */
  readonly lossMask: readonly (0 | 1)[]
  /** ln p of each sampled token, 0 for what was given; `null` if an answer has none. */
  readonly logProbabilities: readonly number[] | null
  readonly promptLength: number
}

export interface TokenTree {
  readonly links: readonly LinkedCall[]
  /** The ways from a root to a leaf, by the order of their leaves. */
  readonly sequences: readonly TokenSequence[]
  /** Answers that were asked for again, or broken off, and led nowhere: they are in no sequence. */
  readonly discarded: readonly number[]
}

/**
 * Links answers by their tokens: each goes on from the answer whose prompt and sampled tokens are the longest exact
 * beginning of its own prompt. So retries, agents within agents and shortened conversations make a tree. Nothing is
 * tokenised, and an answer without ids is linked to none.
 *
 * @param calls - in the order in which they ended.
 */
export function linkCalls(calls: readonly TokenCall[]): LinkedCall[] {
  const prompts = new PrefixIndex()
  const sampled = new PrefixIndex()
  return calls.map(({ promptTokenIds: prompt, tokenIds: answer }, i) => {
    if (!prompt || !answer) return { parent: null, driftsFrom: null }
    const parent = sampled.find(prompt, prompt.length)
    const asked = prompts.find(prompt, prompt.length - 1)
    const drifts = asked !== null && (parent === null || parent.length <= asked.length)
    prompts.add(prompt, i)
    if (answer.length > 0) sampled.add([...prompt, ...answer], i)
    return { parent: parent?.call ?? null, driftsFrom: drifts ? asked.call : null }
  })
}

/** @param elsewhere - answers that are learned in another tree, and have no 1 here. */
export function treeOf(calls: readonly TokenCall[], elsewhere: Iterable<number> = []): TokenTree {
  const links = linkCalls(calls)
  const parents = new Set(links.map(({ parent }) => parent))
  const leaves = calls.flatMap(({ promptTokenIds, tokenIds }, i) =>
    promptTokenIds && tokenIds && !parents.has(i) ? [i] : [],
  )
  const discarded = leaves.filter((leaf) => wasAskedAgain(leaf, calls, links, parents))
  const ways = leaves.filter((leaf) => !discarded.includes(leaf)).map((leaf) => wayTo(leaf, links))
  const hasTools = (way: readonly number[]) => way.some((call) => (calls[call]?.prompt?.tools.length ?? 0) > 0)
  const someHaveTools = ways.some(hasTools)
  const learned = new Set(elsewhere)
  const sequences = ways.map((way): TokenSequence => {
    const role = someHaveTools && !hasTools(way) ? 'auxiliary' : 'agent'
    return { calls: way, role, ...flatten(way, calls, learned) }
  })
  return { links, sequences, discarded }
}

function wasAskedAgain(
  leaf: number,
  calls: readonly TokenCall[],
  links: readonly LinkedCall[],
  parents: ReadonlySet<number | null>,
): boolean {
  const asked = (calls[leaf] as TokenCall).promptTokenIds as readonly number[]
  return calls.some(
    ({ promptTokenIds: prompt, finish }, i) =>
      i !== leaf &&
      prompt?.length === asked.length &&
      links[i]?.parent === links[leaf]?.parent &&
      (parents.has(i) || (i > leaf && finish !== undefined && calls[leaf]?.finish === undefined)) &&
      prompt.every((id, at) => id === asked[at]),
  )
}

function wayTo(leaf: number, links: readonly LinkedCall[]): number[] {
  const way: number[] = []
  for (let at: number | null = leaf; at !== null; at = links[at]?.parent ?? null) way.unshift(at)
  return way
}

/** @param learned - the answers that are in an earlier sequence. Adds those of this one. */
function flatten(way: readonly number[], calls: readonly TokenCall[], learned: Set<number>) {
  const inputIds: number[] = []
  const lossMask: (0 | 1)[] = []
  const scores: number[] = []
  let isScored = true
  for (const call of way) {
    const { promptTokenIds = [], tokenIds = [], logProbabilities } = calls[call] as TokenCall
    for (let at = inputIds.length; at < promptTokenIds.length; at++) {
      inputIds.push(promptTokenIds[at] as number)
      lossMask.push(0)
      scores.push(0)
    }
    if (logProbabilities?.length !== tokenIds.length) isScored = false
    for (const [at, id] of tokenIds.entries()) {
      inputIds.push(id)
      lossMask.push(learned.has(call) ? 0 : 1)
      scores.push(logProbabilities?.[at] ?? 0)
    }
    learned.add(call)
  }
  const promptLength = (calls[way[0] as number] as TokenCall).promptTokenIds?.length ?? 0
  return { inputIds, lossMask, logProbabilities: isScored ? scores : null, promptLength }
}

interface Indexed {
  readonly call: number
  readonly ids: readonly number[]
  readonly length: number
}

class PrefixIndex {
  readonly #byLength = new Map<number, Map<number, Indexed[]>>()

  add(ids: readonly number[], call: number): void {
    const hashes = this.#byLength.get(ids.length) ?? new Map<number, Indexed[]>()
    this.#byLength.set(ids.length, hashes)
    const hash = ids.reduce(extend, 0)
    hashes.set(hash, [...(hashes.get(hash) ?? []), { call, ids, length: ids.length }])
  }

  /** Returns the longest one of at most so many ids, and of equal ones the last; `null` if there is none. */
  find(ids: readonly number[], most: number): Indexed | null {
    const found: Indexed[] = []
    for (let at = 0, hash = 0; at <= most; hash = extend(hash, ids[at++] as number))
      found.push(...(this.#byLength.get(at)?.get(hash) ?? []))
    return found.findLast(({ ids: known }) => known.every((id, at) => id === ids[at])) ?? null
  }
}

function extend(hash: number, id: number): number {
  return (Math.imul(hash, 16_777_619) ^ (id + 1)) | 0
}
