import { add, multiply, type PythonNumber, subtract, toDouble } from '../python/arithmetic.ts'
import { repr } from '../python/repr.ts'
import { round } from '../python/round.ts'
import { entriesOf, float, type PythonDict, type PythonTuple } from '../python/value.ts'
import { type Api, attributesOf, type Chance, draw, type Fields, fieldOf, PythonError, type Sources } from './api.ts'
import { isDate, readTime } from './dates.ts'
import { type Dict, dictOf, findItem, itemOr, setItem } from './dict.ts'

type Texts = Record<'access_token' | 'token_type' | 'token_scope' | 'user_first_name' | 'user_last_name', string | null>

interface Travel extends Chance, Texts {
  credit_card_list: Dict<Fields>
  booking_record: Dict<Fields>
  token_expires_in: number | null
  budget_limit: PythonNumber | null
}

type CallArguments = Record<
  'travel_from' | 'travel_to' | 'travel_date' | 'travel_class' | 'booking_id' | 'location',
  string
> &
  Record<'card_id' | 'card_number' | 'expiration_date' | 'cardholder_name' | 'grant_type' | 'access_token', string> &
  Record<'first_name' | 'last_name' | 'date_of_birth' | 'passport_number' | 'user_first_name', string> &
  Record<'user_last_name' | 'base_currency' | 'target_currency', string> &
  Record<'value' | 'budget_limit' | 'insurance_cost' | 'card_verification_number', PythonNumber>

type Method = Api<Travel, CallArguments>['methods'][string]

/** The day on which ages are counted: that of the release. The original takes the clock's. */
const TODAY = '2026-03-23'

const FACTORS = new Map(Object.entries({ economy: 1, business: 2, first: 5 }))

