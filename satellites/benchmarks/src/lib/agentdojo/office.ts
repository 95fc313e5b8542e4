import type { JsonObject } from '@episodic/protocol'
import type { PythonValue } from '../python/value.ts'
import { formatMisfits, type Misfit } from './arguments.ts'
import { areChanges } from './changes.ts'
import { fileTime, parseTime, shifted } from './dates.ts'
import { readEmailAddress } from './email-address.ts'
import { type Judged, type Returned, ToolError, valueError } from './suite.ts'
import { Moment, type YamlValue } from './yaml-dump.ts'

export interface Event {
  id_: string
  title: string
  description: string
  start_time: string
  end_time: string
  location: string | null
  participants: string[]
  all_day: boolean
  status: string
}

export interface Email {
  id_: string
  sender: string
  recipients: string[]
  cc: string[]
  bcc: string[]
  subject: string
  body: string
  status: string
  read: boolean
  timestamp: string
  /** Ids of files, events of the calendar (which may change later), and events that were written for this email. */
  attachments: (string | { event: string } | { details: Event })[]
}

/** Mail and a calendar: lists where the original has dicts by id, since their order counts. */
export interface Office {
  inbox: {
    account_email: string
    emails: Email[]
    contact_list: { email: string; name: string }[]
    trash: Email[]
  }
  calendar: { account_email: string; current_day: string; events: Event[] }
}

/** What is made in an episode has this time, later than that of all files: the original takes that of the machine. */
export const NOW = '2025-01-01 00:00:00'

/** Returns the mail of an environment's file. */
export function startInbox({ account_email, initial_emails }: JsonObject): Office['inbox'] {
  const emails = (initial_emails as JsonObject[]).map((email) => ({
    ...{ cc: [], bcc: [], attachments: [], read: false, status: 'sent' },
    ...email,
    timestamp: fileTime(email.timestamp),
  })) as unknown as Email[]
  const contacts = new Set(emails.flatMap(({ recipients, sender, cc, bcc }) => [...recipients, sender, ...cc, ...bcc]))
  const contact_list = [...contacts].map((email) => ({ email, name: titled(email.split('@')[0] as string) }))
  return { account_email: String(account_email), emails, contact_list, trash: [] }
}

export function startCalendar({ account_email, current_day, initial_events }: JsonObject): Office['calendar'] {
  const events = (initial_events as JsonObject[]).map((event) => ({
    ...{ all_day: false, status: 'confirmed' },
    ...event,
    start_time: fileTime(event.start_time),
    end_time: fileTime(event.end_time),
  })) as unknown as Event[]
  return { account_email: String(account_email), current_day: String(current_day), events }
}

function titled(name: string): string {
  return name
    .replaceAll('.', ' ')
    .replace(/\p{L}+/gu, (word) => word.charAt(0).toUpperCase() + word.slice(1).toLowerCase())
}

export const nextId = (all: readonly { readonly id_: string }[]) =>
  String(Math.max(0, ...all.map(({ id_ }) => Number(id_))) + 1)
export const byId = <T extends { id_: string }>(all: readonly T[], id: string) => all.find(({ id_ }) => id_ === id)
export const contains = (text: string, query: string) => text.toLowerCase().includes(query.toLowerCase())

/** Returns how an email that is sent first, or later, is listed as a change. */
export const newEmailOf = ({ inbox }: Office, later = 0) => `added inbox.emails.${Number(nextId(inbox.emails)) + later}`

/** Returns the one new event, if nothing else has changed but its invitation. */
export function newEvent({ before, after, changes }: Judged<Office>): Event | undefined {
  const id = nextId(before.calendar.events)
  return areChanges(changes, `added calendar.events.${id}`, newEmailOf(before))
    ? byId(after.calendar.events, id)
    : undefined
}

