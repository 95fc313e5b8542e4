import type { PythonValue } from '../python/value.ts'
import { type Api, attributesOf, type Fields, fieldOf } from './api.ts'

interface Tickets {
  ticket_queue: Fields[]
  ticket_counter: number
  current_user: string | null
}

type CallArguments = Record<'resolution' | 'username' | 'password', string> &
  Record<'title' | 'ticket_id', PythonValue> & {
    description?: PythonValue
    priority?: number
    updates: Fields
    status?: string | null
  }

export const tickets: Api<Tickets, CallArguments> = {
  load: (scenario, sources) => attributesOf(scenario, sources),
  methods: {
    create_ticket(state, { title, description = '', priority = 1 }) {
      const { current_user: created_by, ticket_counter: id } = state
      if (!created_by) return { error: 'User not authenticated. Please log in to create a ticket.' }
      if (priority < 1 || priority > 5) return { error: 'Invalid priority. Priority must be between 1 and 5.' }
      const ticket = { id, title, description, status: 'Open', priority, created_by }
      state.ticket_queue.push(ticket)
      state.ticket_counter += 1
      return ticket
    },
    get_ticket: (state, { ticket_id }) => find(state, ticket_id) ?? unknown(ticket_id),
    close_ticket: (state, { ticket_id }) => finish(state, ticket_id, 'closed', { status: 'Closed' }),
    resolve_ticket: (state, { ticket_id, resolution }) =>
      finish(state, ticket_id, 'resolved', { status: 'Resolved', resolution }),
    edit_ticket(state, { ticket_id, updates }) {
      const ticket = find(state, ticket_id)
      if (!ticket) return unknown(ticket_id)
      // The original names several in an order that changes from process to process.
      const invalid = Object.keys(updates).filter((key) => !FIELDS.includes(key))
      if (invalid.length > 0) return { error: `Invalid fields for update: ${invalid.join(', ')}` }
      for (const [key, value] of Object.entries(updates)) if (value !== null) ticket[key] = value
      return { status: `Ticket ${ticket_id} has been updated successfully.` }
    },
    ticket_login(state, { username, password }) {
      const success = username !== '' && password !== ''
      if (success) state.current_user = username
      return { success }
    },
    ticket_get_login_status: ({ current_user }) => ({ login_status: Boolean(current_user) }),
    logout(state) {
      const success = Boolean(state.current_user)
      if (success) state.current_user = null
      return { success }
    },
    get_user_tickets({ current_user, ticket_queue }, { status }) {
      if (!current_user) return [{ error: 'User not authenticated. Please log in to view tickets.' }]
      const own = ticket_queue.filter((ticket) => fieldOf(ticket, 'created_by') === current_user)
      if (!status) return own
      return own.filter((ticket) => String(fieldOf(ticket, 'status')).toLowerCase() === status.toLowerCase())
    },
  },
}

const FIELDS: readonly string[] = ['title', 'description', 'status', 'priority']

function find({ ticket_queue }: Tickets, id: PythonValue) {
  return ticket_queue.find((ticket) => fieldOf(ticket, 'id') === id)
}

function unknown(id: PythonValue) {
  return { error: `Ticket with ID ${id} not found.` }
}

function finish(state: Tickets, id: PythonValue, done: string, update: Fields) {
  const ticket = find(state, id)
  if (!ticket) return unknown(id)
  if (fieldOf(ticket, 'status') === update.status) return { error: `Ticket with ID ${id} is already ${done}.` }
  Object.assign(ticket, update)
  return { status: `Ticket ${id} has been ${done} successfully.` }
}
