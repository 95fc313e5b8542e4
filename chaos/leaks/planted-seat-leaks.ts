import type { EnvironmentDefinition } from '@episodic/mcp-server'
import { WireError } from '@episodic/protocol'
import { createCardTable, type TableFlaw } from './card-table-world.ts'
import { AGENT_ENDPOINTS } from './endpoint-leaks.ts'
import type { AgentEndpoint } from './endpoints/agent-endpoint.ts'
import { leakySessions } from './leaky-endpoint.ts'

/** A way in which one seat learns what is hidden from it, and the finding by which it is caught. */
export interface PlantedSeatLeak {
  readonly channel: string
  readonly environment: EnvironmentDefinition
  /** Those that leak. Default: none, it is in the rules. */
  readonly endpoints?: readonly AgentEndpoint[]
  /** The name of a finding that it has to have. */
  readonly finding: string
}

const [http, , inProcess] = AGENT_ENDPOINTS

/** Leaks by which a seat may learn of the others. Further ones of rules are planted beside the checker. */
export const PLANTED_SEAT_LEAKS: readonly PlantedSeatLeak[] = [
  inRules('a card of another seat in what a seat holds at the start', 'start-reveals:own.bob.card', {
    begins: ({ own }) => {
      own.ann.note = `${own.bob.card}`
    },
  }),
  inRules('a card of another seat in the answer of a tool, without reveal', 'answer-differs:call', {
    says: ({ own }, seat) => (seat === 'ann' ? ` Bob holds ${own.bob.card}.` : ''),
  }),
  inRules('what a module remembers, shown by observe', 'view-differs:ann', {
    shows: ({ table }) => '.'.repeat(table.own.cid.card),
  }),
  inRules('a list of legal actions that depends on another hand', 'legal-differs:ann', {
    lists: ({ table }) => table.own.bob.card > 1,
  }),
  inRules('a message with what a seat holds', 'message-differs:bob', {
    sends: ({ own }, seat) => [`${seat} holds ${own[seat].card}.`],
  }),
  inRules('the number of messages', 'message-differs:bob', {
    sends: ({ own }, seat) => Array.from({ length: own[seat].card }, () => `${seat} calls.`),
  }),
  inRules('the text of a refusal', 'answer-differs:peek', {
    refuses: ({ private: { next } }) => `It is a ${next}, and you may not look.`,
  }),
  inRules('a public text that follows from a hand', 'view-differs:bob', {
    changes: ({ public: table, own }, seat) => {
      if (seat === 'ann') table.note = own.ann.card % 2 === 0 ? 'calm' : 'keen'
    },
  }),
  inRules('the reason for which a seat leaves', 'end-differs:ann', {
    leaves: ({ own }) => (own.bob.card > 1 ? 'afraid' : 'gone'),
  }),
  inRules('the reason for which the episode ends', 'end-differs:ann', {
    ends: ({ own, private: { next } }) => (own.cid.card > next ? 'sold' : 'given'),
  }),
  inRules('whose turn it is', 'view-differs:ann', { reverses: ({ table }) => table.private.next > 1 }),
  inRules('a round that shows more than the moves', 'view-differs:ann', {
    settles: ({ public: table, own }) => {
      table.note = `${own.ann.card + own.bob.card + own.cid.card}`
    },
  }),
  atEndpoints('the number of notifications', 'endpoint-differs:http', [
    leakySessions(http, (session, token, known) => ({
      async view() {
        const view = await session.view()
        const odd = await known.oddElsewhere(token)
        const twice = (listener: () => void) => () => {
          listener()
          if (odd) listener()
        }
        return { ...view, onChange: (listener) => view.onChange(twice(listener)) }
      },
    })),
  ]),
  atEndpoints('a list of tools that depends on another hand', 'endpoint-differs:http', [
    leakySessions(http, (session, token, known) => ({
      async environment() {
        const info = await session.environment()
        return (await known.oddElsewhere(token)) ? { ...info, tools: info.tools.toReversed() } : info
      },
    })),
  ]),
  atEndpoints('a resource that shows more than the seat sees', 'endpoint-differs:http', [
    leakySessions(http, (session, token, known) => ({
      async view() {
        const { state, ...view } = await session.view()
        return { ...view, state: { ...state, odd: await known.oddElsewhere(token) } }
      },
    })),
  ]),
  atEndpoints('the rewards of the others at a seat handle', 'others-shown:terms', [
    leakySessions(inProcess, (session, token, known) => ({
      async step(call) {
        const outcome = await session.step(call)
        const seats = outcome.step.report.seats
        const terms = Object.fromEntries(known.othersOf(token).map((seat) => [seat, { card: 0 }]))
        if (!seats) return outcome
        return { ...outcome, step: { ...outcome.step, report: { ...outcome.step.report, seats: { ...seats, terms } } } }
      },
    })),
  ]),
  atEndpoints('the commits of the others at a seat handle, in a round of sealed moves', 'handle-differs:in process', [
    leakySessions(inProcess, (session, token, known) => ({
      async turn(query) {
        const { revision } = await known.stateOf(token)
        return { ...(await session.turn(query)), revision }
      },
    })),
  ]),
  atEndpoints('an error of a seat handle that says more than it has to', 'handle-differs:http', [
    leakySessions(http, (session, token, known) => ({
      async step(call) {
        try {
          return await session.step(call)
        } catch (error) {
          if (!WireError.is(error, 'not-your-turn')) throw error
          throw new WireError(
            'not-your-turn',
            `Wait: ${(await known.oddElsewhere(token)) ? 'a' : 'an'} opponent thinks.`,
          )
        }
      },
    })),
  ]),
]

function inRules(channel: string, finding: string, flaw: TableFlaw): PlantedSeatLeak {
  return { channel, finding, environment: createCardTable(flaw) }
}

function atEndpoints(channel: string, finding: string, endpoints: readonly AgentEndpoint[]): PlantedSeatLeak {
  return { channel, finding, environment: createCardTable(), endpoints }
}