/** Returns addresses as models of the original keep them. Throws its error. */
function addresses(model: string, fields: Readonly<Record<string, readonly string[]>>): string[][] {
  const misfits: Misfit[] = []
  const read = Object.entries(fields).map(([field, texts]) =>
    texts.map((text, i) => {
      const found = readEmailAddress(text)
      if ('address' in found) return found.address
      const says = `value is not a valid email address: ${found.wrong}`
      misfits.push({ at: `${field}.${i}`, kind: 'value_error', says, value: text })
      return ''
    }),
  )
  if (misfits.length > 0) throw new ToolError(`ValidationError: ${formatMisfits(model, misfits)}`)
  return read
}

type Sent = Pick<Email, 'recipients' | 'subject' | 'body'> & Partial<Record<'cc' | 'bcc', string[] | null>>

function sendEmail(office: Office, given: Sent, attachments: Email['attachments']): Email {
  const { inbox } = office
  const fields = { recipients: given.recipients, cc: given.cc ?? [], bcc: given.bcc ?? [] }
  const [recipients = [], cc = [], bcc = []] = addresses('Email', fields)
  const email: Email = {
    ...{ id_: nextId(inbox.emails), sender: inbox.account_email, recipients, cc, bcc },
    ...{ subject: given.subject, body: given.body, status: 'sent', read: true, timestamp: NOW, attachments },
  }
  inbox.emails.push(email)
  return email
}

function notify(office: Office, event: Event, subject: string, body: string, recipients = event.participants): void {
  sendEmail(office, { recipients, subject, body }, [{ event: event.id_ }])
}

export function shownEmails({ calendar }: Office, emails: readonly Email[]): YamlValue[] {
  const events = new Map<string, YamlValue>()
  const shown = (id: string): YamlValue => {
    const known = events.get(id) ?? shownEvent(byId(calendar.events, id) as Event)
    events.set(id, known)
    // Dates of an event that is attached twice are the same objects, and the event itself is copied.
    return { ...(known as object) } as YamlValue
  }
  return emails.map((email) => ({
    ...email,
    timestamp: new Moment(email.timestamp),
    attachments: email.attachments.map((one) =>
      typeof one === 'string' ? one : 'event' in one ? shown(one.event) : shownEvent(one.details),
    ),
  }))
}

function shownEvent(event: Event): YamlValue {
  return { ...event, start_time: new Moment(event.start_time), end_time: new Moment(event.end_time) }
}

const shownEvents = (events: readonly Event[]) => ({ yaml: events.map(shownEvent) })

/** Finds at least one, as all searches of the original do. */
export function someOf<T>(found: readonly T[], otherwise: string): readonly T[] {
  if (found.length === 0) throw valueError(otherwise)
  return found
}

function attached(attachment: JsonObject): Email['attachments'][number] {
  if (!('type' in attachment)) throw valueError("Attachment must have a 'type' field.")
  if (attachment.type === 'file' || 'file_id' in attachment) {
    if (!('file_id' in attachment)) throw valueError("Attachment of type 'file' must have a 'file_id' field.")
    return String(attachment.file_id)
  }
  if (!('event_details' in attachment))
    throw valueError("Attachment of type 'event' must have an 'event_details' field.")
  return { details: readEvent(attachment.event_details as JsonObject) }
}

/** Reads an event as the original's model does; what has other types is not looked at. */
function readEvent(given: JsonObject): Event {
  const needed = ['id_', 'title', 'description', 'start_time', 'end_time', 'location', 'participants']
  const misfits = needed.flatMap((at): Misfit[] =>
    at in given ? [] : [{ at, kind: 'missing', says: 'Field required', value: given as PythonValue }],
  )
  if (misfits.length > 0) throw new ToolError(`ValidationError: ${formatMisfits('CalendarEvent', misfits)}`)
  const [participants = []] = addresses('CalendarEvent', { participants: given.participants as string[] })
  const [start_time, end_time] = [fileTime(given.start_time), fileTime(given.end_time)]
  return { all_day: false, status: 'confirmed', ...(given as object), start_time, end_time, participants } as Event
}

const eventOf = ({ calendar }: Office, id: string): Event => {
  const event = byId(calendar.events, id)
  if (!event) throw valueError(`Event with ID '${id}' not found.`)
  return event
}
const MINUTES = '%Y-%m-%d %H:%M'
const DAY = '%Y-%m-%d'
const dayOf = (time: string) => time.slice(0, 10)
const onDay = ({ calendar }: Office, day: string) =>
  calendar.events.filter(({ start_time }) => dayOf(start_time) === dayOf(parseTime(day, DAY)))

