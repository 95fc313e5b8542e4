import { z } from 'zod'
import { defineEnvironment } from './define-environment.ts'

/** What the vault opens to. In JSON it is written otherwise, and so it is in JSON that is a text in JSON. */
export const PASSWORD = 'open "sesame"\nnow'

/** What a world learned from elsewhere: for a test to put something in. */
export const rumour = { text: '' }

/** A world that tells its secret, in every way that a player can hear it. */
export const vault = defineEnvironment({
  name: 'vault',
  version: '1.0.0',
  description: 'A vault that opens to a word.',
  handle: false,
  params: z.object({ password: z.string().default(PASSWORD), unlistable: z.boolean().default(false) }),
  state: {
    public: z.object({ sign: z.string(), open: z.boolean() }),
    private: z.object({ password: z.string() }),
  },
  start: ({ params }) => ({ public: { sign: 'Closed.', open: false }, private: { password: params.password } }),
  observe: ({ sign }) => sign,
  secrets({ public: { open }, private: { password } }, { unlistable }) {
    if (unlistable) throw new Error(`This cannot be listed: ${password}`)
    return open ? [] : [password]
  },
  tools: ({ tool }) => ({
    blab: tool({
      description: 'Tells the password.',
      input: z.object({ where: z.enum(['text', 'structured', 'refusal', 'observation', 'json']) }),
      output: z.object({ sign: z.string() }),
      play({ state, input: { where }, refuse, say }) {
        const { password } = state.private
        const sign = where === 'structured' ? password : ''
        if (where === 'refusal') return refuse(password)
        if (where === 'observation') state.public.sign = password
        return say(where === 'text' ? password : where === 'json' ? JSON.stringify(state) : 'Psst.', { sign })
      },
    }),
    repeat: tool({
      description: 'Says what it is told to say.',
      input: z.object({ text: z.string() }),
      play: ({ input, say }) => say(input.text),
    }),
    gossip: tool({
      description: 'Says what it heard elsewhere.',
      input: z.object({}),
      play: ({ say }) => say(rumour.text),
    }),
    try: tool({
      description: 'Tries a word.',
      input: z.object({ word: z.string() }),
      play({ state, input, end, say }) {
        if (input.word !== state.private.password) return say('It stays closed.')
        state.public.open = true
        end('opened')
        return say(`It opens to ${state.private.password}, and so it does again.`)
      },
    }),
  }),
  rewards: { opened: ({ end }) => (end?.kind === 'terminated' ? 1 : 0) },
})
