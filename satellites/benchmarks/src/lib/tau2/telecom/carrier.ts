import type { Rng } from '@episodic/protocol'
import { z } from 'zod'
import { formatFixed } from '../../python/round.ts'
import { formatFloat } from '../../python/value.ts'
import { fail } from '../domain.ts'
import { type Rows, rowsOver } from '../rows.ts'
import { rulesOver } from '../rule.ts'
import type { Bill, CarrierRows, CarrierTables, Customer, PhoneLine } from './tables.ts'

export interface Carrier extends Rows<CarrierRows> {
  /** Lists the rows of a table: those of the beginning in their order, then new ones. */
  list<Name extends keyof CarrierRows>(table: Name): CarrierRows[Name][]
}

/** Returns the carrier whose tables begin as they are shared, with the rows that a session has changed. */
export function carrierOver(shared: CarrierTables, changed: CarrierTables): Carrier {
  const rows = rowsOver<CarrierRows>(shared, changed)
  const list: Carrier['list'] = (table) =>
    Object.keys({ ...shared[table], ...changed[table] }).map((id) => find(rows, table, id))
  return { ...rows, list }
}

const TODAY = '2025-02-25'
const monthOf = (month: '01' | '03') => ({
  period_start: `2025-${month}-01`,
  period_end: `2025-${month}-31`,
  issue_date: `2025-${month}-01`,
  due_date: `2025-${month}-15`,
})

const text = z.string().max(4_000)
const id = z.string().max(200)
const ofCustomer = { customer_id: id }
const ofLine = { customer_id: id, line_id: id }
type OfLine = Readonly<Record<keyof typeof ofLine, string>>

function find<Name extends keyof CarrierRows>(rows: Rows<CarrierRows>, table: Name, key: string): CarrierRows[Name] {
  const title = `${table.charAt(0).toUpperCase()}${table.slice(1, -1)}`
  return rows.read(table, key) ?? fail(`${title} with ID ${key} not found`)
}

export function lineByPhone(carrier: Carrier, number: string): PhoneLine {
  const found = carrier.list('lines').find((row) => row.phone_number === number)
  return found ?? fail(`Line with phone number ${number} not found`)
}

function customerByPhone(carrier: Carrier, number: string): Customer {
  const isTheirs = (key: string) => find(carrier, 'lines', key).phone_number === number
  const found = carrier.list('customers').find((row) => row.phone_number === number || row.line_ids.some(isTheirs))
  return found ?? fail(`Customer with phone number ${number} not found`)
}

function ownLine(carrier: Carrier, { customer_id, line_id }: OfLine): PhoneLine {
  if (!find(carrier, 'customers', customer_id).line_ids.includes(line_id))
    fail(`Line ${line_id} not found for customer ${customer_id}`)
  return find(carrier, 'lines', line_id)
}

export function dataLimitOf(carrier: Carrier, { plan_id, data_refueling_gb }: PhoneLine): number {
  return find(carrier, 'plans', plan_id).data_limit_gb + data_refueling_gb
}

function billsOf(carrier: Carrier, customer: Customer, status?: string): Bill[] {
  const bills = customer.bill_ids.map((key) => find(carrier, 'bills', key))
  return bills.filter((bill) => status === undefined || bill.status === status)
}

export function requestedBill(carrier: Carrier, number: string): Bill | undefined {
  return billsOf(carrier, customerByPhone(carrier, number), 'Awaiting Payment')[0]
}

function addBill(carrier: Carrier, customer_id: string, bill_id: string, status: string, month: '01' | '03'): void {
  const { due_date, ...period } = monthOf(month)
  carrier.edit('bills', bill_id, { bill_id, customer_id, ...period, total_due: 0, due_date, line_items: [], status })
  carrier.edit('customers', customer_id).bill_ids.push(bill_id)
}

function charge(carrier: Carrier, bill: string, amount: number, description: string): void {
  const changed = carrier.edit('bills', bill)
  changed.line_items.push({ description, amount, date: TODAY, item_type: amount < 0 ? 'Credit' : 'Charge' })
  changed.total_due += amount
}

function draftOf(carrier: Carrier, customer: string, rng: Rng): string {
  const [draft] = billsOf(carrier, find(carrier, 'customers', customer), 'Draft')
  if (draft) return draft.bill_id
  const drawn = `B${Array.from({ length: 8 }, () => rng.stream('bill').int(0, 15).toString(16)).join('')}`
  addBill(carrier, customer, drawn, 'Draft', '03')
  return drawn
}

const setRoaming = (on: boolean) => (carrier: Carrier, given: OfLine) => {
  const word = on ? 'enabled' : 'disabled'
  if (ownLine(carrier, given).roaming_enabled === on) return `Roaming was already ${word}`
  carrier.edit('lines', given.line_id).roaming_enabled = on
  return `Roaming ${word} successfully`
}

function setStatus(carrier: Carrier, line: string, status: string, suspension_start_date: string | null): PhoneLine {
  return Object.assign(carrier.edit('lines', line), { status, suspension_start_date })
}

const rule = rulesOver<Carrier>()

