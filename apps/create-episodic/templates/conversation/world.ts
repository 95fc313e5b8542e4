import { conversationEnvironment, defineContext, defineConversation } from '@episodic/contexts'
import { createRulesInterpreter, oneOf } from '@episodic/contexts/interpret'
import { definePolicy, defineTasks } from 'episodic'
import { z } from 'zod'

const Dish = z.enum(['soup', 'pasta', 'salad'])
const Drink = z.enum(['water', 'juice'])
const Order = z.object({ dish: Dish, drink: Drink })

/** Takes an order: asks for what is missing, and closes when it is confirmed. */
const order = defineContext({
  name: 'order',
  description: 'your order',
  data: z.object({ dish: Dish.nullable().default(null), drink: Drink.nullable().default(null) }),
  intents: {
    want: z.object({ dish: Dish.optional(), drink: Drink.optional() }).describe('say what you want'),
    confirm: z.object({}).describe('agree'),
  },
  opens: { want: { effect: ({ data, slots }) => Object.assign(data, slots) } },
  initial: 'asking',
  states: {
    asking: {
      always: [
        {
          guard: function isComplete({ data }) {
            return data.dish !== null && data.drink !== null
          },
          target: 'confirming',
        },
      ],
      prompt: ({ data }) => (data.dish === null ? 'What would you like to eat?' : 'What would you like to drink?'),
    },
    confirming: {
      on: { confirm: { target: 'placed' } },
      prompt: ({ data }) => `${data.dish} and ${data.drink}. Is that right?`,
    },
    placed: { final: true, entry: ({ say }) => say('It is on its way.') },
  },
  on: { want: { target: 'asking', effect: ({ data, slots }) => Object.assign(data, slots) } },
  result: ({ data: { dish, drink } }) => ({ dish, drink }),
})

const dish = { entity: oneOf({ soup: ['soup'], pasta: ['pasta'], salad: ['salad'] }) }
const drink = { entity: oneOf({ water: ['water'], juice: ['juice'] }) }

export const conversation = defineConversation({
  name: 'counter',
  contexts: [order],
  // What people say, by rules; a language model can take their place.
  interpreter: createRulesInterpreter({
    want: { phrases: ['(I|we) (want|need)', 'would like'], slots: { dish, drink } },
    confirm: { phrases: ['(yes|sure|right)', 'that is right'] },
  }),
})

/** The agent is the guest, who wants a certain meal. */
export const environment = conversationEnvironment(conversation, {
  version: '1.0.0',
  description: 'Order a meal at a counter.',
  params: z.object({ meal: Order.nullable().default({ dish: 'soup', drink: 'water' }) }),
  // People who chat have no goal.
  person: { meal: null },
  goal: {
    schema: Order,
    draw: ({ params }) => params.meal,
    describe: ({ dish, drink }) => `Order ${dish} and ${drink}.`,
    reached: ({ record, goal }) =>
      record.public.closed.some(({ result }) => result?.dish === goal.dish && result.drink === goal.drink),
  },
})

export const tasks = defineTasks({
  name: 'counter',
  environment,
  generate({ rng, difficulty }) {
    const meal = { dish: rng.pick(Dish.options), drink: rng.pick(Drink.options) }
    return { prompt: `You want ${meal.dish} and ${meal.drink}.`, params: { meal }, difficulty }
  },
})

/** Says what it wants, and agrees. */
export const solver = definePolicy({
  name: 'hungry',
  start({ task }) {
    const { dish, drink } = Order.parse(task.params.meal ?? { dish: 'soup', drink: 'water' })
    const words = [`I want ${dish} and ${drink}.`, 'Yes, that is right.']
    return () => ({ tool: 'say', arguments: { text: words.shift() ?? 'Yes.' } })
  },
})
