import type { EnvironmentDefinition } from '@episodic/mcp-server'
import { WireError } from '@episodic/protocol'
import { AGENT_ENDPOINTS } from './endpoint-leaks.ts'
import type { AgentEndpoint } from './endpoints/agent-endpoint.ts'
import { leakySessions, leakyWire } from './leaky-endpoint.ts'
import { createVault } from './vault-world.ts'

/** A way in which a secret gets out, as it happens: a check that lets it pass is worth nothing. */
export interface PlantedLeak {
  readonly channel: string
  readonly environment: EnvironmentDefinition
  readonly endpoints: readonly AgentEndpoint[]
}

const [http, stdio, inProcess] = AGENT_ENDPOINTS

/** One leak for each channel by which secrets get out of endpoints. Those of worlds are planted beside the checker. */
export const PLANTED_LEAKS: readonly PlantedLeak[] = [
  atEndpoints('a resource that shows more than the public state', [
    leakySessions(http, (session, capability, known) => ({
      async view() {
        const { state, ...view } = await session.view()
        const { code } = await known.hidden(known.of(capability))
        return { ...view, state: { ...state, parity: Number(code) % 2 } }
      },
    })),
  ]),
  atEndpoints('the number of notifications', [
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
  atEndpoints('a list of resources that depends on the state', [
    leakyWire(stdio, async (answer, known) => {
      const { code } = await known.hidden(known.sessions.at(-1))
      return answer.replace('"resources":[', `"resources":[{"uri":"vault://shelf/${Number(code) % 3}"},`)
    }),
  ]),
  atEndpoints('a prompt that knows the answer', [
    leakyWire(http, async (answer, known) => {
      const { word } = await known.hidden(known.sessions.at(-1))
      return answer.replace('The tools:', `It begins with ${String(word).slice(0, 2)}. The tools:`)
    }),
  ]),
  atEndpoints('the text of an exception', [
    leakySessions(http, (session) => ({ step: (call) => Promise.resolve(session.step(call)).catch(tellAll) })),
  ]),
  atEndpoints('_meta', [
    leakyWire(inProcess, async (answer, known) => {
      const word = (await known.hidden(known.sessions.at(-1))).word
      return answer.replace('{"content"', `{"_meta":{"debug":"${word}"},"content"`)
    }),
  ]),
  atEndpoints('the control handle in an answer', [
    leakyWire(inProcess, async (answer, { sessions }) => `${answer} ${sessions.at(-1)?.session}`),
  ]),
  atEndpoints('a header with the seed', [
    leakyWire(http, async (answer, { sessions }) => {
      const hex = Buffer.from(sessions.at(-1)?.seed ?? '').toString('hex')
      return answer.replace('\r\n\r\n', `\r\nX-Trace: ${hex}\r\n\r\n`)
    }),
  ]),
  atEndpoints('a list of tools that depends on the state', [
    leakySessions(http, (session, capability, known) => ({
      async environment() {
        const info = await session.environment()
        const { word = '' } = await known.hidden(known.of(capability))
        return String(word).charCodeAt(0) % 2 === 0 ? info : { ...info, tools: info.tools.toReversed() }
      },
    })),
  ]),
  atEndpoints("another agent's session", [
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

function atEndpoints(channel: string, endpoints: readonly AgentEndpoint[]): PlantedLeak {
  return { channel, environment: createVault(), endpoints }
}

/** What a server does that passes on what it caught. */
function tellAll(error: unknown): never {
  const { cause } = error as { readonly cause?: unknown }
  throw new WireError('internal', `It failed: ${cause instanceof Error ? cause.message : error}`)
}
