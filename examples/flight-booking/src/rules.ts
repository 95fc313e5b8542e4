import {
  commandRules,
  createRulesInterpreter,
  day,
  type Entity,
  oneOf,
  type Rules,
  wholeNumber,
} from '@episodic/contexts/interpret'
import { AIRPORTS } from './airports.ts'
import { MAX_PASSENGERS } from './trip.ts'

/** Other names of some cities. */
const NICKNAMES: Readonly<Record<string, readonly string[]>> = {
  BOM: ['Bombay'],
  BLR: ['Bangalore'],
  HKG: ['Hong Kong', 'Hongkong'],
  JFK: ['NYC', 'the big apple'],
  KWI: ['Kuwait'],
  LAX: ['LA'],
  MAA: ['Madras'],
  FRA: ['Frankfurt am Main'],
}

const place = oneOf(
  Object.fromEntries(
    AIRPORTS.map(({ code, city }) => [code, [city, code, ...(NICKNAMES[code] ?? []).filter((name) => name !== city)]]),
  ),
  { again: ['there'] },
)
const date = day()
const number = wholeNumber({ least: 1, most: MAX_PASSENGERS })
const company = oneOf({
  1: ['just me', 'only me', 'alone'],
  2: ['me and my wife', 'me and my husband', 'my wife and i', 'my husband and i', 'the two of us', 'both of us'],
})
const count: Entity = {
  words: [...number.words, ...company.words],
  find: (utterance, context) => [
    ...number.find(utterance, context),
    ...company.find(utterance, context).map((mention) => ({ ...mention, value: Number(mention.value) })),
  ],
}
const cabin = oneOf({ economy: ['economy', 'coach'], business: ['business', 'business class'] })
const part = oneOf({
  morning: ['morning', 'before noon', 'early'],
  afternoon: ['afternoon', 'after lunch'],
  evening: ['evening', 'at night', 'tonight'],
})
const cause = oneOf({
  traveller: ['myself', 'I do', 'I cancel', 'we cancel'],
  airline: ['the airline', 'airline', 'you cancel', 'you do'],
})

const context = oneOf({
  booking: ['booking', 'flight', 'reservation', 'trip'],
  weather: ['weather', 'forecast'],
  support: ['baggage', 'luggage', 'refund'],
})

// The destination comes first, so that `there` means it and not the start.
const details = {
  // "for Anna" names a passenger, not a city.
  to: { entity: place, after: ['to', 'into', 'towards', 'for'], reports: { after: ['to', 'into', 'towards'] } },
  from: { entity: place, after: ['from', 'leaving', 'departing', 'out of'] },
  place: { entity: place },
  date: { entity: date },
  passengers: {
    entity: count,
    reports: { before: ['passengers', 'passenger', 'people', 'persons', 'adults', 'seats'] },
  },
  cabin: { entity: cabin },
  part: { entity: part },
} as const

