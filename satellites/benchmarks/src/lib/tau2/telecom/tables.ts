import { parse } from 'smol-toml'
import { z } from 'zod'
import { each, optional, texts } from '../fields.ts'
import { freeze } from '../rows.ts'

const text = z.string()
const amount = z.number().default(0)
const flag = z.boolean().default(false)
/** As Python prints a date with a time. */
const time = text.transform((written) => written.replace('T', ' '))

// The fields have the order in which the original dumps them, and its defaults.

const plan = z.strictObject({
  ...texts('plan_id', 'name'),
  ...each(z.number(), 'data_limit_gb', 'price_per_month', 'data_refueling_price_per_gb'),
})

const customer = z.strictObject({
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

const line = z.strictObject({
  ...texts('line_id', 'phone_number'),
  status: text.default('Pending Activation'),
  plan_id: text,
  ...optional('device_id'),
  ...each(amount, 'data_used_gb', 'data_refueling_gb'),
  roaming_enabled: flag,
  ...optional('contract_end_date', 'last_plan_change_date', 'last_sim_replacement_date', 'suspension_start_date'),
})

const charge = z.strictObject({ description: text, amount: z.number(), ...texts('date', 'item_type') })
const bill = z.strictObject({
  ...texts('bill_id', 'customer_id', 'period_start', 'period_end', 'issue_date'),
  total_due: z.number(),
  due_date: text,
  line_items: z.array(charge).default([]),
  status: text.default('Draft'),
})

const device = z.strictObject({
  ...texts('device_id', 'device_type', 'model'),
  ...optional('imei'),
  is_esim_capable: z.boolean(),
  activated: flag,
  ...each(time.nullable().default(null), 'activation_date', 'last_esim_transfer_date'),
})

export const carrierTables = z.strictObject({
  plans: z.record(text, plan),
  customers: z.record(text, customer),
  lines: z.record(text, line),
  bills: z.record(text, bill),
  devices: z.record(text, device),
})
export type CarrierTables = z.output<typeof carrierTables>
export type CarrierRows = { readonly [Name in keyof CarrierTables]: CarrierTables[Name][string] }
export type PhoneLine = CarrierRows['lines']
export type Bill = CarrierRows['bills']
export type Customer = CarrierRows['customers']

export function readTables(toml: string): CarrierTables {
  const tables = parse(toml) as Record<string, Record<string, string>[]>
  const byId = Object.entries(tables).map(([table, rows]) => {
    return [table, Object.fromEntries(rows.map((row) => [row[`${table.slice(0, -1)}_id`], row]))] as const
  })
  return freeze(carrierTables.parse(Object.fromEntries(byId)))
}
