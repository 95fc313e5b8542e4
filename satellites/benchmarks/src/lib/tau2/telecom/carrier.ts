import type { JsonObject, Rng } from '@episodic/protocol'
import { z } from 'zod'
import { formatFixed } from '../../python/round.ts'
import { formatFloat } from '../../python/value.ts'
import { type DomainTool, domainTool, ToolError } from '../domain.ts'
import { type Bill, bill, type Customer, customer, dumpRows, line, type PhoneLine, type Tables } from './tables.ts'

/** What of the carrier's tables is another than at the beginning: whole rows, in the order of their changes. */
export const carrierSchema = z.object({ lines: z.array(line), bills: z.array(bill), customers: z.array(customer) })
export type Carrier = z.output<typeof carrierSchema>

interface Rows {
  lines: PhoneLine
  bills: Bill
  customers: Customer
}
const KEYS = { lines: 'line_id', bills: 'bill_id', customers: 'customer_id', plans: 'plan_id', devices: 'device_id' }
const NAMES = { lines: 'Line', bills: 'Bill', customers: 'Customer', plans: 'Plan', devices: 'Device' }

const TODAY = '2025-02-25'
const LAST_MONTH = {
  period_start: '2025-01-01',
  period_end: '2025-01-31',
  issue_date: '2025-01-01',
  due_date: '2025-01-15',
}
const NEXT_MONTH = {
  period_start: '2025-03-01',
  period_end: '2025-03-31',
  issue_date: '2025-03-01',
  due_date: '2025-03-15',
}

const text = z.string().max(4_000)
const id = z.string().max(200)
const ofLine = { customer_id: id, line_id: id }
interface OfLine {
  readonly customer_id: string
  readonly line_id: string
}

/** The rules of the carrier, which the agent works for, over its tables. */
export type CarrierRules = ReturnType<typeof createCarrier>

