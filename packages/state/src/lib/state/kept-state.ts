import { contentId, type Limits, type RngState } from '@episodic/protocol'
import { StateError } from '../state-error.ts'
import { Draft } from './draft.ts'
import { bytesOf, type PageNode, pageOf, type Value } from './page-node.ts'
import { type ReadPages, readTree } from './read-tree.ts'
import type { SessionState } from './session-state.ts'
import { isShared, sharedValue } from './shared-values.ts'
import { assertStateFits, byteLength, encodeState, unreadable } from './state-text.ts'
import { cloneParts } from './structured-clone.ts'
import { treeOf } from './tree-of.ts'
import { containerOf, shownBy, Views } from './view.ts'

/** UTF-8 bytes of JSON text up to which a state is one text. A larger one is a tree of pages. */
const SMALL = 8_192

type Chance = { readonly rng: RngState; readonly now: number }

interface Tree {
  readonly root: Value
  readonly views: Views
}

/** The drafts of large states by what rules get of them. */
const drafts = new WeakMap<object, { readonly draft: Draft; readonly views: Views }>()

/**
 * A state with what a store keeps of it.
 *
 * A state of at most 8 KiB is a plain object, kept as its JSON text. A larger one reads like a plain object and is kept
 * in pages, so that a change costs what is changed.
 */
export class KeptState {
  /** What rules read. Large states are read-only. */
  readonly state: SessionState
  /** The JSON text of a small state; of a large one, a text that names its first page. */
  readonly text: string
  /** Whether it is kept in pages. */
  readonly isLarge: boolean
  readonly #tree: Tree | null
  /** A copy of a small state that nobody holds, for its first draft; `null` once that is given. */
  #copy: SessionState | null = null
  /** The random streams that were hashed last, and their text: most steps draw nothing. */
  #streams: { readonly rng: RngState; readonly text: string } | null = null
  /** The first pages of the frozen values that it began with. */
  #shared: ReadonlySet<PageNode> | null = null
  /** The pages that the store does not have, once they were asked for. */
  #new: readonly PageNode[] | null = null

  private constructor(state: SessionState, text: string, tree: Tree | null) {
    this.state = state
    this.text = text
    this.isLarge = tree !== null
    this.#tree = tree
  }

  /** Keeps a plain state. Throws `not-json`, and `too-large` if it exceeds the limit. */
  static of(state: SessionState, limits: Limits): KeptState {
    // The text of a state that is surely large would be written in vain.
    return isSurelyLarge(state) ? KeptState.#inPages(state, limits) : KeptState.#measured(state, limits, null)
  }

