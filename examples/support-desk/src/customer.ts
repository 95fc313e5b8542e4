import { z } from 'zod'
import type { Case } from './requests.ts'

const text = z.string()

/** The customer of an episode: what they want and know, and how far the conversation is. */
export const customerSchema = z.object({
  identity: text,
  requests: z.array(z.object({ text, payment: text.nullable(), reason: text.nullable() })),
  /** The request that they speak about; after the last one, all of them. */
  current: z.int().min(0),
  /** How many changes there were when they last agreed to one; `null` before. */
  agreedAt: z.int().min(0).nullable(),
})

export type Customer = z.output<typeof customerSchema>

const MORE = /\b(any|some)thing (else|more)\b|\bwhat else\b|\b(another|other|further|next) (request|question)/i
const WANTED = /\bhelp\b|\bdo for you\b|\bwhat (would|do) you (want|need)\b/i
const IDENTITY = /\be-?mail|\bzip\b|\bpost(al)? ?code|\byour (full )?name\b|\bwho you are\b|\bidenti|\bverif/i
const PAYMENT = /\bpay|\brefund|\bcard\b|\bmethod\b|\bdifference\b|\baccount\b/i
const REASON = /\bwhy\b|\breason\b/i
const CONFIRM = /\bconfirm|\byes\b|\bproceed\b|\bgo ahead\b|\b(shall|should) i\b|\bcorrect\b|\bright\?|\bagree/i

const GOODBYE = 'No, that is all. Thank you, goodbye.'

/** Returns a customer before the first word. */
export function startCustomer({ identity, requests }: Case): Customer {
  return { identity, requests: [...requests], current: 0, agreedAt: null }
}

/**
 * Returns what a customer answers to what an agent says, and notes what they have agreed to.
 *
 * They know words, and nothing else: they give what they are asked for, agree to what they are asked to confirm, name
 * the next request when they are asked whether there is anything else, and otherwise repeat what they want.
 *
 * - `changes`: how often the database was changed so far.
 */
export function answerAgent(customer: Customer, said: string, changes: number): string {
  if (MORE.test(said) && customer.current < customer.requests.length) {
    customer.current += 1
    return customer.requests[customer.current]?.text ?? GOODBYE
  }
  const request = customer.requests[customer.current]
  if (!request) return GOODBYE
  const isAgreed = CONFIRM.test(said)
  if (isAgreed) customer.agreedAt = changes
  const answers = [
    WANTED.test(said) && request.text,
    IDENTITY.test(said) && customer.identity,
    REASON.test(said) && request.reason,
    PAYMENT.test(said) && request.payment,
    isAgreed && 'Yes, please.',
  ].filter((answer) => typeof answer === 'string')
  return answers.length > 0 ? answers.join(' ') : request.text
}
