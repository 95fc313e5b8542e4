import { isObject } from '@episodic/protocol/internal'

export interface FoundSecret {
  /** Keys and indexes, joined by full stops. */
  readonly field: string
  readonly kind: string
}

/** Shapes that keys have by the documentation of those who issue them: how a key begins, and its rest. */
const SHAPES: readonly (readonly [kind: string, head: string, rest: string])[] = [
  ['a private key', '-----BEGIN ', '(?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----'],
  ['an API key (sk-…)', 'sk-', '[A-Za-z0-9_-]{20,}'],
  ['a token of GitHub', 'gh[pousr]_', '[A-Za-z0-9]{36,}'],
  ['a token of GitHub', 'github_pat_', '[A-Za-z0-9_]{22,}'],
  ['a token of GitLab', 'glpat-', '[A-Za-z0-9_-]{20,}'],
  ['an access key of AWS', 'A(?:KIA|SIA)', '[0-9A-Z]{16}(?![0-9A-Z])'],
  ['a token of Slack', 'xox[abeoprs]-', '[A-Za-z0-9-]{10,}'],
  ['an API key of Google', 'AIza', '[0-9A-Za-z_-]{35}'],
  ['a token of Hugging Face', 'hf_', '[A-Za-z0-9]{30,}'],
  ['a token of npm', 'npm_', '[A-Za-z0-9]{36}'],
  ['an API key of Groq', 'gsk_', '[A-Za-z0-9]{40,}'],
  ['an API key of xAI', 'xai-', '[A-Za-z0-9]{40,}'],
  ['a key of Stripe', '[rs]k_live_', '[A-Za-z0-9]{20,}'],
  ['a JSON web token', 'eyJ', '[A-Za-z0-9_-]{8,}\\.eyJ[A-Za-z0-9_-]{8,}\\.[A-Za-z0-9_-]{8,}'],
]
// What stands before a key must not be a part of it; `\n` and the like end in a letter where JSON stands within a text.
// It is looked for after the head of a key: to look at each place of a text for it takes twice as long.
const BEFORE = '(?:^|[^A-Za-z0-9]|\\\\[nrtbf])'
const shapeOf = (head: string, rest: string) => `${head}(?<=${BEFORE}${head})${rest}`
const EXPRESSIONS = SHAPES.map(([kind, head, rest]) => [kind, new RegExp(shapeOf(head, rest), 'm')] as const)

const KEY = '[key]'
/** The rest of a private key, up to its end or that of the text. Escapes stay whole. */
const BODY = '(?<=-----)(?:(?!-----)(?:[^"\\\\]|\\\\[^"]))*(?:-----END [A-Z0-9 ]*-----)?'
const ANY_SHAPE = new RegExp(
  SHAPES.map(([, head, rest], i) => shapeOf(head, i === 0 ? `${rest}${BODY}` : rest)).join('|'),
  'gm',
)

/**
 * Whether JSON has a text that looks like a key, or that is the value of a secret variable. Faster than `findSecrets`.
 */
export function hasSecrets(json: string, variables: readonly (readonly [name: string, value: string])[]): boolean {
  return withoutSecrets(json, variables) !== json
}

export function withoutSecrets(json: string, variables: readonly (readonly [name: string, value: string])[]): string {
  const rest = variables.reduce((text, [, value]) => text.replaceAll(JSON.stringify(value).slice(1, -1), KEY), json)
  return rest.replaceAll(ANY_SHAPE, KEY)
}

/**
 * Finds texts within a value that look like keys, or that are the values of secret variables. Of each field, the first
 * one.
 *
 * @param variables - names of environment variables with their values.
 */
export function* findSecrets(
  value: unknown,
  variables: readonly (readonly [name: string, value: string])[] = [],
  field = '',
): Generator<FoundSecret> {
  if (typeof value === 'string') {
    const kind = kindOf(value, variables)
    if (kind !== null) yield { field, kind }
  } else if (Array.isArray(value)) {
    for (const [i, inner] of value.entries()) yield* findSecrets(inner, variables, join(field, String(i)))
  } else if (isObject(value)) {
    for (const [name, inner] of Object.entries(value)) {
      const kind = kindOf(name, variables)
      // A key of an object is shown in the places below it, so one that is a secret is not.
      const place = join(field, kind === null ? name : '…')
      if (kind !== null) yield { field: place, kind }
      yield* findSecrets(inner, variables, place)
    }
  }
}

function kindOf(text: string, variables: readonly (readonly [name: string, value: string])[]): string | null {
  const [variable] = variables.find(([, secret]) => text.includes(secret)) ?? []
  if (variable !== undefined) return `the value of ${variable} in this environment`
  return EXPRESSIONS.find(([, expression]) => expression.test(text))?.[0] ?? null
}

function join(field: string, name: string): string {
  return field === '' ? name : `${field}.${name}`
}
