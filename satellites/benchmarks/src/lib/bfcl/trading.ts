import { add, type PythonNumber, subtract, toDouble } from '../python/arithmetic.ts'
import { repr } from '../python/repr.ts'
import { formatFixed } from '../python/round.ts'
import { entriesOf, float, type PythonDict, type PythonValue } from '../python/value.ts'
import { type Api, type Chance, type Dict, dictOf, draw, fieldOf, has, itemOf, setItem } from './api.ts'
import { readTime } from './dates.ts'

interface Trading {
  /** By their ids, which are ints; some scenarios have a text among them, where a field of an order should be. */
  orders: Dict<Record<string, PythonValue> | string>
  account_info: Record<string, PythonNumber>
  authenticated: boolean
  market_status: string
  order_counter: number
  stocks: Record<string, Record<string, PythonValue>>
  watch_list: string[]
  transaction_history: Record<string, PythonValue>[]
  chance: Chance
}

export const trading: Api<Trading> = {
  load(scenario, sources) {
    const { random_seed, orders, ...rest } = {
      ...sources.constant<Record<string, PythonValue>>('DEFAULT_STATE'),
      ...scenario,
    }
    return {
      ...(rest as unknown as Omit<Trading, 'orders' | 'chance'>),
      orders: {
        $dict: dictOf<string>(orders as PythonValue).$dict.map(([key, order]) => [
          typeof key === 'string' && /^\d+$/.test(key) ? Number(key) : key,
          order,
        ]),
      },
      chance: { seed: random_seed as number, drawn: 0 },
    }
  },

  compared: ({ account_info, authenticated, market_status, order_counter, orders, stocks, ...rest }) => ({
    ...{ account_info, authenticated, market_status, order_counter, orders: orders as PythonDict, stocks },
    ...{ transaction_history: rest.transaction_history, watch_list: rest.watch_list },
  }),

  methods: {
    get_current_time: () => ({ current_time: '10:30 AM' }),

    get_symbol_by_name(_, { name }: { name: string }, { constant }) {
      const symbols = constant<Record<string, string>>('symbol_map')
      return { symbol: Object.hasOwn(symbols, name) ? (symbols[name] as string) : 'Stock not found' }
    },

    get_stock_info({ stocks }, { symbol }: { symbol: string }, { isLong, long }) {
      if (!Object.hasOwn(stocks, symbol)) return { error: `Stock with symbol '${symbol}' not found.` }
      const stock = stocks[symbol] as Record<string, PythonValue>
      return isLong ? { ...stock, 'MA(5)': long('MA_5_EXTENSION'), 'MA(20)': long('MA_20_EXTENSION') } : stock
    },

    get_order_details({ orders }, { order_id }: { order_id: number }, { isLong, long }) {
      if (!has(orders, order_id)) {
        const ids = repr(orders.$dict.map(([id]) => id))
        return { error: `Order with ID ${order_id} not found.Here is the list of orders_id: ${ids}` }
      }
      const order = itemOf(orders, order_id) as Record<string, PythonValue>
      if (!isLong) return order
      const symbol = String(fieldOf(order, 'symbol'))
      const texts = entriesOf(long<Record<string, string>>('ORDER_DETAIL_EXTENSION')) as [string, string][]
      const metadata = Object.fromEntries(texts.map(([key, text]) => [key, text.replaceAll('{symbol}', symbol)]))
      return { ...order, metadata }
    },

    cancel_order({ orders }, { order_id }: { order_id: number }) {
      if (!has(orders, order_id)) return { error: `Order with ID ${order_id} not found.` }
      const order = itemOf(orders, order_id) as Record<string, PythonValue>
      if (fieldOf(order, 'status') === 'Completed')
        return { error: `Can't cancel order ${order_id}. Order is already completed.` }
      order.status = 'Cancelled'
      return { order_id, status: 'Cancelled' }
    },

    place_order(
      state,
      {
        order_type,
        symbol,
        price: given,
        amount,
      }: { order_type: string; symbol: string; price: PythonNumber; amount: number },
    ) {
      if (!state.authenticated) return { error: 'User not authenticated. Please log in to place an order.' }
      if (!Object.hasOwn(state.stocks, symbol)) return { error: `Invalid stock symbol: ${symbol}` }
      const price = toDouble(given)
      if (price <= 0 || amount <= 0) return { error: 'Price and amount must be positive values.' }
      if (order_type.toLowerCase() === 'buy') {
        const [cost, balance] = [price * Math.trunc(amount), toDouble(state.account_info.balance ?? 0)]
        if (cost > balance) {
          const [required, available] = [formatFixed(cost, 2), formatFixed(balance, 2)]
          return { error: `Insufficient funds: required $${required} but only $${available} available.` }
        }
      }
      const id = state.order_counter
      const placed = { order_type, symbol, price: float(price), amount }
      setItem(state.orders, id, { id, ...placed, status: 'Open' })
      state.order_counter += 1
      return { order_id: id, order_type, status: 'Pending', price: placed.price, amount }
    },

    withdraw_funds(state, { amount }: { amount: PythonNumber }) {
      if (!state.authenticated) return { error: 'User not authenticated. Please log in to make a transaction.' }
      if (state.market_status !== 'Open') return { error: 'Market is closed. Transactions are not allowed.' }
      if (toDouble(amount) <= 0) return { error: 'Transaction amount must be positive.' }
      const balance = fieldOf(state.account_info, 'balance')
      if (toDouble(amount) > toDouble(balance)) return { error: 'Insufficient funds for withdrawal.' }
      state.account_info.balance = subtract(balance, amount)
      note(state, 'withdrawal', amount)
      return { status: 'Withdrawal successful', new_balance: state.account_info.balance }
    },

    get_account_info: ({ authenticated, account_info }) =>
      authenticated ? account_info : { error: 'User not authenticated. Please log in to view account information.' },

    trading_login(state) {
      if (state.authenticated) return { status: 'Already logged in' }
      state.authenticated = true
      return { status: 'Logged in successfully' }
    },

    trading_get_login_status: ({ authenticated }) => ({ status: Boolean(authenticated) }),

    trading_logout(state) {
      if (!state.authenticated) return { status: 'No user is currently logged in' }
      state.authenticated = false
      return { status: 'Logged out successfully' }
    },

    fund_account(state, { amount }: { amount: PythonNumber }) {
      if (!state.authenticated) return { error: 'User not authenticated. Please log in to fund the account.' }
      if (toDouble(amount) <= 0) return { error: 'Funding amount must be positive.' }
      state.account_info.balance = add(fieldOf(state.account_info, 'balance'), amount)
      note(state, 'deposit', amount)
      return { status: 'Account funded successfully', new_balance: state.account_info.balance }
    },

    remove_stock_from_watchlist(state, { symbol }: { symbol: string }) {
      if (!state.authenticated) return { error: 'User not authenticated. Please log in to modify the watchlist.' }
      const at = state.watch_list.indexOf(symbol)
      if (at < 0) return { error: `Stock ${symbol} not found in watchlist.` }
      state.watch_list.splice(at, 1)
      return { status: `Stock ${symbol} removed from watchlist successfully.` }
    },

    get_watchlist({ authenticated, watch_list }, _, { isLong, long }) {
      if (!authenticated) return ['Error: User not authenticated. Please log in to view the watchlist.']
      return isLong ? [...watch_list, ...long<PythonValue[]>('WATCH_LIST_EXTENSION')] : { watchlist: watch_list }
    },

    get_order_history: ({ authenticated, orders }) =>
      authenticated
        ? { history: orders.$dict.map(([id]) => id) }
        : [{ error: 'User not authenticated. Please log in to view order history.' }],

    get_transaction_history(
      state,
      { start_date: from, end_date: to }: { start_date?: string | null; end_date?: string | null },
      { isLong, long },
    ) {
      if (!state.authenticated) return [{ error: 'User not authenticated. Please log in to view transaction history.' }]
      const start = from ? readTime(from, '%Y-%m-%d') : ''
      const end = to ? readTime(to, '%Y-%m-%d') : '~'
      const history = state.transaction_history.filter((transaction) => {
        const time = readTime(String(fieldOf(transaction, 'timestamp')), '%Y-%m-%d %H:%M:%S')
        return start <= time && time <= end
      })
      const extension = isLong ? long<PythonValue[]>('TRANSACTION_HISTORY_EXTENSION') : []
      return { transaction_history: [...history, ...extension] }
    },

    get_available_stocks(_, { sector }: { sector: string }, { isLong, constant, long }) {
      const stocks = constant<Record<string, string[]>>('sector_map')[sector]
      if (!stocks) return { stock_list: [] }
      const extension = isLong ? long<PythonValue[]>(`${sector.toUpperCase()}_EXTENSION`) : []
      return { stock_list: [...stocks, ...extension] }
    },

    filter_stocks_by_price(
      state,
      {
        stocks,
        min_price: least,
        max_price: most,
      }: { stocks: string[]; min_price: PythonNumber; max_price: PythonNumber },
    ) {
      const filtered = stocks.filter((symbol) => {
        const price = toDouble((state.stocks[symbol]?.price ?? 0) as PythonNumber)
        return price >= toDouble(least) && price <= toDouble(most)
      })
      return { filtered_stocks: filtered }
    },

    add_to_watchlist({ stocks, watch_list }, { stock }: { stock: string }) {
      if (!watch_list.includes(stock) && Object.hasOwn(stocks, stock)) watch_list.push(stock)
      return { watchlist: watch_list }
    },

    notify_price_change(state, { stocks, threshold }: { stocks: string[]; threshold: PythonNumber }) {
      const changed = stocks.filter((symbol) => {
        const stock = Object.hasOwn(state.stocks, symbol) && state.stocks[symbol]
        return stock && Math.abs(toDouble(fieldOf(stock, 'percent_change') as PythonNumber)) >= toDouble(threshold)
      })
      return {
        notification:
          changed.length > 0
            ? `Stocks ${changed.join(', ')} have significant price changes.`
            : 'No significant price changes in the selected stocks.',
      }
    },
  },
}

/** The original's present, in seconds: 2024-09-01 10:30. */
const NOW = Date.UTC(2024, 8, 1, 10, 30) / 1_000

/** Writes a transaction down, at a random time within a day. */
function note(state: Trading, type: string, amount: PythonNumber): void {
  const time = draw(state.chance, (random) => random.randint(NOW, NOW + 86_400))
  const timestamp = new Date(time * 1_000).toISOString().slice(0, 19).replace('T', ' ')
  state.transaction_history.push({ type, amount, timestamp })
}