export const travel: Api<Travel, CallArguments> = {
  load(scenario, sources) {
    const state = attributesOf<Travel>(scenario, sources, 'credit_card_list', 'booking_record')
    const { credit_card_list: cards, booking_record: bookings } = state
    for (const [id, card] of dictOf<Fields>(sources.long('CREDIT_CARD_EXTENSION') ?? {}).$dict) itemOr(cards, id, card)
    for (const [id, booking] of dictOf<Fields>(sources.long('BOOKING_RECORD_EXTENSION') ?? {}).$dict)
      itemOr(bookings, id, booking)
    return state
  },
  methods: {
    authenticate_travel(state, { grant_type: scope, user_first_name, user_last_name }) {
      const access_token = identify(state, 6)
      Object.assign(state, { token_expires_in: 2, access_token, token_type: 'Bearer', token_scope: scope })
      Object.assign(state, { user_first_name, user_last_name })
      return { expires_in: 2, access_token, token_type: 'Bearer', scope }
    },
    travel_get_login_status: ({ token_expires_in }) => ({ status: Boolean(token_expires_in) }),
    get_budget_fiscal_year: () => ({ budget_fiscal_year: '2018' }),
    register_credit_card(state, { access_token, card_number, expiration_date, cardholder_name, ...given }) {
      const problem = state.token_expires_in === null ? 'Token not initialized' : tokenProblem(state, access_token)
      if (problem) return { error: problem }
      if (findItem(state.credit_card_list, card_number)) return { error: 'Card already registered' }
      const card_id = identify(state, 12)
      const { card_verification_number } = given
      const card = { card_number, expiration_date, cardholder_name, card_verification_number }
      setItem(state.credit_card_list, card_id, { ...card, balance: Number(identify(state, 5)) })
      return { card_id }
    },
    get_flight_cost(_, flight, sources) {
      const costs = costsOf(flight, sources)
      const cost = costs.get(`${flight.travel_from} ${flight.travel_to}`)
      if (cost === undefined) throw new PythonError(NO_ROUTE)
      if (!FACTORS.has(flight.travel_class))
        throw new PythonError('Invalid travel class. Options are: economy, business, first.')
      return { travel_cost_list: (sources.isLong ? [...costs.values()] : [cost]).map(float) }
    },
    get_credit_card_balance: withToken(({ credit_card_list }, { card_id }) => {
      const card = findItem(credit_card_list, card_id)
      if (card) return { card_balance: fieldOf(card, 'balance') }
      const ids = repr(credit_card_list.$dict.map(([id]) => id))
      return { error: `Card not registered. Here are a list of card_id's: ${ids}` }
    }),
    book_flight: withToken(
      (state, { card_id, travel_date, travel_from, travel_to, travel_class }, sources) => {
        const failed = (error: string) => ({ booking_status: false, error })
        const card = findItem(state.credit_card_list, card_id)
        if (!card) return failed('Card not registered')
        if (!Object.hasOwn(card, 'balance')) return failed('Balance not found')
        const airports = airportsOf(sources)
        if (!airports.includes(travel_from)) return failed(`Invalid departure airport code: ${travel_from}`)
        if (!airports.includes(travel_to)) return failed(`Invalid destination airport code: ${travel_to}`)
        if (!isDate(travel_date)) return failed('Invalid date format. Use YYYY-MM-DD.')
        // The original names the three in an order that changes from process to process.
        if (!FACTORS.has(travel_class))
          return failed("Invalid travel class. Must be one of {'economy', 'business', 'first'}")
        const cost = costsOf({ travel_date, travel_class }, sources).get(`${travel_from} ${travel_to}`)
        if (cost === undefined) return failed(NO_ROUTE)
        const balance = card.balance as PythonNumber
        if (toDouble(balance) < cost) return failed('Insufficient funds')
        if (state.budget_limit !== null && toDouble(balance) < toDouble(state.budget_limit))
          return failed('Balance is less than budget limit')
        const travel_cost = float(cost)
        card.balance = subtract(balance, travel_cost)
        const [booking_id, transaction_id] = [identify(state, 7), identify(state, 8)]
        const flight = { travel_date, travel_from, travel_to, travel_class, travel_cost }
        setItem(state.booking_record, booking_id, { card_id, ...flight, transaction_id })
        const booking_history = sources.isLong ? state.booking_record : {}
        return { booking_id, transaction_id, booking_status: true, booking_history }
      },
      { booking_status: false },
    ),
    retrieve_invoice: withToken(({ booking_record }, { booking_id }) => {
      const booking = findItem(booking_record, booking_id)
      if (!booking) return { error: 'Booking not found' }
      const fields = ['travel_date', 'travel_from', 'travel_to', 'travel_class', 'travel_cost', 'transaction_id']
      return { invoice: { booking_id, ...Object.fromEntries(fields.map((key) => [key, fieldOf(booking, key)])) } }
    }),
    get_booking_history: withToken(({ booking_record }) => ({ booking_history: booking_record })),
    list_all_airports: (_, __, sources) => airportsOf(sources),
    cancel_booking: withToken(
      ({ booking_record, credit_card_list }, { booking_id }) => {
        const booking = findItem(booking_record, booking_id)
        if (!booking) return { cancel_status: false, error: 'Booking not found' }
        const card_id = fieldOf(booking, 'card_id')
        const cost = fieldOf(booking, 'travel_cost') as PythonNumber
        const card = findItem(credit_card_list, card_id)
        if (!card) throw new PythonError(repr(card_id))
        card.balance = add(fieldOf(card, 'balance') as PythonNumber, cost)
        booking_record.$dict = booking_record.$dict.filter(([id]) => id !== booking_id)
        return { cancel_status: true }
      },
      { cancel_status: false },
    ),
    compute_exchange_rate(_, { base_currency: base, target_currency: target, value }, { constant }) {
      for (const [pair, rate] of entriesOf(constant('exchange_rates')) as [PythonTuple, PythonNumber][]) {
        const [from, to] = pair.$tuple
        if (from === base && to === target) return { exchanged_value: float(toDouble(multiply(value, rate))) }
        if (from === target && to === base)
          return { exchanged_value: round(float(toDouble(value) / toDouble(rate)), 2) }
      }
      throw new PythonError('No available exchange rate for the given currencies.')
    },
    verify_traveler_information(
      { user_first_name, user_last_name },
      { first_name: first, last_name: last, date_of_birth: birth, passport_number },
    ) {
      const failed = (verification_failure: string) => ({ verification_status: false, verification_failure })
      if (user_first_name !== first || user_last_name !== last) {
        const expected = `${user_first_name ?? 'None'} ${user_last_name ?? 'None'}`
        return failed(`Cannot book flight information for another user.Expected ${expected}, got ${first} ${last}`)
      }
      if (!isDate(birth)) return failed('Invalid date of birth format. Please use YYYY-MM-DD.')
      const [born, today] = [readTime(birth, '%Y-%m-%d'), readTime(TODAY, '%Y-%m-%d')]
      if (Number(today.slice(0, 4)) - Number(born.slice(0, 4)) - Number(today.slice(5) < born.slice(5)) < 18)
        return failed('Traveler must be at least 18 years old.')
      if (!passport_number.startsWith('US')) return failed('Passport must be issued by the United States.')
      return { verification_status: true }
    },
    set_budget_limit: withToken((state, given) => {
      const budget_limit = float(toDouble(given.budget_limit))
      state.budget_limit = budget_limit
      return { budget_limit }
    }),
    get_nearest_airport_by_city: (_, { location }, { constant }) => ({
      nearest_airport: findItem(dictOf(constant('airport_map')), location) ?? 'Unknown',
    }),
    purchase_insurance: withToken(
      (state, { booking_id, insurance_cost: cost, card_id }) => {
        const failed = (error: string) => ({ insurance_status: false, error })
        if (state.budget_limit !== null && toDouble(state.budget_limit) < toDouble(cost))
          return failed('Exceeded budget limit')
        if (!findItem(state.booking_record, booking_id)) return failed('Booking not found')
        const card = findItem(state.credit_card_list, card_id)
        if (!card) return failed('Credit card not registered')
        card.balance = subtract(fieldOf(card, 'balance') as PythonNumber, cost)
        return { insurance_id: identify(state, 9), insurance_status: true }
      },
      { insurance_status: false },
    ),
    contact_customer_support: ({ booking_record }, { booking_id }, { after }) =>
      findItem(booking_record, booking_id)
        ? { customer_support_message: after('"customer_support_message": ') }
        : { error: 'Booking not found' },
    get_all_credit_cards: ({ credit_card_list }) => ({ credit_card_list }),
  },
}

