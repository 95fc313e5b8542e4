import { createHash } from 'node:crypto'
import { AGENT_ENDPOINTS, type AgentEndpoint, type CheckName } from '@episodic/harness'
import type { EnvironmentDefinition, Host } from '@episodic/mcp-server'
import { WireError } from '@episodic/protocol'
import { z } from 'zod'
import { leakyHost, leakySessions, leakyWire } from './leaky-endpoint.ts'
import { createVault } from './vault-world.ts'

/** A way in which a secret gets out, as it happens: a check that lets it pass is worth nothing. */
export interface PlantedLeak {
  readonly channel: string
  readonly environment: EnvironmentDefinition
  readonly endpoints: readonly AgentEndpoint[]
  /** The check that has to fail. */
  readonly caughtBy: CheckName
}

const SECRET = 'sesame-and-poppy'
const [http, stdio, inProcess] = AGENT_ENDPOINTS as [AgentEndpoint, AgentEndpoint, AgentEndpoint]

/** One leak for each channel by which secrets get out of environments. */
export const PLANTED_LEAKS: readonly PlantedLeak[] = [
  inWorld('a field of the observation that was added later', 'non-interference', {
    field: ({ word }) => word.toUpperCase(),
  }),
  inWorld('a structured answer that says more than its text', 'canaries', { note: ({ word }) => btoa(`the ${word}`) }),
  inWorld('the length of a text', 'non-interference', {
    text: ({ word }, text) => text.padEnd(40 + (word.charCodeAt(0) % 3)),
  }),
  inWorld('a refusal', 'non-interference', { refuses: ({ word }) => word.charCodeAt(0) % 2 === 0 }),
  inWorld('a schema made of the answer, and the text of its error', 'hygiene', {
    word: SECRET,
    spoken: z.literal(SECRET).optional().describe('What to say.'),
  }),
  inWorld('the description of a tool', 'hygiene', {
    word: SECRET,
    description: ` It may be ${SECRET}, or it may not.`,
  }),
  inWorld('a copy of the private state in the public one', 'non-interference', {
    changes: (open, { word }) => {
      open.field = word
    },
  }),
  inWorld('an encoded copy in the public state', 'non-interference', {
    changes: (open, { word }) => {
      open.field = createHash('sha256').update(word).digest('base64url').slice(0, 6)
    },
  }),
  inWorld('a public list in the order of its distance to the secret', 'non-interference', {
    changes: ({ shelf }, { code }) => void shelf.sort((a, b) => Math.abs(a - code) - Math.abs(b - code)),
  }),
  inWorld('the length of a public list', 'non-interference', {
    changes: ({ shelf }, { code }) => void shelf.splice(1 + (code % 3)),
  }),
  inWorld('the order of the keys of the public state', 'non-interference', {
    changes: (open, { code }) => {
      open.dials = code % 2 === 0 ? { left: 0, right: 0 } : { right: 0, left: 0 }
    },
  }),
  inWorld('a public key that is there or not', 'non-interference', {
    changes: (open, { code }) => {
      open.dials = code > 7 ? { left: 0 } : {}
    },
  }),
  inWorld('a public counter that depends on the secret', 'non-interference', {
    changes: (open, { code }) => {
      open.tries += code % 2
    },
  }),
  inWorld('the order of a public list where the world begins', 'non-interference', {
    begins: ({ shelf }, { code }) => void shelf.sort((a, b) => Math.abs(a - code) - Math.abs(b - code)),
  }),
  inWorld('what several public values say together where the world begins', 'non-interference', {
    begins: (open, { code }) => {
      open.shelf = [code & 1, (code >> 1) & 1, code >> 2]
    },
  }),
  inWorld('the length of a public list where the world begins', 'non-interference', {
    begins: (open, { code }) => {
      open.shelf = Array.from({ length: code }, () => 0)
    },
  }),
  atEndpoints('a resource that shows more than the public state', 'non-interference', [
    leakySessions(http, (session, capability, known) => ({
      async view() {
        const { state, ...view } = await session.view()
        const { code } = await known.hidden(known.of(capability))
        return { ...view, state: { ...state, parity: Number(code) % 2 } }
      },
    })),
  ]),
  atEndpoints('the number of notifications', 'non-interference', [
    leakySessions(http, (session, capability, known) => ({
      async view() {
        const view = await session.view()
        const { code } = await known.hidden(known.of(capability))
        const twice = (listener: () => void) => () => {
          listener()
          if (Number(code) % 2 === 0) listener()
        }
        return { ...view, onChange: (listener) => view.onChange(twice(listener)) }
      },
    })),
  ]),
  atEndpoints('a list of resources that depends on the state', 'non-interference', [
    leakyWire(stdio, async (answer, known) => {
      const { code } = await known.hidden(known.sessions.at(-1))
      return answer.replace('"resources":[', `"resources":[{"uri":"vault://shelf/${Number(code) % 3}"},`)
    }),
  ]),
  atEndpoints('a completion that knows the answer', 'non-interference', [
    leakyWire(http, async (answer, known) => {
      const { word } = await known.hidden(known.sessions.at(-1))
      return answer.replace('"values":[', `"values":["${String(word).slice(0, 2)}",`)
    }),
  ]),
  atEndpoints('the text of an exception', 'canaries', [
    leakySessions(http, (session) => ({ step: (call) => session.step(call).catch(tellAll) })),
  ]),
  atEndpoints('_meta', 'canaries', [
    leakyWire(inProcess, async (answer, known) => {
      const word = (await known.hidden(known.sessions.at(-1))).word
      return answer.replace('{"content"', `{"_meta":{"debug":"${word}"},"content"`)
    }),
  ]),
  atEndpoints('a session id that encodes the seed', 'canaries', [
    leakyHost(http, (host, { sessions }) => ({
      connections: {
        issue: async () => `mcp_${btoa(JSON.stringify({ seed: sessions.at(-1)?.seed }))}`,
        check: async () => {},
        end: async () => {},
      },
      // An id that was not issued here opens nothing.
      resolve: ((principal, address) =>
        address.by === 'transport'
          ? { secrets: null, observe: async () => null }
          : host.resolve(principal, address)) as Host['resolve'],
    })),
  ]),
  atEndpoints('a header with the seed', 'canaries', [
    leakyWire(http, async (answer, { sessions }) => {
      const hex = Buffer.from(sessions.at(-1)?.seed ?? '').toString('hex')
      return answer.replace('\r\n\r\n', `\r\nX-Trace: ${hex}\r\n\r\n`)
    }),
  ]),
  atEndpoints('a list of tools that depends on the state', 'non-interference', [
    leakySessions(http, (session, capability, known) => ({
      async environment() {
        const info = await session.environment()
        const { word = '' } = await known.hidden(known.of(capability))
        return String(word).charCodeAt(0) % 2 === 0 ? info : { ...info, tools: info.tools.toReversed() }
      },
    })),
  ]),
  atEndpoints("another agent's session", 'canaries', [
    leakySessions(stdio, (session, capability, known) => ({
      async step(call) {
        const answered = await session.step(call)
        const { word } = await known.hidden(known.sessions.find((other) => other !== known.of(capability)))
        const { observation } = answered.step
        return {
          ...answered,
          step: { ...answered.step, observation: { ...observation, text: `${observation.text} ${word}` } },
        }
      },
    })),
  ]),
]

function inWorld(
  channel: string,
  caughtBy: CheckName,
  flaw: NonNullable<Parameters<typeof createVault>[0]>,
): PlantedLeak {
  return { channel, caughtBy, environment: createVault(flaw), endpoints: [inProcess] }
}

function atEndpoints(channel: string, caughtBy: CheckName, endpoints: readonly AgentEndpoint[]): PlantedLeak {
  return { channel, caughtBy, environment: createVault(), endpoints }
}

/** What a server does that passes on what it caught. */
function tellAll(error: unknown): never {
  const { cause } = error as { readonly cause?: unknown }
  throw new WireError('internal', `It failed: ${cause instanceof Error ? cause.message : error}`)
}
