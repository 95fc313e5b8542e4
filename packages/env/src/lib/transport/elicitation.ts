import type { JsonObject } from '@episodic/protocol'

/** What a server asks the person at a client. */
export interface Elicitation {
  readonly message: string
  /** JSON Schema of a form: an object of plain values. */
  readonly schema: JsonObject
}

/** What came of it. What an accepted form leaves out and has a default for is filled in. */
export type Elicited =
  | { readonly action: 'accept'; readonly content: JsonObject }
  | { readonly action: 'decline' }
  | { readonly action: 'cancel' }

/** Asks the person at a client. */
export type Elicit = (asked: Elicitation, options: { readonly signal: AbortSignal | undefined }) => Promise<Elicited>

/** Answers the parameters of an `elicitation/create` as MCP says it. */
export async function answerElicitation(
  elicit: Elicit,
  { mode = 'form', message, requestedSchema }: JsonObject,
  signal: AbortSignal | undefined,
): Promise<JsonObject> {
  // To be sent to a page is more than was asked for here.
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
