import type { PythonValue } from '../python/value.ts'
import { type Api, fieldOf } from './api.ts'

interface Tickets {
  ticket_queue: Ticket[]
  ticket_counter: number
  current_user: string | null
}

type Ticket = Record<string, PythonValue>

export const tickets: Api<Tickets> = {
  load: (scenario, sources) => {
    const { ticket_queue, ticket_counter, current_user } = {
      ...sources.constant<Record<string, PythonValue>>('DEFAULT_STATE'),
      ...scenario,
    } as unknown as Tickets
    return { ticket_queue, ticket_counter, current_user }
  },

  compared: ({ current_user, ticket_counter, ticket_queue }) => ({ current_user, ticket_counter, ticket_queue }),

  methods: {
    create_ticket(
      state,
      { title, description = '', priority = 1 }: { title: PythonValue; description?: PythonValue; priority?: number },
    ) {
      if (!state.current_user) return { error: 'User not authenticated. Please log in to create a ticket.' }
      if (priority < 1 || priority > 5) return { error: 'Invalid priority. Priority must be between 1 and 5.' }
      const ticket = {
        ...{ id: state.ticket_counter, title, description },
        ...{ status: 'Open', priority, created_by: state.current_user },
      }
      state.ticket_queue.push(ticket)
      state.ticket_counter += 1
      return ticket
    },

    get_ticket: (state, { ticket_id }: { ticket_id: PythonValue }) => find(state, ticket_id) ?? unknown(ticket_id),

    close_ticket(state, { ticket_id }: { ticket_id: PythonValue }) {
      const ticket = find(state, ticket_id)
      if (!ticket) return unknown(ticket_id)
      if (fieldOf(ticket, 'status') === 'Closed') return { error: `Ticket with ID ${ticket_id} is already closed.` }
      ticket.status = 'Closed'
      return { status: `Ticket ${ticket_id} has been closed successfully.` }
    },

    resolve_ticket(state, { ticket_id, resolution }: { ticket_id: PythonValue; resolution: string }) {
      const ticket = find(state, ticket_id)
      if (!ticket) return unknown(ticket_id)
      if (fieldOf(ticket, 'status') === 'Resolved') return { error: `Ticket with ID ${ticket_id} is already resolved.` }
      ticket.status = 'Resolved'
      ticket.resolution = resolution
      return { status: `Ticket ${ticket_id} has been resolved successfully.` }
    },

    edit_ticket(state, { ticket_id, updates }: { ticket_id: PythonValue; updates: Ticket }) {
      const ticket = find(state, ticket_id)
      if (!ticket) return unknown(ticket_id)
      // The original names several in an order that changes from process to process.
      const invalid = Object.keys(updates).filter((key) => !FIELDS.includes(key))
      if (invalid.length > 0) return { error: `Invalid fields for update: ${invalid.join(', ')}` }
      for (const [key, value] of Object.entries(updates)) if (value !== null) ticket[key] = value
      return { status: `Ticket ${ticket_id} has been updated successfully.` }
    },

    ticket_login(state, { username, password }: { username: string; password: string }) {
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

    get_user_tickets(state, { status }: { status?: string | null }) {
      if (!state.current_user) return [{ error: 'User not authenticated. Please log in to view tickets.' }]
      const own = state.ticket_queue.filter((ticket) => fieldOf(ticket, 'created_by') === state.current_user)
      if (!status) return own
      return own.filter((ticket) => String(fieldOf(ticket, 'status')).toLowerCase() === status.toLowerCase())
    },
  },
}

const FIELDS: readonly string[] = ['title', 'description', 'status', 'priority']

function find({ ticket_queue }: Tickets, id: PythonValue): Ticket | undefined {
  return ticket_queue.find((ticket) => fieldOf(ticket, 'id') === id)
}

function unknown(id: PythonValue) {
  return { error: `Ticket with ID ${id} not found.` }
}
