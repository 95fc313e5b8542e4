import type { Json, JsonObject } from '@episodic/protocol'
import { after, parseIso } from '../interpreter/times.ts'
import { float, formatFloat } from '../python/value.ts'
import { fileTime, type Office, officeState, officeTools, startCalendar, startInbox } from './office.ts'
import type { DojoSuite, Returned, Table } from './suite.ts'

interface Venue {
  name: string
  city: string
  address: string
  rating: number
  reviews: string[]
}
type Hotel = Venue & { price_min: number; price_max: number }
interface Restaurant extends Venue {
  price_per_person: number
  operating_hours: string
  contact_information: string
  cuisine_type: string
  dietary_restrictions: string
}
type Company = Venue & { price_per_day: number; car_types_available: string[]; fuel_options: string[] }
interface Flight {
  airline: string
  flight_number: string
  departure_city: string
  arrival_city: string
  departure_time: string
  arrival_time: string
  price: number
  contact_information: string
}

interface Travel extends Office {
  hotels: { hotel_list: Hotel[] }
  restaurants: { restaurant_list: Restaurant[] }
  car_rental: { company_list: Company[] }
  flights: { flight_list: Flight[] }
  user: Record<string, string>
  reservation: {
    reservation_type: string | null
    title: string
    start_time: string
    end_time: string
    contact_information: string
  }
}

type City = { city: string }

const hotelsOf = ({ hotels }: Travel) => hotels.hotel_list
const restaurantsOf = ({ restaurants }: Travel) => restaurants.restaurant_list
const companiesOf = ({ car_rental }: Travel) => car_rental.company_list
const inCity = <P extends Venue>(places: readonly P[], city: string) => places.filter((place) => place.city === city)

const listing =
  (title: (city: string) => string, places: (env: Travel) => readonly Venue[]) =>
  (env: Travel, { city }: City): Returned => ({
    value: `${title(city)}: ${inCity(places(env), city)
      .map(({ name }) => name)
      .join('\n')}\n`,
  })

/** A tool that says something of each place whose name is given. */
const telling =
  <P extends Venue>(places: (env: Travel) => readonly P[], parameter: string, tell: (place: P) => Json) =>
  (env: Travel, args: Readonly<Record<string, readonly string[]>>): Returned => ({
    value: Object.fromEntries(
      places(env).flatMap((place) => (args[parameter]?.includes(place.name) ? [[place.name, tell(place)]] : [])),
    ),
  })
const reviews = ({ rating, reviews: all }: Venue) => `Rating: ${formatFloat(rating)}\nReviews: ${all.join('\n')}`
const address = (place: Venue) => place.address
const price = (amount: number) => float(amount) as Json
const [HOTELS, RESTAURANTS, COMPANY] = ['hotel_names', 'restaurant_names', 'company_name']

/** Changes a reservation field by field, as the original does: what is not read leaves it half made. */
function reserve(
  { reservation, user }: Travel,
  kind: string,
  title: string,
  times: readonly [start: () => string, end: () => string],
) {
  reservation.contact_information = user.phone_number ?? ''
  reservation.reservation_type = kind
  reservation.title = title
  reservation.start_time = times[0]()
  reservation.end_time = times[1]()
  return reservation
}

const made = (what: string) => ({ value: `Reservation for ${what} has been made successfully.` })
const USER_FIELDS = [
  ...['first_name', 'last_name', 'ID_number', 'email', 'phone_number', 'address', 'passport_number'],
  ...['bank_account_number', 'credit_card_number'],
]
const TWO_HOURS = 7_200_000

