import { editDistance } from '@episodic/contexts/interpret'

/** An airport. Each city has one, so a city's name identifies it. */
export interface Airport {
  /** IATA code. */
  readonly code: string
  readonly city: string
  /** Degrees, north and east positive. */
  readonly latitude: number
  readonly longitude: number
}

const TABLE = `
LHE Lahore 31.5 74.4 | KHI Karachi 24.9 67.2 | ISB Islamabad 33.6 73.1 | DEL Delhi 28.6 77.1
BOM Mumbai 19.1 72.9 | BLR Bengaluru 13.2 77.7 | MAA Chennai 13.0 80.2 | CMB Colombo 7.2 79.9
DAC Dhaka 23.8 90.4 | KTM Kathmandu 27.7 85.4 | DXB Dubai 25.3 55.4 | AUH Abu Dhabi 24.4 54.7
DOH Doha 25.3 51.6 | RUH Riyadh 25.0 46.7 | JED Jeddah 21.7 39.2 | KWI Kuwait City 29.2 48.0
MCT Muscat 23.6 58.3 | BAH Bahrain 26.3 50.6 | AMM Amman 31.7 36.0 | IST Istanbul 41.3 28.7
CAI Cairo 30.1 31.4 | ADD Addis Ababa 9.0 38.8 | NBO Nairobi -1.3 36.9 | JNB Johannesburg -26.1 28.2
CPT Cape Town -34.0 18.6 | LOS Lagos 6.6 3.3 | ACC Accra 5.6 -0.2 | CMN Casablanca 33.4 -7.6
LHR London 51.5 -0.5 | CDG Paris 49.0 2.5 | AMS Amsterdam 52.3 4.8 | FRA Frankfurt 50.0 8.6
MUC Munich 48.4 11.8 | ZRH Zurich 47.5 8.5 | VIE Vienna 48.1 16.6 | FCO Rome 41.8 12.3
MAD Madrid 40.5 -3.6 | BCN Barcelona 41.3 2.1 | LIS Lisbon 38.8 -9.1 | ATH Athens 37.9 23.9
CPH Copenhagen 55.6 12.7 | ARN Stockholm 59.7 17.9 | OSL Oslo 60.2 11.1 | HEL Helsinki 60.3 25.0
DUB Dublin 53.4 -6.3 | WAW Warsaw 52.2 21.0 | PRG Prague 50.1 14.3 | BUD Budapest 47.4 19.3
JFK New York 40.6 -73.8 | BOS Boston 42.4 -71.0 | ORD Chicago 42.0 -87.9 | LAX Los Angeles 33.9 -118.4
SFO San Francisco 37.6 -122.4 | YYZ Toronto 43.7 -79.6 | MEX Mexico City 19.4 -99.1 | GRU São Paulo -23.4 -46.5
EZE Buenos Aires -34.8 -58.5 | SIN Singapore 1.4 104.0 | KUL Kuala Lumpur 2.7 101.7 | BKK Bangkok 13.7 100.7
HKG Hong Kong 22.3 113.9 | HND Tokyo 35.6 139.8 | ICN Seoul 37.5 126.5 | SYD Sydney -33.9 151.2`

/** Where flights go from and to, in the order of the table. */
export const AIRPORTS: readonly Airport[] = TABLE.split(/[|\n]/)
  .map((row) => row.trim().split(' '))
  .filter((row) => row.length > 1)
  .map((row) => ({
    code: row[0] as string,
    city: row.slice(1, -2).join(' '),
    latitude: Number(row.at(-2)),
    longitude: Number(row.at(-1)),
  }))

export const CODES = AIRPORTS.map(({ code }) => code) as [string, ...string[]]

const BY_CODE = new Map(AIRPORTS.map((airport) => [airport.code, airport]))

/** Throws a `RangeError` for an unknown code, which the schemas reject before. */
export function airport(code: string): Airport {
  const found = BY_CODE.get(code)
  if (!found) throw new RangeError(`There is no airport ${code}.`)
  return found
}

export function cityOf(code: string): string {
  return airport(code).city
}

/** How many airports the answer for an unknown one names. */
const MAX_NAMED = 3
/** Characters of a text to compare: a longer one is not a misspelt code or city. */
const LONGEST_NAME = 24

/** Returns the answer for an unknown code: the closest airports by code or city, and how to list all. */
export function unknownAirport(asked: string): string {
  const read = asked.slice(0, LONGEST_NAME)
  const closest = AIRPORTS.map(({ code, city }) => ({
    name: `${code} (${city})`,
    distance: Math.min(...[code, city].map((name) => distanceOf(read, name))),
  }))
    .toSorted((a, b) => a.distance - b.distance)
    .slice(0, MAX_NAMED)
    .map(({ name }) => name)
  return `"${read}" is no code of an airport here. The closest are ${closest.join(', ')}; ask-airports tells all ${AIRPORTS.length}`
}

/** Returns the answer for a city without an airport, with how to list those that have one. */
export function unknownCity(named: string): string {
  return `I know no airport in "${named}". "Which airports are there?" tells the cities that I know.`
}

function distanceOf(asked: string, name: string): number {
  return editDistance(asked.toLowerCase(), name.toLowerCase(), LONGEST_NAME)
}

/**
 * Returns the approximate distance in kilometres. It uses a polynomial for the cosine on a nearly flat earth, because
 * all JavaScript engines agree on arithmetic to the last digit, but not on trigonometry.
 */
export function kilometres(from: string, to: string): number {
  const [a, b] = [airport(from), airport(to)]
  const across = Math.abs(a.longitude - b.longitude)
  const middle = ((a.latitude + b.latitude) / 2) * (Math.PI / 180)
  const narrowing = 1 - (middle * middle) / 2 + (middle * middle * middle * middle) / 24
  const east = Math.min(across, 360 - across) * narrowing
  const north = a.latitude - b.latitude
  return Math.round(111.2 * Math.sqrt(east * east + north * north))
}
