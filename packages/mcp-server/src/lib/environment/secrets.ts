/** What was found in an answer, as logs and metrics name it. The thing itself is named nowhere. */
export type SecretKind = 'seed' | 'id' | 'control' | 'capability' | 'declared'

/** Shorter texts turn up by chance: they are not searched for. */
export const SHORTEST_SECRET = 8

/** An opener may choose a seed, and a short one may well be a word of the world, which would withhold its answers. */
const SHORTEST_SEED = 16

/** A shorter run of letters is in so many answers that looking for it spares nothing. */
const SHORTEST_TRACE = 4

/** What answers are made of, the most common first. Capitals and signs are rarer than all of it. */
const COMMON = ' etaoinsrhldcum0123456789fpgwybvkxjqz'

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

/** What is about to leave. */
export interface OutgoingText {
  /** All of it, as it is written. */
  readonly text: string
  /** What of it the world itself tells; `null` where it tells nothing. Asked for where something was found. */
  readonly worldText: (() => string) | null
  /** What the caller said itself. Asked for where something was found. */
  readonly callerText: () => string
}

/** A secret, in each form that it may have in an answer. */
interface Secret {
  readonly kind: SecretKind
  readonly forms: readonly string[]
}

/** What is searched for of a world that lists nothing. */
const NOTHING: readonly never[] = []

/**
 * What a session keeps from its players: its seed, its id, its handles, and what the world declares of its state. Ten
 * thousand sessions that wait to be played hold nothing of this yet.
 */
export class Secrets {
  readonly #options: SecretsOptions
  /** Every handle of a session has its id inside. */
  #ownTraces: readonly string[] | null = null
  #listed: readonly string[] = NOTHING
  #declared: readonly Secret[] = NOTHING
  #declaredTraces: readonly string[] = NOTHING

  constructor(options: SecretsOptions) {
    this.#options = options
  }

  /**
   * Throws `internal` where what leaves has a secret in it: one of the session's own anywhere, and one that the world
   * declares in what the world tells, because a word of a world may well be one of ours too. What the caller said
   * itself is no news to it, and an echo that is refused would tell which of its guesses is the secret.
   *
   * A world that cannot say what is secret gets no answer out either.
   */
  assertAbsent(leaving: OutgoingText): void {
    const found = this.#find(leaving)
    if (found) throw this.#options.withhold(found)
  }

  /**
   * Whether there is anything in `text` to look at closely. Nearly always there is not, and this is all that it costs.
   */
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
      ownSecrets(this.#options).find(({ forms }) => isNews(forms, text, known)) ??
      (worldText && this.#declared.find(({ forms }) => isNews(forms, worldText(), known)))
    return leaked?.kind ?? null
  }

  #refresh(): void {
    const listed = this.#list()
    if (isSameList(listed, this.#listed)) return
    this.#listed = [...listed]
    this.#declared = this.#listed.map((text) => ({ kind: 'declared', forms: formsOf(text) }))
    this.#declaredTraces = this.#declared.flatMap(({ forms }) => tracesOf(forms))
  }

  #list(): readonly string[] {
    try {
      return this.#options.declared()
    } catch (cause) {
      throw this.#options.withhold({ cause })
    }
  }
}

function ownSecrets({ seed, id, control, capabilities }: SecretsOptions): readonly Secret[] {
  return [
    { kind: 'control', forms: [control] },
    ...capabilities.map((capability) => ({ kind: 'capability' as const, forms: [capability] })),
    { kind: 'id', forms: [id] },
    { kind: 'seed', forms: seedForms(seed) },
  ]
}

function seedForms(seed: string): readonly string[] {
  return seed.length < SHORTEST_SEED ? NOTHING : formsOf(seed)
}

/** Whether what a world tells has a text in it that it lists as secret, and that was not said to it. */
export function containsListed(listed: readonly string[], told: string, said: string): boolean {
  return listed.some((text) => isNews(formsOf(text), told, said))
}

/** Whether a text is told in one of its forms to somebody who said it in none of them. */
function isNews(forms: readonly string[], told: string, said: string): boolean {
  return includesAny(told, forms) && !includesAny(said, forms)
}

/** For the few that there are, one search each is faster than one expression for all of them. */
function includesAny(text: string, searched: readonly string[]): boolean {
  for (const each of searched) if (text.includes(each)) return true
  return false
}

/** The texts that a world lists and that are too short to be searched for. */
export function tooShortSecrets(listed: readonly string[]): readonly string[] {
  return listed.filter((text) => text.length < SHORTEST_SECRET)
}

/**
 * A text as it is, as it stands in JSON, and as it stands in JSON that is a text in JSON. None for one that is too
 * short.
 */
function formsOf(text: string): readonly string[] {
  if (text.length < SHORTEST_SECRET) return []
  const once = escaped(text)
  if (once === text) return [text]
  return [...new Set([text, once, escaped(once)])]
}

/** What to look for first: the longest run of a text that JSON writes as it is stands in all of its forms. */
function tracesOf(forms: readonly string[]): readonly string[] {
  if (forms.length <= 1) return forms.map(fromRarest)
  const runs = (forms[0] as string).split(/[^\p{L}\p{N} ]+/u)
  const longest = runs.reduce((best, run) => (run.length > best.length ? run : best), '')
  return longest.length < SHORTEST_TRACE ? forms : [fromRarest(longest)]
}

/** A text from the rarest letter of its first half on: a search stops at every letter that is the first one. */
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
