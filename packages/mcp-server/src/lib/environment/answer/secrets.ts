/** The kind of secret that was found in an answer, for logs and metrics. The secret itself is never logged. */
export type SecretKind = 'seed' | 'id' | 'control' | 'capability' | 'declared'

/** Shorter texts occur by chance, so they are not searched for. */
export const SHORTEST_SECRET = 8

/** A client may choose the seed, and a short one may be a word that the environment uses in every answer. */
const SHORTEST_SEED = 16

/** A shorter run of letters is in so many answers that searching for it first saves nothing. */
const SHORTEST_TRACE = 4

/** The characters of answers, the most common first. Capitals and signs are rarer. */
const COMMON = ' etaoinsrhldcum0123456789fpgwybvkxjqz'

export interface SecretsOptions {
  readonly seed: string
  readonly id: string
  /** The control handle and the seat handles. */
  readonly controls: readonly string[]
  readonly capabilities: readonly string[]
  /** Returns the texts that the environment lists as secret now. May throw. `null` if it never lists any. */
  readonly declared: (() => readonly string[]) | null
  /** Logs what was found, or why the search failed, and returns the error to throw. */
  readonly withhold: (found: SecretKind | { readonly cause: unknown }) => Error
}

export interface OutgoingText {
  readonly text: string
  /** Returns the part that comes from the environment; `null` if there is none. Called only if something was found. */
  readonly worldText: (() => string) | null
  /** Returns what the caller sent. Called only if something was found. */
  readonly callerText: () => string
}

interface Secret {
  readonly kind: SecretKind
  readonly forms: readonly string[]
}

const NOTHING: readonly never[] = []

/** The secrets of a session: seed, id, handles and listed texts. Computed on first use, to cost little memory. */
export class Secrets {
  readonly #options: SecretsOptions
  /** Traces of the seed and the id; every handle of a session contains its id. */
  #ownTraces: readonly string[] | null = null
  #listed: readonly string[] = NOTHING
  #declared: readonly Secret[] = NOTHING
  #declaredTraces: readonly string[] = NOTHING

  constructor(options: SecretsOptions) {
    this.#options = options
  }

  /**
   * Throws the error of `withhold` if an answer contains a secret. The session's own secrets are searched for in the
   * whole answer, and those that the environment lists only in its own part, because our part may contain the same
   * words. A text that the caller sent itself is allowed: rejecting the echo would show which guess is the secret.
   *
   * If the environment cannot list its secrets, its answer is withheld too.
   */
  assertAbsent(leaving: OutgoingText): void {
    const found = this.#find(leaving)
    if (found) throw this.#options.withhold(found)
  }

  /** Returns whether `text` may contain a secret: a fast check, so that the exact search is rarely needed. */
  suspects(text: string): boolean {
    this.#refresh()
    return this.#suspectsOwn(text) || includesAny(text, this.#declaredTraces)
  }

  #suspectsOwn(text: string): boolean {
    const { id, seed } = this.#options
    this.#ownTraces ??= [fromRarest(id), ...tracesOf(seedForms(seed))]
    return includesAny(text, this.#ownTraces)
  }

  #find({ text, worldText, callerText }: OutgoingText): SecretKind | null {
    if (!(worldText ? this.suspects(text) : this.#suspectsOwn(text))) return null
    const known = callerText()
    const leaked =
      ownSecrets(this.#options).find(({ forms }) => isNew(forms, text, known)) ??
      (worldText && this.#declared.find(({ forms }) => isNew(forms, worldText(), known)))
    return leaked?.kind ?? null
  }

  #refresh(): void {
    const { declared } = this.#options
    if (!declared) return
    const listed = this.#list(declared)
    if (isSameList(listed, this.#listed)) return
    this.#listed = [...listed]
    this.#declared = this.#listed.map((text) => ({ kind: 'declared', forms: formsOf(text) }))
    this.#declaredTraces = this.#declared.flatMap(({ forms }) => tracesOf(forms))
  }

  #list(declared: () => readonly string[]): readonly string[] {
    try {
      return declared()
    } catch (cause) {
      throw this.#options.withhold({ cause })
    }
  }
}

function ownSecrets({ seed, id, controls, capabilities }: SecretsOptions): readonly Secret[] {
  return [
    ...controls.map((control) => ({ kind: 'control' as const, forms: [control] })),
    ...capabilities.map((capability) => ({ kind: 'capability' as const, forms: [capability] })),
    { kind: 'id', forms: [id] },
    { kind: 'seed', forms: seedForms(seed) },
  ]
}

function seedForms(seed: string): readonly string[] {
  return seed.length < SHORTEST_SEED ? NOTHING : formsOf(seed)
}

export function containsListed(listed: readonly string[], shown: string, said: string): boolean {
  return listed.some((text) => isNew(formsOf(text), shown, said))
}

function isNew(forms: readonly string[], shown: string, said: string): boolean {
  return includesAny(shown, forms) && !includesAny(said, forms)
}

/** One search for each of a few texts is faster than one regular expression for all. */
function includesAny(text: string, searched: readonly string[]): boolean {
  for (const each of searched) if (text.includes(each)) return true
  return false
}

export function tooShortSecrets(listed: readonly string[]): readonly string[] {
  return listed.filter((text) => text.length < SHORTEST_SECRET)
}

/** Returns a text as it is, as JSON, and as JSON within a JSON text; no form if it is too short. */
function formsOf(text: string): readonly string[] {
  if (text.length < SHORTEST_SECRET) return []
  const once = escaped(text)
  if (once === text) return [text]
  return [...new Set([text, once, escaped(once)])]
}

/** Returns what to search for first: the longest run that JSON does not escape, which is in all forms of a text. */
function tracesOf(forms: readonly string[]): readonly string[] {
  if (forms.length <= 1) return forms.map(fromRarest)
  const runs = (forms[0] as string).split(/[^\p{L}\p{N} ]+/u)
  const longest = runs.reduce((best, run) => (run.length > best.length ? run : best), '')
  return longest.length < SHORTEST_TRACE ? forms : [fromRarest(longest)]
}

/** Returns a text from the rarest letter of its first half on: a search stops at each match of the first letter. */
function fromRarest(text: string): string {
  const most = Math.min(text.length / 2, text.length - SHORTEST_TRACE)
  let start = 0
  for (let i = 1; i <= most; i++) if (rarity(text, i) > rarity(text, start)) start = i
  return text.slice(start)
}

function rarity(text: string, at: number): number {
  const rank = COMMON.indexOf(text.charAt(at))
  return rank < 0 ? COMMON.length : rank
}

function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

function isSameList(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}