  static #measured(state: SessionState, limits: Limits, before: KeptState | null): KeptState {
    const { text, copy } = encodeState(state, limits)
    if (!isSmall(text)) return KeptState.#inPages(state, limits)
    const kept = new KeptState(state, text, null)
    // A session that only began may never be played on.
    if (!before) return kept
    kept.#copy = copy
    kept.#streams = before.#streams
    return kept
  }

  static #inPages(state: SessionState, limits: Limits): KeptState {
    const root = readable(() => rootOf(state))
    assertStateFits((root as { readonly bytes: number }).bytes, limits)
    return KeptState.#large(root, {})
  }

  /**
   * Keeps the state that a session begins with. Large values of its parts that are frozen at every depth, such as a
   * database of a module, are read once and are the same in all sessions. Throws as {@link KeptState.of} does.
   */
  static start(state: SessionState, limits: Limits): KeptState {
    const parts = [state.public, state.private, ...Object.values(state.own ?? {})]
    const shares = parts.some((part) => [part, ...Object.values(part)].some((value) => isShared(value, 'state', SMALL)))
    if (!shares) return KeptState.of(state, limits)
    const shared = new Set<PageNode>()
    const root = readable(() =>
      treeOf(state, 'state', (object, path) => {
        const value = sharedValue(object, path)
        // Small ones are written with the session, so that many sessions find the pool of the large ones.
        if (value !== null && bytesOf(value) > SMALL) shared.add(pageOf(value) as PageNode)
        return value
      }),
    )
    assertStateFits((root as { readonly bytes: number }).bytes, limits)
    const kept = KeptState.#large(root, {})
    kept.#shared = shared
    return kept
  }

  /** Reads the state of a text, and of `near` what both have. Throws `store-invalid` for missing or damaged pages. */
  static async read(text: string, read: ReadPages, near?: KeptState): Promise<KeptState> {
    const found = JSON.parse(text)
    // A state that an older release has kept as one text is large from its next change on.
    if (!Array.isArray(found)) return KeptState.parsed(text, found)
    const tree = near ? near.#tree : null
    return KeptState.#large(await readTree(found[1], read, tree && pageOf(tree.root)), {})
  }

  static parsed(text: string, state: SessionState = JSON.parse(text)): KeptState {
    return new KeptState(state, text, null)
  }

  static #large(root: Value, lineage: object, views = new Views(lineage)): KeptState {
    const text = JSON.stringify(['pages', pageOf(root)?.name])
    const state = views.of(root) as SessionState
    cloneParts()
    return new KeptState(state, text, { root, views })
  }

  /** Returns the hash of everything that the next step depends on: the state, the random streams and virtual time. */
  hash({ rng, now }: Chance, text = this.text): string {
    if (this.#streams?.rng !== rng) this.#streams = { rng, text: JSON.stringify(rng) }
    return contentId(`[${this.#streams.text},${Number.isFinite(now) ? now : null}]${text}`)
  }

  /** Returns that hash in the form of a recorded one: releases without pages hash the JSON text of a large state. */
  hashAs(recorded: string | null, chance: Chance): string {
    const hash = this.hash(chance)
    return hash === recorded || !this.isLarge ? hash : this.hash(chance, JSON.stringify(this.state))
  }

  get bytes(): number {
    return this.#tree ? (this.#tree.root as { readonly bytes: number }).bytes : byteLength(this.text)
  }

  draft(): SessionState {
    if (!this.#tree) {
      const copy = this.#copy ?? JSON.parse(this.text)
      this.#copy = null
      return copy
    }
    const { root, views } = this.#tree
    const draft = new Draft(root, views.lineage)
    drafts.set(draft.root, { draft, views })
    return draft.root as SessionState
  }

  /** Keeps what rules have left of a draft, or a plain state. Throws `not-json`, and `too-large` beyond the limit. */
  next(left: SessionState, limits: Limits): KeptState {
    const tree = this.#tree
    if (left === this.state) return this
    if (!tree) return KeptState.#measured(left, limits, this)
    const draft = drafts.get(left)?.draft
    const shown = containerOf(left, tree.views.lineage)
    const root = shown ?? readable(() => (draft ? draft.finish('state') : rootOf(left)))
    if (root === tree.root) return this
    const { bytes } = root as { readonly bytes: number }
    assertStateFits(bytes, limits)
    if (bytes <= SMALL) return KeptState.parsed(JSON.stringify(tree.views.of(root)))
    if (!draft && !shown) keepSame(pageOf(root) as PageNode, pagesBelow(pageOf(tree.root) as PageNode))
    return KeptState.#large(root, tree.views.lineage, tree.views)
  }

  forked(): KeptState {
    return this.#tree ? KeptState.#large(this.#tree.root, {}) : this
  }

  /** The name of the first page of a large state; of a small one, its text. */
  get name(): string {
    return this.#tree ? (pageOf(this.#tree.root)?.name as string) : this.text
  }

  get newPages(): readonly PageNode[] {
    this.#new ??= this.#pages(({ kept }) => !kept)
    return this.#new
  }

  /**
   * The pages of a start: those of the frozen values that it began with, which others share, and all others; if there
   * are none, others share the whole start. The pool of shared pages is named by them.
   */
  get start(): {
    readonly pool: string
    readonly own: readonly PageNode[]
    readonly shared: () => readonly PageNode[]
  } {
    const shared = [...(this.#shared ?? [])]
    if (shared.length === 0) return { pool: `start:${this.name}`, own: [], shared: () => this.#pages(() => true) }
    const names = shared.map(({ name }) => name).sort()
    return {
      pool: `start:${names.length === 1 ? names[0] : contentId(names.join())}`,
      own: this.#pages((page) => !this.#shared?.has(page)),
      shared: () => this.#pages(() => true, shared),
    }
  }

  /** Marks the pages as stored. */
  keep(): void {
    for (const page of this.newPages) page.keep()
    this.#new = null
  }

  #pages(
    has: (page: PageNode) => boolean,
    roots = this.#tree ? [pageOf(this.#tree.root) as PageNode] : [],
  ): PageNode[] {
    const found = new Map<string, PageNode>()
    const visit = (page: PageNode) => {
      if (!has(page) || found.has(page.name)) return
      for (const child of page.children()) visit(child)
      found.set(page.name, page)
    }
    for (const root of roots) visit(root)
    return [...found.values()]
  }

  toPlain(): SessionState {
    return JSON.parse(this.#tree ? JSON.stringify(this.state) : this.text)
  }
}

/** Returns whether a state is large, so that it is read-only and must not be copied without need. */
export function isLarge(state: SessionState): boolean {
  return shownBy(state) !== null
}

/** Returns a copy of what rules have left of a draft so far; they may go on to change the draft. */
export function copyOfDraft(draft: SessionState): SessionState {
  return drafts.has(draft) ? settled(draft) : structuredClone(draft)
}

/**
 * Returns the state that rules have left of a draft, which they do not change any more: of a large state a read-only
 * view, and otherwise the draft itself. Throws `not-json` for a large state that JSON cannot say.
 */
export function settled(draft: SessionState): SessionState {
  const large = drafts.get(draft)
  return large ? (large.views.of(readable(() => large.draft.finish('state'))) as SessionState) : draft
}

function isSmall(text: string): boolean {
  return text.length * 3 <= SMALL || (text.length <= SMALL && byteLength(text) <= SMALL)
}

/** Returns whether a state has so many parts, or so long ones, that its JSON text cannot be small. */
function isSurelyLarge(state: SessionState): boolean {
  let room = SMALL
  const passes = (value: unknown): boolean => {
    room -= typeof value === 'string' ? value.length : 1
    if (room < 0 || typeof value !== 'object' || value === null) return room < 0
    if (Array.isArray(value)) {
      // An array may be longer than there is time to read.
      for (const item of value) if (passes(item)) return true
      return false
    }
    return Object.keys(value).some((key) => {
      room -= key.length
      return passes((value as { readonly [key: string]: unknown })[key])
    })
  }
  return readable(() => passes(state))
}

function rootOf(state: SessionState): Value {
  return treeOf(state, 'state', null)
}

/** Runs what reads a state that rules have left. Throws `not-json` for one that cannot be read to its end. */
function readable<T>(run: () => T): T {
  try {
    return run()
  } catch (cause) {
    throw StateError.is(cause) ? cause : unreadable()
  }
}

function pagesBelow(page: PageNode, names = new Set<string>()): ReadonlySet<string> {
  if (names.has(page.name)) return names
  names.add(page.name)
  for (const child of page.children()) pagesBelow(child, names)
  return names
}

function keepSame(page: PageNode, names: ReadonlySet<string>): void {
  if (names.has(page.name)) page.keep()
  for (const child of page.children()) keepSame(child, names)
}
