import { z } from 'zod'
import type { Seat } from '../domain.ts'
import { printJson, toolsOf } from '../rule.ts'
import type { CreateDomain } from '../tau2-world.ts'
import { PHONE_CLAIMS } from '../users/phone-claims.ts'
import {
  CARRIER_ASSERTIONS,
  CARRIER_INITIALIZATIONS,
  CARRIER_RULES,
  type Carrier,
  carrierOver,
  dataLimitOf,
  lineByPhone,
  requestedBill,
} from './carrier.ts'
import { type Phone, phoneSchema, readPhone } from './phone.ts'
import { PHONE_ASSERTIONS, PHONE_INITIALIZATIONS, PHONE_RULES } from './phone-rules.ts'
import { type CarrierTables, carrierTables, readTables } from './tables.ts'

/** The state of the telecom domain: the rows that the agent has changed, and the user's phone. */
interface Telecom {
  readonly carrier: CarrierTables
  readonly phone: Phone
}

/** A function of the original that is no tool, over the part of the state that its seat has. */
type Functions<Result> = { readonly [name: string]: (part: never, given: never) => Result }

export const createTelecom: CreateDomain<Telecom> = (read) => {
  const tables = readTables(read('db.toml'))
  const phone = readPhone(read('user_db.toml'))
  const carrierOf = ({ carrier }: Telecom) => carrierOver(tables, carrier)
  const sync = (state: Telecom) => syncParts(carrierOf(state), state.phone)
  const call = <Result>(
    state: Telecom,
    { seat, name, arguments: given }: { readonly seat: Seat; readonly name: string; readonly arguments: object },
    functions: { readonly [Name in Seat]: Functions<Result> },
  ): Result => {
    const run = functions[seat][name]
    if (!run) throw new Error(`A task names ${name}, which is not reproduced.`)
    return run((seat === 'user' ? state.phone : carrierOf(state)) as never, given as never)
  }
  const part = (heading: string, file: string) => `<${heading}>\n${read(file)}\n</${heading}>`
  return {
    description:
      'The telecom domain of τ²-bench: an agent of a carrier and a user with a phone solve its problem together.',
    policy: `${part('main_policy', 'main_policy.md')}\n${part('tech_support_policy', 'tech_support_manual.md')}`,
    state: z.object({ carrier: carrierTables, phone: phoneSchema }),
    tools: {
      // All numbers in rows are floats of Python.
      ...toolsOf('agent', CARRIER_RULES, carrierOf, (value) => printJson(value, () => true)),
      ...toolsOf('user', PHONE_RULES, (state: Telecom) => state.phone),
    },
    readable: { agent: ['carrier'], user: ['phone'] },
    claims: PHONE_CLAIMS,
    start({ initialization }) {
      const carrier = { plans: {}, customers: {}, lines: {}, bills: {}, devices: {} }
      const state: Telecom = { carrier, phone: structuredClone(phone) }
      for (const one of initialization) {
        call<unknown>(state, one, { agent: CARRIER_INITIALIZATIONS, user: PHONE_INITIALIZATIONS })
        sync(state)
      }
      return state
    },
    sync,
    holds: (state, assertion) => call(state, assertion, { agent: CARRIER_ASSERTIONS, user: PHONE_ASSERTIONS }),
    databases(state) {
      const { device, surroundings } = state.phone
      const names = carrierTables.keyof().options
      const agent = Object.fromEntries(names.map((name) => [name, carrierOf(state).list(name)]))
      return { agent, user: { device, surroundings } }
    },
    random: ['agent.bills.*.bill_id', 'agent.customers.*.bill_ids'],
  }
}

/** What the phone notices of the line, and the carrier of what the user paid. */
function syncParts(carrier: Carrier, { surroundings }: Phone): void {
  const { phone_number: number } = surroundings
  if (number === null) return
  const line = lineByPhone(carrier, number)
  surroundings.line_active = line.status === 'Active'
  surroundings.roaming_allowed = line.roaming_enabled
  surroundings.mobile_data_usage_exceeded = line.data_used_gb >= dataLimitOf(carrier, line)
  if (surroundings.payment_request?.paid) {
    carrier.edit('bills', surroundings.payment_request.bill_id).status = 'Paid'
    surroundings.payment_request = null
  }
  const bill = requestedBill(carrier, number)
  if (bill && !surroundings.payment_request)
    surroundings.payment_request = { bill_id: bill.bill_id, amount_due: bill.total_due, paid: false }
}
