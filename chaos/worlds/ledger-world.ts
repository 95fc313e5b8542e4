import { defineTasks } from '@episodic/dataset'
import { defineEnvironment } from '@episodic/mcp-server'
import { z } from 'zod'

/** The state of a ledger, plain or as rules get it. */
export interface Ledger {
  readonly public: { readonly mark: string; total: number; entries: number }
  readonly private: {
    readonly accounts: Record<string, { readonly holder: string; balance: number }>
    readonly journal: { readonly account: string; readonly amount: number }[]
  }
}

interface LedgerParams {
  readonly mark: string
  /** Accounts of the beginning. From some hundred on the state is large. */
  readonly rows: number
}

/** Returns the state that a ledger begins with. */
export function newLedger({ mark, rows }: LedgerParams): Ledger {
  const accounts = Array.from({ length: rows }, (_, i) => [
    `account-${i}`,
    { holder: `the holder of account ${i}`.padEnd(60, '.'), balance: 0 },
  ])
  return {
    public: { mark, total: 0, entries: 0 },
    private: { accounts: Object.fromEntries(accounts), journal: [] },
  }
}

/** Enters an amount: with accounts it changes one, removes one or opens one, and goes into the journal. */
export function enter(ledger: Ledger, amount: number, { rows }: Pick<LedgerParams, 'rows'>): void {
  ledger.public.total += amount
  ledger.public.entries += 1
  if (rows === 0) return
  const account = `account-${amount % rows}`
  const { accounts, journal } = ledger.private
  const known = accounts[account]
  if (known && amount % 5 === 0) delete accounts[account]
  else if (known) known.balance += amount
  else accounts[account] = { holder: 'a new one', balance: amount }
  journal.push({ account, amount })
}

const account = z.object({ holder: z.string(), balance: z.int() })

/**
 * A world that a lost or a doubled step cannot hide in: its total is the sum of what it was given, and so is the sum
 * of its rewards. With every answer it says its `mark`, so that an answer that went to somebody else is recognised.
 */
export const environment = defineEnvironment({
  name: 'ledger',
  version: '1.0.0',
  description: 'Adds up what it is given.',
  handle: false,
  params: z.object({
    entries: z.int().min(1).default(50),
    mark: z.string().default(''),
    rows: z.int().min(0).default(0),
  }),
  state: {
    public: z.object({ mark: z.string(), total: z.int(), entries: z.int() }),
    private: z.object({
      accounts: z.record(z.string(), account),
      journal: z.array(z.object({ account: z.string(), amount: z.int() })),
    }),
  },
  limits: { steps: 1_000_000 },
  start: ({ params }) => newLedger(params),
  observe: ({ mark, total }) => `${mark} has a total of ${total}.`,
  tools: ({ tool }) => ({
    add: tool({
      description: 'Add an amount.',
      // A note is kept with its step, and makes what a session has to tell as long as a caller likes.
      input: z.object({ amount: z.int(), note: z.string().max(60_000).optional() }),
      play({ state, input, params, end, say }) {
        enter(state, input.amount, params)
        if (state.public.entries === params.entries) end('full')
        return say(`${state.public.mark} has a total of ${state.public.total} in ${state.public.entries} entries.`)
      },
    }),
  }),
  rewards: { amount: ({ before, after }) => after.public.total - before.public.total },
})

/** Ledgers with hundreds of accounts, whose states are large. */
export const tasks = defineTasks({
  name: 'ledger',
  environment,
  generate: ({ rng, difficulty }) => ({
    prompt: 'Enter amounts.',
    params: { rows: rng.int(300, 400), entries: 6, mark: `ledger ${rng.int(0, 1_000_000)}` },
    difficulty,
  }),
})