const rules: Rules = {
  'book-flight': {
    phrases: [
      '(book|reserve|buy|find) (me|us)? (a|the|my|some|another)? (flight|flights|ticket|tickets|seat|seats)',
      '(fly|travel)',
      '(a|any)? (flight|flights|ticket|tickets) (from|to)',
      'need (a|some) (flight|ticket)',
      'get (me|us)? to',
    ],
    beside: ['passenger', 'passengers', 'people', 'person', 'seats', 'class', 'in the'],
    slots: details,
  },
  'give-details': {
    beside: [
      'no',
      'not',
      'actually',
      'instead',
      'rather',
      'sorry',
      'wait',
      'i mean',
      'meant',
      '(make|change) (it|that)?',
      'book',
      '(the|my) (date|day|destination|number)',
      'leave on',
      'leaving',
      'in the',
      'passenger',
      'passengers',
      'people',
      'person',
      'adults',
      'of us',
      'travellers',
      'seats',
      'class',
      'flying',
    ],
    slots: details,
  },
  'ask-flights': {
    phrases: [
      '(what|which|list|show|any|are|is) (me|are|is|there)? (there|the|all|all the|any)? (other|more|cheaper|earlier|later)? (flight|flights|option|options|alternatives)',
      '(show|see) (me)? (the|all|all the|other|more|some|another) (flight|flights|option|options|ones|one)?',
      '(anything|something) (cheaper|earlier|later)',
      'how many flights',
      '(cheaper|earlier|later) (one|flight)',
      'how (long|much) (is|does) (the|that|this|my)? (flight|it|ticket) (take|cost)?',
      '(what|how much) (is|are) (the|that)? (price|prices|cost|fare|fares|duration|flight|ticket)',
      '(what|which) (does|do) (it|that|they) cost',
      'when does (it|the flight|that) (leave|depart|arrive)',
    ],
    beside: ['(is|are) there', 'do you have', 'have', 'can you', 'available', 'that day'],
  },
  confirm: {
    phrases: [
      '(yes|yeah|yep|yup|sure|ok|okay|perfect|correct|agreed)',
      'go ahead',
      '(book|take) it',
      'sounds good',
      'that works',
    ],
  },
  decline: {
    phrases: [
      '(no|nope|nah)',
      'not (that|this) (one|flight)',
      '(another|different) (one|flight)',
      'something else',
      'too expensive',
    ],
  },
  'ask-weather': {
    phrases: [
      '(what|how) is the weather (like|going to be)?',
      'weather (like|forecast)?',
      'forecast',
      '(is|will) it (be|going to be)? (hot|cold|warm|raining|rain|sunny)',
      'will it rain',
      'how (hot|cold|warm) is it',
    ],
    slots: { city: { entity: place, reports: { after: ['in', 'at'] } }, date: { entity: date } },
  },
  'ask-baggage': {
    phrases: [
      '(how much|how many|what)? (baggage|luggage|bags|suitcases) (allowance)?',
      'how heavy',
      '(check|take) (in)? (a|my) (bag|suitcase)',
    ],
    beside: ['in', 'class', 'can i (take|bring)', 'allowed'],
    slots: { cabin: { entity: cabin } },
  },
  'ask-refund': {
    phrases: ['(refund|refunds|refunded)', 'money back', 'what (if|happens if)'],
    beside: ['(cancel|cancels|cancelled)', 'how do i get', 'is there', 'what is the policy', 'policy'],
    slots: { cause: { entity: cause } },
  },
  'say-cause': {
    phrases: ['(i|we|you) cancel', '(i|you) do', 'myself', '(the)? airline'],
    beside: ['if', 'cancels', 'myself'],
    slots: { cause: { entity: cause } },
    needs: ['cause'],
  },
  greet: { phrases: ['(hello|hi|hey) (there)?', '(what is|whats) up', 'good (morning|afternoon|evening)'] },
  thank: { phrases: ['(thanks|thank you) (a lot|very much|so much)?'] },
  'ask-well-being': { phrases: ['how are you (doing)? (today)?', 'how do you do'] },
  'ask-joke': { phrases: ['(tell|know|hear) (me|us)? (a|another|any)? (joke|jokes)', 'make me laugh'] },
  'ask-help': {
    phrases: [
      'what can (you|i) (do|ask|say)',
      '^(please)? help (me)? (please)?$',
      'how does (this|it) work',
      '(who|what) are you',
    ],
  },
  'ask-airports': {
    phrases: [
      '(where|which|what|list|show|all) (do|does|are|can|me)? (the|all|your)? (airport|airports|city|cities|destinations)',
      'where (can|do|could) (you|i|we) (fly|go)',
    ],
    beside: ['(do|can|could) (you|i|we) (fly|have|serve|offer|go) (to|from)?', 'are there', 'there'],
  },
  ...commandRules,
  switch: {
    phrases: ['(go|get|come)? back to (my|the|our)?', '(continue|go on) with (my|the|our)?'],
    slots: { context: { entity: context } },
    needs: ['context'],
  },
}

export const interpreter = createRulesInterpreter(rules)
