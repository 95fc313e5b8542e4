import { parse } from 'smol-toml'
import { z } from 'zod'
import { dumps } from '../../python/dumps.ts'
import { float, type PythonValue } from '../../python/value.ts'

const text = z.string()
const amount = z.number().default(0)
const flag = z.boolean().default(false)
/** As Python prints a date with a time. */
const time = text.transform((written) => written.replace('T', ' '))

const each = <Name extends string, Schema>(schema: Schema, ...names: readonly Name[]) =>
  Object.fromEntries(names.map((name) => [name, schema])) as { [Key in Name]: Schema }
const texts = <Name extends string>(...names: readonly Name[]) => each(text, ...names)
const optional = <Name extends string>(...names: readonly Name[]) => each(text.nullable().default(null), ...names)
const times = <Name extends string>(...names: readonly Name[]) => each(time.nullable().default(null), ...names)

// The fields have the order in which the original dumps them, and its defaults.

export const line = z.strictObject({
  ...texts('line_id', 'phone_number'),
  status: text.default('Pending Activation'),
  plan_id: text,
  ...optional('device_id'),
  ...each(amount, 'data_used_gb', 'data_refueling_gb'),
  roaming_enabled: flag,
  ...optional('contract_end_date', 'last_plan_change_date', 'last_sim_replacement_date', 'suspension_start_date'),
})

export const bill = z.strictObject({
  ...texts('bill_id', 'customer_id', 'period_start', 'period_end', 'issue_date'),
  total_due: z.number(),
  due_date: text,
  line_items: z
    .array(z.strictObject({ description: text, amount: z.number(), ...texts('date', 'item_type') }))
    .default([]),
  status: text.default('Draft'),
})

export const customer = z.strictObject({
  ...texts('customer_id', 'full_name', 'date_of_birth', 'email', 'phone_number'),
  address: z.strictObject(texts('street', 'city', 'state', 'zip_code')),
  account_status: text.default('Pending Verification'),
  payment_methods: z
    .array(z.strictObject(texts('method_type', 'account_number_last_4', 'expiration_date')))
    .default([]),
  ...each(z.array(text).default([]), 'line_ids', 'bill_ids'),
  created_at: time.default('2025-01-01'),
  ...optional('last_extension_date'),
  goodwill_credit_used_this_year: amount,
})

const tables = z.strictObject({
  plans: z.array(
    z.strictObject({
      ...texts('plan_id', 'name'),
      ...each(z.number(), 'data_limit_gb', 'price_per_month', 'data_refueling_price_per_gb'),
    }),
  ),
  customers: z.array(customer),
  lines: z.array(line),
  bills: z.array(bill),
  devices: z.array(
    z.strictObject({
      ...texts('device_id', 'device_type', 'model'),
      ...optional('imei'),
      is_esim_capable: z.boolean(),
      activated: flag,
      ...times('activation_date', 'last_esim_transfer_date'),
    }),
  ),
})

export type PhoneLine = z.output<typeof line>
export type Bill = z.output<typeof bill>
export type Customer = z.output<typeof customer>
/** The tables of the carrier, as every task begins with them. */
export type Tables = z.output<typeof tables>

/** Reads `db.toml` of the original. */
export function readTables(toml: string): Tables {
  return tables.parse(parse(toml))
}

/** What a tool of the original answers that returns rows. All numbers in them are floats of Python. */
export function dumpRows(value: unknown): string {
  return dumps(
    JSON.parse(JSON.stringify(value), (_, part) => (typeof part === 'number' ? float(part) : part)) as PythonValue,
  )
}