export function createCarrier(tables: Tables) {
  type Name = keyof Tables
  type Row<Of extends Name> = Tables[Of][number]
  const changedOf = (state: Carrier, name: Name) => (name in state ? state[name as keyof Rows] : []) as Row<Name>[]
  const isRow = (name: Name, key: string) => (row: object) => (row as Record<string, unknown>)[KEYS[name]] === key
  /** Lists the rows of a table as they are now: those of the beginning in their order, then new ones. */
  const list = <Of extends Name>(state: Carrier, name: Of): Row<Of>[] => {
    const changed = changedOf(state, name)
    const keyOf = (row: object) => (row as Record<string, string>)[KEYS[name]] as string
    const first = tables[name].map((row) => changed.find(isRow(name, keyOf(row))) ?? row)
    const added = changed.filter((row) => !tables[name].some(isRow(name, keyOf(row))))
    return [...first, ...added] as Row<Of>[]
  }
  const find = <Of extends Name>(state: Carrier, name: Of, key: string): Row<Of> => {
    const row = changedOf(state, name).find(isRow(name, key)) ?? tables[name].find(isRow(name, key))
    return (row as Row<Of> | undefined) ?? fail(`${NAMES[name]} with ID ${key} not found`)
  }
  /** Returns a row to change. The first time, a copy becomes the row. */
  const edit = <Of extends keyof Rows>(state: Carrier, name: Of, key: string): Rows[Of] => {
    const rows = state[name] as Rows[Of][]
    if (!rows.some(isRow(name, key))) rows.push(structuredClone(find(state, name, key)) as Rows[Of])
    return rows.find(isRow(name, key)) as Rows[Of]
  }

  const lineByPhone = (state: Carrier, number: string): PhoneLine =>
    list(state, 'lines').find((row) => row.phone_number === number) ??
    fail(`Line with phone number ${number} not found`)
  const customerByPhone = (state: Carrier, number: string): Customer => {
    const isTheirs = (key: string) => find(state, 'lines', key).phone_number === number
    const found = list(state, 'customers').find((row) => row.phone_number === number || row.line_ids.some(isTheirs))
    return found ?? fail(`Customer with phone number ${number} not found`)
  }
  const ownLine = (state: Carrier, { customer_id, line_id }: OfLine): PhoneLine => {
    if (!find(state, 'customers', customer_id).line_ids.includes(line_id))
      fail(`Line ${line_id} not found for customer ${customer_id}`)
    return find(state, 'lines', line_id)
  }
  const billsOf = (state: Carrier, { bill_ids }: Customer): Bill[] => bill_ids.map((key) => find(state, 'bills', key))
  const awaitingPayment = (state: Carrier, owner: Customer): Bill[] =>
    billsOf(state, owner).filter(({ status }) => status === 'Awaiting Payment')
  const addBill = (state: Carrier, owner: string, given: Pick<Bill, 'bill_id' | 'status'> & typeof LAST_MONTH) => {
    const { bill_id, status, due_date, ...period } = given
    state.bills.push({ bill_id, customer_id: owner, ...period, total_due: 0, due_date, line_items: [], status })
    edit(state, 'customers', owner).bill_ids.push(bill_id)
  }
  const charge = (state: Carrier, key: string, amount: number, description: string) => {
    const changed = edit(state, 'bills', key)
    changed.line_items.push({ description, amount, date: TODAY, item_type: amount < 0 ? 'Credit' : 'Charge' })
    changed.total_due += amount
  }
  const draftOf = (state: Carrier, owner: string, rng: Rng): string => {
    const draft = billsOf(state, find(state, 'customers', owner)).find(({ status }) => status === 'Draft')
    if (draft) return draft.bill_id
    const bill_id = `B${Array.from({ length: 8 }, () => rng.stream('bill').int(0, 15).toString(16)).join('')}`
    addBill(state, owner, { bill_id, status: 'Draft', ...NEXT_MONTH })
    return bill_id
  }
  const setRoaming = (on: boolean) => (state: Carrier, given: OfLine) => {
    const word = on ? 'enabled' : 'disabled'
    if (ownLine(state, given).roaming_enabled === on) return `Roaming was already ${word}`
    edit(state, 'lines', given.line_id).roaming_enabled = on
    return `Roaming ${word} successfully`
  }
  const setStatus = (state: Carrier, key: string, status: string, since: string | null) =>
    Object.assign(edit(state, 'lines', key), { status, suspension_start_date: since })

  const tools = {
    get_customer_by_phone: agentTool('reads', { phone_number: id }, (state, { phone_number }) =>
      dumpRows(customerByPhone(state, phone_number)),
    ),
    get_customer_by_id: agentTool('reads', { customer_id: id }, (state, { customer_id }) =>
      dumpRows(find(state, 'customers', customer_id)),
    ),
    get_customer_by_name: agentTool('reads', { full_name: text, dob: id }, (state, { full_name, dob }) => {
      const name = full_name.toLowerCase()
      const rows = list(state, 'customers')
      return dumpRows(rows.filter((row) => row.full_name.toLowerCase() === name && row.date_of_birth === dob))
    }),
    get_details_by_id: agentTool('reads', { id }, (state, { id: key }) => {
      const name = (['lines', 'devices', 'bills', 'customers', 'plans'] as const)['LDBCP'.indexOf(key.charAt(0) || ' ')]
      return dumpRows(name ? find(state, name, key) : fail(`Unknown ID format or type: ${key}`))
    }),
    suspend_line: agentTool('changes', { ...ofLine, reason: text }, (state, given) => {
      if (ownLine(state, given).status !== 'Active') fail('Line must be active to suspend')
      const changed = setStatus(state, given.line_id, 'Suspended', TODAY)
      return dumpRows({ message: 'Line suspended successfully. $5/month holding fee will apply.', line: changed })
    }),
    resume_line: agentTool('changes', ofLine, (state, given) => {
      if (!['Suspended', 'Pending Activation'].includes(ownLine(state, given).status))
        fail('Line must be suspended to resume')
      const changed = setStatus(state, given.line_id, 'Active', null)
      return dumpRows({ message: 'Line resumed successfully', line: changed })
    }),
    get_bills_for_customer: agentTool('reads', { customer_id: id, limit: z.int().default(12) }, (state, given) => {
      const bills = billsOf(state, find(state, 'customers', given.customer_id))
      bills.sort((a, b) => (a.issue_date === b.issue_date ? 0 : a.issue_date < b.issue_date ? 1 : -1))
      return dumpRows(bills.slice(0, given.limit))
    }),
    send_payment_request: agentTool('changes', { customer_id: id, bill_id: id }, (state, { customer_id, bill_id }) => {
      const owner = find(state, 'customers', customer_id)
      if (awaitingPayment(state, owner).length > 0) fail('A bill is already awaiting payment for this customer')
      if (!owner.bill_ids.includes(bill_id)) fail(`Bill ${bill_id} not found for customer ${customer_id}`)
      edit(state, 'bills', bill_id).status = 'Awaiting Payment'
      return `Payment request sent to the customer for bill ${bill_id}`
    }),
    get_data_usage: agentTool('reads', ofLine, (state, given) => {
      const { data_used_gb, data_refueling_gb, plan_id } = ownLine(state, given)
      // Numbers beside rows are texts in the answers of the original.
      return dumpRows({
        line_id: given.line_id,
        data_used_gb: formatFloat(data_used_gb),
        data_limit_gb: formatFloat(find(state, 'plans', plan_id).data_limit_gb),
        data_refueling_gb: formatFloat(data_refueling_gb),
        cycle_end_date: '2025-02-28',
      })
    }),
    enable_roaming: agentTool('changes', ofLine, setRoaming(true)),
    disable_roaming: agentTool('changes', ofLine, setRoaming(false)),
    transfer_to_human_agents: agentTool('reads', { summary: text }, () => 'Transfer successful'),
    refuel_data: agentTool('changes', { ...ofLine, gb_amount: z.number() }, (state, given, rng) => {
      const { customer_id, line_id, gb_amount } = given
      const { plan_id } = ownLine(state, given)
      if (gb_amount <= 0) fail('Refuel amount must be positive')
      const price = find(state, 'plans', plan_id).data_refueling_price_per_gb
      const [gb, cost] = [formatFloat(gb_amount), gb_amount * price]
      const changed = edit(state, 'lines', line_id)
      changed.data_refueling_gb += gb_amount
      const description = `Data refueling: ${gb} GB at $${formatFloat(price)}/GB`
      charge(state, draftOf(state, customer_id, rng), cost, description)
      return dumpRows({
        message: `Successfully added ${gb} GB of data for line ${line_id} for $${formatFixed(cost, 2)}`,
        new_data_refueling_gb: formatFloat(changed.data_refueling_gb),
        charge: formatFloat(cost),
      })
    }),
  } satisfies { readonly [name: string]: DomainTool<Carrier> }

  /** Functions of the original that are no tools: they prepare tasks. */
  const initializations: { readonly [name: string]: (state: Carrier, given: JsonObject) => unknown } = {
    enable_roaming: (state, given) => setRoaming(true)(state, given as never),
    disable_roaming: (state, given) => setRoaming(false)(state, given as never),
    set_data_usage: (state, { line_id, data_used_gb }) =>
      Object.assign(edit(state, 'lines', line_id as string), { data_used_gb }),
    suspend_line_for_overdue_bill(state, given) {
      const { customer_id, line_id, new_bill_id } = given as unknown as OfLine & { readonly new_bill_id: string }
      const price = find(state, 'plans', find(state, 'lines', line_id).plan_id).price_per_month
      addBill(state, customer_id, { bill_id: new_bill_id, status: 'Overdue', ...LAST_MONTH })
      charge(state, new_bill_id, price, `Charge for line ${line_id}`)
      const changed = setStatus(state, line_id, 'Suspended', TODAY)
      if (given.contract_ended) changed.contract_end_date = LAST_MONTH.period_end
    },
  }

  const assertions: { readonly [name: string]: (state: Carrier, given: JsonObject) => boolean } = {
    assert_data_refueling_amount: (state, given) =>
      Math.abs(ownLine(state, given as never).data_refueling_gb - Number(given.expected_amount)) < 1e-6,
    assert_no_overdue_bill: (state, { overdue_bill_id }) =>
      list(state, 'bills').every((row) => row.bill_id !== overdue_bill_id || row.status === 'Paid'),
  }

  return {
    tools,
    initializations,
    assertions,
    lineByPhone,
    /** How much data a line has. */
    limitOf: (state: Carrier, { plan_id, data_refueling_gb }: PhoneLine) =>
      find(state, 'plans', plan_id).data_limit_gb + data_refueling_gb,
    /** The bill that the customer with this number is asked to pay. */
    requestedOf: (state: Carrier, number: string) => awaitingPayment(state, customerByPhone(state, number))[0],
    setPaid: (state: Carrier, key: string) => Object.assign(edit(state, 'bills', key), { status: 'Paid' }),
    /** All tables as they are now. */
    dump: (state: Carrier): JsonObject =>
      Object.fromEntries(Object.keys(tables).map((name) => [name, list(state, name as Name)])),
  }
}

function agentTool<Shape extends z.ZodRawShape>(
  kind: 'reads' | 'changes',
  shape: Shape,
  play: (state: Carrier, input: z.output<z.ZodObject<Shape>>, rng: Rng) => string,
): DomainTool<Carrier> {
  return domainTool('agent', kind, shape, play)
}

function fail(message: string): never {
  throw new ToolError(message)
}
