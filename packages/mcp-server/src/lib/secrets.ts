/** What was found in an answer, as logs and metrics name it. The thing itself is named nowhere. */
export type SecretKind = 'seed' | 'id' | 'control' | 'capability' | 'declared'

/** Shorter texts turn up by chance: they are not searched for. */
export const SHORTEST_SECRET = 8

/** An opener may choose a seed, and a short one may well be a word of the world, which would withhold its answers. */
const SHORTEST_SEED = 16

/** A shorter run of letters is in so many answers that looking for it spares nothing. */
const SHORTEST_TRACE = 4

export interface SecretsOptions {
  readonly seed: string
  readonly id: string
  readonly control: string
  readonly capabilities: readonly string[]
  /** What the world declares of its present state. May throw. */
  readonly declared: () => readonly string[]
  /** Takes note of what was found, or of why it could not be looked for, and makes the refusal. */
  readonly withhold: (found: SecretKind | { readonly cause: unknown }) => Error
}

/** A secret, in each form that it may have in an answer. */
interface Secret {
  readonly kind: SecretKind
  readonly forms: readonly string[]
}

/** What a session keeps from its players: its seed, its id, its handles, and what the world declares of its state. */
export class Secrets {
  readonly #options: SecretsOptions
  readonly #own: readonly Secret[]
  /** Every handle of a session has its id inside. */
  readonly #ownTraces: readonly string[]
  #listed: readonly string[] = []
  #declared: readonly Secret[] = []
  /** Texts of which one is in whatever has a secret in it. */
  #traces: readonly string[]

  constructor(options: SecretsOptions) {
    const { seed, id, control, capabilities } = options
    const seedForms = seed.length < SHORTEST_SEED ? [] : formsOf(seed)
    this.#options = options
    this.#own = [
      { kind: 'control', forms: [control] },
      ...capabilities.map((capability) => ({ kind: 'capability' as const, forms: [capability] })),
      { kind: 'id', forms: [id] },
      { kind: 'seed', forms: seedForms },
    ]
    this.#ownTraces = [id, ...tracesOf(seedForms)]
    this.#traces = this.#ownTraces
  }

  /**
   * Throws `internal` where `text` has a secret in it. What the caller said itself is no news to it, and an echo that is
   * refused would tell which of its guesses is the secret: `said` gives that, and is asked for where something was found.
   *
   * A world that cannot say what is secret gets no answer out either.
   */
  assertAbsent(text: string, said: () => string): void {
    const found = this.#find(text, said)
    if (found) throw this.#options.withhold(found)
  }

  /** Whether there is anything in `text` to look at closely. Nearly always there is not, and this is all that it costs. */
  suspects(text: string): boolean {
    this.#refresh()
    // For the few that there are, one search each is faster than one expression for all of them.
    for (const trace of this.#traces) if (text.includes(trace)) return true
    return false
  }

  #find(text: string, said: () => string): SecretKind | null {
    if (!this.suspects(text)) return null
    const known = said()
    const leaked = [...this.#own, ...this.#declared].find(
      ({ forms }) => forms.some((form) => text.includes(form)) && !forms.some((form) => known.includes(form)),
    )
    return leaked?.kind ?? null
  }

  #refresh(): void {
    const listed = this.#list()
    if (isSameList(listed, this.#listed)) return
    this.#listed = [...listed]
    this.#declared = this.#listed.map((text) => ({ kind: 'declared', forms: formsOf(text) }))
    this.#traces = [...this.#ownTraces, ...this.#declared.flatMap(({ forms }) => tracesOf(forms))]
  }

  #list(): readonly string[] {
    try {
      return this.#options.declared()
    } catch (cause) {
      throw this.#options.withhold({ cause })
    }
  }
}

/** The texts that a world lists and that are too short to be searched for. */
export function tooShort(listed: readonly string[]): readonly string[] {
  return listed.filter((text) => text.length < SHORTEST_SECRET)
}

/** A text as it is, as it stands in JSON, and as it stands in JSON that is a text in JSON. None for one that is too short. */
function formsOf(text: string): readonly string[] {
  if (text.length < SHORTEST_SECRET) return []
  const once = escaped(text)
  return [...new Set([text, once, escaped(once)])]
}

/** What to look for first: the longest run of a text that JSON writes as it is stands in all of its forms. */
function tracesOf(forms: readonly string[]): readonly string[] {
  if (forms.length <= 1) return forms
  const runs = (forms[0] as string).split(/[^\p{L}\p{N} ]+/u)
  const longest = runs.reduce((best, run) => (run.length > best.length ? run : best), '')
  return longest.length < SHORTEST_TRACE ? forms : [longest]
}

function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

function isSameList(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}
