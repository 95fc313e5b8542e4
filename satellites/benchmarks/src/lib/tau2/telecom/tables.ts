import { parse } from 'smol-toml'
import { z } from 'zod'
import { dumps } from '../../python/dumps.ts'
import { float, type PythonValue } from '../../python/value.ts'

// The fields have the order in which the original dumps them, and its defaults.

const date = z.string().nullable().default(null)
/** As Python prints a date with a time. */
const time = z
  .string()
  .transform((text) => text.replace('T', ' '))
  .nullable()
  .default(null)

const plan = z.strictObject({
  plan_id: z.string(),
  name: z.string(),
  data_limit_gb: z.number(),
  price_per_month: z.number(),
  data_refueling_price_per_gb: z.number(),
})

const device = z.strictObject({
  device_id: z.string(),
  device_type: z.string(),
  model: z.string(),
  imei: z.string().nullable().default(null),
  is_esim_capable: z.boolean(),
  activated: z.boolean().default(false),
  activation_date: time,
  last_esim_transfer_date: time,
})

export const line = z.strictObject({
  line_id: z.string(),
  phone_number: z.string(),
  status: z.string().default('Pending Activation'),
  plan_id: z.string(),
  device_id: z.string().nullable().default(null),
  data_used_gb: z.number().default(0),
  data_refueling_gb: z.number().default(0),
  roaming_enabled: z.boolean().default(false),
  contract_end_date: date,
  last_plan_change_date: date,
  last_sim_replacement_date: date,
  suspension_start_date: date,
})

export const bill = z.strictObject({
  bill_id: z.string(),
  customer_id: z.string(),
  period_start: z.string(),
  period_end: z.string(),
  issue_date: z.string(),
  total_due: z.number(),
  due_date: z.string(),
  line_items: z
    .array(z.strictObject({ description: z.string(), amount: z.number(), date: z.string(), item_type: z.string() }))
    .default([]),
  status: z.string().default('Draft'),
})

export const customer = z.strictObject({
  customer_id: z.string(),
  full_name: z.string(),
  date_of_birth: z.string(),
  email: z.string(),
  phone_number: z.string(),
  address: z.strictObject({ street: z.string(), city: z.string(), state: z.string(), zip_code: z.string() }),
  account_status: z.string().default('Pending Verification'),
  payment_methods: z
    .array(z.strictObject({ method_type: z.string(), account_number_last_4: z.string(), expiration_date: z.string() }))
    .default([]),
  line_ids: z.array(z.string()).default([]),
  bill_ids: z.array(z.string()).default([]),
  created_at: z
    .string()
    .default('2025-01-01')
    .transform((text) => text.replace('T', ' ')),
  last_extension_date: date,
  goodwill_credit_used_this_year: z.number().default(0),
})

const tables = z.strictObject({
  plans: z.array(plan),
  customers: z.array(customer),
  lines: z.array(line),
  bills: z.array(bill),
  devices: z.array(device),
})

export type Line = z.output<typeof line>
export type Bill = z.output<typeof bill>
export type Customer = z.output<typeof customer>
/** The tables of the carrier, as every task begins with them. */
export type Tables = z.output<typeof tables>

/** Reads `db.toml` of the original. */
export function readTables(toml: string): Tables {
  return tables.parse(parse(toml))
}

/** Numbers that are floats of Python whatever their value. */
const FLOATS = new Set([
  'data_limit_gb',
  'price_per_month',
  'data_refueling_price_per_gb',
  'data_used_gb',
  'data_refueling_gb',
  'amount',
  'total_due',
  'goodwill_credit_used_this_year',
])

/** A row, or what contains rows, as a value of Python. */
export function toPython(value: unknown, key = ''): PythonValue {
  if (typeof value === 'number') return FLOATS.has(key) ? float(value) : value
  if (Array.isArray(value)) return value.map((item) => toPython(item))
  if (typeof value !== 'object' || value === null) return value as PythonValue
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, toPython(item, name)]))
}

/** What a tool that returns rows answers. */
export function dumpRows(value: unknown): string {
  return dumps(toPython(value))
}
