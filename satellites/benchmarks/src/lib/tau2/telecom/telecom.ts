import { z } from 'zod'
import { readGolden } from '../../suite/golden.ts'
import type { Domain, DomainTool, Seat } from '../domain.ts'
import { openOriginals } from '../originals.ts'
import { readTasks } from '../task-file.ts'
import { createTau2World } from '../tau2-world.ts'
import { type Carrier, type CarrierRules, carrierSchema, createCarrier } from './carrier.ts'
import { PHONE_ASSERTIONS, PHONE_INITIALIZATIONS, PHONE_TOOLS, type Phone, phoneSchema, readPhone } from './phone.ts'
import { readTables } from './tables.ts'

/** The state of the telecom domain: the carrier's tables, which the agent changes, and the user's phone. */
interface Telecom {
  readonly carrier: Carrier
  readonly phone: Phone
}

const splitsSchema = z.record(z.string(), z.array(z.string()))

/**
 * Opens the telecom domain of τ² over a folder with files of the original.
 *
 * - `golden`: what the original recorded of golden actions.
 */
export function openTelecom(folder: string, golden: URL) {
  const originals = openOriginals(folder)
  const read = (file: string) => originals.data(`domains/telecom/${file}`)
  return createTau2World({
    domain: createDomain(createCarrier(readTables(read('db.toml'))), readPhone(read('user_db.toml'))),
    originals,
    tasks: readTasks(read('tasks.json')),
    splits: splitsSchema.parse(JSON.parse(read('split_tasks.json'))),
    policy: `<main_policy>\n${read('main_policy.md')}\n</main_policy>\n<tech_support_policy>\n${read('tech_support_manual.md')}\n</tech_support_policy>`,
    functions: new Map([
      ...originals.functions('domains/telecom/tools.py'),
      ...originals.functions('domains/telecom/user_tools.py'),
    ]),
    golden: readGolden(golden),
  })
}

function createDomain(carrier: CarrierRules, phone: Phone): Domain<Telecom> {
  const sync = (state: Telecom) => syncParts(carrier, state)
  /** Calls a function of the original that is no tool. Throws if it is not reproduced. */
  const call = <Result>(
    state: Telecom,
    { seat, name, arguments: given }: { readonly seat: Seat; readonly name: string; readonly arguments: object },
    functions: { readonly [Name in keyof Telecom]: { readonly [name: string]: (part: never, given: never) => Result } },
  ): Result => {
    const part = seat === 'user' ? 'phone' : 'carrier'
    const run = functions[part][name]
    if (!run) throw new Error(`A task names ${name}, which is not reproduced.`)
    return run(state[part] as never, given as never)
  }
  return {
    name: 'telecom',
    version: '1.0.0',
    description:
      'The telecom domain of τ²-bench: an agent of a carrier and a user with a phone solve its problem together.',
    state: z.object({ carrier: carrierSchema, phone: phoneSchema }),
    tools: {
      ...toolsOf(carrier.tools, (state) => state.carrier),
      ...toolsOf(PHONE_TOOLS, (state) => state.phone),
    },
    readable: { agent: ['carrier'], user: ['phone'] },
    start({ initialization }) {
      const state: Telecom = { carrier: { lines: [], bills: [], customers: [] }, phone: structuredClone(phone) }
      for (const one of initialization) {
        call<unknown>(state, one, { carrier: carrier.initializations, phone: PHONE_INITIALIZATIONS })
        sync(state)
      }
      return state
    },
    sync,
    holds: (state, assertion) => call(state, assertion, { carrier: carrier.assertions, phone: PHONE_ASSERTIONS }),
    databases: ({ carrier: changed, phone: { device, surroundings } }) => ({
      agent: carrier.dump(changed),
      user: { device, surroundings },
    }),
    random: ['agent.bills.*.bill_id', 'agent.customers.*.bill_ids'],
  }
}

/** Tools of a part of the state as tools of the whole. */
function toolsOf<Part>(tools: { readonly [name: string]: DomainTool<Part> }, partOf: (state: Telecom) => Part) {
  const whole = ([name, tool]: readonly [string, DomainTool<Part>]): readonly [string, DomainTool<Telecom>] => [
    name,
    { ...tool, play: (state, input, rng) => tool.play(partOf(state), input, rng) },
  ]
  return Object.fromEntries(Object.entries(tools).map(whole))
}

/** What the phone notices of the line, and the carrier of what the user paid. */
function syncParts(carrier: CarrierRules, { carrier: state, phone: { surroundings } }: Telecom): void {
  const { phone_number: number } = surroundings
  if (number === null) return
  const line = carrier.lineByPhone(state, number)
  surroundings.line_active = line.status === 'Active'
  surroundings.roaming_allowed = line.roaming_enabled
  surroundings.mobile_data_usage_exceeded = line.data_used_gb >= carrier.limitOf(state, line)
  if (surroundings.payment_request?.paid) {
    carrier.setPaid(state, surroundings.payment_request.bill_id)
    surroundings.payment_request = null
  }
  const bill = carrier.requestedOf(state, number)
  if (bill && !surroundings.payment_request)
    surroundings.payment_request = { bill_id: bill.bill_id, amount_due: bill.total_due, paid: false }
}
