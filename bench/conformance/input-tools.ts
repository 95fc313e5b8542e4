import { text } from './contents.ts'
import type { Arguments } from './tools.ts'

/** What a call of the stateless protocol version carries after the server has asked for input. */
export interface Retry {
  /** The client's answers, by the keys of the questions; none at first. */
  readonly responses: Readonly<Record<string, unknown>>
  /** The verified state that the server sent with its questions; `undefined` at first. */
  readonly state: { readonly [key: string]: unknown } | undefined
  readonly capabilities: Readonly<Record<string, unknown>>
  /** Signs a state that the client must return. */
  sign(state: object): Promise<string>
}

type Question = { readonly method: string; readonly params: object }
type Asking = (args: Arguments, retry: Retry) => Promise<Record<string, unknown>>

const done = (body: string) => ({ content: [text(body)] })
const need = (inputRequests: Record<string, Question>, requestState?: string) => ({
  resultType: 'input_required',
  inputRequests,
  ...(requestState !== undefined && { requestState }),
})

const elicit = (message: string, name: string, type = 'string'): Question => ({
  method: 'elicitation/create',
  params: {
    mode: 'form',
    message,
    requestedSchema: { type: 'object', properties: { [name]: { type } }, required: [name] },
  },
})
const sample = (prompt: string): Question => ({
  method: 'sampling/createMessage',
  params: { messages: [{ role: 'user', content: text(prompt) }], maxTokens: 100 },
})
const ROOTS: Question = { method: 'roots/list', params: {} }

/** Returns the value of a form's field; `undefined` if it was not filled in. */
function filledIn(response: unknown, name: string): unknown {
  const { action, content } = (response ?? {}) as { action?: string; content?: Record<string, unknown> }
  return action === 'accept' ? content?.[name] : undefined
}

/** The tools that ask before they answer, as the suite calls them. */
export const INPUT_TOOLS: Readonly<Record<string, Asking>> = {
  async test_input_required_result_elicitation(_, { responses }) {
    const name = filledIn(responses.user_name, 'name')
    return typeof name === 'string'
      ? done(`Hello, ${name}!`)
      : need({ user_name: elicit('What is your name?', 'name') })
  },
  async test_input_required_result_sampling(_, { responses: { capital_question: answer } }) {
    const { content } = (answer ?? {}) as { content?: { text?: string } }
    return content ? done(String(content.text)) : need({ capital_question: sample('What is the capital of France?') })
  },
  async test_input_required_result_list_roots(_, { responses: { client_roots: answer } }) {
    const { roots } = (answer ?? {}) as { roots?: object[] }
    return roots ? done(JSON.stringify(roots)) : need({ client_roots: ROOTS })
  },
  async test_input_required_result_request_state(_, { responses, state, sign }) {
    if (state && filledIn(responses.confirm, 'ok') !== undefined) return done('state-ok')
    return need({ confirm: elicit('Please confirm', 'ok', 'boolean') }, await sign({ round: 1 }))
  },
  async test_input_required_result_multiple_inputs(_, { responses, state, sign }) {
    const { user_name, greeting, client_roots } = responses
    if (state && user_name && greeting && client_roots) return done(JSON.stringify(responses))
    const questions = { user_name: elicit('What is your name?', 'name'), greeting: sample('Generate a greeting') }
    return need({ ...questions, client_roots: ROOTS }, await sign({ round: 1 }))
  },
  async test_input_required_result_multi_round(_, { responses, state, sign }) {
    const [name, color] = [filledIn(responses.step1, 'name'), filledIn(responses.step2, 'color')]
    if (state?.round === 2 && color) return done(`${state.name} likes ${color}.`)
    if (state?.round === 1 && name)
      return need({ step2: elicit('Step 2: What is your favorite color?', 'color') }, await sign({ round: 2, name }))
    return need({ step1: elicit('Step 1: What is your name?', 'name') }, await sign({ round: 1 }))
  },
  async test_input_required_result_tampered_state(_, { responses, state, sign }) {
    if (state && filledIn(responses.confirm, 'ok') !== undefined) return done('state-ok')
    return need({ confirm: elicit('Please confirm', 'ok', 'boolean') }, await sign({ round: 1 }))
  },
  async test_input_required_result_capabilities(_, { capabilities }) {
    const questions = {
      ...(capabilities.sampling !== undefined && { sampled: sample('Say something.') }),
      ...(capabilities.elicitation !== undefined && { elicited: elicit('Say something.', 'something') }),
    }
    return Object.keys(questions).length > 0 ? need(questions) : done('There is nobody to ask.')
  },
}

/** The prompt that asks before it answers. */
export async function getAskingPrompt({ responses }: Retry): Promise<Record<string, unknown>> {
  const context = filledIn(responses.user_context, 'context')
  if (context === undefined) return need({ user_context: elicit('What context should the prompt use?', 'context') })
  return { messages: [{ role: 'user', content: text(`Use this context: ${context}`) }] }
}