const NO_ROUTE = 'No available route for the given airports.'

/** Draws a number of so many digits, as a text. */
function identify(state: Travel, digits: number): string {
  return String(draw(state, (random) => random.randint(10 ** (digits - 1), 10 ** digits - 1)))
}

function tokenProblem({ token_expires_in, access_token }: Travel, given: string): string | null {
  if (token_expires_in === 0) return 'Token expired'
  return given === access_token ? null : 'Invalid access token'
}

/** Returns a method that is only played with the right token, and otherwise answers what is wrong with it. */
function withToken(play: Method, failed: Fields = {}): Method {
  return (state, given, sources) => {
    const problem = tokenProblem(state, given.access_token)
    return problem ? { ...failed, error: problem } : play(state, given, sources)
  }
}

function airportsOf({ after }: Sources): readonly string[] {
  return after<string[]>('A list of all available airports\n        """\n        return ')
}

function costsOf({ travel_date, travel_class }: Record<'travel_date' | 'travel_class', string>, { constant }: Sources) {
  const digits = (travel_date.match(/\d/g) ?? []).reduce((sum, digit) => sum + Number(digit), 0)
  const factor = (FACTORS.get(travel_class) ?? 0) * (digits % 2 === 0 ? 2 : 1)
  const routes = entriesOf(constant<PythonDict>('base_costs')) as unknown as [PythonTuple, number][]
  return new Map(routes.map(([{ $tuple }, cost]) => [$tuple.join(' '), cost * factor]))
}
