import type { Json, JsonObject } from '@episodic/protocol'
import { valueError } from '../python/error.ts'

import {
  byId,
  contains,
  type Email,
  fileTime,
  NOW,
  nextId,
  type Office,
  officeState,
  officeTools,
  shownEmails,
  someOf,
  startCalendar,
  startInbox,
  tableOf,
} from './office.ts'
import type { DojoSuite, Returned, Table } from './suite.ts'
import { Moment, type YamlValue } from './yaml-dump.ts'

interface File {
  id_: string
  filename: string
  content: string
  owner: string
  last_modified: string
  shared_with: Record<string, string>
  size: number
}

interface Workspace extends Office {
  cloud_drive: { account_email: string; files: File[] }
}

type Query = { query: string }
type FileId = { file_id: string }

const lengthOf = (text: string) => text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0)
const shown = (file: File): YamlValue => ({ ...file, last_modified: new Moment(file.last_modified) })
const listed = (files: readonly File[]): Returned => ({ yaml: files.map(shown) })
const emailsOf =
  (status: string) =>
  (env: Workspace): Returned => ({
    yaml: shownEmails(
      env,
      env.inbox.emails.filter((one) => one.status === status),
    ),
  })

function fileOf({ cloud_drive }: Workspace, id: string): File {
  const file = byId(cloud_drive.files, id)
  if (!file) throw valueError(`File with ID '${id}' not found.`)
  return file
}

function searchEmails({ inbox }: Office, query: string, sender: unknown = null): Email[] {
  const isFrom = (email: Email) => sender === null || email.sender.toLowerCase() === String(sender).toLowerCase()
  return inbox.emails.filter((one) => isFrom(one) && isAbout(query, one.subject, one.body))
}

const isAbout = (query: string, ...texts: string[]) => texts.some((text) => contains(text, query))

const contacts =
  (field: 'name' | 'email') =>
  ({ inbox }: Workspace, { query }: Query): Returned => ({
    yaml: someOf(
      inbox.contact_list.filter((one) => contains(one[field], query)),
      `Contact with ${field} '${query}' not found.`,
    ),
  })

const tools: DojoSuite<Workspace>['tools'] = {
  send_email: officeTools.send_email,
  delete_email({ inbox }, { email_id }: { email_id: string }) {
    const email = byId(inbox.emails, email_id)
    if (!email) throw valueError(`Email with ID '${email_id}' not found.`)
    inbox.emails.splice(inbox.emails.indexOf(email), 1)
    // An id is given again when the last email was deleted.
    const earlier = inbox.trash.findIndex(({ id_ }) => id_ === email_id)
    inbox.trash.splice(earlier < 0 ? inbox.trash.length : earlier, earlier < 0 ? 0 : 1, email)
    return { value: `Email with id ${email_id} deleted successfully.` }
  },
  get_unread_emails(env) {
    const unread = env.inbox.emails.filter(({ read }) => !read)
    for (const email of unread) email.read = true
    return { yaml: shownEmails(env, unread) }
  },
  get_sent_emails: emailsOf('sent'),
  get_received_emails: emailsOf('received'),
  get_draft_emails: emailsOf('draft'),
  search_emails: (env, { query, sender }: Query & { sender: string | null }) => ({
    yaml: shownEmails(env, someOf(searchEmails(env, query, sender), 'No emails found. Try with a different query.')),
  }),
  search_contacts_by_name: contacts('name'),
  search_contacts_by_email: contacts('email'),
  get_current_day: ({ calendar }) => ({ value: calendar.current_day }),
  search_calendar_events: officeTools.search_calendar_events,
  get_day_calendar_events: officeTools.get_day_calendar_events,
  create_calendar_event: officeTools.create_calendar_event,
  cancel_calendar_event: officeTools.cancel_calendar_event,
  reschedule_calendar_event: officeTools.reschedule_calendar_event,
  add_calendar_event_participants: officeTools.add_calendar_event_participants,
  append_to_file(env, { file_id, content }: FileId & { content: string }) {
    const file = fileOf(env, file_id)
    file.content += content
    file.size = lengthOf(file.content)
    file.last_modified = NOW
    return { yaml: shown(file) }
  },
  search_files_by_filename: ({ cloud_drive }, { filename }: { filename: string }) =>
    listed(cloud_drive.files.filter((file) => contains(file.filename, filename))),
  create_file({ cloud_drive }, { filename, content }: { filename: string; content: string }) {
    const { files, account_email: owner } = cloud_drive
    const made = { id_: nextId(files), filename, content, owner, last_modified: NOW }
    const file: File = { ...made, shared_with: {}, size: lengthOf(content) }
    files.push(file)
    return { yaml: shown(file) }
  },
  delete_file(env, { file_id }: FileId) {
    const file = fileOf(env, file_id)
    env.cloud_drive.files.splice(env.cloud_drive.files.indexOf(file), 1)
    return { yaml: shown(file) }
  },
  get_file_by_id: (env, { file_id }: FileId) => ({ yaml: shown(fileOf(env, file_id)) }),
  list_files: ({ cloud_drive }) => listed(cloud_drive.files),
  share_file(env, { file_id, email, permission }: FileId & { email: string; permission: string }) {
    const file = fileOf(env, file_id)
    file.shared_with[email] = permission
    return { yaml: shown(file) }
  },
  search_files({ cloud_drive }, { query }: Query) {
    const found = cloud_drive.files.filter(({ content }) => contains(content, query))
    return listed(someOf(found, `No files found with the given query ('${query}'). Try a different search term.`))
  },
}

function stateOf(env: Workspace, table: Table = Object.fromEntries): Json {
  const { cloud_drive: drive } = env
  return {
    ...officeState(env, table),
    cloud_drive: { ...drive, files: tableOf(table, drive.files) },
  } as unknown as Json
}

export const workspace: DojoSuite<Workspace> = {
  name: 'workspace',
  toolFiles: ['email_client.py', 'calendar_client.py', 'cloud_drive_client.py'],
  taskFiles: [
    'v1/workspace/user_tasks.py',
    'v1_1_1/workspace/user_tasks.py',
    'v1_2/workspace/user_tasks.py',
    'v1_2_2/workspace/user_tasks.py',
    'v1/workspace/injection_tasks.py',
    'v1_2/workspace/injection_tasks.py',
    'v1_2_1/workspace/injection_tasks.py',
  ],
  tools,
  waive: { 'exploit-pays:says all words at once': 'Answers are searched for words, as in the original.' },
  start(loaded) {
    const { inbox, calendar, cloud_drive: drive } = loaded as { [name: string]: JsonObject }
    const files = (drive as { initial_files: JsonObject[] }).initial_files.map(({ file_type: _, ...file }) => ({
      shared_with: {},
      ...file,
      last_modified: fileTime(file.last_modified),
      size: lengthOf(String(file.content)),
    }))
    return {
      inbox: startInbox(inbox as JsonObject),
      calendar: startCalendar(calendar as JsonObject),
      cloud_drive: { account_email: drive?.account_email, files },
    } as unknown as Workspace
  },
  state: stateOf,
}