type NewEvent = Pick<Event, 'title' | 'start_time' | 'end_time' | 'description' | 'location'> & {
  participants: string[] | null
}

/** The tools of mail and calendar that more than one environment has. */
export const officeTools = {
  send_email(office: Office, given: Sent & { attachments: JsonObject[] | null }): Returned {
    const email = sendEmail(office, given, (given.attachments ?? []).map(attached))
    return { yaml: shownEmails(office, [email])[0] as YamlValue }
  },
  get_day_calendar_events: (office: Office, { day }: { day: string }): Returned => shownEvents(onDay(office, day)),
  search_calendar_events(office: Office, { query, date }: { query: string; date: string | null }): Returned {
    const events = date === null ? office.calendar.events : onDay(office, date)
    const found = events.filter(({ title, description }) => contains(title, query) || contains(description, query))
    return shownEvents(someOf(found, 'No events found. Try with a different query.'))
  },
  create_calendar_event(office: Office, given: NewEvent): Returned {
    const { title, description, location } = given
    const [start_time, end_time] = [parseTime(given.start_time, MINUTES), parseTime(given.end_time, MINUTES)]
    const { calendar } = office
    // Who is invited gets an email at each address that was given, and the owner of the calendar too.
    const recipients = [...(given.participants ?? []), calendar.account_email]
    const [participants = []] = addresses('CalendarEvent', { participants: [...new Set(recipients)] })
    const event: Event = {
      ...{ id_: nextId(calendar.events), title, description, start_time, end_time, location, participants },
      ...{ all_day: false, status: 'confirmed' },
    }
    calendar.events.push(event)
    notify(office, event, `Invitation: ${title}`, description, recipients)
    return { yaml: shownEvent(event) }
  },
  cancel_calendar_event(office: Office, { event_id }: { event_id: string }): Returned {
    const event = eventOf(office, event_id)
    event.status = 'canceled'
    notify(office, event, `Canceled: '${event.title}'`, 'The event has been canceled.')
    return { value: `Event with ID ${event_id} has been canceled and participants have been notified.` }
  },
  reschedule_calendar_event(
    office: Office,
    given: { event_id: string; new_start_time: string; new_end_time: string | null },
  ): Returned {
    const end = given.new_end_time === null ? null : parseTime(given.new_end_time, MINUTES)
    const start = parseTime(given.new_start_time, MINUTES)
    const event = eventOf(office, given.event_id)
    event.end_time = end ?? shifted(start, event.start_time, event.end_time)
    event.start_time = start
    const at = (time: string) => time.replace(' ', ' at ')
    const body = `The event has been rescheduled. It will start on  ${at(start)} and end on ${at(event.end_time)}.`
    // As the original writes it: its title is not filled in.
    notify(office, event, "Rescheduled: '{event.title}'", body)
    return { yaml: shownEvent(event) }
  },
  add_calendar_event_participants(
    office: Office,
    { event_id, participants }: { event_id: string; participants: string[] },
  ): Returned {
    const event = eventOf(office, event_id)
    event.participants.push(...participants)
    return { yaml: shownEvent(event) }
  },
}

/** Returns mail and calendar as the original's models hold them. */
export function officeState({ inbox, calendar }: Office): JsonObject {
  const table = <T extends { id_: string }>(all: readonly T[], show: (one: T) => unknown) =>
    Object.fromEntries(all.map((one) => [one.id_, show(one)]))
  const attached = (one: Email['attachments'][number]) =>
    typeof one === 'string' ? one : 'event' in one ? byId(calendar.events, one.event) : one.details
  const email = (one: Email) => ({ ...one, attachments: one.attachments.map(attached) })
  return {
    inbox: { ...inbox, emails: table(inbox.emails, email), trash: table(inbox.trash, email) },
    calendar: { ...calendar, events: table(calendar.events, (one) => one) },
  } as unknown as JsonObject
}
