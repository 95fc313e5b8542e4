import { add, multiply, type PythonNumber, subtract, toDouble } from '../python/arithmetic.ts'
import { repr } from '../python/repr.ts'
import { round } from '../python/round.ts'
import { entriesOf, float, type PythonDict, type PythonTuple, type PythonValue } from '../python/value.ts'
import {
  type Api,
  type Chance,
  type Dict,
  dictOf,
  draw,
  fieldOf,
  has,
  itemOf,
  PythonError,
  type Sources,
  setItem,
} from './api.ts'
import { readTime } from './dates.ts'

interface Travel {
  credit_card_list: Dict<Record<string, PythonValue>>
  booking_record: Dict<Record<string, PythonValue>>
  access_token: string | null
  token_type: string | null
  token_expires_in: number | null
  token_scope: string | null
  user_first_name: string | null
  user_last_name: string | null
  budget_limit: PythonNumber | null
  chance: Chance
}

interface Flight {
  travel_from: string
  travel_to: string
  travel_date: string
  travel_class: string
}

/** The day on which ages are counted: that of the release. The original takes the clock's. */
const TODAY = '2026-03-23'

const FACTORS: Readonly<Record<string, number>> = { economy: 1, business: 2, first: 5 }

export const travel: Api<Travel> = {
  load(scenario, sources) {
    const { random_seed, credit_card_list, booking_record, ...rest } = {
      ...sources.constant<Record<string, PythonValue>>('DEFAULT_STATE'),
      ...scenario,
    }
    const lists = {
      credit_card_list: dictOf<Record<string, PythonValue>>(credit_card_list as PythonValue),
      booking_record: dictOf<Record<string, PythonValue>>(booking_record as PythonValue),
    }
    if (sources.isLong)
      for (const [list, name] of [
        [lists.credit_card_list, 'CREDIT_CARD_EXTENSION'],
        [lists.booking_record, 'BOOKING_RECORD_EXTENSION'],
      ] as const)
        for (const [id, item] of dictOf<Record<string, PythonValue>>(sources.long(name)).$dict)
          if (!has(list, id)) setItem(list, id, { ...item })
    const { access_token, token_type, token_expires_in, token_scope } = rest as unknown as Travel
    const { user_first_name, user_last_name, budget_limit } = rest as unknown as Travel
    return {
      ...{ ...lists, access_token, token_type, token_expires_in, token_scope, user_first_name, user_last_name },
      ...{ budget_limit, chance: { seed: random_seed as number, drawn: 0 } },
    }
  },

  compared: ({ access_token, booking_record, budget_limit, credit_card_list, token_expires_in, ...rest }) => ({
    ...{ access_token, booking_record: booking_record as PythonDict, budget_limit },
    ...{ credit_card_list: credit_card_list as PythonDict, token_expires_in },
    ...{ token_scope: rest.token_scope, token_type: rest.token_type },
    ...{ user_first_name: rest.user_first_name, user_last_name: rest.user_last_name },
  }),

  methods: {
    authenticate_travel(state, given: { grant_type: string; user_first_name: string; user_last_name: string }) {
      state.token_expires_in = 2
      state.access_token = identify(state, 6)
      state.token_type = 'Bearer'
      state.token_scope = given.grant_type
      state.user_first_name = given.user_first_name
      state.user_last_name = given.user_last_name
      const { access_token, token_type } = state
      return { expires_in: 2, access_token, token_type, scope: given.grant_type }
    },

    travel_get_login_status: ({ token_expires_in: left }) => ({ status: left !== null && left !== 0 }),

    get_budget_fiscal_year: () => ({ budget_fiscal_year: '2018' }),

    register_credit_card(
      state,
      {
        access_token,
        card_number,
        expiration_date,
        cardholder_name,
        card_verification_number,
      }: Record<'access_token' | 'card_number' | 'expiration_date' | 'cardholder_name', string> & {
        card_verification_number: number
      },
    ) {
      const problem = state.token_expires_in === null ? 'Token not initialized' : tokenProblem(state, access_token)
      if (problem) return { error: problem }
      if (has(state.credit_card_list, card_number)) return { error: 'Card already registered' }
      const card_id = identify(state, 12)
      const balance = Number(identify(state, 5))
      setItem(state.credit_card_list, card_id, {
        ...{ card_number, expiration_date, cardholder_name, card_verification_number, balance },
      })
      return { card_id }
    },

    get_flight_cost(_, flight: Flight, sources) {
      const cost = costOf(flight, sources)
      if (!sources.isLong) return { travel_cost_list: [float(cost(flight))] }
      const all = routesOf(sources).map(([pair]) => {
        const [travel_from, travel_to] = pair.$tuple as [string, string]
        return float(cost({ ...flight, travel_from, travel_to }))
      })
      return { travel_cost_list: all }
    },

    get_credit_card_balance(state, { access_token, card_id }: { access_token: string; card_id: string }) {
      const problem = tokenProblem(state, access_token)
      if (problem) return { error: problem }
      if (!has(state.credit_card_list, card_id)) {
        const ids = repr(state.credit_card_list.$dict.map(([id]) => id))
        return { error: `Card not registered. Here are a list of card_id's: ${ids}` }
      }
      return { card_balance: fieldOf(itemOf(state.credit_card_list, card_id), 'balance') }
    },

    book_flight(
      state,
      { access_token, card_id, ...flight }: { access_token: string; card_id: string } & Flight,
      sources,
    ) {
      const failed = (error: string) => ({ booking_status: false, error })
      const problem = tokenProblem(state, access_token)
      if (problem) return failed(problem)
      if (!has(state.credit_card_list, card_id)) return failed('Card not registered')
      const card = itemOf(state.credit_card_list, card_id)
      if (!Object.hasOwn(card, 'balance')) return failed('Balance not found')
      const { travel_date, travel_from, travel_to, travel_class } = flight
      const airports = airportsOf(sources)
      if (!airports.includes(travel_from)) return failed(`Invalid departure airport code: ${travel_from}`)
      if (!airports.includes(travel_to)) return failed(`Invalid destination airport code: ${travel_to}`)
      if (!isDate(travel_date)) return failed('Invalid date format. Use YYYY-MM-DD.')
      // The original names the three in an order that changes from process to process.
      if (!Object.hasOwn(FACTORS, travel_class))
        return failed("Invalid travel class. Must be one of {'economy', 'business', 'first'}")
      let cost: number
      try {
        cost = costOf(flight, sources)(flight)
      } catch (error) {
        return failed((error as Error).message)
      }
      const balance = card.balance as PythonNumber
      if (toDouble(balance) < cost) return failed('Insufficient funds')
      if (state.budget_limit !== null && toDouble(balance) < toDouble(state.budget_limit))
        return failed('Balance is less than budget limit')
      const travel_cost = float(cost)
      card.balance = subtract(balance, travel_cost)
      const booking_id = identify(state, 7)
      const transaction_id = identify(state, 8)
      setItem(state.booking_record, booking_id, {
        ...{ card_id, travel_date, travel_from, travel_to, travel_class, travel_cost, transaction_id },
      })
      const booking_history = sources.isLong ? (state.booking_record as PythonDict) : {}
      return { booking_id, transaction_id, booking_status: true, booking_history }
    },

    retrieve_invoice(state, { access_token, booking_id }: { access_token: string; booking_id?: string | null }) {
      const problem = tokenProblem(state, access_token)
      if (problem) return { error: problem }
      if (booking_id === undefined || booking_id === null || !has(state.booking_record, booking_id))
        return { error: 'Booking not found' }
      const booking = itemOf(state.booking_record, booking_id)
      const fields = ['travel_date', 'travel_from', 'travel_to', 'travel_class', 'travel_cost', 'transaction_id']
      return { invoice: { booking_id, ...Object.fromEntries(fields.map((key) => [key, fieldOf(booking, key)])) } }
    },

    get_booking_history(state, { access_token }: { access_token: string }) {
      const problem = tokenProblem(state, access_token)
      return problem ? { error: problem } : { booking_history: state.booking_record as PythonDict }
    },

    list_all_airports: (_, __, sources) => [...airportsOf(sources)],

    cancel_booking(state, { access_token, booking_id }: { access_token: string; booking_id: string }) {
      const problem = tokenProblem(state, access_token)
      if (problem) return { cancel_status: false, error: problem }
      if (!has(state.booking_record, booking_id)) return { cancel_status: false, error: 'Booking not found' }
      const booking = itemOf(state.booking_record, booking_id)
      const card_id = fieldOf(booking, 'card_id')
      const cost = fieldOf(booking, 'travel_cost') as PythonNumber
      const card = itemOf(state.credit_card_list, card_id)
      card.balance = add(fieldOf(card, 'balance') as PythonNumber, cost)
      state.booking_record.$dict = state.booking_record.$dict.filter(([id]) => id !== booking_id)
      return { cancel_status: true }
    },

    compute_exchange_rate(
      _,
      {
        base_currency: base,
        target_currency: target,
        value,
      }: { base_currency: string; target_currency: string; value: PythonNumber },
      { constant },
    ) {
      for (const [pair, rate] of entriesOf(constant<PythonDict>('exchange_rates'))) {
        const [from, to] = (pair as PythonTuple).$tuple
        if (from === base && to === target)
          return { exchanged_value: float(toDouble(multiply(value, rate as PythonNumber))) }
        if (from === target && to === base)
          return { exchanged_value: round(float(toDouble(value) / toDouble(rate as PythonNumber)), 2) }
      }
      throw new PythonError('No available exchange rate for the given currencies.')
    },

    verify_traveler_information(
      state,
      given: Record<'first_name' | 'last_name' | 'date_of_birth' | 'passport_number', string>,
    ) {
      const failed = (verification_failure: string) => ({ verification_status: false, verification_failure })
      const { first_name: first, last_name: last, date_of_birth: birth } = given
      const [own, family] = [state.user_first_name ?? 'None', state.user_last_name ?? 'None']
      if (state.user_first_name !== first || state.user_last_name !== last)
        return failed(`Cannot book flight information for another user.Expected ${own} ${family}, got ${first} ${last}`)
      if (!isDate(birth)) return failed('Invalid date of birth format. Please use YYYY-MM-DD.')
      const born = readTime(birth, '%Y-%m-%d')
      const [year, today] = [Number(TODAY.slice(0, 4)), readTime(TODAY, '%Y-%m-%d')]
      if (year - Number(born.slice(0, 4)) - Number(today.slice(5) < born.slice(5)) < 18)
        return failed('Traveler must be at least 18 years old.')
      if (!given.passport_number.startsWith('US')) return failed('Passport must be issued by the United States.')
      return { verification_status: true }
    },

    set_budget_limit(state, { access_token, budget_limit }: { access_token: string; budget_limit: PythonNumber }) {
      const problem = tokenProblem(state, access_token)
      if (problem) return { error: problem }
      state.budget_limit = float(toDouble(budget_limit))
      return { budget_limit: state.budget_limit }
    },

    get_nearest_airport_by_city(_, { location }: { location: string }, { constant }) {
      const airports = constant<Record<string, string>>('airport_map')
      return { nearest_airport: Object.hasOwn(airports, location) ? (airports[location] as string) : 'Unknown' }
    },

    purchase_insurance(
      state,
      {
        access_token,
        booking_id,
        insurance_cost: cost,
        card_id,
      }: { access_token: string; booking_id: string; insurance_cost: PythonNumber; card_id: string },
    ) {
      const failed = (error: string) => ({ insurance_status: false, error })
      const problem = tokenProblem(state, access_token)
      if (problem) return failed(problem)
      if (state.budget_limit !== null && toDouble(state.budget_limit) < toDouble(cost))
        return failed('Exceeded budget limit')
      if (!has(state.booking_record, booking_id)) return failed('Booking not found')
      if (!has(state.credit_card_list, card_id)) return failed('Credit card not registered')
      const card = itemOf(state.credit_card_list, card_id)
      card.balance = subtract(fieldOf(card, 'balance') as PythonNumber, cost)
      return { insurance_id: identify(state, 9), insurance_status: true }
    },

    contact_customer_support(state, { booking_id }: { booking_id: string }, { after }) {
      if (!has(state.booking_record, booking_id)) return { error: 'Booking not found' }
      return { customer_support_message: after('"customer_support_message": ') }
    },

    get_all_credit_cards: ({ credit_card_list }) => ({ credit_card_list: credit_card_list as PythonDict }),
  },
}

