import { DEFAULT_LIMITS } from '@episodic/protocol'
import type { SessionState } from '@episodic/state'
import { isLarge, KeptState, pagesOfPart, readMade } from '@episodic/state/internal'
import type { RulesCall, SentState } from './worker-messages.ts'

/** Pages that a thread keeps at most, beside those of a state that it was sent whole: some 40 MiB of JSON. */
const MOST = 16_384

/** What a thread keeps of the states that it is sent: so only the pages that it lacks go there, and come back. */
export class PagesInThread {
  #names = new Set<string>()
  #ofFirst = 0

  send(state: SessionState): SessionState | SentState {
    if (!isLarge(state)) return state
    if (this.#names.size > MOST + this.#ofFirst) this.forget()
    const isFirst = this.#names.size === 0
    const sent = pagesOfPart(state, this.#names) as Omit<SentState, 'isFirst'>
    if (isFirst) this.#ofFirst = sent.pages.length
    return { ...sent, isFirst }
  }

  receive(made: SentState, of: SessionState): Promise<SessionState> {
    for (const [name] of made.pages) this.#names.add(name)
    return readMade(of, made.page, readerOf(made))
  }

  /** Sends everything anew, because the thread may not have got what was sent. */
  forget(): void {
    this.#names = new Set()
  }
}

export interface OpenedState {
  readonly state: SessionState
  draft(): SessionState
  /** Returns what rules have left of a draft, and that as it goes back. Throws `not-json`. */
  settle(left: SessionState): { readonly state: SessionState; readonly sent: SessionState | SentState }
}

/** The large states that a thread was sent, and that it has made of them: they are held for their pages. */
export class StatesInThread {
  #held: KeptState[] = []

  async open(sent: SentState): Promise<OpenedState> {
    if (sent.isFirst) this.#held = []
    const kept = await KeptState.read(JSON.stringify(['pages', sent.page]), readerOf(sent))
    this.#held.push(kept)
    return { state: kept.state, draft: () => kept.draft(), settle: (left) => this.#settle(kept.next(left, NO_LIMITS)) }
  }

  #settle(kept: KeptState) {
    const { state, name: page, newPages } = kept
    if (!kept.isLarge) return { state, sent: state }
    const pages = newPages.map(({ name, text }) => [name, text] as const)
    kept.keep(true)
    this.#held.push(kept)
    return { state, sent: { page, pages, isFirst: false } }
  }
}

/** The thread of the session knows them, and compares what comes back with them. */
const NO_LIMITS = { ...DEFAULT_LIMITS, bytes: Number.POSITIVE_INFINITY }

export function stateOf(call: RulesCall): SessionState | null {
  if (call.kind === 'start') return null
  return 'turn' in call ? call.turn.record.state : call.state
}

export function withState(call: RulesCall, state: SessionState | null): RulesCall {
  if (call.kind === 'start') return call
  const changed = 'turn' in call ? { turn: { ...call.turn, record: { ...call.turn.record, state } } } : { state }
  return { ...call, ...changed } as RulesCall
}

export function isSent(state: SessionState | SentState): state is SentState {
  return 'page' in state
}

function readerOf({ pages }: SentState): (names: readonly string[]) => Promise<(string | null)[]> {
  const texts = new Map(pages)
  return async (names) => names.map((name) => texts.get(name) ?? null)
}
