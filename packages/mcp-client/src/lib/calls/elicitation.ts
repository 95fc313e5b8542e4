import type { JsonObject } from '@episodic/protocol'

/** A question of a server to the user of a client. */
export interface Elicitation {
  readonly message: string
  /** JSON Schema of a form: an object of plain values. */
  readonly schema: JsonObject
}

/** The answer of the user. Fields missing in an accepted form get their defaults. */
export type Elicited =
  | { readonly action: 'accept'; readonly content: JsonObject }
  | { readonly action: 'decline' }
  | { readonly action: 'cancel' }

export type Elicit = (asked: Elicitation, options: { readonly signal: AbortSignal | undefined }) => Promise<Elicited>

export async function answerElicitation(
  elicit: Elicit,
  { mode = 'form', message, requestedSchema }: JsonObject,
  signal: AbortSignal | undefined,
): Promise<JsonObject> {
  // Other modes, which send the user to a page, are not supported.
  if (mode !== 'form' || typeof message !== 'string') return { action: 'decline' }
  const schema = (requestedSchema ?? {}) as JsonObject
  const elicited = await elicit({ message, schema }, { signal })
  if (elicited.action !== 'accept') return { action: elicited.action }
  return { action: 'accept', content: { ...defaultsOf(schema), ...elicited.content } }
}

function defaultsOf({ properties }: JsonObject): JsonObject {
  const entries = Object.entries((properties ?? {}) as { readonly [name: string]: JsonObject })
  return Object.fromEntries(
    entries
      .filter(([, field]) => Object.hasOwn(field, 'default'))
      .map(([name, field]) => [name, field.default ?? null]),
  )
}