export const CARRIER_RULES = {
  get_customer_by_phone: rule('reads', { phone_number: id }, (carrier, given) =>
    customerByPhone(carrier, given.phone_number),
  ),
  get_customer_by_id: rule('reads', ofCustomer, (carrier, { customer_id }) => find(carrier, 'customers', customer_id)),
  get_customer_by_name: rule('reads', { full_name: text, dob: id }, (carrier, { full_name, dob }) => {
    const name = full_name.toLowerCase()
    return carrier.list('customers').filter((row) => row.full_name.toLowerCase() === name && row.date_of_birth === dob)
  }),
  get_details_by_id: rule('reads', { id }, (carrier, { id: key }) => {
    const tables = ['lines', 'devices', 'bills', 'customers', 'plans'] as const
    const table = tables.find((name) => name.charAt(0).toUpperCase() === key.charAt(0))
    return find(carrier, table ?? fail(`Unknown ID format or type: ${key}`), key)
  }),
  suspend_line: rule('changes', { ...ofLine, reason: text }, (carrier, given) => {
    if (ownLine(carrier, given).status !== 'Active') fail('Line must be active to suspend')
    const message = 'Line suspended successfully. $5/month holding fee will apply.'
    return { message, line: setStatus(carrier, given.line_id, 'Suspended', TODAY) }
  }),
  resume_line: rule('changes', ofLine, (carrier, given) => {
    if (!['Suspended', 'Pending Activation'].includes(ownLine(carrier, given).status))
      fail('Line must be suspended to resume')
    return { message: 'Line resumed successfully', line: setStatus(carrier, given.line_id, 'Active', null) }
  }),
  get_bills_for_customer: rule('reads', { ...ofCustomer, limit: z.int().default(12) }, (carrier, given) => {
    const bills = billsOf(carrier, find(carrier, 'customers', given.customer_id))
    bills.sort((a, b) => (a.issue_date === b.issue_date ? 0 : a.issue_date < b.issue_date ? 1 : -1))
    return bills.slice(0, given.limit)
  }),
  send_payment_request: rule('changes', { ...ofCustomer, bill_id: id }, (carrier, { customer_id, bill_id }) => {
    const owner = find(carrier, 'customers', customer_id)
    if (billsOf(carrier, owner, 'Awaiting Payment').length > 0)
      fail('A bill is already awaiting payment for this customer')
    if (!owner.bill_ids.includes(bill_id)) fail(`Bill ${bill_id} not found for customer ${customer_id}`)
    carrier.edit('bills', bill_id).status = 'Awaiting Payment'
    return `Payment request sent to the customer for bill ${bill_id}`
  }),
  get_data_usage: rule('reads', ofLine, (carrier, given) => {
    const { data_used_gb, data_refueling_gb, plan_id } = ownLine(carrier, given)
    // Numbers beside rows are texts in the answers of the original.
    return {
      line_id: given.line_id,
      data_used_gb: formatFloat(data_used_gb),
      data_limit_gb: formatFloat(find(carrier, 'plans', plan_id).data_limit_gb),
      data_refueling_gb: formatFloat(data_refueling_gb),
      cycle_end_date: '2025-02-28',
    }
  }),
  enable_roaming: rule('changes', ofLine, setRoaming(true)),
  disable_roaming: rule('changes', ofLine, setRoaming(false)),
  transfer_to_human_agents: rule('reads', { summary: text }, () => 'Transfer successful'),
  refuel_data: rule('changes', { ...ofLine, gb_amount: z.number() }, (carrier, given, rng) => {
    const { customer_id, line_id, gb_amount } = given
    const { plan_id } = ownLine(carrier, given)
    if (gb_amount <= 0) fail('Refuel amount must be positive')
    const price = find(carrier, 'plans', plan_id).data_refueling_price_per_gb
    const [gb, cost] = [formatFloat(gb_amount), gb_amount * price]
    const changed = carrier.edit('lines', line_id)
    changed.data_refueling_gb += gb_amount
    const description = `Data refueling: ${gb} GB at $${formatFloat(price)}/GB`
    charge(carrier, draftOf(carrier, customer_id, rng), cost, description)
    return {
      message: `Successfully added ${gb} GB of data for line ${line_id} for $${formatFixed(cost, 2)}`,
      new_data_refueling_gb: formatFloat(changed.data_refueling_gb),
      charge: formatFloat(cost),
    }
  }),
}

/** Functions of the original that are no tools: they prepare tasks. */
export const CARRIER_INITIALIZATIONS: { readonly [name: string]: (carrier: Carrier, given: never) => unknown } = {
  enable_roaming: setRoaming(true),
  disable_roaming: setRoaming(false),
  set_data_usage: (carrier, { line_id, data_used_gb }: { line_id: string; data_used_gb: number }) =>
    Object.assign(carrier.edit('lines', line_id), { data_used_gb }),
  suspend_line_for_overdue_bill(carrier, given: OfLine & { new_bill_id: string; contract_ended: boolean }) {
    const { customer_id, line_id, new_bill_id } = given
    const price = find(carrier, 'plans', find(carrier, 'lines', line_id).plan_id).price_per_month
    addBill(carrier, customer_id, new_bill_id, 'Overdue', '01')
    charge(carrier, new_bill_id, price, `Charge for line ${line_id}`)
    const changed = setStatus(carrier, line_id, 'Suspended', TODAY)
    if (given.contract_ended) changed.contract_end_date = monthOf('01').period_end
  },
}

export const CARRIER_ASSERTIONS: { readonly [name: string]: (carrier: Carrier, given: never) => boolean } = {
  assert_data_refueling_amount: (carrier, given: OfLine & { expected_amount: number }) =>
    Math.abs(ownLine(carrier, given).data_refueling_gb - given.expected_amount) < 1e-6,
  assert_no_overdue_bill: (carrier, { overdue_bill_id }: { overdue_bill_id: string }) =>
    (carrier.read('bills', overdue_bill_id)?.status ?? 'Paid') === 'Paid',
}