const { create_calendar_event, search_calendar_events, get_day_calendar_events } = officeTools
const { cancel_calendar_event, send_email } = officeTools
const tools: DojoSuite<Travel>['tools'] = {
  get_user_information: ({ user }) => ({
    value: Object.fromEntries(USER_FIELDS.map((key) => [titleOf(key), user[key] as string])),
  }),
  get_all_hotels_in_city: listing(() => 'Hotel Names', hotelsOf),
  get_hotels_prices: telling(
    hotelsOf,
    HOTELS,
    ({ price_min, price_max }) => `Price range: ${formatFloat(price_min)} - ${formatFloat(price_max)}`,
  ),
  get_rating_reviews_for_hotels: telling(hotelsOf, HOTELS, reviews),
  get_hotels_address: (env, { hotel_name }: { hotel_name: string }) =>
    telling(hotelsOf, HOTELS, address)(env, { [HOTELS]: [hotel_name] }),
  get_all_restaurants_in_city: listing((city) => `Restaurant in ${city}`, restaurantsOf),
  get_cuisine_type_for_restaurants: telling(restaurantsOf, RESTAURANTS, ({ cuisine_type }) => cuisine_type),
  get_restaurants_address: telling(restaurantsOf, RESTAURANTS, address),
  get_rating_reviews_for_restaurants: telling(restaurantsOf, RESTAURANTS, reviews),
  // The original looks for the names in the text of all names.
  get_dietary_restrictions_for_all_restaurants: (env, { restaurant_names: names }: { restaurant_names: string[] }) => ({
    value: Object.fromEntries(
      restaurantsOf(env).flatMap(({ name, dietary_restrictions }) =>
        names.join(', ').includes(name) ? [[name, dietary_restrictions]] : [],
      ),
    ),
  }),
  get_contact_information_for_restaurants: telling(restaurantsOf, RESTAURANTS, (one) => one.contact_information),
  get_price_for_restaurants: telling(restaurantsOf, RESTAURANTS, (one) => price(one.price_per_person)),
  check_restaurant_opening_hours: telling(restaurantsOf, RESTAURANTS, ({ operating_hours }) => operating_hours),
  get_all_car_rental_companies_in_city: listing((city) => `Car Rental Companies in ${city}`, companiesOf),
  get_car_types_available: telling(companiesOf, COMPANY, ({ car_types_available }) => car_types_available),
  get_rating_reviews_for_car_rental: telling(companiesOf, COMPANY, reviews),
  get_car_fuel_options: telling(companiesOf, COMPANY, ({ fuel_options }) => fuel_options),
  get_car_rental_address: telling(companiesOf, COMPANY, address),
  get_car_price_per_day: telling(companiesOf, COMPANY, (one) => price(one.price_per_day)),
  create_calendar_event,
  search_calendar_events,
  get_day_calendar_events,
  cancel_calendar_event,
  reserve_hotel(env, { hotel, start_day, end_day }: { hotel: string; start_day: string; end_day: string }) {
    reserve(env, 'hotel', hotel, [() => parseIso(start_day), () => parseIso(end_day)])
    return made(`${hotel} from ${start_day} to ${end_day}`)
  },
  // The original takes the start for the end.
  reserve_car_rental(
    env,
    { company, start_time, end_time }: { company: string; start_time: string; end_time: string | null },
  ) {
    reserve(env, 'car', company, [() => parseIso(start_time), () => parseIso(start_time)])
    return made(`a car at ${company} from ${start_time} to ${end_time ?? 'None'}`)
  },
  reserve_restaurant(env, { restaurant, start_time }: { restaurant: string; start_time: string }) {
    const times = [() => parseIso(start_time), () => after(parseIso(start_time), TWO_HOURS)] as const
    const { start_time: start, end_time: end } = reserve(env, 'restaurant', restaurant, times)
    return made(`${restaurant} from ${start.slice(11, 16)} to ${end.slice(11, 16)} on ${start.slice(0, 10)}`)
  },
  get_flight_information: (env, given: { departure_city: string; arrival_city: string }) => ({
    value: env.flights.flight_list
      .filter((one) => one.departure_city === given.departure_city && one.arrival_city === given.arrival_city)
      .map(
        (one) =>
          `Airline: ${one.airline}, Flight Number: ${one.flight_number}, Departure Time: ${one.departure_time}, ` +
          `Arrival Time: ${one.arrival_time}, Price: ${formatFloat(one.price)}, Contact Information: ${one.contact_information}`,
      )
      .join('\n'),
  }),
  send_email,
}

/** `ID_number` is shown as `ID Number`. */
function titleOf(key: string): string {
  return key
    .split('_')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join(' ')
}

function stateOf(env: Travel, table?: Table): Json {
  return { ...(env as unknown as JsonObject), ...officeState(env, table) }
}

export const travel: DojoSuite<Travel> = {
  name: 'travel',
  toolFiles: ['travel_booking_client.py', 'calendar_client.py', 'email_client.py'],
  taskFiles: [
    'v1/travel/user_tasks.py',
    'v1_1/travel/user_tasks.py',
    'v1_1_1/travel/user_tasks.py',
    'v1_2/travel/user_tasks.py',
    'v1/travel/injection_tasks.py',
    'v1_1_1/travel/injection_tasks.py',
    'v1_2/travel/injection_tasks.py',
  ],
  tools,
  start(loaded) {
    const { inbox, calendar, flights, reservation, ...rest } = loaded as { [name: string]: JsonObject }
    const timed = (one: JsonObject, ...fields: string[]) => ({
      ...one,
      ...Object.fromEntries(fields.map((field) => [field, fileTime(one[field])])),
    })
    const flight_list = (flights as { flight_list: JsonObject[] }).flight_list.map((one) =>
      timed(one, 'departure_time', 'arrival_time'),
    )
    return {
      ...rest,
      flights: { flight_list },
      reservation: timed(reservation as JsonObject, 'start_time', 'end_time'),
      inbox: startInbox(inbox as JsonObject),
      calendar: startCalendar(calendar as JsonObject),
    } as unknown as Travel
  },
  state: stateOf,
}
