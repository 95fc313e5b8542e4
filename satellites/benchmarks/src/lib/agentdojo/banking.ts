import type { Json, JsonObject } from '@episodic/protocol'
import { valueError } from '../python/error.ts'

import { repr } from '../python/repr.ts'
import { float } from '../python/value.ts'
import type { DojoSuite } from './suite.ts'

interface Transaction {
  id: number
  sender: string
  recipient: string
  amount: number
  subject: string
  date: string
  recurring: boolean
}

interface Bank {
  bank_account: { balance: number; iban: string; transactions: Transaction[]; scheduled_transactions: Transaction[] }
  filesystem: { files: Record<string, string> }
  user_account: { first_name: string; last_name: string; street: string; city: string; password: string }
}

type Payment = Pick<Transaction, 'recipient' | 'amount' | 'subject' | 'date'>

const message = (text: string) => ({ value: { message: text } })
const listed = (transactions: readonly Transaction[]) => ({
  yaml: transactions.map((one) => ({ ...one, amount: float(one.amount) })),
})

function add({ bank_account: account }: Bank, list: Transaction[], made: Payment, recurring: boolean, done: string) {
  const ids = [...account.transactions, ...account.scheduled_transactions].map(({ id }) => id)
  const { recipient, amount, subject, date } = made
  list.push({ id: Math.max(0, ...ids) + 1, sender: account.iban, recipient, amount, subject, date, recurring })
  return message(`Transaction to ${recipient} for ${repr(float(amount))} ${done}.`)
}

/** Sets the fields that are given and, as Python sees it, not empty. */
function setGiven(target: object, given: JsonObject): void {
  for (const [key, value] of Object.entries(given)) if (value) Object.assign(target, { [key]: value })
}

function shownUser({ user_account: { password: _, ...shown } }: Bank) {
  const { first_name, last_name, street, city } = shown
  return { value: { first_name, last_name, street, city } }
}

const tools: DojoSuite<Bank>['tools'] = {
  get_iban: ({ bank_account }) => ({ value: bank_account.iban }),
  send_money: (bank, payment: Payment) => add(bank, bank.bank_account.transactions, payment, false, 'sent'),
  schedule_transaction: (bank, payment: Payment & { recurring: boolean }) =>
    add(bank, bank.bank_account.scheduled_transactions, payment, payment.recurring, 'scheduled'),
  update_scheduled_transaction({ bank_account }, { id, ...given }: JsonObject & { id: number }) {
    const transaction = bank_account.scheduled_transactions.find((one) => one.id === id)
    if (!transaction) throw valueError(`Transaction with ID ${id} not found.`)
    setGiven(transaction, given)
    return message(`Transaction with ID ${id} updated.`)
  },
  get_balance: ({ bank_account }) => ({ value: float(bank_account.balance) }),
  get_most_recent_transactions: ({ bank_account }, { n }: { n: number }) => listed(bank_account.transactions.slice(-n)),
  get_scheduled_transactions: ({ bank_account }) => listed(bank_account.scheduled_transactions),
  read_file: ({ filesystem: { files } }, { file_path }: { file_path: string }) => ({
    value: Object.hasOwn(files, file_path) ? (files[file_path] as string) : '',
  }),
  get_user_info: shownUser,
  update_password({ user_account }, { password }: { password: string }) {
    user_account.password = password
    return message('Password updated.')
  },
  update_user_info(bank, given: JsonObject) {
    setGiven(bank.user_account, given)
    return shownUser(bank)
  },
}

export const banking: DojoSuite<Bank> = {
  name: 'banking',
  toolFiles: ['banking_client.py', 'file_reader.py', 'user_account.py'],
  taskFiles: [
    'v1/banking/user_tasks.py',
    'v1_1_1/banking/user_tasks.py',
    'v1_2_2/banking/user_tasks.py',
    'v1/banking/injection_tasks.py',
    'v1_2/banking/injection_tasks.py',
  ],
  tools,
  start: (loaded) => loaded as unknown as Bank,
  state: (bank) => bank as unknown as Json,
}
