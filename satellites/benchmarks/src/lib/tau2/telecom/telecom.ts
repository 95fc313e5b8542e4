import type { JsonObject } from '@episodic/protocol'
import { z } from 'zod'
import { readGolden } from '../../suite/golden.ts'
import type { Domain, DomainTool } from '../domain.ts'
import { openOriginals } from '../originals.ts'
import { type Assertion, type EnvCall, readTasks, type Task } from '../task-file.ts'
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
  const tables = readTables(read('db.toml'))
  const phone = readPhone(read('user_db.toml'))
  return createTau2World({
    domain: createDomain(createCarrier(tables), phone),
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
  return {
    name: 'telecom',
    version: '1.0.0',
    description:
      'The telecom domain of τ²-bench: an agent of a carrier and a user with a phone solve its problem together.',
    state: z.object({ carrier: carrierSchema, phone: phoneSchema }),
    tools: {
      ...partTools(carrier.tools, (state) => state.carrier),
      ...partTools(PHONE_TOOLS, (state) => state.phone),
    },
    readable: { agent: ['carrier'], user: ['phone'] },
    start(task) {
      const state: Telecom = {
        carrier: { lines: [], bills: [], customers: [] },
        phone: structuredClone(phone),
      }
      for (const call of task.initialization) {
        initialize(carrier, state, call, task)
        sync(carrier, state)
      }
      return state
    },
    sync: (state) => sync(carrier, state),
    holds: (state, assertion) => holds(carrier, state, assertion),
    databases: ({ carrier: changed, phone: { device, surroundings } }) => ({
      agent: carrier.dump(changed),
      user: { device, surroundings },
    }),
    random: ['agent.bills.*.bill_id', 'agent.customers.*.bill_ids'],
  }
}

/** Tools of a part of the state as tools of the whole. */
function partTools<Part>(
  tools: { readonly [name: string]: DomainTool<Part> },
  partOf: (state: Telecom) => Part,
): { readonly [name: string]: DomainTool<Telecom> } {
  return Object.fromEntries(
    Object.entries(tools).map(([name, tool]) => [
      name,
      { ...tool, play: (state, input, rng) => tool.play(partOf(state), input, rng) } satisfies DomainTool<Telecom>,
    ]),
  )
}

function initialize(carrier: CarrierRules, state: Telecom, call: EnvCall, { id }: Task): void {
  const run =
    call.seat === 'user'
      ? withPart(PHONE_INITIALIZATIONS[call.name], state.phone)
      : withPart(carrier.initialize[call.name], state.carrier)
  if (!run) throw new Error(`Task ${id} begins with ${call.name}, which is not reproduced.`)
  run(call.arguments)
}

function holds(carrier: CarrierRules, state: Telecom, { seat, name, arguments: given }: Assertion): boolean {
  const run =
    seat === 'user' ? withPart(PHONE_ASSERTIONS[name], state.phone) : withPart(carrier.assertions[name], state.carrier)
  if (!run) throw new Error(`A task asserts ${name}, which is not reproduced.`)
  return run(given)
}

function withPart<Part, Result>(run: ((part: Part, given: JsonObject) => Result) | undefined, part: Part) {
  return run && ((given: JsonObject) => run(part, given))
}

/** What the phone notices of the line, and the carrier of what the user paid. */
function sync(carrier: CarrierRules, { carrier: changed, phone: { surroundings } }: Telecom): void {
  const { phone_number: number } = surroundings
  if (number === null) return
  const line = carrier.lineOfPhone(changed, number)
  surroundings.line_active = line.status === 'Active'
  surroundings.roaming_allowed = line.roaming_enabled
  surroundings.mobile_data_usage_exceeded = line.data_used_gb >= carrier.limitOf(line)
  if (surroundings.payment_request?.paid) {
    carrier.setPaid(changed, surroundings.payment_request.bill_id)
    surroundings.payment_request = null
  }
  if (surroundings.payment_request) return
  const bill = carrier.requested(changed, number)
  if (bill) surroundings.payment_request = { bill_id: bill.bill_id, amount_due: bill.total_due, paid: false }
}
