import type { JsonObject, Rng } from '@episodic/protocol'
import { z } from 'zod'
import { formatFixed } from '../../python/round.ts'
import { formatFloat } from '../../python/value.ts'
import { type DomainTool, domainTool, ToolError } from '../domain.ts'
import { type Bill, bill, type Customer, customer, dumpRows, type Line, line, type Tables } from './tables.ts'

/** What of the carrier's tables is another than at the beginning: whole rows, in the order in which they were changed. */
export const carrierSchema = z.object({ lines: z.array(line), bills: z.array(bill), customers: z.array(customer) })
export type Carrier = z.output<typeof carrierSchema>

const TODAY = '2025-02-25'
const LAST_MONTH = { first: '2025-01-01', last: '2025-01-31', due: '2025-01-15' }
const NEXT_MONTH = { first: '2025-03-01', last: '2025-03-31', due: '2025-03-15' }

const text = z.string().max(4_000)
const id = z.string().max(200)
const ofLine = { customer_id: id, line_id: id }

/** The rules of the carrier, which the agent works for, over its tables. */
export type CarrierRules = ReturnType<typeof createCarrier>

export function createCarrier(tables: Tables) {
  /** Finds a row as it is now: a changed one, or that of the beginning. */
  const find = <Row>(changed: readonly Row[], rows: readonly Row[], isIt: (row: Row) => boolean) =>
    changed.find(isIt) ?? rows.find(isIt)
  /** Returns a row to change: a changed one, or a copy that is one from now on. */
  const writable = <Row>(changed: Row[], rows: readonly Row[], isIt: (row: Row) => boolean): Row => {
    const there = changed.find(isIt)
    if (there) return there
    const copy = structuredClone(rows.find(isIt) as Row)
    changed.push(copy)
    // Read from the state, so that a draft sees what is changed in it.
    return changed.at(-1) as Row
  }
  const lineOf = ({ lines }: Carrier, key: string) =>
    find(lines, tables.lines, (row) => row.line_id === key) ?? fail(`Line with ID ${key} not found`)
  const billOf = ({ bills }: Carrier, key: string) =>
    find(bills, tables.bills, (row) => row.bill_id === key) ?? fail(`Bill with ID ${key} not found`)
  const customerOf = ({ customers }: Carrier, key: string) =>
    find(customers, tables.customers, (row) => row.customer_id === key) ?? fail(`Customer with ID ${key} not found`)
  const planOf = (key: string) =>
    tables.plans.find((row) => row.plan_id === key) ?? fail(`Plan with ID ${key} not found`)
  const deviceOf = (key: string) =>
    tables.devices.find((row) => row.device_id === key) ?? fail(`Device with ID ${key} not found`)
  const customersOf = ({ customers }: Carrier) =>
    tables.customers.map((row) => customers.find((one) => one.customer_id === row.customer_id) ?? row)
  const changeLine = (state: Carrier, key: string) => writable(state.lines, tables.lines, (row) => row.line_id === key)
  const changeBill = (state: Carrier, key: string) => writable(state.bills, tables.bills, (row) => row.bill_id === key)

  const customerByPhone = (state: Carrier, number: string): Customer =>
    customersOf(state).find(
      (row) => row.phone_number === number || row.line_ids.some((key) => lineOf(state, key).phone_number === number),
    ) ?? fail(`Customer with phone number ${number} not found`)
  const ownLine = (state: Carrier, customerId: string, lineId: string): Line => {
    if (!customerOf(state, customerId).line_ids.includes(lineId))
      fail(`Line ${lineId} not found for customer ${customerId}`)
    return lineOf(state, lineId)
  }
  const billsOf = (state: Carrier, { bill_ids }: Customer): Bill[] => bill_ids.map((key) => billOf(state, key))
  const addBill = (state: Carrier, customerId: string, added: Bill) => {
    state.bills.push(added)
    writable(state.customers, tables.customers, (row) => row.customer_id === customerId).bill_ids.push(added.bill_id)
  }

  const charge = (state: Carrier, customerId: string, amount: number, description: string, rng: Rng) => {
    let draft = billsOf(state, customerOf(state, customerId)).find(({ status }) => status === 'Draft')?.bill_id
    if (draft === undefined) {
      draft = `B${[...Array(8)].map(() => rng.stream('bill').int(0, 15).toString(16)).join('')}`
      addBill(state, customerId, emptyBill(draft, customerId, NEXT_MONTH, 'Draft'))
    }
    const changed = changeBill(state, draft)
    changed.line_items.push({ description, amount, date: TODAY, item_type: amount < 0 ? 'Credit' : 'Charge' })
    changed.total_due += amount
  }
  const setRoaming =
    (on: boolean) =>
    (state: Carrier, { customer_id, line_id }: { customer_id: string; line_id: string }) => {
      const word = on ? 'enabled' : 'disabled'
      if (ownLine(state, customer_id, line_id).roaming_enabled === on) return `Roaming was already ${word}`
      changeLine(state, line_id).roaming_enabled = on
      return `Roaming ${word} successfully`
    }

  const tools = {
    get_customer_by_phone: agentTool('reads', { phone_number: id }, (state, { phone_number }) =>
      dumpRows(customerByPhone(state, phone_number)),
    ),
    get_customer_by_id: agentTool('reads', { customer_id: id }, (state, { customer_id }) =>
      dumpRows(customerOf(state, customer_id)),
    ),
    get_customer_by_name: agentTool('reads', { full_name: text, dob: id }, (state, { full_name, dob }) =>
      dumpRows(
        customersOf(state).filter(
          (row) => row.full_name.toLowerCase() === full_name.toLowerCase() && row.date_of_birth === dob,
        ),
      ),
    ),
    get_details_by_id: agentTool('reads', { id }, (state, { id: key }) => {
      const found = {
        L: lineOf,
        D: (_: Carrier, one: string) => deviceOf(one),
        B: billOf,
        C: customerOf,
        P: (_: Carrier, one: string) => planOf(one),
      }
      const kind = key.charAt(0)
      if (!Object.hasOwn(found, kind)) fail(`Unknown ID format or type: ${key}`)
      return dumpRows(found[kind as keyof typeof found](state, key))
    }),
    suspend_line: agentTool('changes', { ...ofLine, reason: text }, (state, { customer_id, line_id }) => {
      if (ownLine(state, customer_id, line_id).status !== 'Active') fail('Line must be active to suspend')
      const changed = changeLine(state, line_id)
      changed.status = 'Suspended'
      changed.suspension_start_date = TODAY
      return dumpRows({ message: 'Line suspended successfully. $5/month holding fee will apply.', line: changed })
    }),
    resume_line: agentTool('changes', ofLine, (state, { customer_id, line_id }) => {
      if (!['Suspended', 'Pending Activation'].includes(ownLine(state, customer_id, line_id).status))
        fail('Line must be suspended to resume')
      const changed = changeLine(state, line_id)
      changed.status = 'Active'
      changed.suspension_start_date = null
      return dumpRows({ message: 'Line resumed successfully', line: changed })
    }),
    get_bills_for_customer: agentTool(
      'reads',
      { customer_id: id, limit: z.int().default(12) },
      (state, { customer_id, limit }) => {
        const bills = billsOf(state, customerOf(state, customer_id))
        bills.sort((a, b) => (a.issue_date === b.issue_date ? 0 : a.issue_date < b.issue_date ? 1 : -1))
        return dumpRows(bills.slice(0, limit))
      },
    ),
    send_payment_request: agentTool('changes', { customer_id: id, bill_id: id }, (state, { customer_id, bill_id }) => {
      const owner = customerOf(state, customer_id)
      if (awaitingPayment(state, owner).length > 0) fail('A bill is already awaiting payment for this customer')
      if (!owner.bill_ids.includes(bill_id)) fail(`Bill ${bill_id} not found for customer ${customer_id}`)
      billOf(state, bill_id)
      changeBill(state, bill_id).status = 'Awaiting Payment'
      return `Payment request sent to the customer for bill ${bill_id}`
    }),
    get_data_usage: agentTool('reads', ofLine, (state, { customer_id, line_id }) => {
      const { data_used_gb, data_refueling_gb, plan_id } = ownLine(state, customer_id, line_id)
      // Numbers beside rows are texts in the answers of the original.
      return dumpRows({
        line_id,
        data_used_gb: formatFloat(data_used_gb),
        data_limit_gb: formatFloat(planOf(plan_id).data_limit_gb),
        data_refueling_gb: formatFloat(data_refueling_gb),
        cycle_end_date: '2025-02-28',
      })
    }),
    enable_roaming: agentTool('changes', ofLine, setRoaming(true)),
    disable_roaming: agentTool('changes', ofLine, setRoaming(false)),
    transfer_to_human_agents: agentTool('reads', { summary: text }, () => 'Transfer successful'),
    refuel_data: agentTool(
      'changes',
      { ...ofLine, gb_amount: z.number() },
      (state, { customer_id, line_id, gb_amount }, rng) => {
        const { plan_id } = ownLine(state, customer_id, line_id)
        if (gb_amount <= 0) fail('Refuel amount must be positive')
        const price = planOf(plan_id).data_refueling_price_per_gb
        const [gb, cost] = [formatFloat(gb_amount), gb_amount * price]
        const changed = changeLine(state, line_id)
        changed.data_refueling_gb += gb_amount
        charge(state, customer_id, cost, `Data refueling: ${gb} GB at $${formatFloat(price)}/GB`, rng)
        return dumpRows({
          message: `Successfully added ${gb} GB of data for line ${line_id} for $${formatFixed(cost, 2)}`,
          new_data_refueling_gb: formatFloat(changed.data_refueling_gb),
          charge: formatFloat(cost),
        })
      },
    ),
  } satisfies { readonly [name: string]: DomainTool<Carrier> }

  /** Functions of the original that are no tools: they prepare tasks. */
  const initialize: { readonly [name: string]: (state: Carrier, given: JsonObject) => void } = {
    enable_roaming: (state, given) => void setRoaming(true)(state, given as never),
    disable_roaming: (state, given) => void setRoaming(false)(state, given as never),
    set_data_usage(state, { customer_id, line_id, data_used_gb }) {
      ownLine(state, customer_id as string, line_id as string)
      changeLine(state, line_id as string).data_used_gb = data_used_gb as number
    },
    suspend_line_for_overdue_bill(state, { customer_id, line_id, new_bill_id, contract_ended }) {
      const [customerId, lineId] = [customer_id as string, line_id as string]
      const { status, plan_id } = lineOf(state, lineId)
      const amount = planOf(plan_id).price_per_month
      if (status !== 'Active') fail('Line must be active to suspend for unpaid bill')
      if (amount <= 0) fail('Amount must be positive for overdue bill')
      if (billsOf(state, customerOf(state, customerId)).some((one) => one.status === 'Overdue'))
        fail('Customer already has an overdue bill')
      addBill(state, customerId, {
        ...emptyBill(new_bill_id as string, customerId, LAST_MONTH, 'Overdue'),
        total_due: amount,
        line_items: [{ description: `Charge for line ${lineId}`, amount, date: TODAY, item_type: 'Charge' }],
      })
      const changed = changeLine(state, lineId)
      changed.status = 'Suspended'
      changed.suspension_start_date = TODAY
      if (contract_ended) changed.contract_end_date = LAST_MONTH.last
    },
  }

  function awaitingPayment(state: Carrier, owner: Customer): Bill[] {
    return billsOf(state, owner).filter(({ status }) => status === 'Awaiting Payment')
  }

  return {
    tools,
    initialize,
    assertions: {
      assert_data_refueling_amount: (state, { customer_id, line_id, expected_amount }) =>
        Math.abs(ownLine(state, customer_id as string, line_id as string).data_refueling_gb - Number(expected_amount)) <
        1e-6,
      assert_no_overdue_bill: (state, { overdue_bill_id }) =>
        (find(state.bills, tables.bills, (row) => row.bill_id === overdue_bill_id)?.status ?? 'Paid') === 'Paid',
    } as { readonly [name: string]: (state: Carrier, given: JsonObject) => boolean },
    /** What the phone of a number notices of the carrier. */
    lineOfPhone: ({ lines }: Carrier, number: string): Line =>
      find(lines, tables.lines, (row) => row.phone_number === number) ??
      fail(`Line with phone number ${number} not found`),
    limitOf: ({ plan_id, data_refueling_gb }: Line) => planOf(plan_id).data_limit_gb + data_refueling_gb,
    /** The bill that the customer with this number is asked to pay. */
    requested: (state: Carrier, number: string): Bill | undefined =>
      awaitingPayment(state, customerByPhone(state, number))[0],
    setPaid(state: Carrier, key: string) {
      billOf(state, key)
      changeBill(state, key).status = 'Paid'
    },
    dump: (state: Carrier): JsonObject => ({
      plans: tables.plans,
      customers: customersOf(state),
      lines: tables.lines.map((row) => lineOf(state, row.line_id)),
      bills: [
        ...tables.bills.map((row) => billOf(state, row.bill_id)),
        ...state.bills.filter(({ bill_id }) => !tables.bills.some((row) => row.bill_id === bill_id)),
      ],
      devices: tables.devices,
    }),
  }
}

function agentTool<Shape extends z.ZodRawShape>(
  kind: 'reads' | 'changes',
  shape: Shape,
  play: (state: Carrier, input: z.output<z.ZodObject<Shape>>, rng: Rng) => string,
): DomainTool<Carrier> {
  return domainTool('agent', kind, shape, play)
}

function emptyBill(key: string, customerId: string, { first, last, due }: typeof LAST_MONTH, status: string): Bill {
  return {
    bill_id: key,
    customer_id: customerId,
    period_start: first,
    period_end: last,
    issue_date: first,
    total_due: 0,
    due_date: due,
    line_items: [],
    status,
  }
}

function fail(message: string): never {
  throw new ToolError(message)
}
