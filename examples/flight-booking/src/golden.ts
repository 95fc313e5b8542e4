import { defineTasks } from '@episodic/dataset'
import { definePolicy, type Policy, randomPolicy, scriptedPolicy } from '@episodic/env'
import { withDelay } from '@episodic/harness'
import type { Action } from '@episodic/protocol'
import { careless } from './careless.ts'
import { environment } from './environment.ts'
import { solver } from './solver.ts'

// The tasks of the golden episodes. To record them, from the root of the repository:
//   pnpm episodic run examples/flight-booking/src/golden.ts --policy golden --tasks 16 --out runs/golden-flight-booking
//   cp runs/golden-flight-booking/episodes.jsonl examples/flight-booking/golden/<version>.jsonl

export { environment }

const say = (text: string): Action => ({ tool: 'say', arguments: { text } })

/**
 * Invalid actions, then a few utterances. The script is shorter than the episode: a policy that reaches its end fails.
 */
const AWKWARD: Action[] = [
  { tool: 'shout', arguments: {} },
  { tool: 'say', arguments: {} },
  { tool: 'act', arguments: { intent: 'confirm' } },
  { tool: 'act', arguments: { intent: 'fly-away' } },
  { tool: 'act', arguments: { intent: 'book-flight', slots: { from: 'nowhere' } } },
  { tool: 'act', arguments: { intent: 'book-flight', slots: { origin: 'LHE' } } },
  say('Colourless green ideas sleep furiously'),
  say('Cancel that'),
  say('Book a flight from Rome to Rome'),
  say('Can I get a refund?'),
  say('Go back'),
]

/** Nested digressions, corrections, follow-ups, and an end. */
const WINDING: Action[] = [
  say('hello'),
  say('I want to book a flight'),
  say('From Lahore to Dubai'),
  say("What's the weather in Dubai?"),
  say('and the day after?'),
  say('Leaving tomorow for two people'),
  say('no, to Doha'),
  say('I want to fly from Berlin to Tokyo'),
  say('from Lahore to Doha'),
  say('How do I get my money back?'),
  say('back to my booking'),
  say('No, another flight please'),
  say('what about the weather and a refund?'),
  { tool: 'act', arguments: { intent: 'end' } },
]

const awkward = scriptedPolicy(AWKWARD, 'awkward')

/** The policy of each prompt. */
const PLAYERS: Readonly<Record<string, Policy>> = {
  'Play at random.': randomPolicy(),
  'Play well.': solver,
  'Play carelessly.': careless,
  'Play awkwardly.': awkward,
  'Play awkwardly, and be cut off.': awkward,
  'Play awkwardly, and too slowly.': withDelay(awkward, 5),
  'Wind through it.': scriptedPolicy(WINDING, 'winding'),
  'Meet with trouble.': solver,
}

/** Each prompt with a plain trip, and with a trip that has constraints. */
export const tasks = defineTasks({
  name: 'flight-booking-golden',
  environment,
  generate({ index }) {
    const prompts = Object.keys(PLAYERS)
    const prompt = prompts[index % prompts.length] as string
    const plain = index < prompts.length
    return {
      prompt,
      params: {
        goal: {
          from: 'LHE',
          to: 'DXB',
          date: '2026-01-06',
          passengers: 2,
          cabin: plain ? 'economy' : 'business',
          part: null,
          budget: plain ? null : 1_300,
          digressions: plain ? ['weather'] : ['refund', 'joke', 'baggage'],
        },
        trouble: prompt === 'Meet with trouble.' ? (plain ? 'sold-out' : 'price-changed') : 'none',
      },
      limits: {
        steps: prompt.endsWith('cut off.') ? 4 : 24,
        ...(prompt.endsWith('slowly.') && { seconds: 0.001 }),
      },
      difficulty: 0,
    }
  },
})

export const policies = {
  golden: definePolicy({ name: 'golden', start: (context) => (PLAYERS[context.task.prompt] ?? solver).start(context) }),
}