/** Draws a number of so many digits, as a text. */
function identify({ chance }: Travel, digits: number): string {
  return String(draw(chance, (random) => random.randint(10 ** (digits - 1), 10 ** digits - 1)))
}

function tokenProblem({ token_expires_in, access_token }: Travel, given: string): string | null {
  if (token_expires_in === 0) return 'Token expired'
  return given === access_token ? null : 'Invalid access token'
}

function airportsOf({ after }: Sources): readonly string[] {
  return after<string[]>('A list of all available airports\n        """\n        return ')
}

function routesOf({ constant }: Sources): readonly (readonly [PythonTuple, number])[] {
  return entriesOf(constant<PythonDict>('base_costs')) as unknown as (readonly [PythonTuple, number])[]
}

/** Returns what flights cost on the date and in the class of one. Throws if that one cannot be had. */
function costOf({ travel_from, travel_to, travel_date, travel_class }: Flight, sources: Sources) {
  const routes = new Map(routesOf(sources).map(([{ $tuple }, cost]) => [$tuple.join(' '), cost]))
  if (!routes.has(`${travel_from} ${travel_to}`)) throw new PythonError('No available route for the given airports.')
  const factor = Object.hasOwn(FACTORS, travel_class) ? (FACTORS[travel_class] as number) : null
  if (factor === null) throw new PythonError('Invalid travel class. Options are: economy, business, first.')
  const digits = [...travel_date].reduce((sum, character) => sum + (/\d/.test(character) ? Number(character) : 0), 0)
  const season = digits % 2 === 0 ? 2 : 1
  return (flight: Flight) => (routes.get(`${flight.travel_from} ${flight.travel_to}`) as number) * factor * season
}

function isDate(text: string): boolean {
  try {
    readTime(text, '%Y-%m-%d')
    return true
  } catch {
    return false
  }
}
